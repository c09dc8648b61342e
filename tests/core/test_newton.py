"""Second order: one agent and many, threads, who is concerned, hostile streams."""

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from halk import Network, NewtonHALK, kernels, simulator
from halk.agent import NewtonAgent
from halk.state import STD, SUSPECTS

NUMBERS: dict[str, Any] = {
    "length_scale": 0.2, "noise": 0.01, "standardize": True,
}  # fmt: skip
NETWORKS = {
    "path": Network.path(4, tolerance=0.01),
    "ring": Network.ring(5, tolerance=0.0),
    "random": Network(7, [(0, 3), (0, 5), (1, 3), (2, 3), (3, 6), (5, 6)], 0.02),
    "hub": Network.star(20, tolerance=0.01),  # more than are kept pending
}
EXCHANGES = ["predictions", "readings"]


def stream(
    network: Network, n_steps: int = 40, p: int = 1, share: float = 0.4, seed: int = 0
) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_steps, network.n_agents, p))
    Y = 20 + np.sin(6 * X.sum(axis=-1)) * np.linspace(0.5, 4, network.n_agents)
    Y[rng.uniform(size=Y.shape) < 0.03] = -99.0
    Y[rng.uniform(size=Y.shape) < share] = np.nan
    Y[: n_steps // 2, -1] = np.nan  # adopts the scale of another
    Y[7] = np.nan  # nobody reads
    return X, Y


def parts_of(learner: NewtonHALK) -> list[dict[str, Any]]:
    """Return the state of every agent by itself."""
    state, network = learner.state_dict(), learner.network
    order = state["order"]
    atom = np.concatenate([[0], np.cumsum(order)])
    cell = np.concatenate([[0], np.cumsum(order**2)])
    parts = []
    for i in range(network.n_agents):
        atoms, cells = slice(*atom[i : i + 2]), slice(*cell[i : i + 2])
        edges = slice(*network.indptr[i : i + 2])
        parts.append(
            {name: state[name][atoms] for name in ("atoms", "weights", "values")}
            | {name: state[name][cells] for name in ("inverse", "covariance")}
            | {"agents": state["agents"][i], "edges": state["edges"][edges]}
        )
    return parts


def assert_same(one: dict[str, Any], other: dict[str, Any], where: Any = "") -> None:
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=f"{name} {where}")


def assert_same_agents(learner: NewtonHALK, other: NewtonHALK) -> None:
    pairs = zip(parts_of(learner), parts_of(other), strict=True)
    for i, (got, expected) in enumerate(pairs):
        assert_same(got, expected, i)


# One agent and all -------------------------------------------------------------------


def run_agents(agents: list[NewtonAgent], X: Any, Y: Any, rng: Any) -> None:
    """All ask, answer and update; some are brought back in the middle of a step."""

    def sleep() -> None:
        for i in np.flatnonzero(rng.uniform(size=len(agents)) < 0.2):
            agents[i] = pickle.loads(pickle.dumps(agents[i]))

    for x, y in zip(X, Y, strict=True):
        asking = np.flatnonzero(~np.isnan(y)).tolist()
        queries = {i: agents[i].ask(x[i], float(y[i])) for i in asking}
        sleep()
        answers: dict[int, Any] = {i: {} for i in asking}
        for i in rng.permutation(asking).tolist():
            for j, query in queries[i].items():
                answer = agents[j].answer(i, query)
                if not np.isnan(answer.value):
                    answers[i][j] = answer
        sleep()
        for i in rng.permutation(len(agents)).tolist():
            agents[i].update(answers.get(i))
        sleep()


