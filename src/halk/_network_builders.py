"""Networks from shapes, positions and networkx graphs.

SciPy's tree and networkx are imported where they are used: ``scipy.spatial`` alone
takes a third of a second, and networkx is optional.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self

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
    per_item,
    require,
)

EARTH_RADIUS = 6371.0088  # kilometres, mean

# The tree only proposes pairs, a few more than asked for, and the plain formula of the
# distance decides: rounding inside the tree cannot lose a pair.
RELATIVE_SLACK = 1e-9
CHORD_SLACK = 1e-12  # of the Earth's radius: rounding of unit vectors


class Builders:
    """The ways to make a :class:`halk.network.Network`, which inherits them."""

    if TYPE_CHECKING:

        def __init__(
            self,
            n_agents: int,
            edges: ArrayLike | Iterable[tuple[int, int]] = (),
            tolerance: ArrayLike = 0.0,
            *,
            names: Sequence[str] | None = None,
            positions: ArrayLike | None = None,
        ) -> None: ...

    @classmethod
    def from_positions(
        cls,
        positions: ArrayLike,
        radius: float | None = None,
        *,
        k: int | None = None,
        metric: str = "euclidean",
        tolerance: float | Callable[[Vector], ArrayLike] = 0.0,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Connect agents that are near each other.

        Parameters
        ----------
        positions : array (V, d), or (V, 2) of latitude and longitude in degrees
        radius : float, not negative
            Connect agents at this distance or less. Give this or ``k``.
        k : int, at least 1
            Connect i and j if one is among the k nearest of the other (of ties, any).
            With k other agents or fewer, all are connected.
        metric : {"euclidean", "haversine"}
            With "haversine", distances are kilometres along the Earth's surface.
        tolerance : float or function
            A function is called once, with the array of the distances of all pairs,
            and returns one tolerance per pair.
        names : sequence of V unique strings, optional

        Returns
        -------
        Network
            With ``positions`` as given.

        Examples
        --------
        >>> from halk.network import Network
        >>> buoys = [(29.0, 179.5), (29.0, -179.5), (40.0, 170.0)]
        >>> net = Network.from_positions(
        ...     buoys, 1000, metric="haversine", tolerance=lambda d: np.exp(-d / 1000)
        ... )
        >>> net.edges.tolist(), net.tolerance.round(3).tolist()
        ([[0, 1], [1, 0]], [0.907, 0.907])
        """
        places = _checked_places(positions, metric)
        pairs, lengths = _near_pairs(places, METRICS[metric], radius, k)
        if callable(tolerance):
            gamma = per_item("tolerance", tolerance(lengths), len(lengths), "pair")
            return cls(len(places), pairs, gamma, names=names, positions=places)
        number = nonnegative("tolerance", tolerance)
        return cls(len(places), pairs, number, names=names, positions=places)

    @classmethod
    def random_geometric(
        cls,
        n_agents: int,
        radius: float,
        *,
        tolerance: float | Callable[[Vector], ArrayLike] = 0.0,
        seed: int | np.random.Generator | None = None,
        dimension: int = 2,
    ) -> Self:
        """Scatter agents uniformly in the unit square and connect those in reach.

        Parameters
        ----------
        n_agents : int, at least 1
        radius, tolerance
            As in :meth:`from_positions`.
        seed : int or Generator, optional
        dimension : int, at least 1
            3 for the unit cube, and so on.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.random_geometric(20, 0.3, seed=0)
        Network(20 agents, 72 edges)
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        shape = (n_agents, integer("dimension", dimension, minimum=1))
        places = np.random.default_rng(seed).random(shape)
        return cls.from_positions(places, radius, tolerance=tolerance)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        tolerance: float | str | None = None,
        positions: str | None = None,
    ) -> Self:
        """Convert a networkx graph; agents are named ``str(node)``.

        Parameters
        ----------
        graph : networkx.Graph, or DiGraph with both directions of every edge
        tolerance : float or str, optional
            A number, or the edge attribute to read. By default the attribute
            "tolerance" if the edges have it, else 0.
        positions : str, optional
            The node attribute to read. By default "pos" if every node has it.

        Examples
        --------
        >>> import networkx
        >>> from halk.network import Network
        >>> Network.from_networkx(networkx.petersen_graph(), tolerance=0.1)
        Network(10 agents, 30 edges)
        """
        if not isinstance(graph, networkx_module().Graph):
            raise TypeError(f"graph must be a networkx graph, got {graph!r}")
        if graph.is_directed():
            _require_both_directions(graph)
        number = {node: i for i, node in enumerate(graph)}
        return cls(
            len(number),
            [(number[a], number[b]) for a, b in graph.edges()],
            _graph_tolerance(graph, tolerance),
            names=[str(node) for node in graph],
            positions=_graph_positions(graph, positions),
        )

    @classmethod
    def path(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect each agent to the next.

        In this and the other shapes ``tolerance`` is as in :class:`Network`, with
        pairs in lexicographic order.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.path(3, tolerance=[0.1, 0.2]).tolerance
        array([0.1, 0.1, 0.2, 0.2])
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        return cls(n_agents, _consecutive(np.arange(n_agents)), tolerance)

    @classmethod
    def ring(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect each agent to the next and, from three on, the last to the first.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.ring(5).degree
        array([2, 2, 2, 2, 2])
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        pairs = _consecutive(np.arange(n_agents))
        if n_agents > 2:
            pairs = np.insert(pairs, 1, (0, n_agents - 1), axis=0)
        return cls(n_agents, pairs, tolerance)

    @classmethod
    def grid(cls, rows: int, columns: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect agents side by side on a grid, numbered row after row.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.grid(2, 3).degree
        array([2, 3, 2, 2, 3, 2])
        """
        rows = integer("rows", rows, minimum=1)
        columns = integer("columns", columns, minimum=1)
        agents = np.arange(rows * columns).reshape(rows, columns)
        pairs = np.concatenate((_consecutive(agents.T), _consecutive(agents)))
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return cls(rows * columns, pairs[order], tolerance)

    @classmethod
    def star(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect agent 0 to all others.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.star(4).degree
        array([3, 1, 1, 1])
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        others = np.arange(1, n_agents)
        return cls(n_agents, np.column_stack((0 * others, others)), tolerance)

    @classmethod
    def complete(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect all agents with each other.

        Examples
        --------
        >>> from halk.network import Network
        >>> Network.complete(4)
        Network(4 agents, 12 edges)
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        return cls(n_agents, np.column_stack(np.triu_indices(n_agents, 1)), tolerance)


def _consecutive(agents: Indices) -> Indices:
    """Return the pairs of agents that follow each other along the first axis."""
    return np.column_stack((agents[:-1].ravel(), agents[1:].ravel()))


class Metric(NamedTuple):
    """A distance, and how to look for neighbours by it in a Euclidean tree."""

    distance: Callable[[Matrix, Matrix], Vector]
    embed: Callable[[Matrix], Matrix]
    reach: Callable[[float], float]  # of a radius, between embedded positions


def _euclidean(a: Matrix, b: Matrix) -> Vector:
    return np.asarray(np.sqrt(((a - b) ** 2).sum(axis=1)))


def _radians(positions: Matrix) -> tuple[Vector, Vector]:
    """Return latitude and longitude, the same for -180 and 180 degrees."""
    latitude, longitude = positions.T
    return np.radians(latitude), np.radians(np.remainder(longitude, 360.0))


def _haversine(a: Matrix, b: Matrix) -> Vector:
    """Return distances in kilometres along the Earth's surface."""
    (latitude_a, longitude_a), (latitude_b, longitude_b) = _radians(a), _radians(b)
    across = np.sin((longitude_a - longitude_b) / 2) ** 2
    along = np.sin((latitude_a - latitude_b) / 2) ** 2
    haversine = along + np.cos(latitude_a) * np.cos(latitude_b) * across
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(haversine, 1))))


