"""What goes wrong from outside: interrupts, lack of memory, hubs, masked arrays."""

import numpy as np
import pytest

from halk import HALK, DivergenceError, HalkError, Network, kernels
from halk.agent import Answer, Query
from halk.simulator import executor


def small(bandwidth=0.2, step_size=0.3, **changes):
    network = Network.path(3, tolerance=0.01)
    kernel = kernels.Gaussian(bandwidth)
    return HALK(network, kernel, step_size=step_size, epsilon=0.01, **changes)


def data(rng, n_steps=40):
    X = rng.uniform(size=(n_steps, 3, 1))
    return X, np.sin(6 * X[..., 0])


def interrupted(monkeypatch, name, error):
    """Let the engine's helper ``name`` raise once, after it was called twice."""
    original, calls = getattr(executor, name), []

    def raising(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise error
        return original(*arguments)

    monkeypatch.setattr(executor, name, raising)


def test_an_interrupt_finishes_the_step_and_counts_it(monkeypatch, rng):
    X, Y = data(rng)
    model, whole = small(0.001), small(0.001)  # narrow: many atoms
    interrupted(monkeypatch, "run", KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(X, Y)
    monkeypatch.undo()
    whole.learn_many(X[: model.n_steps], Y[: model.n_steps])
    assert 0 < model.n_steps <= len(X)
    for f, g in zip(model.functions, whole.functions, strict=True):
        np.testing.assert_array_equal(f.weights, g.weights)
    model.learn_many(X, Y)


@pytest.mark.parametrize("name", ["desk", "enlarged", "room_to_keep"])
def test_a_step_torn_by_lack_of_memory_is_not_continued(monkeypatch, rng, name):
    X, Y = data(rng)
    model = small(0.001)
    model.learn_one(X[0], Y[0])
    monkeypatch.setattr(executor, name, _no_memory)
    with pytest.raises(MemoryError):
        model.learn_many(X, Y)
    monkeypatch.undo()
    with pytest.raises(HalkError, match="load its last checkpoint"):
        model.learn_many(X, Y)


def _no_memory(*_):
    raise MemoryError


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_a_hub_of_a_hundred_thousand_costs_what_is_asked(coupling):
    model = HALK(Network.star(100_000, tolerance=0.1), coupling=coupling)
    model.learn_readings([0, 1, 2, 0], [[0.1], [0.2], [0.3], [0.4]], [1, 2, 3, 4.0])
    assert model.model_order[0] > 0


def test_masked_values_are_no_readings(rng):
    X, Y = data(rng)
    plain, masked = small(), small()
    gaps = rng.uniform(size=Y.shape) < 0.3
    masked.learn_many(X, np.ma.array(np.where(gaps, 9.9e36, Y), mask=gaps))
    plain.learn_many(X, np.where(gaps, np.nan, Y))
    np.testing.assert_array_equal(masked.predict_one(X[0]), plain.predict_one(X[0]))


@pytest.mark.parametrize("noise", [0.0, 1e-11])
def test_a_stuck_sensor_has_no_unit_to_price_tolerances_in(rng, noise):
    X, Y = data(rng, 1500)
    Y = 1e5 + 1e3 * Y
    Y[:, 1] = 1e5 + noise * rng.normal(size=len(Y))
    model = small(standardize=True)
    model.learn_many(X, Y)
    asked_by_stuck = model.network.edges[:, 0] == 1
    assert (model.multipliers[asked_by_stuck] == 0).all()
    assert model.multipliers.max() < 100


@pytest.mark.parametrize("standardize", [False, True])
def test_divergence_changes_nothing_of_its_step(rng, standardize):
    X, Y = data(rng, 400)
    model = HALK(
        Network.complete(3),
        kernels.Gaussian(0.2),
        step_size=9.0,
        epsilon=0.01,
        step="plain",
        standardize=standardize,
    )
    before = []

    def learn():
        for x, y in zip(X, Y, strict=True):
            before[:] = [a.copy() for a in model.state[1:]] if model.state else []
            model.learn_one(x, y)

    with pytest.raises(DivergenceError, match="use step='normalized'"):
        learn()
    for old, new in zip(before, model.state[1:], strict=True):
        np.testing.assert_array_equal(old, new)
    assert np.isfinite(model.predict_one(X[0])).all()


def test_constructor_arrays_are_copied(rng, tmp_path):
    eta = np.full(3, 0.1)
    model = HALK(Network(3), step_size=eta)
    eta[:] = 7.0
    np.testing.assert_array_equal(model.step_size, [0.1, 0.1, 0.1])


def test_agents_say_divergence_and_refuse_nonsense(rng):
    agent = small(step_size=30.0, step="plain").agent(1, n_features=1)

    def learn():
        for _ in range(4000):
            agent.ask([0.5], 1.0)
            agent.update()

    with pytest.raises(DivergenceError, match="use step='normalized'"):
        learn()
    agent = small().agent(1, n_features=1)
    agent.ask([0.5], 1.0)
    with pytest.raises(ValueError, match="answer of 0 must be finite"):
        agent.update({0: Answer(np.inf)})
    with pytest.raises(ValueError, match="spread must be positive"):
        agent.answer(0, Query(np.array([0.1]), 1.0, 0.0, spread=0.0))
    with pytest.raises(ValueError, match="value must be finite"):
        agent.answer(0, Query(np.array([0.1]), np.nan, 0.0))
    with pytest.raises(ValueError, match="neighbour must be one of 0, 2, got 5"):
        agent.answer(5, Query(np.array([0.1]), 1.0, 0.0))
    assert np.isfinite(agent.predict([0.5]))


def test_very_narrow_kernels_are_kernels():
    for width in (1e-170, (1e-170,)):
        assert kernels.Gaussian(width)([[1.0]])[0, 0] == 1.0