@pytest.mark.parametrize("standardize", [False, "offset", True])
@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", NETWORKS)
def test_agents_by_themselves_do_as_the_network(
    name: str, exchange: str, standardize: Any, rng: np.random.Generator
) -> None:
    network = NETWORKS[name]
    learner = NewtonHALK(
        network, exchange=exchange, identity=0.2, max_atoms=12, regularization=1e-3,
        forgetting=0.99, **(NUMBERS | {"standardize": standardize}),
    )  # fmt: skip
    X, Y = stream(network, p=2)
    learner.learn_many(X, Y)
    assert exchange == "readings" or learner.multipliers.any()
    V = network.n_agents
    agents = [learner.agent(i) for i in range(V)]
    run_agents(agents, X, Y, rng)
    for i, (agent, part) in enumerate(zip(agents, parts_of(learner), strict=True)):
        got = agent.state_dict()
        assert_same(part, got | {"agents": got["agents"][0]}, i)
        assert agent.predict(X[0, i]) == learner.predict(i, X[0, [i]])[0]
        assert agent.suspects == learner.suspects[i]
        f = learner.function(i)
        np.testing.assert_array_equal(agent.function.weights, f.weights)
        assert agent.function.kernel == f.kernel


def test_an_exception_of_an_own_kernel_leaves_all_as_it_was() -> None:
    calls = {"left": 10**9}

    def fragile(X: Any, Y: Any) -> Any:
        calls["left"] -= 1
        if calls["left"] < 0:
            raise RuntimeError("no more")
        return np.exp(-np.abs(X[:, :1] - Y[:, 0]))

    network = NETWORKS["path"]
    learner = NewtonHALK(network, fragile, noise=0.01, forgetting=0.9)
    X, Y = stream(network, 12)
    learner.learn_many(X, Y)
    agent = learner.agent(1)
    agent.ask(X[0, 1], 1.0)
    agent.update()
    before, own = parts_of(learner), agent.state_dict()
    y = np.ones(4)
    for left in range(0, 60, 3):
        calls["left"] = left
        try:
            learner.learn_many(X[:2], np.stack([y, y]))
        except RuntimeError:
            for one, other in zip(parts_of(learner), before, strict=True):
                assert_same(one, other)
        calls["left"] = left % 5
        try:
            for _ in range(3):
                agent.ask(X[1, 1], 2.0)
                own = agent.state_dict()
        except RuntimeError:
            assert_same(agent.state_dict(), own)
        calls["left"] = 10**9
        before = parts_of(learner)


# Threads and steps -------------------------------------------------------------------


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", NETWORKS)
def test_threads_change_no_bit(
    name: str, exchange: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulator, "WORTH_SHARING", 1)
    X, Y = stream(NETWORKS[name], p=2)
    models = []
    for n_jobs in (1, 2, 3):
        changes = NUMBERS | {"max_atoms": 8, "exchange": exchange, "n_jobs": n_jobs}
        models.append(NewtonHALK(NETWORKS[name], **changes))
        models[-1].learn_many(X, Y)
    assert_same_agents(models[1], models[0])
    assert_same_agents(models[2], models[0])


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_single_readings_are_steps_of_their_own(exchange: str) -> None:
    network = NETWORKS["random"]
    X, Y = stream(network, 30)
    single, many, loop = (
        NewtonHALK(network, exchange=exchange, **NUMBERS) for _ in range(3)
    )
    t, agent = np.nonzero(~np.isnan(Y))
    single.learn_readings(agent, X[t, agent], Y[t, agent])
    dense = np.full((len(t), network.n_agents), np.nan)
    dense[np.arange(len(t)), agent] = Y[t, agent]
    many.learn_many(X[t], dense)
    for x, y in zip(X[t], dense, strict=True):
        loop.learn_one(x, y)
    assert_same_agents(many, single)
    assert_same_agents(loop, single)
    assert single.n_steps == many.n_steps == loop.n_steps == len(t)


def test_who_neither_reads_nor_is_asked_is_untouched() -> None:
    network = NETWORKS["random"]
    learner = NewtonHALK(network, **NUMBERS)
    learner.learn_many(*stream(network))
    for i in range(network.n_agents):
        before = parts_of(learner)
        learner.learn_readings([i], [[0.3]], [21.0])
        near = set(network.neighbours[slice(*network.indptr[i : i + 2])].tolist())
        for j, (old, new) in enumerate(zip(before, parts_of(learner), strict=True)):
            if j in near:  # asked: taught, but their own multipliers stay
                np.testing.assert_array_equal(new["edges"][:, 1], old["edges"][:, 1])
            elif j != i:
                assert_same(new, old, j)


