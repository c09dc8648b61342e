"""The engine against ``halk.reference``, step by step, on generated networks."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halk import HALK, Network, kernels, losses, proximity, reference
from halk.bandwidth import LeaveOneOut, LossFollowing


class Parts(NamedTuple):
    """The same components twice: ours, and the reference's own formulas."""

    kernel: object
    loss: object
    proximity: object
    plain_kernel: object
    plain_loss: object
    plain_proximity: object
    n_features: int = 1
    labels: bool = False


def _sum_of_gaussian_and_linear(X, Y):
    return reference.gaussian(X, Y, 0.4) + 0.5 * reference.linear(X, Y)


PARTS = {
    "gaussian-squared-squared": Parts(
        kernels.Gaussian(0.25),
        losses.Squared(),
        proximity.Squared(),
        partial(reference.gaussian, length_scale=0.25),
        reference.LOSSES["squared"](),
        reference.PROXIMITIES["squared"](),
    ),
    "laplacian-huber-absolute": Parts(
        kernels.Laplacian(0.5),
        losses.Huber(0.4),
        proximity.Absolute(),
        partial(reference.laplacian, length_scale=0.5),
        reference.LOSSES["huber"](0.4),
        reference.PROXIMITIES["absolute"](),
        n_features=2,
    ),
    "gaussian a feature-quantile-huber": Parts(
        kernels.Gaussian((0.3, 0.6, 1.0)),
        losses.Quantile(0.8),
        proximity.Huber(0.2),
        partial(reference.gaussian, length_scale=np.array([0.3, 0.6, 1.0])),
        reference.LOSSES["quantile"](0.8),
        reference.PROXIMITIES["huber"](0.2),
        n_features=3,
    ),
    # (a polynomial kernel spans few dimensions: past those, removals cost nothing, and
    # which of them greedy removal makes is a matter of ties)
    "matern52-logistic-squared": Parts(
        kernels.Matern52(0.7),
        losses.Logistic(),
        proximity.Squared(),
        partial(reference.matern52, length_scale=0.7),
        reference.LOSSES["logistic"](),
        reference.PROXIMITIES["squared"](),
        n_features=2,
        labels=True,
    ),
    "sum-squared-squared": Parts(
        kernels.Gaussian(0.4) + 0.5 * kernels.Linear(),
        losses.Squared(),
        proximity.Squared(),
        _sum_of_gaussian_and_linear,
        reference.LOSSES["squared"](),
        reference.PROXIMITIES["squared"](),
        n_features=2,
    ),
    "sum-insensitive-squared": Parts(
        kernels.Gaussian(0.4) + 0.5 * kernels.Linear(),
        losses.EpsilonInsensitive(0.1),
        proximity.Squared(),
        _sum_of_gaussian_and_linear,
        reference.LOSSES["insensitive"](0.1),
        reference.PROXIMITIES["squared"](),
        n_features=2,
    ),
}


@st.composite
def networks(draw):
    n = draw(st.integers(1, 5))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = [pair for pair in pairs if draw(st.booleans())]
    tolerance = draw(st.sampled_from([0.0, 0.01, 0.2]))
    return Network(n, edges, tolerance)


settings_of_learners = st.fixed_dictionaries(
    {
        "coupling": st.sampled_from(["exact", "paper"]),
        "step": st.sampled_from(["normalized", "plain"]),
        "step_size": st.sampled_from([0.05, 0.3]),
        "dual_step_size": st.sampled_from([None, 0.02]),
        # odd numbers: a step of 0.05 times a slope of 0.4 would meet 0.02 exactly
        "epsilon": st.sampled_from([0.0, 1e-3, 0.0213, 0.117]),
        "regularization": st.sampled_from([0.0, 1e-2]),
        "dual_regularization": st.sampled_from([0.0, 1e-1]),
        "tightening": st.sampled_from([0.0, 0.01]),
        "norm_bound": st.sampled_from([None, 1.0]),
    }
)


def stream(network, parts, seed, n_steps=12, share_missing=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_steps, network.n_agents, parts.n_features))
    Y = np.sin(3 * X.sum(axis=2)) + 0.3 * rng.normal(size=X.shape[:2])
    Y += 0.2 * np.arange(network.n_agents)
    Y = np.sign(Y) if parts.labels else Y
    Y[rng.uniform(size=Y.shape) < share_missing] = np.nan
    return X, Y


def twins(network, parts, numbers, standardize=False):
    numbers = {"regularization": 1e-3, "dual_regularization": 1e-3} | numbers
    ours = HALK(
        network,
        parts.kernel,
        parts.loss,
        parts.proximity,
        standardize=standardize,
        **numbers,
    )
    plain = reference.HALK(
        network.n_agents,
        [(int(i), int(j)) for i, j in network.edges],
        network.tolerance,
        parts.n_features,
        parts.plain_kernel,
        parts.plain_loss,
        parts.plain_proximity,
        standardize=standardize,
        **numbers,
    )
    return ours, plain


def assert_same_steps(ours, plain, X, Y):
    grid = np.random.default_rng(1).uniform(-1, 1, size=(15, X.shape[2]))
    for x, y in zip(X, Y, strict=True):
        ours.learn_one(x, y)
        plain.step(x, y)
        if np.min(ours.epsilon) > 0:  # without a budget, rounding decides what is zero
            assert ours.model_order.tolist() == [len(w) for w in plain.weights]
        np.testing.assert_allclose(ours.multipliers, plain.multipliers, atol=1e-8)
        for i in range(ours.network.n_agents):
            expected = plain.predict(i, grid)
            np.testing.assert_allclose(ours.predict(i, grid), expected, atol=1e-8)


