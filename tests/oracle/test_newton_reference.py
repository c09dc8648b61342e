"""Laws of the dense second-order step, by batch solutions and by hand."""

import copy
from typing import Any

import numpy as np
import pytest

from halk.reference import LOSSES, gaussian
from halk.reference.newton import BOUNDS, Bound, NewtonHALK, Query
from halk.reference.newton import SMOOTHING as SMOOTHED

PAIR = [(0, 1), (1, 0)]
PLAIN: dict[str, Any] = {"novelty": 0.0, "max_atoms": 10**6, "robust": None}
NAN = np.nan


def narrow(X, Y):
    return gaussian(X, Y, 0.5)


def ring(n_agents, reach=2):
    hops = [k for k in range(-reach, reach + 1) if k]
    return sorted((i, (i + k) % n_agents) for i in range(n_agents) for k in hops)


def network(n_agents=2, edges=PAIR, tolerance=0.01, kernel=narrow, **settings):
    return NewtonHALK(n_agents, edges, tolerance, 1, kernel, **settings)


def run(learner, X, Y):
    for x, y in zip(X, Y, strict=True):
        learner.step(x, y)
    return learner


def stream(rng, n_steps, n_agents, share_missing=0.2):
    X = rng.uniform(-1, 1, (n_steps, n_agents, 1))
    Y = np.sin(3 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, n_agents))
    return X, np.where(rng.random(Y.shape) < share_missing, NAN, Y)


def spaced(rng, n_steps, n_agents):
    """Return points that no two atoms share, in random order: K is well-conditioned."""
    n = n_steps * n_agents
    points = (rng.permutation(n) + rng.uniform(0.2, 0.8, n)) * 2 / n - 1
    return points.reshape(n_steps, n_agents, 1)


def batch(K, y, noise, across, prior):
    """Return posterior mean and variance of a Gaussian process."""
    A = np.linalg.solve(K + np.diag(noise), across.T).T
    return A @ y, prior - np.sum(A * across, axis=1)


def same(a, b, agents=None):
    """Whether agents hold the same numbers, bit for bit."""
    agents = range(len(a.agents)) if agents is None else agents
    pairs = [(a.agents[i], b.agents[i]) for i in agents]
    return all(
        np.array_equal(one.atoms, other.atoms)
        and np.array_equal(one.values, other.values)
        and np.array_equal(one.covariance, other.covariance)
        and np.array_equal(one.multipliers, other.multipliers)
        for one, other in pairs
    )