def test_one_reading_in_a_large_network_costs_its_neighbours() -> None:
    network = Network.ring(5000, tolerance=0.01)
    learner = NewtonHALK(network, **NUMBERS)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3, 5000, 1))
    learner.learn_many(X, np.sin(6 * X[..., 0]))
    simulator = learner._search.live
    before = sum(simulator.counts.values())
    learner.learn_readings([77, 4999], [[0.4], [0.5]], [0.5, 0.6])
    assert sum(simulator.counts.values()) - before == 6


def relabel_in_order(network: Network, rng: np.random.Generator) -> list[int]:
    """Return new labels with which all neighbourhoods keep their order."""
    V = network.n_agents
    pairs = [network.neighbours[slice(*network.indptr[i : i + 2])] for i in range(V)]
    after = {(int(a), int(b)) for near in pairs for a, b in pairwise(near)}
    label, left = [0] * V, set(range(V))
    for new in range(V):
        free = [
            b for b in sorted(left) if not any(a in left for a, c in after if c == b)
        ]
        i = int(rng.choice(free))
        label[i] = new
        left.remove(i)
    return label


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", ["path", "random", "hub"])
def test_other_labels_permute_the_result(
    name: str, exchange: str, rng: np.random.Generator
) -> None:
    """Bit for bit, where every agent's neighbours keep their order."""
    network = NETWORKS[name]
    X, Y = stream(network)
    changes = NUMBERS | {"exchange": exchange, "identity": 0.3}
    learner = NewtonHALK(network, **changes)
    learner.learn_many(X, Y)
    label = relabel_in_order(network, rng)
    assert label != sorted(label)
    order = np.argsort(label)  # who has the new labels
    other = NewtonHALK(
        Network(
            network.n_agents,
            [(label[int(i)], label[int(j)]) for i, j in network.edges],
            float(network.tolerance[0]),
        ),
        **changes,
    )
    other.learn_many(X[:, order], Y[:, order])
    expected, got = parts_of(learner), parts_of(other)
    for i in range(network.n_agents):
        names = ["weights", "values", "covariance", "agents", "edges"]
        assert_same({k: got[label[i]][k] for k in names}, expected[i], i)


# Hostile streams ---------------------------------------------------------------------

STUCK = {"largest_multiplier": 1e4, "first_multiplier": 1e4}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "fine novelty": {"novelty": 1e-6},
    "finer novelty": {"novelty": 1e-6, "noise": 1e-8, "robust": None},
    "forgetting": {"forgetting": 0.5},
    "all of it": {"novelty": 1e-6, "forgetting": 0.5, "noise": 1e-8, **STUCK},
    "stuck": STUCK,
    "stuck, no guard": {**STUCK, "robust": None},
    "few atoms": {"max_atoms": 3, "robust": None},
    "budget": {"epsilon": 1e-2, "regularization": 0.01, "robust": None},
    "readings": {"exchange": "readings", "novelty": 1e-6, "identity": 0.1},
}
KINDS = ["uniform", "repeated", "nearly repeated", "constant"]


