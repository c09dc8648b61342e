"""A damaged inverse costs time, never the budget: distances in sixty digits."""

from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, kernels
from halk.arena import dictionary_of
from halk.compression import AGE, DRIFT, square, write_square
from tests.oracle.test_long_run import (
    ETA,
    LAMBDA,
    distance,
    unprojected,
    unprojected_in_the_middle,
)
from tests.properties.strategies import Block
from tests.properties.test_compression import Holder

WIDTH, EPSILON = 0.3, 1e-4

pytestmark = pytest.mark.compiled


def trained(network: Network) -> HALK:
    model = HALK(
        network,
        kernels.Gaussian(WIDTH),
        step_size=ETA,
        regularization=LAMBDA,
        epsilon=EPSILON,
    )
    model.learn_many(*readings(np.random.default_rng(0), 200, network.n_agents))
    return model


def readings(rng: np.random.Generator, n_steps: int, V: int) -> tuple[Any, Any]:
    X = rng.uniform(size=(n_steps, V, 1))
    return X, np.sin(9.0 * X[..., 0]) + rng.normal(size=(n_steps, V))


def damage(model: HALK, agent: int, kind: str) -> None:
    """Make an agent's inverse wrong by a thousandth, the largest part of it."""
    m, D = int(model.model_order[agent]), dictionary_of(model.state.arena, agent)
    Q = square(D.inverse, m)
    if kind == "scaled":
        Q *= 1.0 + 1e-3
    elif kind == "bent":
        noise = np.random.default_rng(m).normal(size=(m, m))
        Q *= 1.0 + 1e-3 * (noise + noise.T)
    write_square(D.inverse, Q)
    D.diagonal[:m] = Q.diagonal()
    if kind == "diagonal":
        D.diagonal[:m] *= 1.3


def believed(model: HALK, drift: float) -> None:
    """Let all agents believe that their inverses have drifted so far."""
    trust = model._executor._talk.trust
    trust[:, DRIFT], trust[:, AGE] = drift, 0.0


def worst_excess(n_agents: int, kind: str, drift: float, n_steps: int = 25) -> float:
    """Damage before each of some steps; return the most spent, over the budget."""
    model, rng = trained(Network.path(n_agents, tolerance=0.01)), np.random
    agent, worst = n_agents // 2, 0.0
    for x, y in zip(*readings(rng.default_rng(1), n_steps, n_agents), strict=True):
        damage(model, agent, kind)
        believed(model, drift)
        if n_agents == 1:
            wanted = unprojected(model, x[0, 0], y[0])
        else:
            wanted = unprojected_in_the_middle(model, x[:, 0], y)
        model.learn_one(x, y)
        f = model.functions[agent]
        assert np.isfinite(f.weights).all()
        rounding = 3e-8 * np.abs(wanted[1]).sum()
        spent = distance(WIDTH, (f.atoms[:, 0], f.weights), wanted) - rounding
        worst = max(worst, spent / EPSILON)
    return worst


@pytest.mark.parametrize("kind", ["scaled", "bent", "diagonal"])
@pytest.mark.parametrize("n_agents", [1, 3])
def test_a_damaged_inverse_keeps_the_budget(n_agents: int, kind: str) -> None:
    assert worst_excess(n_agents, kind, np.inf) <= 1.0 + 1e-6


@pytest.mark.parametrize("n_agents", [1, 3])
def test_the_damage_is_such_that_belief_would_break_it(n_agents: int) -> None:
    """Or else the test above would show nothing."""
    assert worst_excess(n_agents, "scaled", 0.0) > 1.5


def test_damaged_models_heal(rng: np.random.Generator) -> None:
    model = trained(Network(1))
    damage(model, 0, "scaled")
    believed(model, np.inf)
    model.learn_many(*readings(rng, 300, 1))
    m, D = int(model.model_order[0]), dictionary_of(model.state.arena, 0)
    K = model.kernel(D.atoms[:, :m].T)
    assert np.abs(K @ square(D.inverse, m) - np.eye(m)).max() < 1e-3


@pytest.mark.parametrize("budget", [1e-3, 1e-1])
@pytest.mark.parametrize("damage_by", [0.0, 1e-6, 1e-3, 1e-1])
def test_a_drift_that_is_known_is_allowed_for(
    damage_by: float, budget: float, rng: np.random.Generator
) -> None:
    """Decisions without the Gram matrix are safe, for as much as the drift says."""
    holder, decided = Holder(0.3, budget, 1), 0
    for t in range(60):
        b = 1 + t % 5
        near = 0.5 + 0.1 * rng.normal(size=(b, 1)) * 10.0 ** -rng.integers(0, 6)
        points = near if t % 2 else rng.uniform(size=(b, 1))
        size = 1.0 if t < 6 else budget * 10.0 ** rng.uniform(-1, 2)
        m = holder.m
        Q = square(holder.D.inverse, m) * (1.0 + damage_by)
        write_square(holder.D.inverse, Q)
        holder.D.diagonal[:m] = Q.diagonal()
        if m:
            drift = np.abs(holder.kernel(holder.function()[0]) @ Q - np.eye(m)).max()
            holder.trust[:] = drift, 0.0
        unseen = holder.trust.copy()
        unprojected = holder.update(Block(points, size * rng.normal(size=b), 0.999))
        holder.assert_within(unprojected)
        decided += np.array_equal(holder.trust, unseen)
    assert decided > 10 or damage_by > 0.01, "the case must decide unseen"


CASES = {
    "narrow": (kernels.Gaussian(0.02), 1, 0.03),
    "wide": (kernels.Gaussian(0.5), 1, 1e-4),
    "rough": (kernels.Laplacian(0.3), 2, 0.05),
    "smooth": (kernels.Matern52(0.3), 3, 0.1),
    "varying": (kernels.Polynomial(3, 1.0), 2, 1e-3),
}


@pytest.mark.parametrize("coupling", ["paper", "exact"])
@pytest.mark.parametrize("case", CASES)
def test_drift_is_at_most_what_is_believed(case: str, coupling: str) -> None:
    """Through all changes of an inverse, however ill-conditioned."""
    kernel, p, epsilon = CASES[case]
    rng, worst, n_bounded = np.random.default_rng(7), 0.0, 0
    model = HALK(
        Network.ring(6, tolerance=0.01), kernel, step_size=0.3, epsilon=epsilon,
        coupling=coupling,
    )  # fmt: skip
    for _ in range(150):
        X = rng.uniform(size=(5, 6, p))
        Y = np.sin(7.0 * X[..., 0]) + 0.2 * rng.normal(size=(5, 6))
        model.learn_many(X, Y)
        for i, trust in enumerate(model._executor._talk.trust[:, DRIFT]):
            m, D = int(model.model_order[i]), dictionary_of(model.state.arena, i)
            K, Q = model.kernel(D.atoms[:, :m].T), square(D.inverse, m)
            drift = np.abs(K @ Q - np.eye(m)).max(initial=0.0)
            # the product here rounds too, and so does the kernel
            rounding = 1e-15 * m * np.abs(K).max() * np.abs(Q).max()
            worst = max(worst, drift / (trust + rounding))
            n_bounded += trust < 1e-6
    assert worst <= 1.0
    assert n_bounded > 100, "the case must believe in something"
