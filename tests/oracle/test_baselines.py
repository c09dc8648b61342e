"""The baselines against ``halk.reference``, step by step, on random small networks."""

from functools import partial

import numpy as np
import pytest

from halk import Network, features, kernels, losses, proximity, reference
from halk.learners import (
    NLMS,
    POLK,
    RFFADMM,
    Alone,
    Consensus,
    Linear,
    Penalty,
    RFFDiffusion,
)

FORMULAS = {
    "squared": (losses.Squared(), reference.LOSSES["squared"]()),
    "huber": (losses.Huber(0.4), reference.LOSSES["huber"](0.4)),
    "quantile": (losses.Quantile(0.8), reference.LOSSES["quantile"](0.8)),
}
DISTANCES = {
    "squared": (proximity.Squared(), reference.PROXIMITIES["squared"]()),
    "absolute": (proximity.Absolute(), reference.PROXIMITIES["absolute"]()),
    "huber": (proximity.Huber(0.2), reference.PROXIMITIES["huber"](0.2)),
}
SEEDS = range(12)


def network_of(rng, tolerance=0.01):
    n = int(rng.integers(1, 6))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = [pair for pair in pairs if rng.uniform() < 0.6]
    return Network(n, edges, tolerance)


def stream(rng, V, n_features=1, n_steps=25):
    X = rng.uniform(-1, 1, size=(n_steps, V, n_features))
    Y = (
        np.sin(3 * X.sum(axis=2))
        + 0.2 * np.arange(V)
        + 0.1 * rng.normal(size=X.shape[:2])
    )
    Y[rng.uniform(size=Y.shape) < 0.4] = np.nan
    return X, Y


def plain_features(features):
    return lambda x: features.matrix(x[None])[0]


def arguments(network, ours):
    """Return what all references with fixed features are made with."""
    phi = plain_features(ours.feature_map)
    size = ours.feature_map.size(1)
    return network.n_agents, [tuple(e) for e in network.edges.tolist()], phi, size


