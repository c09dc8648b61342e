"""The work of a step: most move weights alone, and only who is concerned works."""

import numpy as np
import pytest

from halk import HALK, Network, kernels


def readings(rng, n_steps, n_agents, p=1):
    X = rng.uniform(size=(n_steps, n_agents, p))
    return X, np.sin(6.0 * X.sum(axis=-1)) + 0.1 * rng.normal(size=(n_steps, n_agents))


@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_one_reading_in_a_large_network_touches_its_neighbours(coupling, rng):
    network = Network.ring(5000, tolerance=0.01)
    model = HALK(network, kernels.Gaussian(0.2), coupling=coupling)
    model.learn_many(*readings(rng, 9, 5000))
    before, counts = model.state_dict(), dict(model._executor.counts)
    model.learn_readings([77], [[0.4]], [0.5])
    done = sum(model._executor.counts.values()) - sum(counts.values())
    assert 1 <= done <= 3  # the reader, and neighbours that it pulls
    after = model.state_dict()
    start = np.concatenate([[0], np.cumsum(before["order"])])
    np.testing.assert_array_equal(
        before["weights"][: start[76]], after["weights"][: start[76]]
    )
    n_far = int(start[-1] - start[79])
    np.testing.assert_array_equal(before["weights"][-n_far:], after["weights"][-n_far:])


@pytest.mark.parametrize("coupling", ["paper", "exact"])
def test_steady_steps_move_weights_alone(coupling, rng):
    network = Network.ring(10, tolerance=0.01)
    model = HALK(network, kernels.Gaussian(0.2), step_size=0.3, coupling=coupling)
    model.learn_many(*readings(rng, 2000, 10))
    before = dict(model._executor.counts)
    model.learn_many(*readings(rng, 1000, 10))
    done = {name: n - before[name] for name, n in model._executor.counts.items()}
    assert done["moved"] > 0.9 * 10_000
    assert done["projected"] < 0.1 * 10_000
    assert done["moved"] + done["projected"] == 10_000


def test_inputs_that_repeat_atoms_change_weights_alone():
    places = np.linspace(0.0, 1.0, 8)[:, None]
    model = HALK(Network(1), kernels.Gaussian(0.1), step_size=0.1, epsilon=1e-3)
    model.learn_readings([0] * 8, places, np.ones(8))
    assert model.model_order.tolist() == [8]
    before = dict(model._executor.counts)
    model.learn_readings([0] * 16, np.tile(places, (2, 1)), np.full(16, 2.0))
    assert model._executor.counts["moved"] - before["moved"] == 16
    assert model._executor.counts["projected"] == before["projected"]
