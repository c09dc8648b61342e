"""Who talks to whom: agents, directed edges, and how far neighbours may differ."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halk._places import check_places, find_near_pairs
from halk._validation import (
    Indices,
    Matrix,
    Vector,
    array,
    finite_array,
    integer,
    nonnegative,
    per_item,
    real,
    require,
    without_nan,
)

__all__ = ["Network"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network:
    """A symmetric network of agents with a tolerance on every directed edge.

    Two neighbours make two directed edges, (i, j) and (j, i): the constraint of each
    is an expectation over the readings of its first agent (S1).

    Parameters
    ----------
    n_agents : int, at least 1
    edges : pairs (i, j), iterable or int array (P, 2)
        Undirected, in any order; (i, j) and (j, i) are the same pair.
    tolerance : float or array (P,) or (E,), not negative
        The gamma of S1: a number; or one per pair given, for both directions; or one
        per directed edge, in the order of the attribute ``edges``. If the pairs given
        are all the directed edges, each once, each has its own.
    names : sequence of V unique strings, optional
        By default "0", "1", ...
    positions : array (V, d), optional

    Attributes
    ----------
    edges : int array (E, 2)
        Directed edges in lexicographic order.
    tolerance : float array (E,)
        In the order of ``edges``.
    indptr, neighbours : int arrays (V + 1,) and (E,)
        Neighbours of i, ascending, are ``neighbours[indptr[i]:indptr[i + 1]]``; edge
        e points to ``neighbours[e]``.
    reverse : int array (E,)
        Where (j, i) stands, for the edge (i, j).
    degree : int array (V,)
        How many neighbours each agent has.

    Notes
    -----
    A network is a value: hashable, its arrays read-only (copy them to change them),
    changed only by ``dataclasses.replace(net, tolerance=0.1)``. O(E log E) time.

    Examples
    --------
    >>> net = Network(3, [(1, 0), (1, 2)], tolerance=[0.5, 0.1])
    >>> net
    Network(3 agents, 4 edges)
    >>> net.edges.tolist()
    [[0, 1], [1, 0], [1, 2], [2, 1]]
    >>> net.tolerance
    array([0.5, 0.5, 0.1, 0.1])
    """

    n_agents: int
    edges: Indices
    tolerance: Vector
    names: tuple[str, ...]
    positions: Matrix | None
    indptr: Indices = field(init=False)
    neighbours: Indices = field(init=False)
    reverse: Indices = field(init=False)
    degree: Indices = field(init=False)

    def __init__(
        self,
        n_agents: int,
        edges: ArrayLike | Iterable[tuple[int, int]] = (),
        tolerance: ArrayLike = 0.0,
        *,
        names: Sequence[str] | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        n_agents = integer("n_agents", n_agents, minimum=1)
        pairs = _check_pairs(edges, n_agents)
        i, j = np.concatenate((pairs, pairs[:, ::-1])).T
        keys, rows = np.unique(i * n_agents + j, return_index=True)
        i, j = np.divmod(keys, n_agents)
        degree = np.bincount(i, minlength=n_agents)
        if positions is not None:
            places = array("positions", positions, (n_agents, None))
            positions = without_nan("positions", places).copy()
        vars(self).update(
            n_agents=n_agents,
            edges=np.column_stack((i, j)),
            tolerance=_directed_tolerance(tolerance, pairs, rows),
            names=_check_names(names, n_agents),
            positions=positions,
            indptr=np.concatenate(([0], np.cumsum(degree))),
            neighbours=j,
            reverse=np.argsort(j, kind="stable"),  # edges in the order of (j, i)
            degree=degree,
        )
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

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
        >>> buoys = [(29.0, 179.5), (29.0, -179.5), (40.0, 170.0)]
        >>> net = Network.from_positions(
        ...     buoys, 1000, metric="haversine", tolerance=lambda d: np.exp(-d / 1000)
        ... )
        >>> net.edges.tolist(), net.tolerance.round(3).tolist()
        ([[0, 1], [1, 0]], [0.907, 0.907])
        """
        places = check_places(positions, metric)
        pairs, lengths = find_near_pairs(places, metric, radius, k)
        given = (
            tolerance(lengths) if callable(tolerance) else real("tolerance", tolerance)
        )
        gamma = per_item("tolerance", given, len(lengths), "pair")
        return cls(len(places), pairs, gamma, names=names, positions=places)

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
        >>> Network.from_networkx(networkx.petersen_graph(), tolerance=0.1)
        Network(10 agents, 30 edges)
        """
        if not isinstance(graph, _import_networkx().Graph):
            raise TypeError(f"graph must be a networkx graph, got {graph!r}")
        for a, b in graph.edges() if graph.is_directed() else ():
            if not graph.has_edge(b, a):
                raise ValueError(
                    f"graph must have both directions of every edge, got {(a, b)!r} "
                    f"without {(b, a)!r}; use graph.to_undirected()"
                )
        gamma: Any = tolerance
        if tolerance is None or isinstance(tolerance, str):
            name = tolerance or "tolerance"
            edges = [((a, b), value) for a, b, value in graph.edges(data=name)]
            has_any = tolerance or any(value is not None for _, value in edges)
            gamma = _attributes(edges, name, "edge") if has_any else 0.0
        else:
            gamma = nonnegative("tolerance", tolerance)
        nodes = list(graph.nodes(data=positions or "pos"))
        has_all = positions or all(value is not None for _, value in nodes)
        number = {node: i for i, node in enumerate(graph)}
        return cls(
            len(number),
            [(number[a], number[b]) for a, b in graph.edges()],
            gamma,
            names=[str(node) for node in graph],
            positions=_attributes(nodes, positions, "node") if has_all else None,
        )

    @classmethod
    def path(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect each agent to the next.

        In this and the other shapes ``tolerance`` is as in :class:`Network`, with
        pairs in lexicographic order.

        Examples
        --------
        >>> Network.path(3, tolerance=[0.1, 0.2]).tolerance
        array([0.1, 0.1, 0.2, 0.2])
        """
        return cls.grid(1, integer("n_agents", n_agents, minimum=1), tolerance)

    @classmethod
    def ring(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect each agent to the next and, from three on, the last to the first.

        Examples
        --------
        >>> Network.ring(5).degree
        array([2, 2, 2, 2, 2])
        """
        agents = np.arange(integer("n_agents", n_agents, minimum=1))
        return cls._from_shape(n_agents, [agents, np.roll(agents, -1)], tolerance)

    @classmethod
    def grid(cls, rows: int, columns: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect agents side by side on a grid, numbered row after row.

        Examples
        --------
        >>> Network.grid(2, 3).degree
        array([2, 3, 2, 2, 3, 2])
        """
        rows = integer("rows", rows, minimum=1)
        n_agents = rows * integer("columns", columns, minimum=1)
        agents = np.arange(n_agents).reshape(rows, columns)
        first = np.append(agents[:, :-1], agents[:-1])
        second = np.append(agents[:, 1:], agents[1:])
        return cls._from_shape(n_agents, [first, second], tolerance)

    @classmethod
    def star(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect agent 0 to all others.

        Examples
        --------
        >>> Network.star(4).degree
        array([3, 1, 1, 1])
        """
        agents = np.arange(integer("n_agents", n_agents, minimum=1))
        return cls._from_shape(n_agents, [0 * agents, agents], tolerance)

    @classmethod
    def complete(cls, n_agents: int, tolerance: ArrayLike = 0.0) -> Self:
        """Connect all agents with each other.

        Examples
        --------
        >>> Network.complete(4)
        Network(4 agents, 12 edges)
        """
        n_agents = integer("n_agents", n_agents, minimum=1)
        return cls._from_shape(n_agents, np.triu_indices(n_agents, 1), tolerance)

    @classmethod
    def _from_shape(cls, n_agents: int, ends: Any, tolerance: ArrayLike) -> Self:
        """Return a network of pairs, given by their first and their second agents."""
        pairs = np.unique(np.sort(np.column_stack(ends)), axis=0)
        return cls(n_agents, pairs[pairs[:, 0] < pairs[:, 1]], tolerance)

    @property
    def n_edges(self) -> int:
        """Number of directed edges E, twice the number of pairs."""
        return len(self.edges)

    @cached_property
    def is_connected(self) -> bool:
        """Whether every agent can reach every other through neighbours."""
        sparse = import_module("scipy.sparse")
        parts = (np.ones(self.n_edges), self.neighbours, self.indptr)
        matrix = sparse.csr_array(parts, shape=(self.n_agents, self.n_agents))
        return int(sparse.csgraph.connected_components(matrix)[0]) == 1

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, agent: str | int) -> int:
        """Return the number of an agent, given by name or by number.

        Examples
        --------
        >>> Network(2, [(0, 1)], names=["north", "south"]).index("south")
        1
        """
        if isinstance(agent, str):
            known = ", ".join(map(repr, self.names[:5]))
            known += ", ..." if self.n_agents > 5 else ""
            require(agent in self._numbers, "agent", f"be one of {known}", agent)
            return self._numbers[agent]
        number = integer("agent", agent)
        rule = f"be at most {self.n_agents - 1}"
        require(number < self.n_agents, "agent", rule, number)
        return number

    def subnetwork(self, agents: Iterable[str | int]) -> Self:
        """Return the network of some agents, numbered in the order given.

        Names, positions and the tolerances among them are kept.

        Examples
        --------
        >>> Network.path(4).subnetwork([3, 2, 0]).edges.tolist()
        [[0, 1], [1, 0]]
        """
        chosen = np.array([self.index(agent) for agent in agents], dtype=np.int64)
        require(len(chosen) > 0, "agents", "not be empty", [])
        times = np.bincount(chosen)
        repeated = self.names[np.argmax(times)]
        require(times.max() == 1, "agents", "hold each agent once", repeated)
        number = np.full(self.n_agents, -1)
        number[chosen] = np.arange(len(chosen))
        edges = number[self.edges]
        kept = (edges >= 0).all(axis=1)
        return type(self)(
            len(chosen),
            edges[kept],
            self.tolerance[kept],
            names=[self.names[i] for i in chosen],
            positions=None if self.positions is None else self.positions[chosen],
        )

    def relabel(self, permutation: Iterable[str | int]) -> Self:
        """Return the same network with its agents in another order.

        Its agent i is agent ``permutation[i]`` of this one, with its name.

        Examples
        --------
        >>> Network.star(3).relabel([2, 0, 1]).degree
        array([1, 2, 1])
        """
        result = self.subnetwork(permutation)
        rule = f"hold all {self.n_agents} agents"
        require(result.n_agents == self.n_agents, "permutation", rule, result.n_agents)
        return result

    def to_networkx(self) -> Any:
        """Return a networkx graph, which ``from_networkx`` turns back into this.

        Its nodes are the names, with attributes "pos" and, on edges, "tolerance". It
        is a ``DiGraph`` if a tolerance differs between directions, else a ``Graph``.

        Examples
        --------
        >>> Network.path(3, tolerance=0.5).to_networkx().edges(data="tolerance")
        EdgeDataView([('0', '1', 0.5), ('1', '2', 0.5)])
        """
        networkx = _import_networkx()
        is_symmetric = np.array_equal(self.tolerance, self.tolerance[self.reverse])
        graph = networkx.Graph() if is_symmetric else networkx.DiGraph()
        graph.add_nodes_from(self.names)
        tails, heads = np.array(self.names, dtype=object)[self.edges.T]
        edges = zip(tails, heads, self.tolerance.tolist(), strict=True)
        graph.add_weighted_edges_from(edges, weight="tolerance")
        if self.positions is not None:
            for name, place in zip(self.names, self.positions.tolist(), strict=True):
                graph.nodes[name]["pos"] = tuple(place)
        return graph

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_agents} agents, {self.n_edges} edges)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self.names == other.names and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("edges", "tolerance", "positions")
        )

    def __hash__(self) -> int:
        return hash((self.names, self.edges.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would bring the arrays back writable.
        make = partial(type(self), names=self.names, positions=self.positions)
        return make, (self.n_agents, self.edges, self.tolerance)


def _check_pairs(edges: ArrayLike | Iterable[Any], n_agents: int) -> Indices:
    """Return pairs (P, 2) of different agents."""
    if isinstance(edges, Iterable) and not hasattr(edges, "__array__"):
        edges = list(edges)
    try:
        pairs = np.asarray(edges)
    except ValueError:
        raise ValueError("edges must be pairs (i, j), got a ragged list") from None
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    require(pairs.shape[1:] == (2,), "edges", "have shape (any, 2)", pairs.shape)
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"edges must hold whole numbers, got dtype {pairs.dtype}")
    outside = (pairs.min(axis=1) < 0) | (pairs.max(axis=1) >= n_agents)
    _refuse(pairs, outside, f"join agents numbered 0 to {n_agents - 1}")
    _refuse(pairs, pairs[:, 0] == pairs[:, 1], "join two different agents")
    return pairs.astype(np.int64)


def _refuse(pairs: NDArray[Any], wrong: NDArray[np.bool_], rule: str) -> None:
    if wrong.any():
        at = int(np.argmax(wrong))
        pair = tuple(pairs[at].tolist())
        raise ValueError(f"edges must {rule}, got {pair} at index {at}")


def _directed_tolerance(tolerance: ArrayLike, pairs: Indices, rows: Indices) -> Vector:
    """Return the tolerance (E,) of each directed edge.

    ``rows[e]`` is the first row that holds edge e, in the pairs and, below, reversed.
    """
    n_pairs, n_edges = len(pairs), len(rows)
    if np.ndim(tolerance) == 0:
        return np.full(n_edges, nonnegative("tolerance", tolerance))
    values = finite_array("tolerance", tolerance, (None,))
    rule = f"have one entry per pair ({n_pairs}) or directed edge ({n_edges})"
    fits = len(values) in (n_pairs, n_edges)
    require(fits, "tolerance", f"be a number or {rule}", f"{len(values)} entries")
    lowest = float(values.min(initial=0.0))
    require(lowest >= 0, "tolerance", "not be negative", lowest)
    if len(values) != n_pairs:
        return values.copy()
    is_directed = n_pairs == n_edges and bool((rows < n_pairs).all())
    if n_edges < 2 * n_pairs and not is_directed:
        first = np.unique(np.sort(pairs), axis=0, return_index=True)[1]
        repeated = ~np.isin(np.arange(n_pairs), first)
        _refuse(pairs, repeated, "hold each pair once if each has its own tolerance")
    return values[rows % max(n_pairs, 1)]


def _check_names(names: Sequence[str] | None, n_agents: int) -> tuple[str, ...]:
    result = tuple(map(str, range(n_agents)) if names is None else names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in result):
        raise TypeError(f"names must be a sequence of strings, got {names!r}")
    rule = f"have one entry per agent ({n_agents})"
    require(len(result) == n_agents, "names", rule, f"{len(result)} entries")
    require(all(result), "names", "not be empty", "")
    name, times = Counter(result).most_common(1)[0]
    require(times == 1, "names", "be unique", name)
    return tuple(map(str, result))


def _import_networkx() -> Any:
    try:
        return import_module("networkx")
    except ImportError:
        message = "networkx must be installed, got none; pip install 'halk[graphs]'"
        raise ImportError(message) from None


def _attributes(items: list[Any], name: str | None, kind: str) -> list[Any]:
    """Return the values of an attribute of a graph's nodes or edges."""
    for item, value in items:
        if value is None:
            raise ValueError(
                f"graph must have the attribute {name!r} on every {kind}, got none on "
                f"{item!r}; set it, or leave it out everywhere"
            )
    return [value for _, value in items]
