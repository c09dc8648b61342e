"""Networks: laws of the directed edges, builders against brute force, messages."""

import copy
import dataclasses
import math
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from halk.network import Network

Pair = tuple[int, int]
ARRAYS = ("edges", "tolerance", "indptr", "neighbours", "reverse", "degree")


@st.composite
def networks(draw: st.DrawFn, max_agents: int = 8) -> Network:
    """Draw networks with any pairs, directed tolerances, names and positions."""
    n = draw(st.integers(1, max_agents))
    possible = list(combinations(range(n), 2))
    pairs = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    number = st.floats(0, 5)
    sizes = st.sampled_from([len(pairs), 2 * len(pairs)])
    listed = sizes.flatmap(lambda m: st.lists(number, min_size=m, max_size=m))
    tolerance = draw(number | listed)
    place = st.tuples(st.floats(-9, 9), st.floats(-9, 9))
    places = st.lists(place, min_size=n, max_size=n)
    names = st.lists(st.text(min_size=1, max_size=3), min_size=n, max_size=n)
    return Network(
        n,
        pairs,
        tolerance,
        names=draw(st.none() | names.filter(lambda x: len(set(x)) == len(x))),
        positions=draw(st.none() | places),
    )


def pairs_of(net: Network) -> set[Pair]:
    return {(i, j) for i, j in net.edges.tolist() if i < j}


def tolerances_of(net: Network) -> dict[Pair, float]:
    edges = map(tuple, net.edges.tolist())
    return dict(zip(edges, net.tolerance.tolist(), strict=True))


# --- laws -----------------------------------------------------------------------------


@given(networks())
def test_edges_are_sorted_symmetric_and_without_loops(net: Network) -> None:
    edges = [tuple(edge) for edge in net.edges.tolist()]
    assert edges == sorted({(j, i) for i, j in edges if i != j})
    assert net.n_edges == len(edges) == len(net.tolerance)
    np.testing.assert_array_equal(net.edges[net.reverse], net.edges[:, ::-1])
    assert len(net.indptr) == net.n_agents + 1
    for i in range(net.n_agents):
        own = [head for tail, head in edges if tail == i]
        assert net.neighbours[net.indptr[i] : net.indptr[i + 1]].tolist() == own
        assert net.degree[i] == len(own)


@given(networks(), st.randoms())
def test_pairs_may_come_in_any_order_direction_and_number(
    net: Network, rng: Any
) -> None:
    pairs = [rng.choice(((i, j), (j, i))) for i, j in pairs_of(net)] * 2
    rng.shuffle(pairs)
    np.testing.assert_array_equal(Network(net.n_agents, pairs).edges, net.edges)


@given(networks(), st.randoms())
def test_each_row_keeps_its_own_tolerance(net: Network, rng: Any) -> None:
    wanted = tolerances_of(net)
    directed = list(wanted)
    rng.shuffle(directed)
    again = Network(net.n_agents, directed, [wanted[edge] for edge in directed])
    assert tolerances_of(again) == wanted

    pairs = [rng.choice(((i, j), (j, i))) for i, j in pairs_of(net)]
    rng.shuffle(pairs)
    per_pair = tolerances_of(Network(net.n_agents, pairs, [wanted[p] for p in pairs]))
    assert all(per_pair[i, j] == per_pair[j, i] == wanted[i, j] for i, j in pairs)


@given(networks())
def test_a_network_is_a_value(net: Network) -> None:
    for twin in (
        dataclasses.replace(net),
        copy.deepcopy(net),
        pickle.loads(pickle.dumps(net)),
    ):
        assert twin == net
        assert hash(twin) == hash(net)
        assert not any(getattr(twin, name).flags.writeable for name in ARRAYS)
        assert twin.positions is None or not twin.positions.flags.writeable


