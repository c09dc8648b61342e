"""Which cells of a grid become sensors: a few, far from each other."""

import numpy as np
from numpy.typing import ArrayLike

from halk._network_builders import METRICS
from halk._validation import Indices, Matrix, Vector, array, integer, require

__all__ = ["spread"]


def spread(positions: ArrayLike, n_chosen: int, start: tuple[float, float]) -> Indices:
    """Choose places far from each other.

    The first is the nearest to ``start``; each next is as far as possible, along the
    Earth's surface, from those already chosen. So a smaller choice begins a larger one.

    Parameters
    ----------
    positions : array (N, 2) of latitude and longitude in degrees
    n_chosen : int, at least 1 and at most N
    start : latitude and longitude

    Returns
    -------
    int array (n_chosen,)
        Of places at the same distance the first in ``positions`` is chosen.

    Notes
    -----
    O(N n_chosen) time.

    Examples
    --------
    >>> spread([(0, 0), (0, 1), (0, 4), (0, 10)], 3, start=(0, 0))
    array([0, 3, 2])
    """
    places = array("positions", positions, (None, 2))
    n_chosen = integer("n_chosen", n_chosen, minimum=1)
    rule = f"be at most the number of places ({len(places)})"
    require(n_chosen <= len(places), "n_chosen", rule, n_chosen)
    chosen = np.empty(n_chosen, dtype=np.int64)
    chosen[0] = np.argmin(_distance(places, np.array(start, dtype=np.float64)))
    apart = np.full(len(places), np.inf)
    for k in range(1, n_chosen):
        apart = np.minimum(apart, _distance(places, places[chosen[k - 1]]))
        apart[chosen[k - 1]] = -1.0  # never again, even if others are at its place
        chosen[k] = np.argmax(apart)
    return chosen


def _distance(places: Matrix, point: Vector) -> Vector:
    return METRICS["haversine"].distance(places, point[None])
