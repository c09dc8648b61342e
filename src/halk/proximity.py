"""Proximity functions: how far two neighbours' predictions are apart (``h`` of S1).

Convex in each argument and symmetric, so one slope gives both derivatives:
``d2h(a, b) = d1h(b, a)``. The curvature bounds how hard a multiplier can pull (S9).

To write one: a frozen dataclass derived from :class:`Proximity` with methods ``value``
and ``slope`` of arrays, and ``curvature`` if it is not one.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halk import _core
from halk._validation import Vector, nonnegative, positive
from halk.component import Component, check_result, evaluate

__all__ = ["Absolute", "Huber", "Proximity", "Squared", "as_proximity"]


class Proximity(Component):
    """A symmetric convex distance of two values; calling it works on arrays."""

    curvature: float = 1.0
    """A bound on the second derivative (``h''`` of S9)."""

    _native: ClassVar[str]
    """The name of the formula in the core, if it has one."""

    def value(self, a: Any, b: Any) -> Any:
        """Return ``h(a, b)``, zero where neighbours agree, for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method value")

    def slope(self, a: Any, b: Any) -> Any:
        """Return a subgradient in ``a`` (``d1h`` of S3), for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method slope")

    def __call__(self, first: Any, second: Any) -> Any:
        """Return ``h``, element by element, after checking the arguments."""
        return evaluate(self, first, second)

    def native(self) -> _core.Proximity:
        """Return the proximity for the core, which calls back where it has none."""
        # of this very class: a derived one may have another formula
        name = vars(type(self)).get("_native")
        if name is None:
            bound = nonnegative("curvature", self.curvature)
            return _core.python_proximity(self._both, bound)
        return _core.native_proximity(name, next(iter(vars(self).values()), 0.0))

    def _both(self, a: Vector, b: Vector) -> tuple[Vector, Vector]:
        value, slope = self.value(a, b), self.slope(a, b)
        return check_result(self, value, a.shape), check_result(self, slope, a.shape)


def as_proximity(value: Any) -> Proximity:
    """Return a proximity as it is; what has ``value`` and ``slope`` is made one.

    Examples
    --------
    >>> as_proximity(Huber(2.0))
    Huber(width=2.0)
    """
    if isinstance(value, Proximity):
        return value
    has_both = all(callable(getattr(value, name, None)) for name in ("value", "slope"))
    if has_both and not isinstance(value, type | Component):
        return _Custom(value)
    raise TypeError(
        f"proximity must be a proximity such as proximity.Squared(), got {value!r}"
    )


@dataclass(frozen=True)
class _Custom(Proximity):
    formula: Any

    def __post_init__(self) -> None:
        said = getattr(self.formula, "curvature", Proximity.curvature)
        object.__setattr__(self, "curvature", said)

    def value(self, a: Any, b: Any) -> Any:
        return self.formula.value(a, b)

    def slope(self, a: Any, b: Any) -> Any:
        return self.formula.slope(a, b)


@dataclass(frozen=True)
class Squared(Proximity):
    """Squared proximity ``(a - b)^2 / 2``."""

    _native = "squared"

    def value(self, a: Any, b: Any) -> Any:
        return 0.5 * (a - b) * (a - b)

    def slope(self, a: Any, b: Any) -> Any:
        return a - b


@dataclass(frozen=True)
class Absolute(Proximity):
    """Absolute proximity ``|a - b|``: tolerances are in the target's own unit.

    It has no second derivative at agreement; a curvature of one in its place keeps
    the pull of even a huge multiplier within half a unit per step.
    """

    _native = "absolute"

    def value(self, a: Any, b: Any) -> Any:
        return np.abs(a - b)

    def slope(self, a: Any, b: Any) -> Any:
        return np.sign(a - b)


@dataclass(frozen=True)
class Huber(Proximity):
    """Squared proximity near agreement, linear beyond ``width``.

    ``d^2 / 2`` for ``|d| <= width``, else ``width (|d| - width / 2)``, ``d = a - b``.
    """

    width: float = 1.0

    _native = "huber"
    _checks: ClassVar = {"width": positive}

    def value(self, a: Any, b: Any) -> Any:
        size = np.abs(a - b)
        near = np.minimum(size, self.width)
        return near * (size - 0.5 * near)

    def slope(self, a: Any, b: Any) -> Any:
        return np.clip(a - b, -self.width, self.width)