@pytest.mark.parametrize(
    "other",
    [
        Network(4, [(0, 1), (1, 2)], 0.5),
        Network(3, [(0, 1)], 0.5),
        Network(3, [(0, 1), (1, 2)], 0.4),
        Network(3, [(0, 1), (1, 2)], [0.5, 0.5, 0.5, 0.4]),
        Network(3, [(0, 1), (1, 2)], 0.5, names=["a", "b", "c"]),
        Network(3, [(0, 1), (1, 2)], 0.5, positions=[[0], [1], [2]]),
        "Network(3 agents, 4 edges)",
    ],
)
def test_networks_that_differ_are_not_equal(other: object) -> None:
    assert Network(3, [(0, 1), (1, 2)], 0.5) != other


@given(networks(), st.randoms())
def test_relabelling_and_back(net: Network, rng: Any) -> None:
    permutation = list(range(net.n_agents))
    rng.shuffle(permutation)
    moved = net.relabel(permutation)
    assert moved.relabel(np.argsort(permutation).tolist()) == net
    wanted = tolerances_of(net)
    assert tolerances_of(moved) == {
        (i, j): wanted[permutation[i], permutation[j]]
        for i in range(net.n_agents)
        for j in range(net.n_agents)
        if (permutation[i], permutation[j]) in wanted
    }
    assert moved.names == tuple(net.names[i] for i in permutation)
    if net.positions is not None and moved.positions is not None:
        np.testing.assert_array_equal(moved.positions, net.positions[permutation])


@given(networks(), st.data())
def test_subnetwork_keeps_what_is_among_its_agents(net: Network, data: Any) -> None:
    among = st.lists(st.sampled_from(net.names), min_size=1, unique=True)
    names = data.draw(among)
    part = net.subnetwork(names)
    assert part.names == tuple(names)
    numbers = [net.index(name) for name in names]
    assert tolerances_of(part) == {
        (numbers.index(i), numbers.index(j)): gamma
        for (i, j), gamma in tolerances_of(net).items()
        if i in numbers and j in numbers
    }
    if net.positions is not None and part.positions is not None:
        np.testing.assert_array_equal(part.positions, net.positions[numbers])


@given(networks())
def test_is_connected_agrees_with_networkx(net: Network) -> None:
    undirected = networkx.Graph(net.to_networkx())
    assert net.is_connected is bool(networkx.is_connected(undirected))


@given(networks())
def test_names_and_numbers_find_agents(net: Network) -> None:
    for i, name in enumerate(net.names):
        assert net.index(name) == net.index(i) == net.index(np.int32(i)) == i  # type: ignore[arg-type]


# --- small and large ------------------------------------------------------------------


def test_one_agent() -> None:
    for net in (
        Network(1),
        Network(1, [], []),
        Network(1, np.empty((0, 2), dtype=int)),
        Network.path(1),
        Network.ring(1),
        Network.star(1),
        Network.complete(1),
        Network.grid(1, 1),
    ):
        assert net == Network(1)
        assert net.edges.shape == (0, 2)
        assert net.indptr.tolist() == [0, 0]
        assert net.names == ("0",)
        assert net.is_connected
    for near in (
        Network.from_positions([[3.0, 4.0]], radius=1.0, tolerance=np.exp),
        Network.from_positions([[3.0, 4.0]], k=2),
        Network.random_geometric(1, 0.5, seed=0),
    ):
        assert (near.n_agents, near.n_edges) == (1, 0)


def test_isolated_agents() -> None:
    net = Network(5, [(3, 1)])
    assert net.degree.tolist() == [0, 1, 0, 1, 0]
    assert net.indptr.tolist() == [0, 0, 1, 1, 2, 2]
    assert not net.is_connected
    assert not Network(4, [(0, 1), (2, 3)]).is_connected
    assert Network(3).degree.tolist() == [0, 0, 0]
    assert repr(Network(3)) == "Network(3 agents, 0 edges)"


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_indices_of_every_width(dtype: Any) -> None:
    pairs = np.array([[100, 3], [2, 100]], dtype=dtype)
    net = Network(1000, pairs)
    assert pairs_of(net) == {(3, 100), (2, 100)}
    assert net.edges.dtype == net.neighbours.dtype == np.int64


