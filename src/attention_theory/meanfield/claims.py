"""The claims of the study `meanfield`."""

from attention_theory import claims
from attention_theory.meanfield import bounds_claims, bounds_columns

CLAIMS = [*bounds_claims.CLAIMS]

if __name__ == "__main__":
    claims.run("meanfield", CLAIMS, bounds_columns.INPUTS)
