"""What goes wrong from outside: interrupts, lack of memory, hubs, masked arrays."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from halk import HALK, DivergenceError, Network, kernels
from halk.agent import Answer, Query


def small(length_scale=0.2, step_size=0.3, **changes):
    network = Network.path(3, tolerance=0.01)
    kernel = kernels.Gaussian(length_scale)
    return HALK(network, kernel, step_size=step_size, epsilon=0.01, **changes)


def data(rng, n_steps=40):
    X = rng.uniform(size=(n_steps, 3, 1))
    return X, np.sin(6 * X[..., 0])


def same(one, two):
    expected = two.state_dict()
    for name, value in one.state_dict().items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_an_interrupt_loses_no_step_that_was_made(monkeypatch, rng):
    monkeypatch.setattr("halk.learners.readings._READINGS_PER_CALL", 30)
    X, Y = data(rng)
    model, whole = small(), small()

    def learn():
        while True:
            model.learn_many(X, Y)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            learn()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    n_passes, rest = divmod(model.n_steps, len(X))
    for _ in range(n_passes):
        whole.learn_many(X, Y)
    whole.learn_many(X[:rest], Y[:rest])
    assert model.n_steps == whole.n_steps > 0
    same(model, whole)
    model.learn_many(X, Y)


TORN = """
import resource
import numpy as np
from halk import HALK, HalkError, Network, kernels

X = np.random.default_rng(0).uniform(size=(1000, 3, 1))
model = HALK(Network.path(3, tolerance=0.01), kernels.Gaussian(1e-7), epsilon=1e-9)
model.learn_one(X[0], X[0, :, 0])
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * resource.getpagesize() + (20 << 20)
resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
try:
    for x in X:
        model.learn_one(x, x[:, 0])
except MemoryError:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
for learn in (model.learn_one, lambda x, y: model.learn_many(x[None], y[None])):
    try:
        learn(X[0], X[0, :, 0])
    except HalkError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="looks into /proc")
def test_a_step_torn_by_lack_of_memory_is_not_continued():
    command = [sys.executable, "-c", TORN]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.count("load its last checkpoint") == 2, ran.stdout


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
            before[:] = [model.state_dict()]
            model.learn_one(x, y)

    with pytest.raises(DivergenceError, match="use step='normalized'"):
        learn()
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value, before[0][name], err_msg=name)
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
    with pytest.raises(ValueError, match="std must be positive"):
        agent.answer(0, Query(np.array([0.1]), 1.0, 0.0, std=0.0))
    with pytest.raises(ValueError, match="value must be finite"):
        agent.answer(0, Query(np.array([0.1]), np.nan, 0.0))
    with pytest.raises(ValueError, match="neighbour must be one of 0, 2, got 5"):
        agent.answer(5, Query(np.array([0.1]), 1.0, 0.0))
    assert np.isfinite(agent.predict([0.5]))


def test_very_narrow_kernels_are_kernels():
    for width in (1e-170, (1e-170,)):
        assert kernels.Gaussian(width)([[1.0]])[0, 0] == 1.0
