"""Who pulls takes part in a step, who does not takes none; and what is kept for it."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, checks, kernels, reference
from halk.agent import Query
from halk.bandwidth import LeaveOneOut
from halk.simulator import arrays

# k(x, x) differs between points: whose point enters shows in the step size (S9)
UNEVEN = kernels.Gaussian(0.4) + 2.0 * kernels.Linear()


def readings(n: int, V: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, V, 1)) * np.linspace(0.2, 3.0, V)[:, None]
    return X, np.sin(3.0 * X[..., 0]) + 0.1 * rng.normal(size=(n, V))


def test_neighbours_that_do_not_pull_change_nothing() -> None:
    """With tolerances that are never reached, agents are as if alone, to the bit."""
    X, Y = readings(40, 4)
    apart = HALK(Network(4), UNEVEN, epsilon=0.01)
    close = HALK(Network.ring(4, tolerance=1e9), UNEVEN, epsilon=0.01)
    apart.learn_many(X, Y)
    close.learn_many(X, Y)
    assert not close.multipliers.any()
    for f, g in zip(apart.functions, close.functions, strict=True):
        np.testing.assert_array_equal(f.atoms, g.atoms)
        np.testing.assert_array_equal(f.weights, g.weights)


def test_neither_do_they_in_the_reference() -> None:
    def kernel(A: Any, B: Any) -> Any:
        return reference.gaussian(A, B, 0.4) + 2.0 * reference.linear(A, B)

    X, Y = readings(15, 3)
    edges = [(0, 1), (1, 0), (1, 2), (2, 1)]
    apart, close = (
        reference.HALK(
            3, links, 1e9, 1, kernel, reference.LOSSES["squared"](),
            reference.PROXIMITIES["squared"](), step_size=0.2, regularization=1e-5,
            epsilon=0.01,
        )
        for links in ([], edges)
    )  # fmt: skip
    for x, y in zip(X, Y, strict=True):
        apart.step(x, y)
        close.step(x, y)
    for one, other in zip(apart.weights, close.weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("tolerance", [1e9, 0.05])
def test_agents_by_themselves_agree(tolerance: float) -> None:
    network = Network.ring(4, tolerance=tolerance)
    make = partial(HALK, kernel=UNEVEN, epsilon=0.01)
    checks.check_executor(make, network=network, n_steps=40)


def test_the_last_query_counts() -> None:
    """A multiplier of zero replaces one above, from the same neighbour."""
    learner = HALK(Network.path(2, tolerance=0.0), kernels.Gaussian(0.5))
    learner.learn_one([[0.1], [0.2]], [1.0, -1.0])
    asked, pulled = learner.agent(0), learner.agent(1)
    query = asked.ask([0.3], 1.0)[1]
    pulled.answer(0, query._replace(multiplier=0.5))
    pulled.answer(0, query._replace(multiplier=0.0))
    pulled.update()
    assert pulled.order == 0


def repeating(n: int, V: int) -> tuple[Any, Any]:
    X, Y = readings(n, V, seed=5)
    X[:, 1], X[:, 3] = X[:, 0], X[:, 2]  # two agents at one place: rows are merged
    return X, Y


@pytest.mark.parametrize("room", [0, 64, 500, 3000, 2**21])
def test_what_is_kept_does_not_matter(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little room there is to keep kernel values in, bits are the same."""
    network = Network.complete(6, tolerance=0.001)
    make = partial(HALK, network, kernels.Gaussian(0.1), epsilon=0.002)
    X, Y = repeating(60, 6)
    expected = make()
    expected.learn_many(X, Y)
    monkeypatch.setattr(arrays, "_KEPT", room)
    got = make()
    got.learn_many(X, Y)
    assert len(got._executor._talk.kept) <= max(room, 0)
    for f, g in zip(expected.functions, got.functions, strict=True):
        np.testing.assert_array_equal(f.atoms, g.atoms)
        np.testing.assert_array_equal(f.weights, g.weights)
    np.testing.assert_array_equal(expected.multipliers, got.multipliers)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_nothing_is_read_that_an_earlier_step_said(
    coupling: str, standardize: bool
) -> None:
    """Agents come and go; what the last exchange left behind must not matter."""
    rng = np.random.default_rng(2)
    network = Network.star(12, tolerance=0.001)
    X = rng.uniform(size=(60, 12, 2))
    Y = np.sin(5.0 * X.sum(axis=-1)) * np.linspace(1.0, 3.0, 12)
    Y[rng.uniform(size=Y.shape) < 0.5] = np.nan
    make = partial(
        HALK, network, kernels.Gaussian(0.2), coupling=coupling, standardize=standardize
    )
    expected, got = make(), make()
    for x, y in zip(X, Y, strict=True):
        expected.learn_one(x, y)
        got.learn_one(x, y)
        talk = got._executor._talk
        for part in (talk.own, talk.answer, talk.pulls, talk.h, talk.kept, talk.solved):
            part[...] = np.nan
        for part in (talk.pulling, talk.n_pulling, talk.place, talk.touched):
            part[...] = 10**6
    assert expected.multipliers.any()
    np.testing.assert_array_equal(got.multipliers, expected.multipliers)
    for f, g in zip(expected.functions, got.functions, strict=True):
        np.testing.assert_array_equal(f.atoms, g.atoms)
        np.testing.assert_array_equal(f.weights, g.weights)


def test_read_only_copies_go_on_learning() -> None:
    """As joblib loads them, with arrays mapped into memory."""
    X, Y = readings(20, 4)
    learner = HALK(Network.ring(4, tolerance=0.05), UNEVEN, epsilon=0.01)
    learner.learn_many(X[:10], Y[:10])
    buffers: list[Any] = []
    data = pickle.dumps(learner, protocol=5, buffer_callback=buffers.append)
    frozen = [memoryview(bytes(buffer.raw())) for buffer in buffers]
    copy = pickle.loads(data, buffers=frozen)
    for model in (learner, copy):
        model.learn_many(X[10:], Y[10:])
    np.testing.assert_array_equal(copy.predict_one(X[0]), learner.predict_one(X[0]))


def test_adaptation_finds_room_for_one_more_than_the_atoms() -> None:
    rule = LeaveOneOut(rate=1e-6, warm_up=1, smoothing=0.1)
    learner = HALK(Network(1), kernels.Gaussian(0.05), bandwidth=rule, epsilon=1e-6)
    for t in range(70):
        learner.learn_one([[float(t)]], [1.0])
        order = int(learner.model_order[0])
        assert order < len(learner._executor._desks[0].workspace.start)
    assert order == 70


def test_the_unit_of_who_asks_counts_whether_spreads_are_removed_or_not() -> None:
    """Ten times the spread is a tenth of the pull, and a hundredth of its price."""
    moved = []
    for spread in (1.0, 2.0, 10.0):
        agent = HALK(Network.path(2, tolerance=0.1), epsilon=0.0).agent(0, n_features=1)
        agent.answer(1, Query(np.array([0.5]), 3.0, 1.0, spread))
        agent.update()
        moved.append(float(agent.predict([0.5])))
    # S9: eta = 0.1 / (1 + 0.1 (1 + 2 / s^2)), and the pull is 3 / s^2
    expected = [3.0 / s**2 * 0.1 / (1.0 + 0.1 * (1.0 + 2.0 / s**2)) for s in (1, 2, 10)]
    np.testing.assert_allclose(moved, expected, rtol=1e-9)