def test_edges_from_any_iterable() -> None:
    wanted = Network(3, [(0, 1), (1, 2)])
    assert Network(3, {(0, 1), (2, 1)}) == wanted
    assert Network(3, ((i, i + 1) for i in range(2))) == wanted
    assert Network(3, networkx.path_graph(3).edges) == wanted


def test_arguments_are_neither_kept_nor_changed() -> None:
    pairs, gamma = np.array([[0, 1], [1, 0]]), np.array([1.0, 2.0])
    places = np.array([[0.0], [1.0]])
    nets = [Network(2, given, gamma, positions=places) for given in (pairs, pairs[:1])]
    for mine in (pairs, gamma, places):
        mine[...] = 7
    for net in nets:
        assert net == Network(2, [(0, 1)], [1.0, 2.0], positions=[[0.0], [1.0]])


def test_a_network_cannot_be_changed() -> None:
    net = Network.path(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        net.n_agents = 4  # type: ignore[misc]
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(net, name)[0] = 0


def test_a_hundred_thousand_agents() -> None:
    n = 100_000
    places = np.random.default_rng(0).random((n, 2))
    net = Network.from_positions(places, radius=math.sqrt(8 / n / math.pi))
    assert 700_000 < net.n_edges < 900_000
    start = time.perf_counter()
    again = Network(n, net.edges[net.reverse], net.tolerance)
    elapsed = time.perf_counter() - start
    np.testing.assert_array_equal(again.edges, net.edges)
    assert elapsed < 3, "a tenth of this is usual: is there a loop over edges?"


# --- shapes ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    ("shape", "graph"),
    [
        (Network.path, networkx.path_graph),
        (
            Network.ring,
            lambda n: networkx.cycle_graph(n) if n > 2 else networkx.path_graph(n),
        ),
        (Network.star, lambda n: networkx.star_graph(n - 1)),
        (Network.complete, networkx.complete_graph),
    ],
)
def test_shapes_agree_with_networkx(
    shape: Callable[..., Network], graph: Callable[[int], Any], n: int
) -> None:
    assert shape(n, tolerance=0.3) == Network.from_networkx(graph(n), tolerance=0.3)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (4, 1), (3, 4)])
def test_grid_agrees_with_networkx(rows: int, columns: int) -> None:
    graph = networkx.grid_2d_graph(rows, columns)
    names = [str(node) for node in graph]
    net = dataclasses.replace(Network.grid(rows, columns), names=names)  # type: ignore[arg-type]
    assert net == Network.from_networkx(graph)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: Network.path(5, t),
        lambda t: Network.ring(2, t),
        lambda t: Network.ring(5, t),
        lambda t: Network.star(5, t),
        lambda t: Network.complete(5, t),
        lambda t: Network.grid(3, 4, t),
    ],
)
def test_tolerances_of_shapes_follow_lexicographic_pairs(
    make: Callable[[Any], Network],
) -> None:
    pairs = sorted(pairs_of(make(0.0)))
    net = make(np.arange(len(pairs)))
    assert {pair: tolerances_of(net)[pair] for pair in pairs} == {
        pair: float(p) for p, pair in enumerate(pairs)
    }


# --- positions ------------------------------------------------------------------------


def great_circle(a: Sequence[float], b: Sequence[float]) -> float:
    """Kilometres, by the haversine formula."""
    (lat_a, lon_a), (lat_b, lon_b) = (map(math.radians, place) for place in (a, b))
    along = math.sin((lat_a - lat_b) / 2) ** 2
    across = math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_a - lon_b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(min(along + across, 1.0)))


def plane(a: Sequence[float], b: Sequence[float]) -> float:
    return math.dist(a, b)


