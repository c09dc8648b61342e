"""Losses: what a wrong prediction costs an agent.

Each gives its value, a subgradient in the prediction ``a`` and a bound on its curvature
(used by the normalised step, S9). Conventions at a kink: the subgradient is zero
wherever zero is one. Piecewise linear losses have curvature zero; their bounded
subgradient keeps the step bounded without help.

To write one: a frozen dataclass derived from :class:`Loss` with methods ``value`` and
``slope`` of arrays, and ``curvature`` if it is above zero.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halk import _core
from halk._validation import nonnegative, positive, real, require
from halk.component import Borrowed, Formula, as_formula, check_result

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Quantile",
    "Squared",
    "as_loss",
]


class Loss(Formula):
    """A convex function of the prediction ``a``, where the target ``y`` was seen."""

    takes_labels: bool = False
    """Whether targets are the labels -1 and +1."""

    _kinds = (
        "squared", "huber", "absolute", "epsilon_insensitive", "quantile", "logistic",
        "hinge",
    )  # fmt: skip

    def native(self) -> _core.Loss:
        """Return the loss for the core, which calls ``slope`` where it has none."""
        return _core.Loss(*self._native_arguments(), self._slope_of_one)

    def _slope_of_one(self, a: float, y: float) -> float:
        slope = self.slope(np.array([a]), np.array([y]))
        return float(check_result(self, slope, (1,))[0])


class _Custom(Borrowed, Loss):
    """The loss of a user's own object."""


def as_loss(value: Any) -> Loss:
    """Return a loss as it is; what has ``value`` and ``slope`` is made one.

    Examples
    --------
    >>> as_loss(Huber(2.0))
    Huber(phi=2.0)
    """
    return as_formula(value, Loss, _Custom, "losses.Squared()")


@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss ``(a - y)^2 / 2``."""

    curvature = 1.0
    _native = "squared"

    def value(self, a: Any, y: Any) -> Any:
        return 0.5 * (a - y) * (a - y)

    def slope(self, a: Any, y: Any) -> Any:
        return a - y


@dataclass(frozen=True)
class Huber(Loss):
    """Squared loss near the target, linear beyond ``phi``: outliers pull less.

    ``r^2 / 2`` for ``|r| <= phi``, else ``phi (|r| - phi / 2)``, with ``r = a - y``.
    """

    phi: float = 1.0

    curvature = 1.0
    _native = "huber"
    _checks: ClassVar = {"phi": positive}

    def value(self, a: Any, y: Any) -> Any:
        size = np.abs(a - y)
        near = np.minimum(size, self.phi)
        return near * (size - 0.5 * near)

    def slope(self, a: Any, y: Any) -> Any:
        return np.clip(a - y, -self.phi, self.phi)


@dataclass(frozen=True)
class Absolute(Loss):
    """Absolute loss ``|a - y|``: learns the median."""

    _native = "absolute"

    def value(self, a: Any, y: Any) -> Any:
        return np.abs(a - y)

    def slope(self, a: Any, y: Any) -> Any:
        return np.sign(a - y)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """Absolute loss with a dead zone: ``max(|a - y| - epsilon, 0)``."""

    epsilon: float = 0.1

    _native = "epsilon_insensitive"
    _checks: ClassVar = {"epsilon": nonnegative}

    def value(self, a: Any, y: Any) -> Any:
        return np.maximum(np.abs(a - y) - self.epsilon, 0.0)

    def slope(self, a: Any, y: Any) -> Any:
        return np.where(np.abs(a - y) > self.epsilon, np.sign(a - y), 0.0)


def _share(name: str, value: Any) -> float:
    number = real(name, value)
    require(0 < number < 1, name, "be between 0 and 1", number)
    return number


@dataclass(frozen=True)
class Quantile(Loss):
    """Pinball loss: learns the ``tau`` quantile.

    ``tau r`` for ``r = y - a >= 0``, else ``(tau - 1) r``.
    """

    tau: float = 0.5

    _native = "quantile"
    _checks: ClassVar = {"tau": _share}
    _examples = (0.5,), (0.9,)

    def value(self, a: Any, y: Any) -> Any:
        return np.maximum(self.tau * (y - a), (self.tau - 1.0) * (y - a))

    def slope(self, a: Any, y: Any) -> Any:
        return np.where(a > y, 1.0 - self.tau, np.where(a < y, -self.tau, 0.0))


@dataclass(frozen=True)
class Logistic(Loss):
    """Logistic loss ``log(1 + exp(-y a))`` for labels -1 and +1."""

    takes_labels = True
    curvature = 0.25
    _native = "logistic"

    def value(self, a: Any, y: Any) -> Any:
        return np.logaddexp(0.0, -y * a)

    def slope(self, a: Any, y: Any) -> Any:
        decay = np.exp(-np.abs(y * a))  # of the absolute value: it cannot overflow
        return -y * np.where(y * a > 0.0, decay, 1.0) / (1.0 + decay)


@dataclass(frozen=True)
class Hinge(Loss):
    """Hinge loss ``max(1 - y a, 0)`` for labels -1 and +1."""

    takes_labels = True
    _native = "hinge"

    def value(self, a: Any, y: Any) -> Any:
        return np.maximum(1.0 - y * a, 0.0)

    def slope(self, a: Any, y: Any) -> Any:
        return np.where(y * a < 1.0, -y, 0.0)
