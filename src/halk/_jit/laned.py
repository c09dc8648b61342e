"""A function of two points, compiled for one point and as many others as lanes."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from numba import cfunc, njit, types
from numba.core.errors import NumbaPerformanceWarning

from halk._jit import arithmetic  # noqa: F401  what formulas are written with
from halk._jit.compilation import IS_INTERPRETED
from halk._jit.instructions import LANES_TYPE
from halk._jit.lane_points import SAME, SEVERAL, one_of
from halk._jit.lanes import LANES, Lanes, first_of, put, spread

_KIND = LANES_TYPE(SEVERAL, SAME, types.intp)
_OPTIONS: Any = {"error_model": "numpy", "forceinline": True}


class InLanes(NamedTuple):
    """A function of two points in lanes, as a pointer.

    It takes what :func:`several` and :func:`same` make of them and how many of the
    first are there; behind them it gives zeros.
    """

    function: Any


def lane_function(function: Callable[..., float]) -> InLanes | None:
    """Compile a function of two points for lanes; None if it cannot be.

    Where it can be, its numbers are lanes. What it branches on, say, would be one thing
    for one lane and another for the next: then it goes through them one by one.
    """
    if IS_INTERPRETED:
        return None
    is_compiled = hasattr(function, "py_func")
    formula = function if is_compiled else njit(**_OPTIONS)(function)

    def at_once(x: Any, y: Any, n: int) -> Lanes:
        return first_of(spread(0.0) + formula(x, y), n)

    def one_by_one(x: Any, y: Any, n: int) -> Lanes:
        point, values = one_of(y, 0), spread(0.0)
        for place in range(min(n, LANES)):
            values = put(values, place, 0.0 + formula(one_of(x, place), point))
        return values

    # Whatever the compiler has against it, the function itself has been compiled. One
    # for arrays without gaps, which it would warn about, is left as it is.
    for way in (at_once, one_by_one):
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("error", NumbaPerformanceWarning)
            return InLanes(cfunc(_KIND, **_OPTIONS)(way))
    return None