# Whole numbers give coincident agents, ties, and distances of exactly the radius.
cells = st.integers(-3, 3).map(float)
euclidean_places = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.lists(cells | st.floats(-3, 3, width=32), min_size=d, max_size=d),
        min_size=1,
        max_size=12,
    )
)
latitudes = st.sampled_from([-90.0, 0.0, 45.0, 90.0]) | st.floats(-90, 90)
longitudes = st.sampled_from([-180.0, 0.0, 180.0, 540.0]) | st.floats(-400, 400)
METRE = 1e-3  # near the antipode, rounding alone is a tenth of that
globe_places = st.lists(st.tuples(latitudes, longitudes), min_size=1, max_size=12)


def assert_within(net: Network, distance: Any, radius: float, slack: float) -> None:
    """Check every pair by brute force, except those within rounding of the radius."""
    assert net.positions is not None
    connected = pairs_of(net)
    for i, j in combinations(range(net.n_agents), 2):
        length = distance(net.positions[i], net.positions[j])
        if abs(length - radius) > slack:
            assert ((i, j) in connected) == (length < radius)


def assert_nearest(net: Network, distance: Any, k: int, slack: float) -> None:
    """Check that nearer ones are in, farther ones out, and ties enough of them."""
    assert net.positions is not None
    n = net.n_agents
    lengths = np.array([[distance(a, b) for b in net.positions] for a in net.positions])
    np.fill_diagonal(lengths, np.inf)
    connected = pairs_of(net)
    last = np.sort(lengths, axis=1)[:, min(k, n - 1) - 1] if n > 1 else np.zeros(1)
    assert (net.degree >= min(k, n - 1)).all()
    for i, j in combinations(range(n), 2):
        if lengths[i, j] < max(last[i], last[j]) - slack:
            assert (i, j) in connected
        if lengths[i, j] > max(last[i], last[j]) + slack:
            assert (i, j) not in connected


@given(euclidean_places, st.integers(0, 6).map(float) | st.floats(0, 6))
def test_radius_against_brute_force(places: Any, radius: float) -> None:
    assert_within(Network.from_positions(places, radius), plane, radius, 1e-9)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.integers(0, 5))
def test_radius_is_inclusive(places: Any, radius: int) -> None:
    wanted = {
        (i, j)
        for i, j in combinations(range(len(places)), 2)
        if sum((a - b) ** 2 for a, b in zip(places[i], places[j], strict=True))
        <= radius**2
    }
    assert pairs_of(Network.from_positions(places, radius)) == wanted


@pytest.mark.parametrize("metric", ["euclidean", "haversine"])
@pytest.mark.parametrize("step", [1e-7, 1e-3, 10.0])
def test_a_radius_of_just_the_distance_is_enough(metric: str, step: float) -> None:
    rng = np.random.default_rng(0)
    for place in rng.uniform(-80, 80, (50, 2)):
        both = [place, place + rng.uniform(-step, step, 2)]
        net = Network.from_positions(both, k=1, metric=metric, tolerance=np.abs)
        length = float(net.tolerance[0])
        assert Network.from_positions(both, length, metric=metric).n_edges == 2
        shorter = math.nextafter(length, 0)
        assert Network.from_positions(both, shorter, metric=metric).n_edges == 0


@given(globe_places, st.floats(0, 21_000))
@example([(0.0, 180.0), (0.0, -180.0), (0.0, 540.0)], 0.0)
@example([(90.0, 12.0), (-90.0, 77.0)], 20_016.0)
@example([(40.0, 179.9), (40.0, -179.9)], 100.0)
def test_haversine_radius_against_brute_force(places: Any, radius: float) -> None:
    net = Network.from_positions(places, radius, metric="haversine")
    assert_within(net, great_circle, radius, METRE)


def test_the_date_line_is_no_border() -> None:
    places = [(0.0, 180.0), (0.0, -180.0), (0.0, 540.0)]
    assert Network.from_positions(places, 0, metric="haversine") == Network(
        3, [(0, 1), (0, 2), (1, 2)], positions=places
    )


@given(euclidean_places, st.integers(1, 13))
@example([[0.0]] * 12, 2)
def test_nearest_against_brute_force(places: Any, k: int) -> None:
    assert_nearest(Network.from_positions(places, k=k), plane, k, 1e-9)


