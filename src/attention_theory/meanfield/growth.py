"""Laws fitted to a gap over time: linear, exponential, saturating, power."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares


def _linear(tau: np.ndarray, a: float, b: float) -> np.ndarray:
    return a + b * tau


def _exponential(tau: np.ndarray, a: float, b: float) -> np.ndarray:
    return a * np.exp(np.clip(b * tau, -50, 50))


def _saturating(tau: np.ndarray, a: float, b: float, c: float) -> np.ndarray:
    return a + b * -np.expm1(-tau / abs(c))


def _power(tau: np.ndarray, a: float, b: float) -> np.ndarray:
    return a * (1 + tau) ** b


LAWS: dict[str, Callable] = {
    "linear": _linear,
    "exponential": _exponential,
    "saturating": _saturating,
    "power": _power,
}


def fit(law: str, tau: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float]:
    """A law's fitted values, by least squares on relative errors, and their root mean square."""
    scale, end = values.mean(), tau.max()
    start = {
        "linear": (scale, 0.0),
        "exponential": (scale, 0.0),
        "saturating": (values[0], values[-1] - values[0], end / 4),
        "power": (values[0], 0.1),
    }[law]
    function = LAWS[law]
    found = least_squares(lambda p: function(tau, *p) / values - 1, start, x_scale="jac")
    fitted = function(tau, *found.x)
    return fitted, float(np.sqrt(((fitted / values - 1) ** 2).mean()))