@pytest.mark.parametrize("identity", [0.0, 0.3])
def test_exchange_of_readings_is_one_gaussian_process_per_agent(identity, rng):
    def kernel(X, Y):
        return gaussian(X, Y, 0.1)

    X, Y = spaced(rng, 15, 2), stream(rng, 15, 2)[1]
    settings: dict[str, Any] = {"exchange": "readings", "identity": identity, **PLAIN}
    learner = run(network(2, PAIR, [0.03, 0.01], kernel, noise=0.02, **settings), X, Y)
    read, whose = ~np.isnan(Y).T, np.repeat([0, 1], 15)[~np.isnan(Y).T.ravel()]
    points, Z = X[..., 0].T[read][:, None], np.linspace(-1, 1, 30)[:, None]
    K = kernel(points, points) * np.exp(-identity * (whose[:, None] != whose))
    for i, excess in enumerate([0.06, 0.02]):
        across = kernel(Z, points) * np.exp(-identity * (whose != i))
        noise = 0.02 + excess * (whose != i)
        mean, variance = batch(K, Y.T[read], noise, across, 1.0)
        np.testing.assert_allclose(learner.predict(i, Z), mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(learner.variance(i, Z), variance, rtol=0, atol=1e-8)
    assert not learner.multipliers.any()


def test_a_step_is_a_list_of_observations(rng):
    edges, noise = ring(3, 1), 0.02
    X, Y = spaced(rng, 8, 3), stream(rng, 8, 3, share_missing=0.3)[1]

    def kernel(X, Y):
        return gaussian(X, Y, 0.1)

    learner = network(3, edges, 0.01, kernel, noise=noise, **PLAIN)
    seen: list[list[tuple[float, float, float]]] = [[], [], []]  # x, target, noise
    for x, y in zip(X, Y, strict=True):
        mu = learner.multipliers
        info = learner.step(x, y)
        for i in np.flatnonzero(~np.isnan(y)):
            seen[i].append((x[i, 0], y[i], noise))
        for e, (i, j) in enumerate(edges):
            if np.isnan(y[i]) or mu[e] == 0:
                continue
            weight = mu[e] * 0.01 / (0.01 + info.variances[e])
            seen[i].append((x[i, 0], info.answers[e], noise / weight))
            seen[j].append((x[i, 0], info.own[i], noise / mu[e]))
    assert len(np.unique(learner.multipliers)) > 3
    Z = np.linspace(-1, 1, 30)[:, None]
    for i in range(3):
        points, target, noises = np.array(seen[i]).T
        points = points[:, None]
        K, across = kernel(points, points), kernel(Z, points)
        mean, variance = batch(K, target, noises, across, 1.0)
        np.testing.assert_allclose(learner.predict(i, Z), mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(learner.variance(i, Z), variance, rtol=0, atol=1e-8)


def test_two_agents_approach_the_joint_minimiser_at_fixed_multipliers(rng):
    """The Lagrangian S2 is a quadratic function then, with a linear system to solve."""
    n, mu, lam = 8, 0.3, 0.02
    points, one = rng.uniform(-1, 1, (2 * n, 1)), np.eye(2 * n)
    own = np.repeat(np.eye(2), n, axis=1) / n
    y = np.sin(3 * points[:, 0]) + 0.5 * own[1] * n
    K, (first, second) = narrow(points, points), own

    def lagrangian(f, square_norms):
        loss = (first @ (f[0] - y) ** 2 + second @ (f[1] - y) ** 2) / 2
        gap = mu * (first + second) @ (f[0] - f[1]) ** 2 / 2
        return loss + gap + lam / 2 * sum(square_norms)

    bound = mu * np.diag(first + second) @ K
    A = [[np.diag(w) @ K + bound + lam * one, -bound] for w in own]
    A[1].reverse()
    best = np.linalg.solve(np.block(A), (own * y).ravel()).reshape(2, -1)
    least = lagrangian(best @ K, [w @ K @ w for w in best])
    apart = [np.linalg.solve(np.diag(w) @ K + lam * one, w * y) for w in own]
    gaps = [lagrangian(apart @ K, [w @ K @ w for w in apart]) - least]

    settings = PLAIN | {"novelty": 1e-6, "noise": 0.1, "regularization": lam}
    learner = network(dual_gain=0.0, **settings)
    for agent in learner.agents:
        agent.multipliers[:] = agent.told[:] = mu
    for n_passes in (2, 20, 200):
        while learner.agents[0].n_readings < n_passes * n:
            rows = np.array([rng.permutation(n), n + rng.permutation(n)]).T
            run(learner, points[rows], y[rows])
        f = [learner.predict(i, points) for i in range(2)]
        norms = [
            agent.values @ agent.inverse @ agent.values for agent in learner.agents
        ]
        gaps.append(lagrangian(f, norms) - least)
    assert min(gaps) > 0
    assert gaps[2] < gaps[1] / 3
    assert gaps[3] < gaps[2] / 5
    assert gaps[3] < gaps[0] / 1000


def test_answers_that_were_lost_change_nothing(rng):
    X, Y = stream(rng, 20, 3, share_missing=0.0)
    learner = run(network(3, ring(3, 1)), X, Y)
    agent, x = learner.agents[0], np.array([0.3])
    own = agent.adapt(x, 0.2)
    before = copy.deepcopy(learner)
    agent.update(x, own, np.full(2, NAN), np.full(2, NAN), [None, None])
    assert same(learner, before)
    agent.update(x, own, np.array([own + 1, NAN]), np.array([0.1, NAN]), [None, None])
    moved = agent.multipliers != before.agents[0].multipliers
    assert moved.tolist() == [True, False]


def test_forgetting_returns_to_the_prior(rng):
    learner = network(1, [], forgetting=0.5)
    here, there = np.zeros((1, 1)), np.full((1, 1), 9.0)
    learner.step(here, [1.0])
    assert learner.predict(0, here) > 0.9
    assert learner.variance(0, here) < 0.1
    was, v = learner.predict(0, here), learner.variance(0, here)
    learner.step(there, [1.0])
    np.testing.assert_allclose(learner.predict(0, here), np.sqrt(0.5) * was)
    np.testing.assert_allclose(learner.variance(0, here), 0.5 * v + 0.5)
    for _ in range(60):
        learner.step(there, [1.0])
    np.testing.assert_allclose(learner.predict(0, here), 0, atol=1e-8)
    np.testing.assert_allclose(learner.variance(0, here), 1, atol=1e-8)


def test_multipliers_follow_the_formula_of_n5(rng):
    X, Y = stream(rng, 110, 3, share_missing=0.0)
    edges = ring(3, 1)
    gamma, kappa, t0, nu = 0.02, 1.5, 5.0, 0.003
    learner = network(3, edges, gamma, dual_gain=kappa, warm_up=t0, tightening=nu)
    noise = learner.agents[0].settings.noise
    mu, size = np.full(6, min(0.1, noise / (noise + 2 * gamma))), np.full(6, NAN)
    for n, (x, y) in enumerate(zip(X, Y, strict=True), start=1):
        info, before = learner.step(x, y), mu.copy()
        for e, (i, _) in enumerate(edges):
            h = (info.own[i] - info.answers[e]) ** 2 / 2
            size[e] = h if n == 1 else size[e]
            total = 1 + sum(before[k] for k, edge in enumerate(edges) if i in edge)
            step = kappa / (n + t0) * total * (h - gamma + nu)
            mu[e] = np.clip(before[e] + step / (4 * (size[e] + gamma)), 0, 10)
            size[e] += max(1 / n, 0.01) * (h - size[e])
        np.testing.assert_allclose(learner.multipliers, mu, rtol=1e-8)
        found = np.concatenate([agent.disagreement for agent in learner.agents])
        np.testing.assert_allclose(found, size, rtol=1e-8)


def test_multipliers_of_tolerances_without_bound_are_zero(rng):
    X, Y = stream(rng, 10, 2)
    learner = run(network(tolerance=[np.inf, 0.01]), X, Y)
    assert learner.multipliers[0] == 0
    assert np.isfinite(learner.multipliers[1])


@pytest.mark.parametrize("budget", [0.0, 0.05])
def test_the_cheapest_atom_goes_and_the_others_keep_their_values(budget, rng):
    learner = run(network(1, [], novelty=1e-3), *stream(rng, 40, 1, share_missing=0.0))
    agent = learner.agents[0]
    before, n = copy.deepcopy(agent), len(agent.atoms)
    K, weights = agent.gram, agent.inverse @ agent.values
    limit = agent.settings._replace(max_atoms=n if budget else n - 1, budget=budget)
    agent.settings, agent.has_grown = limit, True
    costs = []
    for k in range(n):
        rest = np.delete(np.arange(n), k)
        change = -weights
        change[rest] += np.linalg.solve(K[np.ix_(rest, rest)], agent.values[rest])
        costs.append(change @ K @ change)
    agent.compress()
    kept = [int(np.flatnonzero(before.atoms[:, 0] == x)[0]) for x in agent.atoms[:, 0]]
    if budget == 0:
        assert kept == np.delete(np.arange(n), np.argmin(costs)).tolist()
    else:
        weights[kept] -= agent.inverse @ agent.values
        assert 1 < len(kept) < n
        assert weights @ K @ weights <= budget**2
    np.testing.assert_array_equal(agent.values, before.values[kept])
    np.testing.assert_array_equal(
        agent.covariance, before.covariance[np.ix_(kept, kept)]
    )


def agent_with(atoms, values, **settings):
    """Return an agent with these atoms and values that knows nothing for certain."""
    agent = network(1, [], **settings).agents[0]
    agent.atoms, agent.values = np.array(atoms)[:, None], np.array(values)
    agent.covariance, agent.has_grown = agent.gram, True
    return agent


def test_the_newest_of_equally_cheap_atoms_goes():
    agent = agent_with([0.0, 5.0, 9.0], [1.0, 1.0, 2.0], max_atoms=2)
    agent.compress()
    assert agent.atoms[:, 0].tolist() == [0.0, 9.0]


def test_atoms_that_depend_on_others_go():
    agent = agent_with(np.linspace(0, 1, 10), np.ones(10))
    agent.compress()
    assert 1 < len(agent.atoms) < 10
    error = agent.inverse @ agent.gram - np.eye(len(agent.atoms))
    assert np.abs(error).max() < 1e-5


def test_shrinking_never_goes_past_zero():
    agent = agent_with([0.0], [1.0], noise=0.1, regularization=0.5)
    agent.adapt(np.array([9.0]), 1.0)
    assert abs(agent.answer(np.array([0.0]))[0]) < 1e-12


def test_multipliers_told_are_bounded():
    agent = network().agents[0]
    query = Query(np.array([0.2]), 1.0, 1e9)
    agent.update(None, NAN, np.array([NAN]), np.array([NAN]), [query])
    assert agent.told.tolist() == [10.0]
    np.testing.assert_allclose(agent.answer(query.x), [1 / 1.001, 0.001 / 1.001])


# The robust weight -------------------------------------------------------------------


def test_robust_none_weighs_everything_fully(rng):
    learner = run(network(1, [], robust=None), *stream(rng, 30, 1))
    x = np.array([[0.4]])
    was, v = learner.predict(0, x), learner.variance(0, x)
    learner.step(x, was + 100)
    np.testing.assert_allclose(
        learner.predict(0, x) - was, 100 * v / (v + 0.01), rtol=1e-3
    )


# Losses ------------------------------------------------------------------------------

LOSS_CASES: dict[str, tuple[float, ...]] = {
    "huber": (0.4,),
    "absolute": (),
    "insensitive": (0.15,),
    "quantile": (0.8,),
    "logistic": (),
}
every_bound = pytest.mark.parametrize("name", LOSS_CASES)


def both(name: str) -> tuple[Bound, Any, float]:
    """Return bound, loss and the factor on the loss for a sigma of 0.2."""
    arguments = LOSS_CASES[name]
    factor = 1.0 if name in ("huber", "logistic") else 0.2
    return BOUNDS[name](*arguments), LOSSES[name](*arguments), factor


@every_bound
def test_a_bound_touches_its_loss_and_stays_above(name):
    bound, loss, factor = both(name)
    kinks = [0.15, -0.15] if name == "insensitive" else [0.0]
    for y in [-1.0, 1.0]:
        for f in y + np.linspace(-2, 2, 41):
            z, c = bound(f, y, 0.2)
            distance = min(abs(y - f - kink) for kink in kinks)
            if factor < 1 and distance < 0.2 * SMOOTHED:
                continue
            np.testing.assert_allclose(
                c * (f - z), factor * loss.derivative(f, y), atol=1e-12
            )
            if c > 0:
                g = np.linspace(-4, 4, 81)
                above = c * ((g - z) ** 2 - (f - z) ** 2) / 2
                change = [factor * (loss.value(a, y) - loss.value(f, y)) for a in g]
                assert np.all(above >= np.array(change) - 1e-12)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_the_quantile_loss_finds_the_quantile(tau, rng):
    learner = network(1, [], bound=BOUNDS["quantile"](tau), noise=0.04)
    X, Y = np.zeros((2000, 1, 1)), 0.2 * rng.normal(size=(2000, 1))
    run(learner, X, Y)
    assert abs(np.mean(learner.predict(0, X[0]) > Y) - tau) < 0.02


def test_the_logistic_loss_finds_the_log_odds(rng):
    learner = network(1, [], bound=BOUNDS["logistic"]())
    X, Y = np.zeros((2000, 1, 1)), np.where(rng.random((2000, 1)) < 0.8, 1.0, -1.0)
    run(learner, X, Y)
    odds = np.mean(Y > 0) / np.mean(Y < 0)
    assert abs(learner.predict(0, X[0]).item() - np.log(odds)) < 0.1


@pytest.mark.parametrize("reach", [0.0, 1e-7, 1e4])
def test_hostile_input_stays_finite_and_no_variance_is_negative(reach, rng):
    X = np.round(rng.uniform(0, 1, (60, 4, 1)), 1) + reach * rng.normal(size=(60, 4, 1))
    Y = np.sin(X[..., 0])
    Y[rng.random(Y.shape) < 0.05] = 1e8
    Y[rng.random(Y.shape) < 0.2] = NAN
    settings: dict[str, Any] = {"novelty": 1e-6, "noise": 1e-6, "robust": None}
    learner = run(network(4, ring(4, 1), **settings), X, Y)
    assert np.all(np.isfinite(learner.multipliers))
    for i, agent in enumerate(learner.agents):
        assert np.all(np.isfinite(learner.predict(i, X[:, i])))
        assert np.all(np.diag(agent.covariance) >= 0)
        assert np.all(learner.variance(i, agent.atoms) >= 0)
