"""Population gradients from set types against a full model that sees the same patterns."""

import numpy as np
import torch
from harness import Row, compare

from attention_theory.spatial import methods
from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.histograms import MonteCarlo
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream

SETS = Sets(D=100, C=5, q=0.2)
ARCHITECTURE = Architecture(p=3, nu=0.1, beta=2.0)
POINT = Point(alpha=0.02, gamma=0.5, rho=-0.05)
SAMPLES, BATCH = 20_000, 2000
STEPS = 10


class FullModel:
    """The gradient of the mean loss in alpha and A by the algebra of `model.gradients`, y = 1.

    Competent: the patches are projected, so that d is gone; float32, all patterns at once or in
    batches that fit a cache.
    """

    def __init__(self, z: np.ndarray, batch: int) -> None:
        self.n, self.batches = len(z), torch.from_numpy(z).split(batch)
        D, C = SETS.D, SETS.C
        self.own = torch.block_diag(*[torch.ones(C, C, dtype=torch.bool)] * (D // C))
        self.diagonal = torch.eye(D, dtype=torch.bool)

    def gradient(self, point: Point) -> tuple[float, float, float, float]:
        """(risk, d_alpha, d_gamma, d_rho), the last two per entry."""
        D, p, nu = SETS.D, ARCHITECTURE.p, ARCHITECTURE.nu
        A = torch.where(self.own, point.gamma, point.rho)
        S = torch.softmax(torch.where(self.diagonal, ARCHITECTURE.beta, A), dim=1)
        loss, d_alpha, dS = torch.zeros(()), torch.zeros(()), torch.zeros(D, D)
        for z in self.batches:
            x = D * (z @ S.T)  # of alpha = 1
            ax = point.alpha * x
            power = ax ** (p - 1)
            margin = (ax * (power + nu)).sum(dim=1)
            dx = torch.sigmoid(-margin)[:, None] * (p * power + nu) / -self.n
            loss -= torch.nn.functional.logsigmoid(margin).sum()
            d_alpha += (dx * x).sum()
            dS += D * point.alpha * (dx.T @ z)
        dA = S * (dS - (S * dS).sum(dim=1, keepdim=True))
        within, across = dA[self.own & ~self.diagonal].mean(), dA[~self.own].mean()
        return loss.item() / self.n, d_alpha.item(), within.item(), across.item()


def rows() -> list[Row]:
    """Monte Carlo and Fourier against the full model, one thread; some steps of a descent each."""
    torch.set_num_threads(1)
    sample = MonteCarlo(SETS, ARCHITECTURE, SAMPLES, stream(0, "benchmarks.population"))
    z = methods.patterns(sample).astype(np.float32)
    one, small = FullModel(z, SAMPLES), FullModel(z, BATCH)
    # The same quantity, though in float32.
    np.testing.assert_allclose(one.gradient(POINT), sample.gradient(POINT)[:4], rtol=1e-3)
    fourier = {target: Fourier(SETS, ARCHITECTURE, target) for target in (1e-6, 1e-10)}
    return [
        _row("Monte Carlo", sample, "all patterns at once; at least 25", one),
        _row("Monte Carlo", sample, f"{BATCH} patterns at a time", small),
        _row("Fourier, target 1e-6,", fourier[1e-6], f"{BATCH} patterns at a time", small),
        _row("Fourier, target 1e-10,", fourier[1e-10], f"{BATCH} patterns at a time", small),
    ]


def _row(ours: str, method: MonteCarlo | Fourier, how: str, full: FullModel) -> Row:
    return compare(
        f"population gradient, D {SETS.D}: {ours} against a full model ({how})",
        lambda: [method.gradient(POINT) for _ in range(STEPS)],
        lambda: [full.gradient(POINT) for _ in range(STEPS)],
    )
