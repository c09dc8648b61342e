"""Kernels, losses and proximities, each its formula in NumPy."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Kernel = Callable[[Array, Array], Array]
Scalar = Callable[[float, float], float]

# Kernels: Gram matrices (n, m) of points X (n, p) and Y (m, p) ----------------------


def difference(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return ``x - y`` over one length scale or one per feature, (n, m, p)."""
    ahead = X[:, None, :] - Y[None, :, :]
    return np.asarray(ahead / np.asarray(length_scale, dtype=float))


def distance(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return the distances r (n, m), over one length scale or one per feature."""
    return np.asarray(np.sqrt(np.sum(difference(X, Y, length_scale) ** 2, axis=2)))


def gaussian(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return ``exp(-r^2 / 2)``."""
    return np.exp(-(distance(X, Y, length_scale) ** 2) / 2)


def laplacian(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return ``exp(-r)``."""
    return np.exp(-distance(X, Y, length_scale))


def matern32(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return ``(1 + a) exp(-a)`` with ``a = sqrt(3) r``."""
    a = float(np.sqrt(3)) * distance(X, Y, length_scale)
    return (1 + a) * np.exp(-a)


def matern52(X: Array, Y: Array, length_scale: ArrayLike) -> Array:
    """Return ``(1 + a + a^2 / 3) exp(-a)`` with ``a = sqrt(5) r``."""
    a = float(np.sqrt(5)) * distance(X, Y, length_scale)
    return (1 + a + a**2 / 3) * np.exp(-a)


def rational_quadratic(
    X: Array, Y: Array, length_scale: ArrayLike, alpha: float
) -> Array:
    """Return ``(1 + r^2 / (2 alpha))^-alpha``."""
    return (1 + distance(X, Y, length_scale) ** 2 / (2 * alpha)) ** -alpha


def periodic(X: Array, Y: Array, length_scale: ArrayLike, period: ArrayLike) -> Array:
    """Return ``exp(-2 sum_f sin(pi (x_f - y_f) / period_f)^2 / length_scale_f^2)``."""
    waves = np.sin(np.pi * difference(X, Y, period)) / np.asarray(length_scale)
    return np.asarray(np.exp(-2 * np.sum(waves**2, axis=2)))


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
        lambda a, y: min(abs(a - y), phi) * (abs(a - y) - min(abs(a - y), phi) / 2),
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
