"""Functions of a number, called for every lane: what has no formula in lanes."""

from collections.abc import Callable

from halk._jit.compilation import inlined
from halk._jit.lanes import Lanes, lane, packed


def one_by_one(function: Callable[[float], float]) -> Callable[[Lanes], Lanes]:
    """Return a function of lanes from one of numbers."""

    @inlined
    def in_lanes(a: Lanes) -> Lanes:
        return packed(
            function(lane(a, 0)),
            function(lane(a, 1)),
            function(lane(a, 2)),
            function(lane(a, 3)),
        )

    return in_lanes
