"""The core at sizes at which loops and buffers go wrong, also under sanitizers."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk import HALK, Network, _core, bandwidth, kernels
from halk.simulator import Readings

FEATURES = [1, 2, 3, 4, 5, 7, 8, 9, 50]
KERNELS = [
    kernels.Gaussian(0.5),
    kernels.Laplacian(2.0),
    kernels.Matern32(1e-3) + kernels.Constant(0.1),
    kernels.Matern52(1e3) * kernels.Polynomial(2, 0.5, 1.0),
    kernels.RationalQuadratic(0.5, 1.5),
    kernels.Periodic(1.0, 2.0),
    kernels.Linear(),
]
ADAPTATIONS = [bandwidth.Fixed(), bandwidth.LeaveOneOut(), bandwidth.LossFollowing()]
NETWORKS = [
    Network(1),
    Network(5),
    Network.path(2, tolerance=0.1),
    Network.star(9, tolerance=0.01),
    Network.complete(7, tolerance=0.0),
]


def make(data: st.DataObject, **others) -> HALK:
    """Draw a learner; only kernels with a length scale of their own adapt it."""
    kernel = data.draw(st.sampled_from(KERNELS))
    rules = ADAPTATIONS if hasattr(kernel, "length_scale") else ADAPTATIONS[:1]
    return HALK(
        data.draw(st.sampled_from(NETWORKS)),
        kernel,
        coupling=data.draw(st.sampled_from(["exact", "paper"])),
        adaptation=data.draw(st.sampled_from(rules)),
        epsilon=data.draw(st.sampled_from([0.0, 1e-3, 0.1, 10.0])),
        step_size=data.draw(st.sampled_from([1e-3, 0.5, 5.0])),
        **others,
    )


def draw_stream(data: st.DataObject, V: int) -> Readings:
    """Draw steps with none, some or all agents' readings, some of them repeated."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    p = data.draw(st.sampled_from(FEATURES))
    counts = data.draw(st.lists(st.sampled_from([0, 1, V // 2, V]), max_size=40))
    agents = [np.sort(rng.permutation(V)[:n]) for n in counts]
    R = sum(counts)
    known = rng.normal(size=(8, p)) * data.draw(st.sampled_from([1e-3, 1.0, 1e3]))
    x = np.where(rng.uniform(size=(R, 1)) < 0.3, known[rng.integers(0, 8, R)], 0.0)
    x += (x == 0.0) * rng.normal(size=(R, p))
    return Readings(
        np.cumsum([0, *counts]),
        np.concatenate([np.zeros(0, np.int64), *agents]),
        x,
        np.sin(x.sum(axis=1)) + 0.1 * rng.normal(size=R),
    )


def prepare(model: HALK, readings: Readings):
    model.prepare(readings.x.shape[1])
    return model._executor


def run(model: HALK, readings: Readings, n_threads: int):
    """Run the core with threads, which small networks have no use for."""
    simulator = prepare(model, readings)
    diverged, *record = simulator._core.run(*readings, n_threads)
    assert diverged == -1
    return simulator, record


@given(st.data())
def test_any_number_of_threads_gives_the_same_bits(data: st.DataObject) -> None:
    model = make(data, standardize=data.draw(st.booleans()))
    readings = draw_stream(data, model.network.n_agents)
    shared, other = run(deepcopy(model), readings, data.draw(st.integers(2, 9)))
    alone, record = run(model, readings, 1)
    for a, b in zip(record, other, strict=True):
        np.testing.assert_array_equal(a, b)
    state, twin = alone.state_dict(), shared.state_dict()
    assert state.keys() == twin.keys()
    for name in state:
        assert np.isfinite(state[name]).all(), name
        np.testing.assert_array_equal(state[name], twin[name], err_msg=name)


@given(st.data())
def test_a_restored_network_goes_on_with_the_same_bits(data: st.DataObject) -> None:
    model = make(data)
    readings = draw_stream(data, model.network.n_agents)
    twin = prepare(deepcopy(model), readings)
    simulator, _ = run(model, readings, 1)
    twin.load_state_dict(simulator.state_dict())
    simulator.run(readings)
    twin.run(readings)
    for name, values in simulator.state_dict().items():
        np.testing.assert_array_equal(values, twin.state_dict()[name], err_msg=name)


@given(st.data())
def test_compression_of_any_size(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, p = data.draw(st.integers(0, 40)), data.draw(st.sampled_from(FEATURES))
    kernel = data.draw(st.sampled_from(KERNELS)).native(p)
    atoms, weights = rng.normal(size=(n, p)), rng.normal(size=n)
    budget = data.draw(st.sampled_from([0.0, 1e-6, 0.1, 1e9]))
    kept, new = _core.compress(kernel, atoms, weights, budget)
    assert len(kept) == len(new) <= n
    assert len(np.unique(kept)) == len(kept)
    assert ((kept >= 0) & (kept < n)).all()
    assert np.isfinite(new).all()


# ------------------------------------------------- what does not fit is refused


@pytest.mark.parametrize(
    "name", ["order", "atoms", "weights", "inverse", "agents", "edges"]
)
def test_a_state_of_another_size_is_refused(name, rng):
    model = HALK(Network.path(3, tolerance=0.1))
    model.learn_many(rng.uniform(size=(20, 3, 2)), rng.uniform(size=(20, 3)))
    simulator = model._executor
    before = simulator.state_dict()
    for wrong in (before[name][:-1], np.concatenate((before[name], before[name][:1]))):
        with pytest.raises(ValueError, match=name):
            simulator.load_state_dict(before | {name: wrong})
    with pytest.raises(ValueError, match="order"):
        simulator.load_state_dict(before | {"order": -before["order"]})
    for kept, values in simulator.state_dict().items():
        np.testing.assert_array_equal(values, before[kept])


def test_rows_beyond_a_matrix_are_refused():
    A, one = np.ones((2, 3)), np.array([1])
    for wrong in (np.array([2]), np.array([-1])):
        with pytest.raises(ValueError, match="row indices"):
            _core.dots(A, wrong, A, one)
        with pytest.raises(ValueError, match="row indices"):
            _core.add_rows(A, one, np.ones(1), A, wrong)
    none = np.zeros(0, np.int64)
    assert _core.dots(A, none, np.ones((0, 3)), none).shape == (0,)


@pytest.mark.parametrize(
    ("start", "agent"),
    [
        ([0, 2], [0, 9]),
        ([0, 2], [0, -1]),
        ([0, 2], [1, 1]),
        ([0, 2], [1, 0]),
        ([0, 3, 2], [0, 1]),
    ],
)
def test_readings_that_no_network_has_are_refused(start, agent, rng):
    learner = HALK(Network.path(3, tolerance=0.1))
    learner.learn_one(rng.uniform(size=(3, 1)), np.zeros(3))
    readings = Readings(
        np.array(start), np.array(agent), rng.uniform(size=(2, 1)), np.zeros(2)
    )
    before = learner.state_dict()
    with pytest.raises(ValueError, match="must"):
        learner.observe(readings)
    np.testing.assert_array_equal(before["weights"], learner.state_dict()["weights"])
