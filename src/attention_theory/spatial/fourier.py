"""Population gradients by Fourier quadrature: exact to a stated target at any D.

With sigmoid(-F) = 1/2 - tanh(F/2) / 2 and tanh(F/2) = int sin(wF) / sinh(pi w) dw, all that a
gradient needs, E[sigmoid(-F) dF], follows from E[exp(iwF) dF]. Given Z the sets are independent
but for their sum, so with m = L - 1, j = Z - C and h_k the terms of a set of type k,

    E[exp(iwF) dF; Z] = exp(iw h_sig) [x^j] ( dh_sig g^m + m dg g^(m-1) ),
    g(x) = sum_k P_k x^{s_k} exp(iw h_k),   dg(x) = sum_k P_k x^{s_k} exp(iw h_k) dh_k,

a coefficient read off on a circle |x| = exp(tau), with the tau of `tilts`. The risk follows from
log 2 cosh(F/2) = log 2 + 1/2 int (1 - cos wF) / (w sinh pi w) dw. docs/population.md derives this.
What the target decides, each with a bound on what it leaves out, by Chernoff's inequality:
- the window of Z: every Z whose share of the absolute terms matters;
- the step in w: the midpoint rule sees tanh as a square wave of half-period 2 pi / step;
- the end of w: the integrand decays like exp(-pi w);
- the number of points on the circle: the rule there sees j modulo that number.
"""

from typing import NamedTuple

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.spatial import reduced, tilts
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Gradient, Types
from attention_theory.spatial.settings import Architecture
from attention_theory.spatial.tilts import Window

REACH = 5000.0  # largest range of F that is integrated
MOST = 2e8  # values of g in a gradient: a minute, and 3 GB of the circle's powers
MARGIN = 0.1  # share of the target that all that is left out may have
UNIT = np.finfo(float).eps / 2  # of rounding
ROUNDING = 10.0  # units that add up in an integral, besides those of F and of the mass
UNLIKELY = 92.0  # exp(-92) = 1e-40
BLOCK = 1 << 14  # values of g that are worked on at a time: they fit a processor's cache


class Nodes(NamedTuple):
    """The midpoint rule: each node's row in the window (n,), w (n,) and step / sinh(pi w) (n,)."""

    row: np.ndarray
    w: np.ndarray
    kernel: np.ndarray


