"""Claims of the discussion of 'Global Convergence in Training Large-Scale Transformers'."""

from attention_theory import claims
from attention_theory.meanfield import gap_claims, risk_claims
from attention_theory.meanfield.columns import INPUTS

CLAIMS = sorted([*gap_claims.CLAIMS, *risk_claims.CLAIMS], key=lambda claim: claim.id)

if __name__ == "__main__":
    claims.run("meanfield", CLAIMS, INPUTS)
