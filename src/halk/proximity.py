"""Proximity functions: how far two neighbours' predictions are apart (``h`` of S1).

Convex in each argument and symmetric, so one slope gives both derivatives:
``d2h(a, b) = d1h(b, a)``. The curvature bounds how hard a multiplier can pull (S9).

To add one: a class, its formulas registered below it, and its name in ``__all__``.
"""

from typing import Any, NamedTuple, Self

from halk._jit import compiled, generic
from halk._validation import Vector, positive
from halk.component import Component, elementwise

__all__ = [
    "Absolute",
    "Huber",
    "Proximity",
    "Squared",
    "proximity_curvature",
    "proximity_slope",
    "proximity_value",
]


@generic
def proximity_value(proximity: Any, a: float, b: float) -> float:
    """Return ``h(a, b)``, zero where neighbours agree."""
    raise TypeError("this proximity has no value: register one with proximity_value")


@generic
def proximity_slope(proximity: Any, a: float, b: float) -> float:
    """Return a subgradient of ``h(a, b)`` in ``a`` (``d1h`` of S3)."""
    raise TypeError("this proximity has no slope: register one with proximity_slope")


@generic
def proximity_curvature(proximity: Any) -> float:
    """Return a bound on the second derivative of ``h`` (``h''`` of S9)."""
    return 1.0


@compiled
def _fill(h: Any, a: Vector, b: Vector, values: Vector, slopes: Vector) -> None:
    for k in range(len(a)):
        values[k] = proximity_value(h, a[k], b[k])
        slopes[k] = proximity_slope(h, a[k], b[k])


class Proximity(Component):
    """A symmetric convex distance of two values; calling it works on arrays."""

    __slots__ = ()

    def _both(self, first: Any, second: Any) -> tuple[Any, Any]:
        return elementwise(_fill, self, first, second)

    def __call__(self, first: Any, second: Any) -> Any:
        """Return ``h``, element by element."""
        return self._both(first, second)[0]

    def slope(self, first: Any, second: Any) -> Any:
        """Return a subgradient in the first argument, element by element."""
        return self._both(first, second)[1]

    @property
    def curvature(self) -> float:
        """A bound on the second derivative."""
        return float(proximity_curvature(self))


class _Empty(NamedTuple):
    pass


class Squared(Proximity, _Empty):
    """Squared proximity ``(a - b)^2 / 2``."""

    __slots__ = ()


@proximity_value.register
def _(proximity: Squared, a: float, b: float) -> float:
    return 0.5 * (a - b) * (a - b)


@proximity_slope.register
def _(proximity: Squared, a: float, b: float) -> float:
    return a - b


class Absolute(Proximity, _Empty):
    """Absolute proximity ``|a - b|``: tolerances are in the target's own unit.

    It has no second derivative at agreement; a curvature of one in its place keeps
    the pull of even a huge multiplier within half a unit a step.
    """

    __slots__ = ()


@proximity_value.register
def _(proximity: Absolute, a: float, b: float) -> float:
    return abs(a - b)


@proximity_slope.register
def _(proximity: Absolute, a: float, b: float) -> float:
    return 1.0 if a > b else (-1.0 if a < b else 0.0)


class Huber(Proximity, NamedTuple("_Huber", [("width", float)])):
    """Squared proximity near agreement, linear beyond ``width``.

    ``d^2 / 2`` for ``|d| <= width``, else ``width (|d| - width / 2)``, ``d = a - b``.
    """

    __slots__ = ()

    def __new__(cls, width: float = 1.0) -> Self:
        return super().__new__(cls, positive("width", width))


@proximity_value.register
def _(proximity: Huber, a: float, b: float) -> float:
    size = abs(a - b)
    if size <= proximity.width:
        return 0.5 * size * size
    return proximity.width * (size - 0.5 * proximity.width)


@proximity_slope.register
def _(proximity: Huber, a: float, b: float) -> float:
    return min(max(a - b, -proximity.width), proximity.width)
