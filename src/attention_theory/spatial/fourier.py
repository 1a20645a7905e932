"""Population gradients by Fourier quadrature: exact to a stated target at any D.

With tanh(F/2) = int sin(wF) / sinh(pi w) dw, every expectation that a gradient needs,
E[sigmoid(-F) dF] = (E[dF] - E[tanh(F/2) dF]) / 2, follows from E[exp(iwF) dF]. Given Z the sets are
independent but for their sum, so with m = L - 1, j = z - C and h_k the terms of a set of type k,

    E[exp(iwF) dF; Z = z] = e^{iw h_sig} [x^j] ( dh_sig g^m + m dg g^(m-1) ),
    g(x) = sum_k P_k x^{s_k} e^{iw h_k},   dg(x) = sum_k P_k x^{s_k} e^{iw h_k} dh_k,

a coefficient read off on the unit circle. The risk follows in the same way from
log 2 cosh(F/2) = log 2 + 1/2 int (1 - cos wF) / (w sinh pi w) dw. docs/population.md derives it.

What the target decides, each with a bound on what it leaves out:
- the window of Z: every z whose exact share of the absolute terms matters;
- the range R(z) of F: P(|F| > R), weighted with |dF|, is below the target by Chernoff's bound;
- the step in w: 2 pi / step = R + log(8 / target), for the midpoint rule sees tanh as a square wave
  of that half-period, off by 4 exp(|F| - 2 pi / step);
- the end of w: the integrand decays like exp(-pi w);
- the number of points on the circle: sums of sets that it would fold in lie outside the window.
"""

from typing import NamedTuple

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.spatial import reduced
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Gradient, Terms, Types
from attention_theory.spatial.settings import Architecture

REACH = 5000.0  # largest range of F that is integrated
MARGIN = 0.1  # share of the target that each approximation may use
SMALL_POWER = 64  # up to here powers are multiplied out, which is exact where g is near zero
LOG_RANGES = np.log(2.0) * np.arange(0, 13, 0.5)  # of ranges that Chernoff's exponents are made for


class Law(NamedTuple):
    """The law of the sum of m - 1 sets on -reach .. reach, and the circle's size (odd)."""

    probability: np.ndarray
    reach: int
    points: int


class Sum(NamedTuple):
    """E[F] and E[dF] by z, with their absolute terms, both (4, z), and P(Z = z)."""

    values: np.ndarray
    absolute: np.ndarray
    probability: np.ndarray