def assert_same_steps(ours, plain, X, Y):
    for x, y in zip(X, Y, strict=True):
        ours.learn_one(x, y)
        plain.step(x, y)
        np.testing.assert_allclose(ours.weights, plain.w, rtol=1e-9, atol=1e-12)
        mu = plain.multipliers
        np.testing.assert_allclose(ours.multipliers, mu, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("coupling", ["exact", "paper"])
@pytest.mark.parametrize("step", ["normalized", "plain"])
def test_linear_is_primal_dual(seed, coupling, step):
    rng = np.random.default_rng(seed)
    network = network_of(rng, float(rng.choice([0.0, 0.01, 0.2])))
    loss, plain_loss = FORMULAS[str(rng.choice(list(FORMULAS)))]
    h, plain_h = DISTANCES[str(rng.choice(list(DISTANCES)))]
    V = network.n_agents
    numbers = {
        "step_size": rng.uniform(0.01, 0.2, size=V),
        "dual_step_size": [None, rng.uniform(0.0, 0.3, size=V)][seed % 2],
        "regularization": 0.01,
        "dual_regularization": 0.1,
        "tightening": 0.01,
        "coupling": coupling,
        "step": step,
        "norm_bound": [None, 0.7][seed % 2],
    }
    ours = Linear(network, features.Monomials(3), loss, h, **numbers)
    plain = reference.PrimalDual(
        *arguments(network, ours), plain_loss, tolerance=network.tolerance,
        proximity=plain_h, **numbers,
    )  # fmt: skip
    assert_same_steps(ours, plain, *stream(rng, V))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", ["normalized", "plain"])
def test_diffusion_adapts_then_combines(seed, step):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    numbers = {"step_size": 0.4, "regularization": 0.01, "step": step}
    ours = RFFDiffusion(network, 15, 0.5, seed, losses.Huber(0.4), **numbers)
    loss = reference.LOSSES["huber"](0.4)
    plain = reference.Diffusion(*arguments(network, ours), loss, **numbers)
    assert_same_steps(ours, plain, *stream(rng, network.n_agents))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", ["normalized", "plain"])
@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_admm_agrees_with_what_was_told(seed, step, threshold):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    numbers = {"step_size": 0.4, "regularization": 0.01, "step": step}
    numbers |= {"penalty": 0.3, "threshold": threshold, "decay": 0.9}
    ours = RFFADMM(network, 15, 0.5, seed, **numbers)
    loss = reference.LOSSES["squared"]()
    plain = reference.ADMM(*arguments(network, ours), loss, **numbers)
    X, Y = stream(rng, network.n_agents)
    assert_same_steps(ours, plain, X, Y)
    assert ours.bytes_sent == plain.bytes_sent
    sums = np.zeros_like(plain.w)
    for (i, j), dual in plain.duals.items():
        np.testing.assert_allclose(dual, -plain.duals[j, i], atol=1e-12)
        sums[i] += dual
    dual = ours.state_dict()["dual"]
    np.testing.assert_allclose(dual, sums, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_nlms_takes_away_a_share_of_the_error(seed):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    ours = NLMS(network, step_size=0.7)
    weights = np.zeros((network.n_agents, 2))
    for x, y in zip(*stream(rng, network.n_agents), strict=True):
        for i in np.flatnonzero(~np.isnan(y)):
            phi = np.array([1.0, x[i, 0]])
            weights[i] += 0.7 * (y[i] - weights[i] @ phi) * phi / (phi @ phi)
        ours.learn_one(x, y)
        np.testing.assert_allclose(ours.weights, weights, rtol=1e-9, atol=1e-12)


# Dictionaries: the reference of HALK, with multipliers that stay ----------------------

KERNEL = partial(reference.gaussian, length_scale=0.25)
NUMBERS = {"step_size": 0.3, "regularization": 0.01, "epsilon": 0.0213}


def twin(network, **changes):
    edges = [tuple(edge) for edge in network.edges.tolist()]
    return reference.HALK(
        network.n_agents, edges, network.tolerance, 1, KERNEL,
        reference.LOSSES["squared"](), reference.PROXIMITIES["squared"](),
        **NUMBERS | changes,
    )  # fmt: skip


def assert_same_functions(ours, plain, X, Y):
    grid = np.linspace(-1, 1, 15)[:, None]
    for x, y in zip(X, Y, strict=True):
        ours.learn_one(x, y)
        plain.step(x, y)
        assert ours.model_order.tolist() == [len(w) for w in plain.weights]
        for i in range(ours.network.n_agents):
            expected = plain.predict(i, grid)
            np.testing.assert_allclose(ours.predict(i, grid), expected, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_penalty_is_a_price_that_stays(seed, coupling):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    kernel, price = kernels.Gaussian(0.25), 0.4
    ours = Penalty(network, kernel, penalty=price, coupling=coupling, **NUMBERS)
    plain = twin(network, dual_step_size=0.0, coupling=coupling)
    plain.multipliers[:] = price
    assert_same_functions(ours, plain, *stream(rng, network.n_agents))
    np.testing.assert_array_equal(ours.multipliers, price)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("standardize", [False, True])
def test_alone_is_without_edges(seed, standardize):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    kernel = kernels.Gaussian(0.25)
    ours = Alone(network, kernel, standardize=standardize, **NUMBERS)
    plain = twin(Network(network.n_agents), standardize=standardize)
    assert_same_functions(ours, plain, *stream(rng, network.n_agents))


@pytest.mark.parametrize("seed", SEEDS)
def test_consensus_has_tolerance_zero(seed):
    rng = np.random.default_rng(seed)
    network = network_of(rng, 0.5)
    ours = Consensus(network, kernels.Gaussian(0.25), dual_regularization=0, **NUMBERS)
    strict = Network(network.n_agents, network.edges)
    assert_same_functions(ours, twin(strict), *stream(rng, network.n_agents))


@pytest.mark.parametrize("seed", SEEDS)
def test_polk_learns_one_reading_after_another(seed):
    rng = np.random.default_rng(seed)
    network = network_of(rng)
    ours, plain = POLK(network, kernels.Gaussian(0.25), **NUMBERS), twin(Network(1))
    grid = np.linspace(-1, 1, 15)[:, None]
    for x, y in zip(*stream(rng, network.n_agents), strict=True):
        ours.learn_one(x, y)
        for i in np.flatnonzero(~np.isnan(y)):
            plain.step(x[[i]], y[[i]])
        assert ours.n_atoms == len(plain.weights[0])
        np.testing.assert_allclose(
            ours.predict(0, grid), plain.predict(0, grid), atol=1e-8
        )