def _unit_vectors(positions: Matrix) -> Matrix:
    latitude, longitude = _radians(positions)
    x = np.cos(latitude) * np.cos(longitude)
    y = np.cos(latitude) * np.sin(longitude)
    return np.column_stack((x, y, np.sin(latitude)))


def _chord(radius: float) -> float:
    angle = min(radius / EARTH_RADIUS, np.pi)
    return 2 * float(np.sin(angle / 2)) + CHORD_SLACK


METRICS = {
    "euclidean": Metric(_euclidean, lambda positions: positions, lambda radius: radius),
    "haversine": Metric(_haversine, _unit_vectors, _chord),
}


def _checked_places(positions: ArrayLike, metric: str) -> Matrix:
    choice("metric", metric, METRICS)
    columns = 2 if metric == "haversine" else None
    places = finite_array("positions", positions, (None, columns))
    require(places.size > 0, "positions", "not be empty", places.shape)
    if metric == "haversine":
        worst = float(places[np.argmax(np.abs(places[:, 0])), 0])
        rule = "be (latitude, longitude) with latitudes within [-90, 90]"
        require(abs(worst) <= 90, "positions", rule, worst)
    return places


def _near_pairs(
    places: Matrix, metric: Metric, radius: float | None, k: int | None
) -> tuple[Indices, Vector]:
    """Return the pairs (P, 2), each once, and their distances (P,)."""
    if (radius is None) == (k is None):
        raise TypeError(
            "from_positions must get exactly one of radius and k, "
            f"got radius={radius!r} and k={k!r}"
        )
    tree = import_module("scipy.spatial").cKDTree(metric.embed(places))
    if radius is None:
        pairs = _nearest_pairs(tree, integer("k", k, minimum=1))
        return pairs, metric.distance(places[pairs[:, 0]], places[pairs[:, 1]])
    radius = nonnegative("radius", radius)
    reach = metric.reach(radius) * (1 + RELATIVE_SLACK)
    pairs = tree.query_pairs(reach, output_type="ndarray").astype(np.int64)
    lengths = metric.distance(places[pairs[:, 0]], places[pairs[:, 1]])
    within = lengths <= radius
    return pairs[within], lengths[within]


