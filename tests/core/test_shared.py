"""A model that several threads use, and steps that stop in the middle."""

import subprocess
import sys
from threading import Thread

import numpy as np
import pytest

from halk import HALK, DivergenceError, Network, _core, kernels
from halk.function import Function
from halk.simulator import Readings


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_divergence_stops_all_threads_and_keeps_the_last_finite_state(n_jobs):
    V = 4000
    model = HALK(
        Network(V), step="plain", step_size=1e12, regularization=0.0,
        dual_regularization=0.0, n_jobs=n_jobs,
    )  # fmt: skip
    Y = np.zeros((6, V))
    Y[:, [0, V // 2]] = 1e39
    with pytest.raises(DivergenceError, match="agent 0, step 1"):
        model.learn_many(np.zeros((6, V, 1)), Y)
    assert model.n_steps == 1
    assert np.isfinite(model.predict_one(np.zeros((V, 1)))).all()


@pytest.mark.skipif(
    bool(_core.build_info()["sanitizers"]),
    reason="a sanitizer maps its memory beyond any limit",
)
def test_without_threads_to_be_had_it_learns_all_the_same():
    program = """
import resource, numpy as np
from halk import HALK, Network
model = HALK(Network(3000), n_jobs=64)
X = np.random.default_rng(0).uniform(size=(2, 3000, 1))
model.learn_one(X[0], X[0, :, 0])
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + 60_000_000  # stacks of seven threads, not of 64
resource.setrlimit(resource.RLIMIT_AS, (most, most))
model.learn_many(X, X[..., 0])
print(model.n_steps)
"""
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert shown.stdout.strip() == "3", shown.stderr


def test_others_wait_while_it_learns(rng):
    model = HALK(Network.ring(300, tolerance=0.1), kernels.Gaussian(0.05))
    X = rng.uniform(size=(150, 300, 1))
    model.learn_one(X[0], X[0, :, 0])
    seen = []

    def look():
        while worker.is_alive():
            seen.append(np.isfinite(model.predict_one(X[0])).all())
            model.state_dict()

    worker = Thread(target=model.learn_many, args=(X, np.sin(9.0 * X[..., 0])))
    worker.start()
    look()
    worker.join()
    assert all(seen)
    assert model.n_steps == 151


def test_a_kernel_must_not_use_its_own_model():
    def nosy(X, Y):
        if model.n_steps:
            model.learn_one(np.zeros((1, 1)), np.zeros(1))
        return np.exp(-((X - Y.T) ** 2))

    model = HALK(Network(1), nosy)
    model.learn_one(np.zeros((1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="must not be used by its own kernel"):
        model.learn_one(np.ones((1, 1)), np.ones(1))
    assert model.n_steps == 1


def test_kernels_that_overflow_are_divergence_and_lose_nothing(rng):
    model = HALK(Network.path(3, tolerance=0.1), kernels.Polynomial(300))
    X = 0.1 * rng.uniform(size=(5, 3, 1))
    X[3] = 1e3
    with pytest.raises(DivergenceError, match="step 3"):
        model.learn_many(X, np.ones((5, 3)))
    assert np.isfinite(model.predict_one(X[0])).all()
    with pytest.raises(DivergenceError):
        model.agent(0).ask(X[3, 0], 1.0)


def test_refused_readings_are_no_steps(rng):
    model = HALK(Network(2))
    model.learn_many(rng.uniform(size=(5, 2, 1)), np.ones((5, 2)))
    none = np.zeros((1, 1))
    for agent, x in (([7], none), ([0], np.full((1, 1), np.nan))):
        with pytest.raises(ValueError, match="must"):
            model.observe(Readings(np.array([0, 1]), np.array(agent), x, np.ones(1)))
    assert model.n_steps == 5
    with pytest.raises(TypeError, match="x must hold real numbers"):
        model.learn_one(None, None)


@pytest.mark.parametrize("atoms", [[[0.0], [1.0]], [[1.0], [0.0]]])
def test_atoms_that_are_the_zero_function_take_no_others_with_them(atoms):
    f = Function(kernels.Linear(), atoms, [1.0, 1.0])
    g = f.compress(0.1)
    assert g.order == 1
    np.testing.assert_allclose(g([[1.0]]), 1.0)
