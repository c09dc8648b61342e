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
from halk._validation import Vector, positive
from halk.component import Borrowed, Formula, as_formula, check_result

__all__ = ["Absolute", "Huber", "Proximity", "Squared", "as_proximity"]


class Proximity(Formula):
    """A symmetric convex distance ``h(a, b)`` of two values, zero where they agree."""

    curvature = 1.0
    _kinds = ("squared", "absolute", "huber")

    def native(self) -> _core.Proximity:
        """Return the proximity for the core, which calls back where it has none."""
        return _core.Proximity(*self._native_arguments(), self._value_and_slope)

    def _value_and_slope(self, a: list[float], b: list[float]) -> tuple[Vector, Vector]:
        values = (f(np.array(a), np.array(b)) for f in (self.value, self.slope))
        value, slope = (check_result(self, v, (len(a),)) for v in values)
        return value, slope


class _Custom(Borrowed, Proximity):
    """The proximity of a user's own object."""


def as_proximity(value: Any) -> Proximity:
    """Return a proximity as it is; what has ``value`` and ``slope`` is made one.

    Examples
    --------
    >>> as_proximity(Huber(2.0))
    Huber(width=2.0)
    """
    return as_formula(value, Proximity, _Custom, "proximity.Squared()")


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