def _nearest_pairs(tree: Any, k: int) -> Indices:
    """Return the pairs of which one is among the ``k`` nearest of the other."""
    agents = np.arange(tree.n)
    k = min(k, tree.n - 1)
    found = tree.query(tree.data, np.arange(1, k + 2))[1].astype(np.int64)
    itself = found == agents[:, None]
    # Among coincident agents it may not have been found: drop the last instead.
    itself[~itself.any(axis=1), -1] = True
    i, j = np.repeat(agents, k), found[~itself]
    keys = np.unique(np.minimum(i, j) * tree.n + np.maximum(i, j))
    return np.column_stack(np.divmod(keys, tree.n))


def networkx_module() -> Any:
    """Return networkx, or say how to install it."""
    try:
        return import_module("networkx")
    except ImportError:
        message = "networkx must be installed, got none; pip install 'halk[graphs]'"
        raise ImportError(message) from None


def _require_both_directions(graph: Any) -> None:
    for a, b in graph.edges():
        if not graph.has_edge(b, a):
            raise ValueError(
                f"graph must have both directions of every edge, got {(a, b)!r} "
                f"without {(b, a)!r}; use graph.to_undirected()"
            )


def _graph_tolerance(graph: Any, tolerance: float | str | None) -> float | list[Any]:
    if tolerance is not None and not isinstance(tolerance, str):
        return nonnegative("tolerance", tolerance)
    attribute = "tolerance" if tolerance is None else tolerance
    edges = list(graph.edges(data=attribute))
    missing = [(a, b) for a, b, value in edges if value is None]
    if tolerance is None and len(missing) == len(edges):
        return 0.0
    if missing:
        raise ValueError(
            f"graph must have the attribute {attribute!r} on every edge, got none on "
            f"{missing[0]!r}; set it, or give a number as tolerance"
        )
    return [value for _, _, value in edges]


def _graph_positions(graph: Any, attribute: str | None) -> list[Any] | None:
    nodes = list(graph.nodes(data=attribute or "pos"))
    missing = [node for node, value in nodes if value is None]
    if missing and attribute is not None:
        raise ValueError(
            f"graph must have the attribute {attribute!r} on every node, got none on "
            f"{missing[0]!r}"
        )
    return None if missing else [value for _, value in nodes]
