"""Who talks to whom: agents, directed edges, and how far neighbours may differ."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halk._network_builders import Builders, networkx_module
from halk._validation import (
    Indices,
    Matrix,
    Vector,
    array,
    finite_array,
    integer,
    nonnegative,
    require,
    without_nan,
)

__all__ = ["Network"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network(Builders):
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
        pairs = _checked_pairs(edges, n_agents)
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
            names=_checked_names(names, n_agents),
            positions=positions,
            indptr=np.concatenate(([0], np.cumsum(degree))),
            neighbours=j,
            reverse=np.argsort(j, kind="stable"),  # edges in the order of (j, i)
            degree=degree,
        )
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

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

    def relabelled(self, permutation: Iterable[str | int]) -> Self:
        """Return the same network with its agents in another order.

        Its agent i is agent ``permutation[i]`` of this one, with its name.

        Examples
        --------
        >>> Network.star(3).relabelled([2, 0, 1]).degree
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
        networkx = networkx_module()
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


def _checked_pairs(edges: ArrayLike | Iterable[Any], n_agents: int) -> Indices:
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


def _checked_names(names: Sequence[str] | None, n_agents: int) -> tuple[str, ...]:
    result = tuple(map(str, range(n_agents)) if names is None else names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in result):
        raise TypeError(f"names must be a sequence of strings, got {names!r}")
    rule = f"have one entry per agent ({n_agents})"
    require(len(result) == n_agents, "names", rule, f"{len(result)} entries")
    require(all(result), "names", "not be empty", "")
    name, times = Counter(result).most_common(1)[0]
    require(times == 1, "names", "be unique", name)
    return tuple(map(str, result))
