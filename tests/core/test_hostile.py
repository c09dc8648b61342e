"""Streams meant to break the core: finite, bounded, and within the budget.

Repeated, nearly repeated and constant inputs, outliers of 1e6, step sizes from 1e-3 to
5, length scales from 1e-3 to 1e3, forty neighbours with the exact coupling.
"""

import numpy as np
import pytest

from halk import HALK, Network, kernels
from tests.properties.test_compression import distance_between

LAMBDA = 1e-4


def inputs(kind, rng, shape):
    if kind == "constant":
        return np.full(shape, 0.25)
    if kind == "repeated":
        return rng.integers(0, 4, size=shape) / 3.0
    if kind == "nearly repeated":
        return rng.integers(0, 3, size=shape) / 2.0 + 1e-9 * rng.normal(size=shape)
    return rng.uniform(size=shape)


def hostile(kind, n_steps, n_agents, seed=0):
    rng = np.random.default_rng(seed)
    X = inputs(kind, rng, (n_steps, n_agents, 1))
    Y = np.sin(9.0 * X[..., 0]) + rng.normal(size=(n_steps, n_agents))
    Y[rng.uniform(size=Y.shape) < 0.02] = 1e6
    Y[rng.uniform(size=Y.shape) < 0.02] = -1e6
    return X, Y


def unproject(model, i, x, y):
    """Return f~ of S5 for agent i: squared loss and proximity, normalised step (S9)."""
    network, mu = model.network, model.multipliers
    edges = np.arange(network.indptr[i], network.indptr[i + 1])
    near = network.neighbours[edges]
    f = model.functions[i]
    own = {j: model.predict(int(j), x[[j]])[0] for j in [i, *near]}
    there = model.predict_readings(near, np.repeat(x[[i]], len(near), axis=0))
    pull = own[i] - y[i] + mu[edges] @ (own[i] - there)
    back = mu[network.reverse[edges]]
    points, coefficients = [x[i]], [pull]
    if model.coupling == "exact":
        asked = model.predict(i, x[near])
        points += list(x[near])
        coefficients += list(back * (asked - np.array([own[j] for j in near])))
    curvature = 1.0 + 2.0 * mu[edges].sum()
    curvature += 2.0 * back.sum() * (model.coupling == "exact")
    eta = model.step_size / (1.0 + model.step_size * curvature)
    weights = np.concatenate(
        [(1.0 - eta * LAMBDA) * f.weights, -eta * np.array(coefficients)]
    )
    return np.vstack([f.atoms, points]), weights


def run(
    network, kind, n_steps, length_scale, step_size, coupling, n_checks=4, largest=300
):
    epsilon = 1e-2
    model = HALK(
        network,
        kernels.Gaussian(length_scale),
        step_size=step_size,
        regularization=LAMBDA,
        epsilon=epsilon,
        coupling=coupling,
    )
    X, Y = hostile(kind, n_steps, network.n_agents)
    for part in np.array_split(np.arange(n_steps), n_checks):
        model.learn_many(X[part[:-1]], Y[part[:-1]])
        x, y = X[part[-1]], Y[part[-1]]
        wanted = unproject(model, 0, x, y)
        model.learn_one(x, y)
        f = model.functions[0]
        slack = 1e-7 * np.abs(wanted[1]).sum() + 1e-8  # rounding that is_within allows
        distance = distance_between(length_scale, wanted, (f.atoms, f.weights))
        assert distance <= epsilon * (1.0 + 1e-6) + slack
    assert np.isfinite(model.multipliers).all()
    grid = np.linspace(-1.0, 2.0, 31)[:, None]
    for i in range(network.n_agents):
        assert np.isfinite(model.predict(i, grid)).all()
        assert np.abs(model.predict(i, grid)).max() < 1e9
    distinct = len(np.unique(X, axis=None))
    assert model.model_order.max() <= min(distinct, largest)


KINDS = ["uniform", "repeated", "nearly repeated", "constant"]


@pytest.mark.parametrize("coupling", ["exact", "paper"])
@pytest.mark.parametrize("step_size", [1e-3, 0.3, 5.0])
@pytest.mark.parametrize("length_scale", [1e-3, 0.2, 30.0, 1e3])
@pytest.mark.parametrize("kind", KINDS)
def test_small_networks(kind, length_scale, step_size, coupling):
    network = Network.ring(4, tolerance=0.01)
    run(network, kind, 240, length_scale, step_size, coupling)


@pytest.mark.parametrize("length_scale", [0.2, 30.0])
@pytest.mark.parametrize("kind", KINDS)
def test_forty_neighbours(kind, length_scale):
    network = Network.complete(41, tolerance=0.01)
    run(network, kind, 40, length_scale, 0.5, "exact", n_checks=2)


@pytest.mark.slow
@pytest.mark.parametrize("length_scale", [1e-3, 0.2, 1e3])
@pytest.mark.parametrize("kind", KINDS)
def test_forty_neighbours_for_long(kind, length_scale):
    network = Network.complete(41, tolerance=0.01)
    # Half an atom per length scale: up to 371, and KOMP in 40 digits removed no more.
    largest = max(30, round(0.5 / length_scale))
    run(network, kind, 600, length_scale, 0.5, "exact", n_checks=3, largest=largest)


@pytest.mark.parametrize("p", [1, 2, 5, 50])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_any_number_of_features_at_any_scale(p, scale):
    rng = np.random.default_rng(p)
    X = scale * rng.uniform(size=(60, 3, p))
    X[20:40] = X[:20]
    model = HALK(Network.path(3, 0.01), kernels.Gaussian(scale * 0.5), epsilon=0.01)
    model.learn_many(X, np.sin(X[..., 0] / scale))
    assert np.isfinite(model.predict(0, X[0])).all()
    assert model.model_order.max() <= 120