@given(globe_places, st.integers(1, 13))
def test_haversine_nearest_against_brute_force(places: Any, k: int) -> None:
    net = Network.from_positions(places, k=k, metric="haversine")
    assert_nearest(net, great_circle, k, METRE)


def test_haversine_of_known_distances() -> None:
    def kilometres(a: Any, b: Any) -> float:
        net = Network.from_positions(
            [a, b], k=1, metric="haversine", tolerance=lambda distances: distances
        )
        return float(net.tolerance[0])

    quarter = math.pi / 2 * 6371.0088
    assert kilometres((0, 0), (90, 123)) == pytest.approx(quarter)
    assert kilometres((0, -45), (0, 45)) == pytest.approx(quarter)
    assert kilometres((0, 0), (0, 180)) == pytest.approx(2 * quarter)
    assert kilometres((0, 179.5), (0, -179.5)) == pytest.approx(111.1951, abs=1e-4)
    london, paris = (51.5074, -0.1278), (48.8566, 2.3522)
    assert kilometres(london, paris) == pytest.approx(343.6, abs=0.1)


def test_many_coincident_agents() -> None:
    net = Network.from_positions(np.zeros((200, 2)), k=3)
    assert (net.degree >= 3).all()
    assert Network.from_positions(np.zeros((20, 2)), radius=0).n_edges == 20 * 19


def test_tolerance_is_a_function_of_all_distances_at_once() -> None:
    calls: list[NDArray[np.float64]] = []

    def gamma(distances: NDArray[np.float64]) -> NDArray[np.float64]:
        calls.append(distances)
        return np.exp(-distances)

    net = Network.from_positions([[0.0], [1.0], [3.0]], 2.5, tolerance=gamma)
    assert len(calls) == 1
    assert tolerances_of(net) == pytest.approx(
        {
            (0, 1): math.exp(-1),
            (1, 0): math.exp(-1),
            (1, 2): math.exp(-2),
            (2, 1): math.exp(-2),
        }
    )
    same = Network.from_positions([[0.0], [1.0], [3.0]], 2.5, tolerance=lambda _: 0.2)
    assert same.tolerance.tolist() == [0.2] * 4


def test_random_geometric() -> None:
    net = Network.random_geometric(50, 0.2, seed=3, tolerance=0.1)
    rng = np.random.default_rng(3)
    assert net == Network.random_geometric(50, 0.2, seed=rng, tolerance=0.1)
    assert net != Network.random_geometric(50, 0.2, seed=4, tolerance=0.1)
    assert net.positions is not None
    assert net.positions.shape == (50, 2)
    assert net == Network.from_positions(net.positions, 0.2, tolerance=0.1)
    cube = Network.random_geometric(5, 1.0, seed=3, dimension=3)
    assert cube.positions is not None
    assert cube.positions.shape == (5, 3)


# --- networkx -------------------------------------------------------------------------


@given(networks())
def test_networkx_round_trip(net: Network) -> None:
    graph = net.to_networkx()
    same = bool((net.tolerance == net.tolerance[net.reverse]).all())
    assert graph.is_directed() is not same
    assert Network.from_networkx(graph) == net


def test_networkx_attributes() -> None:
    graph = networkx.Graph()
    graph.add_node("b", xy=(0.0, 1.0))
    graph.add_node(7, xy=(2.0, 3.0))
    graph.add_edge(7, "b", gamma=0.25)
    net = Network.from_networkx(graph, "gamma", positions="xy")
    assert net == Network(
        2, [(0, 1)], 0.25, names=["b", "7"], positions=[[0, 1], [2, 3]]
    )
    assert Network.from_networkx(graph) == Network(2, [(0, 1)], names=["b", "7"])
    graph.nodes["b"]["pos"] = (0, 0)
    assert Network.from_networkx(graph).positions is None


def test_networkx_multigraph_merges_parallel_edges() -> None:
    graph = networkx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert Network.from_networkx(graph, 0.5) == Network.path(3, 0.5)


