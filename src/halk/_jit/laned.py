"""A function of two points, compiled for one point and as many others as lanes."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from numba import cfunc, njit, types
from numba.core.errors import NumbaError

from halk._jit import arithmetic  # noqa: F401  what formulas are written with
from halk._jit.compilation import IS_INTERPRETED
from halk._jit.instructions import LANES_TYPE
from halk._jit.lane_points import SAME, SEVERAL, one_of
from halk._jit.lanes import LANES, Lanes, first_of, put, spread

_KIND = LANES_TYPE(SEVERAL, SAME, types.intp)


class InLanes(NamedTuple):
    """A function of two points in lanes, as a pointer.

    It takes what :func:`several` and :func:`same` make of them and how many of the
    first are there; where there are fewer than lanes it is not asked, or not heard.
    """

    function: Any


def lane_function(function: Callable[..., float]) -> InLanes | None:
    """Compile a function of two points for lanes; None if there is no compiler.

    Where it can be, its numbers are lanes. What it branches on, say, would be one thing
    for one lane and another for the next: then it goes through them one by one.
    """
    if IS_INTERPRETED:
        return None
    formula = njit(error_model="numpy", forceinline=True)(function)

    def at_once(x: Any, y: Any, n: int) -> Lanes:
        return first_of(spread(0.0) + formula(x, y), n)

    def one_by_one(x: Any, y: Any, n: int) -> Lanes:
        point, values = one_of(y, 0), spread(0.0)
        for place in range(min(n, LANES)):
            values = put(values, place, float(formula(one_of(x, place), point)))
        return values

    for way in (at_once, one_by_one):
        with suppress(NumbaError):
            return InLanes(cfunc(_KIND, error_model="numpy", forceinline=True)(way))
    return None