def inputs(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    if kind == "constant":
        return np.full(shape, 0.25)
    if kind == "repeated":
        return rng.integers(0, 4, size=shape) / 3.0
    if kind == "nearly repeated":
        return rng.integers(0, 3, size=shape) / 2.0 + 1e-9 * rng.normal(size=shape)
    return rng.uniform(size=shape)


def run_hostile(
    network: Network, kind: str, n_steps: int, length_scale: float, changes: Any
) -> None:
    V, rng = network.n_agents, np.random.default_rng(0)
    X = inputs(kind, rng, (n_steps, V, 1))
    Y = np.sin(9.0 * X[..., 0]) + rng.normal(size=(n_steps, V))
    Y[rng.uniform(size=Y.shape) < 0.02] = 1e8
    Y[rng.uniform(size=Y.shape) < 0.02] = -1e8
    Y[rng.uniform(size=Y.shape) < 0.2] = np.nan
    grid = np.linspace(-1.0, 2.0, 31)[:, None]
    for standardize in (False, True):
        numbers = {"noise": 0.01, "length_scale": length_scale} | changes
        model = NewtonHALK(network, standardize=standardize, **numbers)
        for part in np.array_split(np.arange(n_steps), 3):
            model.learn_many(X[part], Y[part])
            assert model.model_order.max() <= numbers.get("max_atoms", 60)
            variances = model.state_dict()["covariance"]
            assert np.isfinite(variances).all()
        top = numbers.get("largest_multiplier", 10.0)
        assert ((model.multipliers >= 0) & (model.multipliers <= top)).all()
        for i in range(V):
            mean = model.predict(i, grid)
            assert np.abs(mean).max() < 1e11
            points = np.concatenate([grid, model.function(i).atoms[:, :1]])
            who = np.full(len(points), i)
            search = model._search
            variance = search.live.variances(who, search._points(who, points))
            unit = search.target[i, STD] ** 2
            assert (variance >= 0).all()
            assert (variance <= (1 + 1e-6) * unit).all()


@pytest.mark.parametrize("length_scale", [1e-3, 0.2, 30.0, 1e3])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_streams(kind: str, settings: str, length_scale: float) -> None:
    network = Network.ring(4, tolerance=0.01)
    run_hostile(network, kind, 150, length_scale, SETTINGS[settings])


@pytest.mark.parametrize("settings", ["fine novelty", "all of it", "stuck", "readings"])
@pytest.mark.parametrize("kind", KINDS)
def test_forty_neighbours(kind: str, settings: str) -> None:
    network = Network.complete(41, tolerance=0.01)
    run_hostile(network, kind, 20, 0.2, SETTINGS[settings])


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_streams_for_long(kind: str, settings: str) -> None:
    network = Network.ring(4, tolerance=0.01)
    run_hostile(network, kind, 100_000, 0.2, SETTINGS[settings])


@pytest.mark.parametrize("p", [1, 2, 5, 50])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_any_number_of_features_at_any_scale(p: int, scale: float) -> None:
    rng = np.random.default_rng(p)
    X = scale * rng.uniform(size=(60, 3, p))
    X[20:40] = X[:20]
    model = NewtonHALK(Network.path(3, 0.01), kernels.Gaussian(scale * 0.5), noise=0.01)
    model.learn_many(X, np.sin(X[..., 0] / scale))
    mean, std = model.predict(0, X[:, 0], return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


def test_kernels_that_overflow_teach_nothing(rng: np.random.Generator) -> None:
    network = Network.path(3, tolerance=0.1)
    model = NewtonHALK(network, kernels.Polynomial(300), noise=0.1, standardize=False)
    X = 0.1 * rng.uniform(size=(9, 3, 1))
    model.learn_many(X, np.ones((9, 3)))
    before = parts_of(model)
    model.learn_readings([1], [[1e3]], [1.0])
    for old, new in zip(before, parts_of(model), strict=True):
        for name in ("atoms", "values", "covariance"):
            np.testing.assert_array_equal(new[name], old[name])
    model.learn_many(X, np.ones((9, 3)))
    assert np.isfinite(model.predict_one(X[0])).all()
    assert np.isfinite(parts_of(model)[1]["agents"]).all()


def test_suspects_are_counted_and_saved() -> None:
    model = NewtonHALK(Network(1), length_scale=0.3, noise=0.01)
    X = np.random.default_rng(0).uniform(size=(60, 1))
    y = 20 + np.sin(6 * X[:, 0])
    model.learn_readings([0] * 6, X[:6], y[:6])
    assert model.suspects.tolist() == [0], "far from zero is not suspicious"
    model.learn_readings([0] * 54, X[6:], y[6:])
    before = model.suspects[0]
    model.learn_readings([0] * 3, X[:3], [-9999.0, y[1], 5000.0])
    assert model.suspects.tolist() == [before + 2]
    assert model.state_dict()["agents"][0, SUSPECTS] == before + 2
