"""Claims of the discussion of 'Global Convergence in Training Large-Scale Transformers'."""

from attention_theory import claims
from attention_theory.meanfield import (
    bounds_claims,
    bounds_columns,
    columns,
    gap_claims,
    risk_claims,
)

CLAIMS = sorted(
    [*gap_claims.CLAIMS, *risk_claims.CLAIMS, *bounds_claims.CLAIMS],
    key=lambda claim: claim.id.partition(".")[0],  # those of one number as they are listed
)

if __name__ == "__main__":
    claims.run("meanfield", CLAIMS, columns.INPUTS | bounds_columns.INPUTS)
