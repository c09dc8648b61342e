"""The work of a step, counted: kernel terms, and matrices left alone."""

from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, kernels
from halk.compression import COUNTED
from halk.compression.trust import PATIENCE

TERMS, MOVED, VERIFIED, PROJECTED, _RESCUED = range(len(COUNTED))

pytestmark = pytest.mark.compiled  # what is counted is the same interpreted, and slow


def readings(rng: np.random.Generator, n_steps: int, V: int, p: int = 1) -> Any:
    X = rng.uniform(size=(n_steps, V, p))
    return X, np.sin(6.0 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, V))


def learner(network: Network, n_steps: int = 300, p: int = 1, **changes: Any) -> HALK:
    settings = {"step_size": 0.1, "epsilon": 0.01} | changes
    made = HALK(network, kernels.Gaussian(0.1), **settings)
    made.learn_many(*readings(np.random.default_rng(0), n_steps, network.n_agents, p))
    return made


class Counting:
    """Counts what a learner does from now on; making room would start it anew."""

    def __init__(self, made: HALK) -> None:
        self._executor: Any = made._executor
        self._lent = self._executor._lent()
        self._before = self._now()

    def _now(self) -> Any:
        return np.array([self._executor.counts[name] for name in COUNTED])

    def done(self) -> Any:
        assert self._executor._lent() is self._lent, "room was made: count later"
        return self._now() - self._before


def irregular() -> Network:
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (4, 5), (5, 6)]
    return Network(8, edges, tolerance=0.01)


@pytest.mark.parametrize(("p", "epsilon"), [(1, 0.01), (3, 0.1)])
@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_kernel_terms_are_those_of_answers_and_own_values(
    coupling: str, p: int, epsilon: float, rng: np.random.Generator
) -> None:
    """Values made for answering are kept for the update, whatever the coupling."""
    network = irregular()
    made = learner(network, p=p, coupling=coupling, epsilon=epsilon)
    assert made.model_order.min() > 3
    for x, y in zip(*readings(rng, 20, 8, p), strict=True):
        order, counting = made.model_order, Counting(made)
        made.learn_one(x, y)
        assert counting.done()[TERMS] == ((network.degree + 1) * order).sum()


@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_missing_readings_cost_nothing(coupling: str, rng: np.random.Generator) -> None:
    network = irregular()
    made = learner(network, coupling=coupling)
    for x, y in zip(*readings(rng, 20, 8), strict=True):
        y[rng.uniform(size=8) < 0.6] = np.nan
        asking, order = ~np.isnan(y), made.model_order
        i, j = network.edges.T
        asked = order[asking].sum() + order[j[asking[i]]].sum()
        counting = Counting(made)
        made.learn_one(x, y)
        assert counting.done()[TERMS] == asked


@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_one_reading_in_a_large_network_touches_its_neighbours(coupling: str) -> None:
    network = Network.ring(5000, tolerance=0.01)
    made = learner(network, 9, coupling=coupling)
    order, counting = made.model_order, Counting(made)
    assert order.min() > 0
    made.learn_readings([77], [[0.4]], [0.5])
    assert counting.done()[TERMS] == order[[76, 77, 78]].sum()
    far = np.delete(np.arange(5000), [76, 77, 78])
    np.testing.assert_array_equal(made.model_order[far], order[far])


@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_steady_steps_move_weights_alone(
    coupling: str, rng: np.random.Generator
) -> None:
    made = learner(Network.ring(10, tolerance=0.01), 2000, coupling=coupling)
    counting = Counting(made)
    made.learn_many(*readings(rng, 1000, 10))
    done = counting.done()
    assert done[MOVED] > 0.9 * 10_000
    assert done[PROJECTED] < 0.05 * 10_000
    assert done[MOVED] + done[PROJECTED] <= 10_000
    assert done[MOVED : PROJECTED + 1].sum() >= 10_000
    rounds = -(-int(made.model_order.max()) // PATIENCE)
    assert done[VERIFIED] <= (done[PROJECTED] + 10) * rounds


def test_inputs_that_repeat_atoms_ask_nothing_of_matrices() -> None:
    """Merged into atoms they change weights alone, whatever the inverse is worth."""
    places = np.linspace(0.0, 1.0, 8)[:, None]
    made = HALK(Network(1), kernels.Gaussian(0.1), step_size=0.1, epsilon=1e-3)
    made.learn_readings([0] * 8, places, np.ones(8))
    assert made.model_order.tolist() == [8]
    counting = Counting(made)
    made.learn_readings([0] * 16, np.tile(places, (2, 1)), np.full(16, 2.0))
    assert counting.done()[MOVED : PROJECTED + 1].tolist() == [16, 0, 0]


def streaks(made: HALK, rng: np.random.Generator, n_steps: int) -> list[Any]:
    """Run a learner of one agent; cut its steps where its matrices changed."""
    steps = []
    for x, y in zip(*readings(rng, n_steps, 1), strict=True):
        counting = Counting(made)
        made.learn_one(x, y)
        steps.append(counting.done())
    seen = np.array(steps)
    return np.split(seen, np.flatnonzero(seen[:, PROJECTED]))[1:]


def test_verified_distances_die_out_while_matrices_stay(
    rng: np.random.Generator,
) -> None:
    made = HALK(Network(1), kernels.Gaussian(0.02), step_size=0.1, epsilon=0.01)
    made.learn_many(*readings(rng, 4000, 1))
    rounds = -(-int(made.model_order.max()) // PATIENCE)
    assert rounds > 1, "the case must need more than one"
    found = [streak[1:] for streak in streaks(made, rng, 1500)]
    for quiet in found:
        assert (quiet[:, MOVED] + quiet[:, VERIFIED] == 1).all()
        assert quiet[:, VERIFIED].sum() <= rounds
    assert max(len(quiet) for quiet in found) > 50
    assert len(found) > 3


def test_changed_inverses_need_no_verification_of_steps(
    rng: np.random.Generator,
) -> None:
    """How far they have drifted is bounded or measured when they change."""
    made = learner(Network.ring(10, tolerance=0.01), 2000)
    counting = Counting(made)
    made.learn_many(*readings(rng, 1000, 10))
    done = counting.done()
    assert done[PROJECTED] > 50
    assert done[VERIFIED] == 0
