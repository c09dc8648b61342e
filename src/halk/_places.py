"""Places on a plane or on the Earth: distances, and pairs that are near each other."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from halk._validation import (
    Indices,
    Matrix,
    Vector,
    choice,
    finite_array,
    integer,
    nonnegative,
    require,
)

EARTH_RADIUS = 6371.0088  # kilometres, mean

# The tree only proposes pairs, a few more than asked for, and the plain formula of the
# distance decides: rounding inside the tree cannot lose a pair.
_SLACK = 1e-9  # of the radius
_CHORD_SLACK = 1e-12  # of the Earth's radius: rounding of unit vectors


def check_places(positions: ArrayLike, metric: str) -> Matrix:
    """Return positions (V, d) after checking them, and the metric."""
    choice("metric", metric, ("euclidean", "haversine"))
    columns = 2 if metric == "haversine" else None
    places = finite_array("positions", positions, (None, columns))
    require(places.size > 0, "positions", "not be empty", places.shape)
    if metric == "haversine":
        worst = float(places[np.argmax(np.abs(places[:, 0])), 0])
        rule = "be (latitude, longitude) with latitudes within [-90, 90]"
        require(abs(worst) <= 90, "positions", rule, worst)
    return places


def measure_distances(a: Matrix, b: Matrix, metric: str) -> Vector:
    """Return distances row by row: in the unit of places, or in km on the Earth."""
    u, v = embed(a, metric), embed(b, metric)
    straight = np.asarray(np.sqrt(((u - v) ** 2).sum(axis=1)))
    if metric == "euclidean":
        return straight
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.minimum(straight / 2, 1)))


def embed(places: Matrix, metric: str) -> Matrix:
    """Return points whose straight distances rank as those of ``places`` do.

    Of latitude and longitude they are unit vectors.
    """
    if metric == "euclidean":
        return places
    # the remainder: -180 and 180 degrees are the same place, bit for bit
    latitude, east = np.radians(places[:, 0]), np.radians(places[:, 1] % 360.0)
    x, y = np.cos(latitude) * np.cos(east), np.cos(latitude) * np.sin(east)
    return np.column_stack((x, y, np.sin(latitude)))


def find_near_pairs(
    places: Matrix, metric: str, radius: float | None, k: int | None
) -> tuple[Indices, Vector]:
    """Return the pairs (P, 2), each once, and their distances (P,)."""
    if (radius is None) == (k is None):
        raise TypeError(
            "from_positions must get exactly one of radius and k, "
            f"got radius={radius!r} and k={k!r}"
        )
    tree = import_module("scipy.spatial").cKDTree(embed(places, metric))
    if radius is None:
        pairs, reach = _find_nearest(tree, integer("k", k, minimum=1)), np.inf
    else:
        reach = chord = nonnegative("radius", radius)
        if metric == "haversine":
            angle = min(reach / EARTH_RADIUS, np.pi)
            chord = 2 * float(np.sin(angle / 2)) + _CHORD_SLACK
        pairs = tree.query_pairs(chord * (1 + _SLACK), output_type="ndarray")
    i, j = pairs.T
    lengths = measure_distances(places[i], places[j], metric)
    within = lengths <= reach
    return pairs[within].astype(np.int64), lengths[within]


def _find_nearest(tree: Any, k: int) -> Indices:
    """Return the pairs of which one is among the ``k`` nearest of the other."""
    agents = np.arange(tree.n)
    k = min(k, tree.n - 1)
    found = tree.query(tree.data, np.arange(1, k + 2))[1].astype(np.int64)
    itself = found == agents[:, None]
    # Among coincident agents it may not have been found: drop the last instead.
    itself[~itself.any(axis=1), -1] = True
    pairs = np.column_stack((np.repeat(agents, k), found[~itself]))
    return np.unique(np.sort(pairs), axis=0)