@pytest.mark.parametrize("name", PARTS)
@settings(max_examples=25)
@given(network=networks(), numbers=settings_of_learners, seed=st.integers(0, 2**32 - 1))
def test_every_step_is_the_references(name, network, numbers, seed):
    parts = PARTS[name]
    X, Y = stream(network, parts, seed)
    assert_same_steps(*twins(network, parts, numbers), X, Y)


@pytest.mark.parametrize("standardize", ["offset", True])
@settings(max_examples=15)
@given(network=networks(), seed=st.integers(0, 2**32 - 1))
def test_every_step_is_the_references_with_standardised_targets(
    standardize, network, seed
):
    parts = PARTS["gaussian-squared-squared"]
    X, Y = stream(network, parts, seed)
    numbers = {"step_size": 0.3, "epsilon": 0.02}
    ours, plain = twins(network, parts, numbers, standardize)
    assert_same_steps(ours, plain, X, 20.0 + 5.0 * Y)


def test_who_has_only_been_taught_hands_on_its_units():
    """The middle agent is taught by the first one before it asks the last one."""
    network = Network.path(3, tolerance=0.0)
    parts = PARTS["gaussian-squared-squared"]
    X, Y = stream(network, parts, 4, 45, share_missing=0.0)
    Y[:30, 1], Y[:40, 2] = np.nan, np.nan
    ours, plain = twins(network, parts, {"step_size": 0.3, "epsilon": 0.02}, True)
    assert_same_steps(ours, plain, X, 20.0 + 5.0 * Y)


def test_step_sizes_and_budgets_may_differ_by_agent():
    network = Network.ring(4, tolerance=0.01)
    parts = PARTS["gaussian-squared-squared"]
    numbers = {
        "step_size": np.array([0.1, 0.2, 0.3, 0.4]),
        "dual_step_size": np.array([0.4, 0.3, 0.2, 0.0]),
        "epsilon": np.array([0.0, 0.01, 0.1, 1.0]),
    }
    assert_same_steps(*twins(network, parts, numbers), *stream(network, parts, 3, 20))


def test_repeated_inputs_take_one_atom():
    network = Network.path(3, tolerance=0.0)
    parts = PARTS["gaussian-squared-squared"]
    X, Y = stream(network, parts, 5, 25)
    X = np.round(X * 2) / 2
    ours, plain = twins(network, parts, {"step_size": 0.3, "epsilon": 0.0})
    assert_same_steps(ours, plain, X, Y)
    assert ours.model_order.max() <= 5


def test_points_behind_one_that_repeats_an_atom_count_as_they_are():
    """An agent whose own point is an atom has its neighbours' points before it."""
    network = Network.path(3, tolerance=0.0)
    parts = PARTS["gaussian-squared-squared"]
    X, Y = stream(network, parts, 6, 60, share_missing=0.0)
    X[:, ::2] = np.round(X[:, ::2] * 4) / 4
    ours, plain = twins(network, parts, {"step_size": 0.3, "epsilon": 0.05})
    assert_same_steps(ours, plain, X, Y)
    assert ours._executor.counts["moved"] > 50


def test_parsimony_and_alpha_are_budgets_of_the_step_size():
    network = Network(2)
    eta = np.array([0.01, 0.25])
    for numbers, expected in (
        ({"parsimony": 8.0}, 8.0 * eta**1.5),
        ({"alpha": 0.5}, 0.5 * eta),
        ({"epsilon": 0.3}, [0.3, 0.3]),
        ({}, [0.01, 0.01]),
    ):
        model = HALK(network, step_size=eta, **numbers)
        np.testing.assert_allclose(model._paces[:, 2], expected)


@pytest.mark.parametrize("rule", ["leave-one-out", "loss-following"])
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_length_scales_adapt_as_the_references(rule, coupling):
    network = Network(4, [(0, 1), (1, 2)], 0.01)
    parts = PARTS["gaussian-squared-squared"]
    X, Y = stream(network, parts, 2, 80)
    numbers = {"step_size": 0.3, "epsilon": 0.05, "coupling": coupling}
    numbers |= {"regularization": 1e-3, "dual_regularization": 1e-3}
    guards = {"rate": 0.2, "warm_up": 5, "smoothing": 0.1}
    rules = {"leave-one-out": LeaveOneOut, "loss-following": LossFollowing}
    ours = HALK(network, parts.kernel, adaptation=rules[rule](**guards), **numbers)
    plain = reference.AdaptiveHALK(
        4, [(int(i), int(j)) for i, j in network.edges], network.tolerance, 1,
        parts.plain_kernel, parts.plain_loss, parts.plain_proximity,
        length_scale=0.25, adaptation=rule, guards=reference.Guards(**guards),
        **numbers,
    )  # fmt: skip
    grid = np.linspace(-1, 1, 9)[:, None]
    for x, y in zip(X, Y, strict=True):
        ours.learn_one(x, y)
        plain.step(x, y)
        np.testing.assert_allclose(ours.length_scales, 0.25 * plain.width, rtol=1e-6)
        assert ours.model_order.tolist() == [len(w) for w in plain.weights]
        for i in range(4):
            np.testing.assert_allclose(
                ours.predict(i, grid), plain.predict(i, grid), atol=1e-6
            )
    assert (np.abs(np.log(plain.width)) > 0.05).all()