def test_networkx_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"both directions.*\('a', 'b'\) without"):
        Network.from_networkx(networkx.DiGraph([("a", "b")]))
    graph = networkx.path_graph(3)
    graph.edges[0, 1]["tolerance"] = 0.5
    with pytest.raises(ValueError, match=r"'tolerance' on every edge, got none on \(1"):
        Network.from_networkx(graph)
    with pytest.raises(ValueError, match="'gamma' on every edge, got none on"):
        Network.from_networkx(graph, "gamma")
    with pytest.raises(ValueError, match="attribute 'xy' on every node, got none on 0"):
        Network.from_networkx(graph, 0.0, positions="xy")
    with pytest.raises(TypeError, match="graph must be a networkx graph, got 3"):
        Network.from_networkx(3)
    with pytest.raises(ValueError, match="names must be unique, got '1'"):
        Network.from_networkx(networkx.Graph([(1, "1")]))
    monkeypatch.setitem(sys.modules, "networkx", None)
    for convert in (Network.path(2).to_networkx, lambda: Network.from_networkx(graph)):
        with pytest.raises(ImportError, match=r"pip install 'halk\[graphs\]'"):
            convert()


# --- messages -------------------------------------------------------------------------

Refusals = list[tuple[Callable[[], Any], str]]
near = Network.from_positions

WRONG_VALUES: Refusals = [
    (lambda: Network(0), r"^n_agents must be at least 1, got 0$"),
    (
        lambda: Network(3, [(0, 1), (1, 3)]),
        r"^edges must join agents numbered 0 to 2, got \(1, 3\) at index 1$",
    ),
    (lambda: Network(3, [(-1, 1)]), r" 0 to 2, got \(-1, 1\) at index 0$"),
    (
        lambda: Network(3, [(0, 1), (2, 2)]),
        r"^edges must join two different agents, got \(2, 2\) at index 1$",
    ),
    (lambda: Network(3, [[0, 1, 2]]), r"^edges must have shape \(any, 2\), got \(1, 3"),
    (lambda: Network(3, [0, 1]), r"^edges must have shape \(any, 2\), got \(2,\)$"),
    (lambda: Network(3, 5), r"^edges must have shape \(any, 2\), got \(\)$"),
    (lambda: Network(3, [[0, 1], [2]]), r"^edges must be pairs \(i, j\), got a ragged"),
    (lambda: Network.path(3, -1), r"^tolerance must not be negative, got -1.0$"),
    (lambda: Network.path(3, [0, -2]), r"^tolerance must not be negative, got -2.0$"),
    (lambda: Network.path(3, np.inf), r"^tolerance must be finite, got inf$"),
    (lambda: Network.path(3, [0, np.nan]), r"^tolerance must be finite, got nan at"),
    (
        lambda: Network.path(3, [1, 2, 3]),
        r"^tolerance must be a number or have one entry per pair \(2\) or directed "
        r"edge \(4\), got '3 entries'$",
    ),
    (
        lambda: Network(3, [(0, 1), (1, 2), (1, 0)], [1, 2, 3]),
        r"^edges must hold each pair once if each has its own tolerance, "
        r"got \(1, 0\) at index 2$",
    ),
    (
        lambda: Network(2, [(0, 1), (0, 1)], [1, 2]),
        r"each pair once.*\(0, 1\) at index",
    ),
    (lambda: Network(2, names=["a"]), r"^names must have one entry per agent \(2\)"),
    (lambda: Network(2, names=["a", "a"]), r"^names must be unique, got 'a'$"),
    (lambda: Network(2, names=["a", ""]), r"^names must not be empty, got ''$"),
    (lambda: Network(2, positions=[[0.0]]), r"^positions must have shape \(2, any\)"),
    (lambda: Network(1, positions=[[np.nan]]), r"^positions must be finite, got nan"),
    (
        lambda: Network(2, names=["a", "b"]).index("c"),
        r"^agent must be one of 'a', 'b', got 'c'$",
    ),
    (lambda: Network(9).index("x"), r"'3', '4', ..., got 'x'$"),
    (lambda: Network(3).index(3), r"^agent must be at most 2, got 3$"),
    (lambda: Network(3).index(-1), r"^agent must be at least 0, got -1$"),
    (lambda: Network(3).subnetwork([]), r"^agents must not be empty, got \[\]$"),
    (
        lambda: Network(3).subnetwork([1, 2, "1"]),
        r"^agents must hold each agent once, got '1'$",
    ),
    (
        lambda: Network(3).relabel([1, 0]),
        r"^permutation must hold all 3 agents, got",
    ),
    (lambda: near([[0.0]], -1), r"^radius must not be negative, got -1.0$"),
    (lambda: near([[0.0]], k=0), r"^k must be at least 1, got 0$"),
    (lambda: near([0.0], 1), r"^positions must have shape \(any, any\), got \(1,\)$"),
    (lambda: near([[]], 1), r"^positions must not be empty, got \(1, 0\)$"),
    (
        lambda: near([[0, np.nan]], 1),
        r"^positions must be finite, got nan at index \(0",
    ),
    (
        lambda: near([[0.0]], 1, metric="manhattan"),
        r"^metric must be one of 'euclidean', 'haversine', got 'manhattan'$",
    ),
    (
        lambda: near([[0, 0], [-91, 0]], 1, metric="haversine"),
        r"^positions must be \(latitude, longitude\) with latitudes within "
        r"\[-90, 90\], got -91.0$",
    ),
    (
        lambda: near([[0.0]], 1, metric="haversine"),
        r"^positions must have shape \(any, 2\), got \(1, 1\)$",
    ),
    (
        lambda: near([[0.0], [1.0]], 1, tolerance=lambda _: [1, 2]),
        r"^tolerance must be a number or have one entry per pair \(1\)",
    ),
    (
        lambda: near([[0.0], [1.0]], 1, tolerance=lambda lengths: -lengths),
        r"^tolerance must not be negative, got -1.0$",
    ),
    (lambda: Network.path(0), r"^n_agents must be at least 1, got 0$"),
    (lambda: Network.grid(2, 0), r"^columns must be at least 1, got 0$"),
    (
        lambda: Network.random_geometric(3, 1, dimension=0),
        r"^dimension must be at least",
    ),
]