class Fourier:
    """Population gradients at an error `target` relative to the sum of absolute terms."""

    def __init__(self, sets: Sets, architecture: Architecture, target: float = 1e-10) -> None:
        self.sets, self.architecture, self.types = sets, architecture, Types(sets)
        self.tolerance = target * MARGIN
        self.law = _law(sets, self.types, self.tolerance)
        self.j = np.arange(-self.law.reach, self.law.reach + 1)
        self.Z = self.j + sets.C
        angle = 2 * np.pi * np.arange(self.law.points) / self.law.points
        turns = np.arange(-sets.C, sets.C + 1)[:, None] * angle
        self.angle = angle
        self.powers = np.exp(1j * turns)  # x^s on the circle, (2 C + 1, points)
        self.powers_minus_one = _minus_one(turns)
        self.by_sum = np.eye(2 * sets.C + 1)[self.types.s + sets.C]  # gathers types by s
        self.evaluations = 0  # of g, in all gradients so far: what a gradient costs

    def gradient(self, point: Point) -> Gradient:
        """The population gradient at a point.

        Raises BadInput, naming the range of F, where that is beyond `REACH`.
        """
        terms = reduced.terms(self.sets, self.architecture, point, self.types, self.Z)
        linear = self.architecture.nu * self.sets.D * self.Z
        linear = np.stack([point.alpha * linear, linear, 0 * linear, 0 * linear])
        if not all(np.isfinite(array).all() for array in terms):
            raise BadInput(f"method fourier: the range of F is infinite, beyond {REACH:.0f}")
        at_zero = self._at_zero(terms, linear)
        scales = at_zero.absolute.sum(axis=1)
        scales[0] += np.log(2)
        shares = _ratio(at_zero.absolute, scales[:, None]).max(axis=0)
        kept = shares > self.tolerance / len(self.Z)
        ranges = self._ranges(terms, linear, scales)
        reach = float(ranges[kept].max())
        if not reach <= REACH:
            raise BadInput(
                f"method fourier: F ranges over +-{reach:.3g} at target "
                f"{self.tolerance / MARGIN:.0e}, beyond +-{REACH:.0f}; lower |alpha|, or use "
                "monte-carlo"
            )
        tanh = np.zeros(3)
        log_cosh = 0.0
        for z in np.flatnonzero(kept):
            of_z = Terms(*(array[z] for array in terms))
            integral = self._integrate(of_z, linear[:, z], ranges[z], self.j[z])
            tanh += integral[1:]
            log_cosh += integral[0]
        mean = at_zero.values.sum(axis=1)
        values = np.concatenate([[np.log(2) + log_cosh - mean[0] / 2], (tanh - mean[1:]) / 2])
        left_out = self.tolerance * 3 + shares[~kept].sum()
        rounding = np.finfo(float).eps * (30 + reach + self.sets.others * self.sets.C * self.sets.q)
        return Gradient(
            *reduced.per_entry(self.sets, values),
            reduced.per_entry(self.sets, (left_out + rounding) * scales),
            reduced.per_entry(self.sets, scales),
        )

    def _at_zero(self, terms: Terms, linear: np.ndarray) -> Sum:
        """E[F; Z = z] and E[dF; Z = z] with their absolute terms: no integral is needed."""
        types, m = self.types, self.sets.others
        places = self.j[:, None] - types.s + self.law.reach
        inside = (places >= 0) & (places < len(self.law.probability))
        others = np.where(inside, self.law.probability[np.where(inside, places, 0)], 0)
        joint = types.probability * others  # one set of type k, the other m - 1 making up the rest
        probability = joint.sum(axis=1)
        stacked = np.stack(terms)
        own = linear + stacked[:, :, -1]
        absolute = np.abs(linear) + np.abs(stacked[:, :, -1])
        return Sum(
            probability * own + m * (joint * stacked).sum(axis=2),
            probability * absolute + m * (joint * np.abs(stacked)).sum(axis=2),
            probability,
        )

    def _ranges(self, terms: Terms, linear: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """R(z) with E[weight; |F| > R, Z = z] below the tolerance, (z,), by Chernoff's bound.

        The weight of an outcome is the sum over its sets of their largest term relative to the
        scales. For any lambda and tau,
        E[weight; F > R, Z = z] <= exp(-lambda R - tau j) E[weight exp(lambda F + tau (Z - C))].
        """
        types, m = self.types, self.sets.others
        stacked = np.stack(terms)
        weight = _ratio(np.abs(stacked), scales[:, None, None]).max(axis=0)
        own = _ratio(np.abs(linear) + np.abs(stacked[:, :, -1]), scales[:, None]).max(axis=0)
        log_tolerance = np.log(self.tolerance / len(self.Z))
        variance = self.sets.q * self.sets.C
        tau = np.clip(self.j / (m * variance), -3, 3)
        base = types.log_probability + tau[:, None] * types.s
        lowest = np.full(len(self.Z), np.inf)
        highest = lowest.copy()
        with np.errstate(divide="ignore"):
            log_weight, log_own = np.log(weight), np.log(own)
        for exponent in -log_tolerance / np.exp(LOG_RANGES):
            for sign, best in ((1, highest), (-1, lowest)):
                tilted = base + sign * exponent * terms.F
                log_g, log_dg = _log_sum(tilted), _log_sum(tilted + log_weight)
                signal = sign * exponent * (linear[0] + terms.F[:, -1])
                bound = np.logaddexp(log_own + m * log_g, np.log(m) + log_dg + (m - 1) * log_g)
                bound += signal - tau * self.j
                np.minimum(best, (bound - log_tolerance) / exponent, out=best)
        certain = np.abs(linear[0]) + np.abs(terms.F[:, -1]) + m * np.abs(terms.F).max(axis=1)
        return np.minimum(certain, np.maximum(0, np.maximum(lowest, highest)))

    def _integrate(self, terms: Terms, linear: np.ndarray, reach: float, j: int) -> np.ndarray:
        """E[log cosh(F/2); Z = z] and E[tanh(F/2) dF; Z = z] in alpha, gamma, rho, (4,)."""
        types, m = self.types, self.sets.others
        step = 2 * np.pi / (reach + np.log(8 / self.tolerance))
        nodes = int(np.ceil(np.log(4 / self.tolerance) / np.pi / step))
        w = step * (np.arange(nodes) + 0.5)
        rotation = _minus_one(w[:, None] * terms.F)
        weights = types.probability * (1 + rotation)
        minus_one = (weights @ self.by_sum) @ self.powers_minus_one
        minus_one += (rotation @ types.probability)[:, None]
        # [x^(j - s)] g^(m-1) for every s, as a mean over the circle.
        read_off = (self.powers * (np.exp(-1j * j * self.angle) / len(self.angle))).T
        others = _power(minus_one, m - 1) @ read_off
        joint = weights * others[:, types.s + self.sets.C]
        stacked = np.stack(terms)
        total = joint.sum(axis=1)
        own = linear + stacked[:, -1]
        signal = np.exp(1j * w * own[0])
        derivatives = signal * (own[1:, None] * total + m * stacked[1:] @ joint.T)
        kernel = 2 * step / np.sinh(np.pi * w)
        self.evaluations += minus_one.size
        probability = float(self._probability(j))
        cosine = probability - (signal * total).real
        return np.concatenate([[(cosine / w) @ kernel / 2], derivatives.imag @ kernel])

    def _probability(self, j: int) -> float:
        """P(Z = C + j)."""
        places = j - self.types.s + self.law.reach
        inside = (places >= 0) & (places < len(self.law.probability))
        return self.types.probability[inside] @ self.law.probability[places[inside]]


def _law(sets: Sets, types: Types, tolerance: float) -> Law:
    """The law of the sum of m - 1 sets, where its tail matters."""
    m, C = sets.others, sets.C
    # Chernoff: P(|S| > r) <= 2 min over tau of exp(m K(tau) - tau r), K the log moment function.
    tau = np.geomspace(1e-6, 50, 400)
    K = _log_sum(types.log_probability + tau[:, None] * types.s)
    # What lies outside weighs like a power of Z: a thousandth leaves room for that.
    reach = int(np.ceil(((m * K - np.log(tolerance / 1000)) / tau).min()))
    reach = min(m * C, reach)
    points = 2 * reach + 2 * C + 1
    angle = 2 * np.pi * np.arange(points) / points
    g_minus_one = types.probability @ _minus_one(types.s[:, None] * angle)
    coefficients = np.fft.ifft(np.conj(_power(g_minus_one, m - 1))).real
    sums = np.arange(-reach, reach + 1)
    return Law(np.maximum(coefficients[sums % points], 0), reach, points)


def _power(minus_one: np.ndarray, n: int) -> np.ndarray:
    """(1 + minus_one)^n for |1 + minus_one| <= 1, without losing n times the rounding of 1."""
    if n <= SMALL_POWER:
        return (1 + minus_one) ** n
    x, y = minus_one.real, minus_one.imag
    with np.errstate(divide="ignore"):
        modulus = np.exp(n / 2 * np.log1p(np.maximum(x * (2 + x) + y * y, -1)))
    phase = n * np.arctan2(y, 1 + x)
    return modulus * np.exp(1j * phase)


def _minus_one(angle: np.ndarray) -> np.ndarray:
    """exp(i angle) - 1 without cancellation."""
    half = np.sin(angle / 2)
    return -2 * half * half + 1j * np.sin(angle)


def _log_sum(logs: np.ndarray) -> np.ndarray:
    """log sum exp over the last axis; -inf where every entry is."""
    top = logs.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore", over="ignore"):
        return safe + np.log(np.exp(logs - safe[..., None]).sum(axis=-1))


def _ratio(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """values / scales; 0 where both are."""
    return np.divide(values, scales, out=np.zeros_like(values), where=scales > 0)
