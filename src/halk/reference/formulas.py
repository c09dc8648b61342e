"""Kernels, losses and proximities, each its formula in NumPy."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Kernel = Callable[[Array, Array], Array]
Scalar = Callable[[float, float], float]


# Kernels: Gram matrices (n, m) of points X (n, p) and Y (m, p) ----------------------


def distance(X: Array, Y: Array, bandwidth: ArrayLike) -> Array:
    """Return the distances r (n, m), over one bandwidth or one a feature."""
    difference = (X[:, None, :] - Y[None, :, :]) / np.asarray(bandwidth, dtype=float)
    return np.asarray(np.sqrt(np.sum(difference**2, axis=2)))


def gaussian(X: Array, Y: Array, bandwidth: ArrayLike) -> Array:
    """Return ``exp(-r^2 / 2)``."""
    return np.exp(-(distance(X, Y, bandwidth) ** 2) / 2)


def laplacian(X: Array, Y: Array, bandwidth: ArrayLike) -> Array:
    """Return ``exp(-r)``."""
    return np.exp(-distance(X, Y, bandwidth))


def matern32(X: Array, Y: Array, bandwidth: ArrayLike) -> Array:
    """Return ``(1 + a) exp(-a)`` with ``a = sqrt(3) r``."""
    a = float(np.sqrt(3)) * distance(X, Y, bandwidth)
    return (1 + a) * np.exp(-a)


def matern52(X: Array, Y: Array, bandwidth: ArrayLike) -> Array:
    """Return ``(1 + a + a^2 / 3) exp(-a)`` with ``a = sqrt(5) r``."""
    a = float(np.sqrt(5)) * distance(X, Y, bandwidth)
    return (1 + a + a**2 / 3) * np.exp(-a)


def polynomial(X: Array, Y: Array, degree: int, scale: float, offset: float) -> Array:
    """Return ``(scale x.y + offset)^degree``."""
    return (scale * (X @ Y.T) + offset) ** degree


def linear(X: Array, Y: Array) -> Array:
    """Return ``x.y``."""
    return X @ Y.T


# Losses of a prediction a against a target y; the symmetric ones serve as h(a, b) ----


class Loss(NamedTuple):
    """A convex function: value, derivative in a (0 at kinks), bound on curvature."""

    value: Scalar
    derivative: Scalar
    curvature: float


LOSSES: dict[str, Callable[..., Loss]] = {
    "squared": lambda: Loss(lambda a, y: (a - y) ** 2 / 2, lambda a, y: a - y, 1.0),
    "huber": lambda phi: Loss(
        lambda a, y: (
            (a - y) ** 2 / 2 if abs(a - y) <= phi else phi * (abs(a - y) - phi / 2)
        ),
        lambda a, y: max(-phi, min(a - y, phi)),
        1.0,
    ),
    "absolute": lambda: Loss(lambda a, y: abs(a - y), lambda a, y: np.sign(a - y), 0.0),
    "insensitive": lambda epsilon: Loss(
        lambda a, y: max(abs(a - y) - epsilon, 0.0),
        lambda a, y: np.sign(a - y) if abs(a - y) > epsilon else 0.0,
        0.0,
    ),
    "quantile": lambda tau: Loss(
        lambda a, y: tau * (y - a) if y >= a else (tau - 1) * (y - a),
        lambda a, y: 0.0 if y == a else -tau if y > a else 1 - tau,
        0.0,
    ),
    "logistic": lambda: Loss(  # labels y of -1 and +1, here and for the hinge
        lambda a, y: float(np.logaddexp(0, -y * a)),
        lambda a, y: float(-y * np.exp(-np.logaddexp(0, y * a))),
        0.25,
    ),
    "hinge": lambda: Loss(
        lambda a, y: max(0.0, 1 - y * a), lambda a, y: -y if y * a < 1 else 0.0, 0.0
    ),
}

PROXIMITIES: dict[str, Callable[..., Loss]] = {
    "squared": LOSSES["squared"],
    "huber": LOSSES["huber"],
    # Curvature 1 by convention, which keeps S9 bounded.
    "absolute": lambda: LOSSES["absolute"]()._replace(curvature=1.0),
}