untyped: Any = Network  # what a type checker would refuse, too

WRONG_TYPES: Refusals = [
    (lambda: untyped(2.0), r"^n_agents must be a whole number, got 2.0$"),
    (
        lambda: untyped(3, [(0.0, 1.0)]),
        r"^edges must hold whole numbers, got dtype flo",
    ),
    (lambda: untyped(3, [(False, True)]), r"^edges must hold whole numbers, got dtype"),
    (
        lambda: untyped(3, [(0, 2**70)]),
        r"^edges must hold whole numbers, got dtype obj",
    ),
    (
        lambda: untyped(3, [("a", "b")]),
        r"^edges must hold whole numbers, got dtype <U1",
    ),
    (lambda: untyped.path(3, "wide"), r"^tolerance must be a number, got 'wide'$"),
    (
        lambda: untyped(2, names="ab"),
        r"^names must be a sequence of strings, got 'ab'$",
    ),
    (lambda: untyped(2, names=["a", 1]), r"^names must be a sequence of strings, got"),
    (lambda: untyped(3).index(1.5), r"^agent must be a whole number, got 1.5$"),
    (
        lambda: near([[0.0]]),
        r"exactly one of radius and k, got radius=None and k=None$",
    ),
    (lambda: near([[0.0]], 1, k=1), r"exactly one of radius and k, got radius=1 and k"),
    (
        lambda: untyped.from_positions([[0.0], [1.0]], 1, tolerance=[1.0]),
        r"^tolerance must be a number, got \[1.0\]$",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG_VALUES)
def test_wrong_values(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("call", "message"), WRONG_TYPES)
def test_wrong_types(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
