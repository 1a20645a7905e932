"""Settings small enough to compute by hand or in milliseconds."""

from attention_theory.spatial.settings import Architecture, Descent, Distribution

SMALL = Distribution(D=12, C=3, d=4, q=0.4)
ARCHITECTURE = Architecture(p=3, nu=0.1, beta=1.0)
DESCENT = Descent(
    omega=1e-2, N=64, eta_v=1e-3, eta_A=5.0, steps=6, every=2, patience=3, validation=32, test=64
)
