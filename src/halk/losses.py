"""Losses: what a wrong prediction costs an agent.

Each gives its value, a subgradient in the prediction ``a`` and a bound on its curvature
(used by the normalised step, S9). Conventions at a kink: the subgradient is zero
wherever zero is one. Piecewise linear losses have curvature zero; their bounded
subgradient keeps the step bounded without help.

To add one: a class, its formulas registered below it, and its name in ``__all__``.
"""

from math import exp, log1p
from typing import Any, ClassVar, NamedTuple, Self

from halk._jit import compiled, generic
from halk._validation import Vector, nonnegative, positive, real, require
from halk.component import Component, elementwise

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Quantile",
    "Squared",
    "loss_curvature",
    "loss_slope",
    "loss_value",
]


@generic
def loss_value(loss: Any, a: float, y: float) -> float:
    """Return the loss of predicting ``a`` where ``y`` was seen."""
    raise TypeError("this loss has no value: register one with loss_value")


@generic
def loss_slope(loss: Any, a: float, y: float) -> float:
    """Return a subgradient of the loss in the prediction ``a`` (``loss'`` of S3)."""
    raise TypeError("this loss has no slope: register one with loss_slope")


@generic
def loss_curvature(loss: Any) -> float:
    """Return a bound on the second derivative (``loss''`` of S9)."""
    return 0.0


@compiled
def _fill(loss: Any, a: Vector, y: Vector, values: Vector, slopes: Vector) -> None:
    for k in range(len(a)):
        values[k] = loss_value(loss, a[k], y[k])
        slopes[k] = loss_slope(loss, a[k], y[k])


class Loss(Component):
    """A convex function of the prediction; calling it gives values for arrays."""

    __slots__ = ()
    takes_labels: ClassVar[bool] = False
    """Whether targets are the labels -1 and +1."""

    def _both(self, prediction: Any, target: Any) -> tuple[Any, Any]:
        return elementwise(_fill, self, prediction, target)

    def __call__(self, prediction: Any, target: Any) -> Any:
        """Return the loss, element by element."""
        return self._both(prediction, target)[0]

    def slope(self, prediction: Any, target: Any) -> Any:
        """Return a subgradient in the prediction, element by element."""
        return self._both(prediction, target)[1]

    @property
    def curvature(self) -> float:
        """A bound on the second derivative in the prediction."""
        return float(loss_curvature(self))


class _Empty(NamedTuple):
    pass


class Squared(Loss, _Empty):
    """Squared loss ``(a - y)^2 / 2``."""

    __slots__ = ()


@loss_value.register
def _(loss: Squared, a: float, y: float) -> float:
    return 0.5 * (a - y) * (a - y)


@loss_slope.register
def _(loss: Squared, a: float, y: float) -> float:
    return a - y


@loss_curvature.register
def _(loss: Squared) -> float:
    return 1.0


class Huber(Loss, NamedTuple("_Huber", [("phi", float)])):
    """Squared loss near the target, linear beyond ``phi``: outliers pull less.

    ``r^2 / 2`` for ``|r| <= phi``, else ``phi (|r| - phi / 2)``, with ``r = a - y``.
    """

    __slots__ = ()

    def __new__(cls, phi: float = 1.0) -> Self:
        return super().__new__(cls, positive("phi", phi))


@loss_value.register
def _(loss: Huber, a: float, y: float) -> float:
    size = abs(a - y)
    if size <= loss.phi:
        return 0.5 * size * size
    return loss.phi * (size - 0.5 * loss.phi)


@loss_slope.register
def _(loss: Huber, a: float, y: float) -> float:
    return min(max(a - y, -loss.phi), loss.phi)


@loss_curvature.register
def _(loss: Huber) -> float:
    return 1.0


class Absolute(Loss, _Empty):
    """Absolute loss ``|a - y|``: learns the median."""

    __slots__ = ()


@loss_value.register
def _(loss: Absolute, a: float, y: float) -> float:
    return abs(a - y)


@loss_slope.register
def _(loss: Absolute, a: float, y: float) -> float:
    return 1.0 if a > y else (-1.0 if a < y else 0.0)


class EpsilonInsensitive(Loss, NamedTuple("_Insensitive", [("epsilon", float)])):
    """Absolute loss with a dead zone: ``max(|a - y| - epsilon, 0)``."""

    __slots__ = ()

    def __new__(cls, epsilon: float = 0.1) -> Self:
        return super().__new__(cls, nonnegative("epsilon", epsilon))


@loss_value.register
def _(loss: EpsilonInsensitive, a: float, y: float) -> float:
    return max(abs(a - y) - loss.epsilon, 0.0)


@loss_slope.register
def _(loss: EpsilonInsensitive, a: float, y: float) -> float:
    if abs(a - y) <= loss.epsilon:
        return 0.0
    return 1.0 if a > y else -1.0


class Quantile(Loss, NamedTuple("_Quantile", [("tau", float)])):
    """Pinball loss: learns the ``tau`` quantile.

    ``tau r`` for ``r = y - a >= 0``, else ``(tau - 1) r``.
    """

    __slots__ = ()

    def __new__(cls, tau: float = 0.5) -> Self:
        number = real("tau", tau)
        require(0 < number < 1, "tau", "be between 0 and 1", number)
        return super().__new__(cls, number)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return the median and an upper quantile."""
        return cls(0.5), cls(0.9)


@loss_value.register
def _(loss: Quantile, a: float, y: float) -> float:
    return max(loss.tau * (y - a), (loss.tau - 1.0) * (y - a))


@loss_slope.register
def _(loss: Quantile, a: float, y: float) -> float:
    return 1.0 - loss.tau if a > y else (-loss.tau if a < y else 0.0)


class Logistic(Loss, _Empty):
    """Logistic loss ``log(1 + exp(-y a))`` for labels -1 and +1."""

    __slots__ = ()
    takes_labels = True


@loss_value.register
def _(loss: Logistic, a: float, y: float) -> float:
    margin = y * a
    return log1p(exp(-abs(margin))) + max(-margin, 0.0)


@loss_slope.register
def _(loss: Logistic, a: float, y: float) -> float:
    decay = exp(-abs(y * a))
    return -y * (decay if y * a > 0.0 else 1.0) / (1.0 + decay)


@loss_curvature.register
def _(loss: Logistic) -> float:
    return 0.25


class Hinge(Loss, _Empty):
    """Hinge loss ``max(1 - y a, 0)`` for labels -1 and +1."""

    __slots__ = ()
    takes_labels = True


@loss_value.register
def _(loss: Hinge, a: float, y: float) -> float:
    return max(1.0 - y * a, 0.0)


@loss_slope.register
def _(loss: Hinge, a: float, y: float) -> float:
    return -y if y * a < 1.0 else 0.0
