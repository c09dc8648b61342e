"""Who pulls takes part in a step, who does not takes none."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, checks, kernels, reference
from halk.agent import Query

# k(x, x) differs between points: whose point enters shows in the step size (S9)
UNEVEN = kernels.Gaussian(0.4) + 2.0 * kernels.Linear()


def readings(n: int, V: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, V, 1)) * np.linspace(0.2, 3.0, V)[:, None]
    return X, np.sin(3.0 * X[..., 0]) + 0.1 * rng.normal(size=(n, V))


def test_neighbours_that_do_not_pull_change_nothing() -> None:
    """With tolerances that are never reached, agents are as if alone, bit for bit."""
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


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_nothing_is_read_that_an_earlier_step_said(
    coupling: str, standardize: bool
) -> None:
    """Agents come and go; one that is brought back anew at every step agrees."""
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
        got = pickle.loads(pickle.dumps(got))
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


def test_the_unit_of_who_asks_counts_whether_stds_are_removed_or_not() -> None:
    """Ten times the std is a tenth of the pull, and a hundredth of its price."""
    moved = []
    for std in (1.0, 2.0, 10.0):
        agent = HALK(Network.path(2, tolerance=0.1), epsilon=0.0).agent(0, n_features=1)
        agent.answer(1, Query(np.array([0.5]), 3.0, 1.0, std))
        agent.update()
        moved.append(float(agent.predict([0.5])))
    # S9: eta = 0.1 / (1 + 0.1 (1 + 2 / s^2)), and the pull is 3 / s^2
    expected = [3.0 / s**2 * 0.1 / (1.0 + 0.1 * (1.0 + 2.0 / s**2)) for s in (1, 2, 10)]
    np.testing.assert_allclose(moved, expected, rtol=1e-9)