class Fourier:
    """Population gradients at an error `target` relative to the sum of absolute terms.

    These are E|dF|, and E[1 + |F|] for the risk: what the integrals' terms add up to.
    """

    def __init__(self, sets: Sets, architecture: Architecture, target: float = 1e-10) -> None:
        self.sets, self.architecture, self.types = sets, architecture, Types(sets)
        self.target, self.tolerance = target, target * MARGIN
        self.reach = _reach(sets)
        self.evaluations = 0  # of g, in all gradients so far: what a gradient costs

    def gradient(self, point: Point) -> Gradient:
        """The population gradient at a point.

        Raises BadInput, naming the range of F, where that is beyond `REACH`, and where q D is so
        large that there would be too many values.
        """
        window, log_allowed = self._window(point)
        kept = window.log_share > log_allowed + np.log(8)
        dropped = np.exp(window.log_share[~kept]).sum()
        window = window.some(kept)
        periods = _periods(window, log_allowed)
        if not periods.max() <= REACH:
            raise BadInput(
                f"method fourier: F ranges over +-{periods.max():.3g} at target "
                f"{self.target:.0e}, beyond +-{REACH:.0f}; lower |alpha|, or use monte-carlo"
            )
        nodes, points = _nodes(window, periods, log_allowed), _points(window, periods, log_allowed)
        if points * max(len(nodes.w), len(window.j)) > MOST:
            raise BadInput(
                f"method fourier: D = {self.sets.D}, q = {self.sets.q:g} needs "
                f"{points * len(nodes.w):.2g} values, above {MOST:.0e}, for Z ranges over "
                f"+-{abs(window.j).max()}; use monte-carlo"
            )
        values, scales = self._integrate(window, nodes, points)
        errors = (self.tolerance + dropped) * window.scales + _rounding(window, nodes, periods)
        return Gradient(
            *reduced.per_entry(self.sets, values),
            reduced.per_entry(self.sets, errors),
            reduced.per_entry(self.sets, scales),
        )

    def _window(self, point: Point) -> tuple[Window, float]:
        """A window of Z wide enough that its ends do not matter; the log of the share of an error.

        Eight errors of that share for every Z are within the tolerance.
        """
        reach, most = self.reach, self.sets.others * self.sets.C
        while True:
            j = np.arange(-reach, reach + 1)
            window = tilts.look(self.sets, self.architecture, self.types, point, j)
            if window is None:
                raise BadInput(f"method fourier: the range of F is infinite, beyond {REACH:.0f}")
            log_allowed = np.log(self.tolerance / (8 * len(j)))
            if reach == most or window.log_share[[0, -1]].max() < log_allowed:
                return window, log_allowed
            reach = min(2 * reach, most)

    def _integrate(
        self, window: Window, nodes: Nodes, points: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """(risk, alpha, gamma, rho) and the sums of their absolute terms."""
        mass, law, m = np.exp(window.tilts.log_mass)[:, None], window.tilts.law, window.m
        circle = Circle(self.sets.C, self.types, points, window.j)
        joint = mass * circle.joint(law, 0 * law, m, np.arange(len(law))).real
        probability = joint.sum(axis=1)
        mean = probability @ window.own + m * np.einsum("zt,ztc->c", joint, window.sets)
        scales = probability @ window.absolute
        scales += m * np.einsum("zt,ztc->c", joint, np.abs(window.sets))
        tanh, log_cosh = np.zeros(4), np.log(2) * probability.sum()
        for block in np.array_split(np.arange(len(nodes.w)), -(-len(nodes.w) * points // BLOCK)):
            row, w, kernel = (each[block] for each in nodes)
            sets, own = window.sets[row], window.own[row]
            joint = circle.joint(law[row], w[:, None] * sets[:, :, 0], m, row)
            joint *= mass[row] * np.exp(1j * w * own[:, 0])[:, None]
            one = joint.sum(axis=1)
            derivatives = one[:, None] * own + m * np.einsum("nt,ntc->nc", joint, sets)
            tanh += 2 * kernel @ derivatives.imag
            log_cosh += kernel / w @ (probability[row] - one.real)
        self.evaluations += len(nodes.w) * points
        values = (tanh - mean) / 2
        values[0] = log_cosh - mean[0] / 2
        return values, scales


class Circle:
    """Points on |x| = 1 on which the coefficients x^j of powers are read off, for some j (Z,)."""

    def __init__(self, C: int, types: Types, points: int, j: np.ndarray) -> None:
        angle = 2 * np.pi * np.arange(points) / points
        turns = np.arange(-C, C + 1)[:, None] * angle
        self.powers = np.exp(1j * turns)  # x^s, (2 C + 1, points)
        self.powers_minus_one = _minus_one(turns)
        self.read_off = np.exp(-1j * j[:, None] * angle) / points
        self.C, self.j, self.place = C, j, types.s + C
        self.by_sum = np.eye(2 * C + 1)[self.place]  # gathers types by s

    def joint(self, law: np.ndarray, phase: np.ndarray, m: int, row: np.ndarray) -> np.ndarray:
        """E[exp(i phases of m sets); a given one has type k, all sum to j], (n, T).

        By nodes (n,), each with a law (n, T), phases (n, T) and the `row` of its j.
        """
        rotation = _minus_one(phase)
        weights = law * (1 + rotation)
        if m == 1:  # there are no other sets to sum over
            return weights * (self.place - self.C == self.j[row][:, None])
        minus_one = (weights @ self.by_sum) @ self.powers_minus_one
        minus_one += (law * rotation).sum(axis=1)[:, None]
        power = _power(minus_one, m - 1)
        power *= self.read_off[row]
        others = power @ self.powers.T  # by s: [x^(j - s)] of the power
        return weights * others[:, self.place]


def _nodes(window: Window, periods: np.ndarray, log_allowed: float) -> Nodes:
    """The midpoint rule of every Z."""
    step = 2 * np.pi / periods
    counts = np.ceil((window.log_share - log_allowed) / np.pi / step).astype(int)
    row = np.repeat(np.arange(len(counts)), counts)
    w = step[row] * (np.arange(len(row)) - (np.cumsum(counts) - counts)[row] + 0.5)
    return Nodes(row, w, step[row] / np.sinh(np.pi * w))


def _rounding(window: Window, nodes: Nodes, periods: np.ndarray) -> np.ndarray:
    """The rounding of (risk, alpha, gamma, rho)."""
    absolute = (1 + np.bincount(nodes.row, nodes.kernel))[:, None] * window.mean
    absolute[:, 0] = window.mean[:, 0] + np.bincount(nodes.row, nodes.kernel / nodes.w)
    units = UNIT * (ROUNDING + periods / 4 + window.tilts.digits)
    return (window.tilts.likely * units) @ absolute


def _periods(window: Window, log_allowed: float) -> np.ndarray:
    """2 pi / step for every Z (Z,): P such that the rule's error is within the allowed share.

    It is W exp(|F| - P) if |F| < P and about W beyond, so at most W exp(x (|F| - P)) for x <= 1.
    """
    exponents = 0.5 ** np.arange(10)[:, None]
    return np.maximum(*(window.edge(log_allowed, exponents, a=sign) for sign in (1, -1)))


def _points(window: Window, periods: np.ndarray, log_allowed: float) -> int:
    """Points on the circle, so that sums of the sets that it folds onto j are within the share."""
    exponents = 0.5 ** np.arange(6)[:, None] * 32 / np.sqrt(1 + window.tilts.variance)
    log_allowed = log_allowed - np.log(4 + periods)  # for the sum of the weights
    edges = (window.edge(log_allowed, exponents, b=sign) for sign in (1, -1))
    certain = window.m * window.types.s.max() + np.abs(window.j)
    return 1 + int(np.minimum(np.ceil(np.maximum(*edges)), certain).max())


def _reach(sets: Sets) -> int:
    """A first window of j: P(|j| > reach) < exp(-UNLIKELY) by Chernoff's bound."""
    tau = np.geomspace(1e-6, tilts.STEEPEST, 100)
    patches = sets.others * sets.C
    log_norm = np.log1p(2 * sets.q * np.sinh(tau / 2) ** 2)
    return min(int(np.ceil(((patches * log_norm + UNLIKELY) / tau).min())), patches)


def _power(minus_one: np.ndarray, n: int) -> np.ndarray:
    """(1 + minus_one)^n by squaring, without losing n times the rounding of 1."""
    power = np.zeros_like(minus_one)
    while n:
        if n & 1:
            power += minus_one * (1 + power)
        minus_one = minus_one * (2 + minus_one)
        n >>= 1
    return 1 + power


def _minus_one(angle: np.ndarray) -> np.ndarray:
    """exp(i angle) - 1 without cancellation."""
    half = np.sin(angle / 2)
    return -2 * half * half + 1j * np.sin(angle)
