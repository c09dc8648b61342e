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
from halk.component import Component, check_result, evaluate

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


class Loss(Component):
    """A convex function of the prediction; calling it gives values for arrays."""

    takes_labels: bool = False
    """Whether targets are the labels -1 and +1."""
    curvature: float = 0.0
    """A bound on the second derivative in the prediction."""

    _native: ClassVar[str]
    """The name of the formula in the core, if it has one."""

    def value(self, a: Any, y: Any) -> Any:
        """Return the loss of predicting ``a`` where ``y`` was seen, for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method value")

    def slope(self, a: Any, y: Any) -> Any:
        """Return a subgradient in the prediction (``loss'`` of S3), for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method slope")

    def __call__(self, prediction: Any, target: Any) -> Any:
        """Return the loss, element by element, after checking the arguments."""
        return evaluate(self, prediction, target)

    def native(self) -> _core.Loss:
        """Return the loss for the core, which calls ``slope`` where it has none."""
        # of this very class: a derived one may have another formula
        name = vars(type(self)).get("_native")
        if name is None:
            bound = nonnegative("curvature", self.curvature)
            return _core.python_loss(self._slope_of_one, bound)
        return _core.native_loss(name, next(iter(vars(self).values()), 0.0))

    def _slope_of_one(self, a: float, y: float) -> float:
        slope = self.slope(np.array([a]), np.array([y]))
        return float(check_result(self, slope, (1,))[0])


def as_loss(value: Any) -> Loss:
    """Return a loss as it is; what has ``value`` and ``slope`` is made one.

    Examples
    --------
    >>> as_loss(Huber(2.0))
    Huber(phi=2.0)
    """
    if isinstance(value, Loss):
        return value
    has_both = all(callable(getattr(value, name, None)) for name in ("value", "slope"))
    if has_both and not isinstance(value, type | Component):
        return _Custom(value)
    raise TypeError(f"loss must be a loss such as losses.Squared(), got {value!r}")


@dataclass(frozen=True)
class _Custom(Loss):
    formula: Any

    def __post_init__(self) -> None:
        for name in ("takes_labels", "curvature"):
            said = getattr(self.formula, name, getattr(Loss, name))
            object.__setattr__(self, name, said)

    def value(self, a: Any, y: Any) -> Any:
        return self.formula.value(a, y)

    def slope(self, a: Any, y: Any) -> Any:
        return self.formula.slope(a, y)


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
