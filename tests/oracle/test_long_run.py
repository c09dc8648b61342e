"""Long ill-conditioned streams: the budget is kept, in extended precision."""

import resource

import numpy as np
import pytest

from halk import HALK, Network, kernels
from halk.agent import LARGEST
from tests.properties.test_compression import distance_between

ETA, LAMBDA = 0.5, 1e-4


def unprojected(model, x, y):
    """Return f~ of S5 for an agent alone with squared loss and normalised step (S9)."""
    f = model.functions[0]
    eta = ETA / (1 + ETA)
    value = float(f([[x]])[0])
    atoms = np.vstack([f.atoms, [[x]]])
    weights = np.append((1 - eta * LAMBDA) * f.weights, -eta * (value - y))
    return atoms, weights


def ill_conditioned(rng, n):
    """Return points far closer than the length scale, some repeated, some nearly so."""
    x = rng.uniform(size=n)
    repeated = rng.uniform(size=n) < 0.2
    x[repeated] = rng.choice(np.linspace(0, 1, 7), size=repeated.sum())
    nearly = rng.uniform(size=n) < 0.1
    x[nearly] = 0.5 + 1e-9 * rng.normal(size=nearly.sum())
    y = np.sin(9 * x) + rng.normal(size=n)
    y[rng.uniform(size=n) < 1e-4] = 1e4
    return x, y


def assert_within(epsilon, width, wanted, f):
    rounding = 3e-8 * np.abs(wanted[1]).sum()  # root of the machine epsilon
    distance = distance_between(width, (f.atoms, f.weights), wanted)
    assert distance <= epsilon * (1 + 1e-6) + rounding


def run(n_steps, width, epsilon, n_checks, seed=0):
    rng = np.random.default_rng(seed)
    model = HALK(
        Network(1),
        kernels.Gaussian(width),
        step_size=ETA,
        regularization=LAMBDA,
        epsilon=epsilon,
    )
    model.learn_one([[0.5]], [1.0])
    sizes, memory = [], []
    for _ in range(n_checks):
        x, y = ill_conditioned(rng, n_steps // n_checks)
        model.learn_many(x[:-1, None, None], y[:-1, None])
        wanted = unprojected(model, x[-1], y[-1])
        model.learn_one([[x[-1]]], [y[-1]])
        f = model.functions[0]
        assert np.isfinite(f.weights).all()
        assert np.abs(f.weights).max() < LARGEST
        assert_within(epsilon, width, wanted, f)
        sizes.append(f.order)
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return sizes, memory


@pytest.mark.parametrize(
    ("width", "epsilon"), [(1.0, 1e-3), (0.3, 1e-2), (10.0, 1e-4), (0.05, 1e-6)]
)
def test_budget_is_kept(width, epsilon):
    sizes, _ = run(10_000, width, epsilon, 20)
    assert max(sizes) < 150


@pytest.mark.slow
@pytest.mark.parametrize(("width", "epsilon"), [(1.0, 1e-3), (0.2, 1e-2)])
def test_budget_is_kept_for_a_million_steps(width, epsilon):
    sizes, memory = run(1_000_000, width, epsilon, 100)
    assert max(sizes) < 100
    assert memory[-1] - memory[10] < 20_000  # KiB: flat after the first tenth


def unprojected_in_the_middle(model, x, y):
    """Return f~ of S5 for the middle agent of three, with the exact coupling."""
    f = model.functions
    mu = {(int(i), int(j)): m for (i, j), m in zip(*_priced(model), strict=True)}
    value = [[float(f[i]([[x[j]]])[0]) for j in range(3)] for i in range(3)]
    pull = value[1][1] - y[1]
    pull += sum(mu[1, j] * (value[1][1] - value[j][1]) for j in (0, 2))
    others = [mu[j, 1] * (value[1][j] - value[j][j]) for j in (0, 2)]
    curvature = 1 + 2 * sum(mu.values())
    eta = ETA / (1 + ETA * curvature)
    atoms = np.vstack([f[1].atoms, x[[1, 0, 2], None]])
    new = -eta * np.array([pull, *others])
    return atoms, np.concatenate([(1 - eta * LAMBDA) * f[1].weights, new])


def _priced(model):
    return model.network.edges, model.multipliers


LONG = pytest.param(300_000, marks=pytest.mark.slow)


@pytest.mark.parametrize("n_steps", [5_000, LONG])
def test_budget_is_kept_for_blocks(n_steps):
    rng = np.random.default_rng(1)
    width, epsilon, n_checks = 1.0, 1e-3, 50
    model = HALK(
        Network.path(3, tolerance=0.01),
        kernels.Gaussian(width),
        step_size=ETA,
        regularization=LAMBDA,
        epsilon=epsilon,
    )
    model.learn_one([[0.5], [0.6], [0.7]], [1.0, 1.0, 1.0])
    for _ in range(n_checks):
        x, y = ill_conditioned(rng, 3 * (n_steps // n_checks))
        X, Y = x.reshape(-1, 3, 1), y.reshape(-1, 3)
        model.learn_many(X[:-1], Y[:-1])
        wanted = unprojected_in_the_middle(model, X[-1, :, 0], Y[-1])
        model.learn_one(X[-1], Y[-1])
        assert_within(epsilon, width, wanted, model.functions[1])
    assert model.model_order.max() < 100
    assert model.multipliers.max() > 0
