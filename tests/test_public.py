"""The public surface: names that other programs bind to, and what an import costs."""

import subprocess
import sys

import numpy as np
import pytest

import halk
from halk import HALK, Network


def test_exported_members():
    assert sorted(halk.__all__) == [
        "CheckpointError",
        "DataError",
        "DivergenceError",
        "HALK",
        "HalkError",
        "LawError",
        "Network",
        "NewtonHALK",
        "SensorModel",
        "Trace",
        "__version__",
        "bandwidth",
        "checks",
        "data",
        "evaluate",
        "features",
        "fit",
        "kernels",
        "learners",
        "losses",
        "proximity",
        "reference",
        "sensors",
        "theory",
    ]
    assert all(hasattr(halk, name) for name in halk.__all__)


def test_import_needs_no_extra():
    code = (
        "import sys, halk; "
        "extras = 'pyarrow networkx cvxpy sklearn river pandas matplotlib narwhals'; "
        "print([m for m in extras.split() if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


def test_a_step_touches_only_readers_and_their_neighbours(rng):
    network = Network.path(6, tolerance=0.01)
    model = HALK(network, epsilon=0.01)
    X = rng.uniform(size=(50, 6, 1))
    model.learn_many(X, np.sin(6 * X[..., 0]))
    before = [f.weights for f in model.functions]
    model.learn_readings([0], [[0.3]], [5.0])
    changed = [
        not np.array_equal(old, new.weights)
        for old, new in zip(before, model.functions, strict=True)
    ]
    assert changed[0]
    assert changed[2:] == [False] * 4


@pytest.mark.parametrize("n_agents", [1, 3])
def test_networks_without_edges_work(rng, n_agents):
    model = HALK(Network(n_agents))
    X = rng.uniform(size=(20, n_agents, 2))
    model.learn_many(X, X.sum(axis=2))
    assert model.multipliers.shape == (0,)
    assert np.isfinite(model.predict_one(X[0])).all()


def test_a_hundred_thousand_agents(rng):
    network = Network.random_geometric(100_000, 0.004, seed=0, tolerance=0.1)
    model = HALK(network, epsilon=0.1)
    X = rng.uniform(size=(100_000, 1))
    model.learn_one(X, np.sin(6 * X[:, 0]))
    model.learn_readings([5, 99_999], [[0.1], [0.2]], [0.5, 0.6])
    assert model.n_steps == 3
    assert np.isfinite(model.predict_one(X)).all()


def test_an_agent_with_a_large_model_costs_only_itself(rng):
    model = HALK(Network(1000), kernel=halk.kernels.Gaussian(1e-3), epsilon=1e-6)
    X = rng.uniform(size=(300, 1))
    model.learn_readings([7] * 300, X, np.ones(300))
    assert model.model_order.tolist() == [0] * 7 + [300] + [0] * 992
    held = sum(part.nbytes for part in model.state_dict().values())
    assert held < 2e6  # 1000 such agents would need 720 MB
