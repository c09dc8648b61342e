"""Laws of the plain reference by itself: formulas, KOMP, the network's step."""

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from halk import reference
from halk.reference import HALK, LOSSES, PROXIMITIES, Array, Loss, komp

NAN = np.nan
EDGES = [(0, 1), (1, 0), (1, 2), (2, 1)]
KERNELS: dict[str, Callable[[Array, Array], Array]] = {
    "gaussian": lambda X, Y: reference.gaussian(X, Y, [0.7, 1.3]),
    "laplacian": lambda X, Y: reference.laplacian(X, Y, 0.8),
    "matern32": lambda X, Y: reference.matern32(X, Y, 0.8),
    "matern52": lambda X, Y: reference.matern52(X, Y, 0.8),
    "rational_quadratic": lambda X, Y: reference.rational_quadratic(X, Y, 0.8, 1.5),
    "periodic": lambda X, Y: reference.periodic(X, Y, [0.7, 1.3], 2.0),
    "polynomial": lambda X, Y: reference.polynomial(X, Y, 3, 0.5, 1.0),
    "linear": reference.linear,
}
PARAMETERS: dict[str, tuple[float, ...]] = {
    "huber": (0.6,),
    "insensitive": (0.3,),
    "quantile": (0.2,),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
every_loss = pytest.mark.parametrize("name", LOSSES)


def narrow(X: Array, Y: Array) -> Array:
    return reference.gaussian(X, Y, 0.4)


def build(name: str) -> Loss:
    return LOSSES[name](*PARAMETERS.get(name, ()))


def network(**changes: Any) -> HALK:
    """Return a path of three agents with one feature, unless told otherwise."""
    arguments: dict[str, Any] = {
        "n_agents": 3,
        "edges": EDGES,
        "tolerance": 0.01,
        "n_features": 1,
        "kernel": narrow,
        "loss": build("squared"),
        "proximity": PROXIMITIES["squared"](),
        "step_size": 0.3,
    }
    return HALK(**(arguments | changes))


def trained(rng: np.random.Generator, n_steps: int = 6, **changes: Any) -> HALK:
    """Return a network after some steps of random readings, multipliers active."""
    learner = network(**changes)
    for _ in range(n_steps):
        learner.step(rng.random((3, 1)), rng.normal(size=3))
    learner.multipliers = learner.multipliers + rng.random(len(EDGES))
    return learner


def function_distance(
    kernel: Any, atoms: Array, weights: Array, kept: Any, fit: Array
) -> float:
    z = weights.copy()
    z[kept] -= fit
    return float(np.sqrt(max(z @ kernel(atoms, atoms) @ z, 0.0)))


# Formulas ---------------------------------------------------------------------------


@every_kernel
def test_gram_matrices_are_symmetric_and_positive_semidefinite(
    kernel: Any, rng: np.random.Generator
) -> None:
    X = rng.normal(size=(12, 2))
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-14, atol=1e-14)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * K.max()
    assert kernel(X, X[:5]).shape == (12, 5)


@every_loss
def test_loss_derivative_is_the_central_difference(name: str) -> None:
    loss, labels = build(name), [-1.0, 1.0]
    targets = labels if name in ("logistic", "hinge") else [-0.7, 0.0, 1.3]
    step = 1e-6
    for y in targets:
        for a in np.linspace(-3.03, 3.07, 41):
            slope = (loss.value(a + step, y) - loss.value(a - step, y)) / (2 * step)
            assert loss.derivative(a, y) == pytest.approx(slope, abs=1e-6)


@every_loss
def test_loss_is_convex_with_curvature_within_its_bound(name: str) -> None:
    loss = build(name)
    grid = np.linspace(-3.03, 3.07, 200)
    slopes = [loss.derivative(a, 1.0) for a in grid]
    assert all(low <= high for low, high in pairwise(slopes))
    if loss.curvature > 0:
        assert max(np.diff(slopes) / np.diff(grid)) <= loss.curvature + 1e-12
    for a, slope in zip(grid[::10], slopes[::10], strict=True):
        below = [loss.value(a, 1.0) + slope * (b - a) for b in grid]
        above = [loss.value(b, 1.0) for b in grid]
        assert np.all(np.array(below) <= np.array(above) + 1e-12)


@pytest.mark.parametrize(
    ("name", "a", "y"),
    [
        ("absolute", 0.5, 0.5),
        ("insensitive", 0.3, 0.0),
        ("insensitive", -0.3, 0.0),
        ("insensitive", 0.1, 0.0),
        ("quantile", 0.5, 0.5),
        ("hinge", -1.0, -1.0),
    ],
)
def test_the_subgradient_at_a_kink_is_zero(name: str, a: float, y: float) -> None:
    assert build(name).derivative(a, y) == 0.0


def test_losses_have_hand_computed_values() -> None:
    assert build("squared").value(3.0, 1.0) == 2.0
    assert build("huber").value(0.5, 0.0) == 0.125
    assert build("huber").value(2.0, 0.0) == pytest.approx(0.6 * 1.7)
    assert build("insensitive").value(1.0, 0.0) == pytest.approx(0.7)
    assert build("quantile").value(0.0, 1.0) == pytest.approx(0.2)
    assert build("quantile").value(1.0, 0.0) == pytest.approx(0.8)
    assert build("logistic").value(0.0, 1.0) == pytest.approx(np.log(2))
    assert build("logistic").value(-1e4, 1.0) == pytest.approx(1e4)
    assert build("hinge").value(0.25, -1.0) == 1.25


# Compression ------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 2.0])
def test_komp_stays_within_its_budget(
    kernel: Any, epsilon: float, rng: np.random.Generator
) -> None:
    atoms, weights = rng.normal(size=(9, 2)), rng.normal(size=9)
    kept, fit = komp(kernel, atoms, weights, epsilon)
    distance = function_distance(kernel, atoms, weights, kept, fit)
    assert distance <= epsilon + 1e-6
    assert np.all(np.diff(kept) > 0)
    assert len(fit) == len(kept)


def cost_of_keeping(K: Array, weights: Array, kept: list[int]) -> float:
    """Return the distance of the best fit on ``kept``, by the normal equations."""
    z = weights.copy()
    z[kept] -= np.linalg.solve(K[np.ix_(kept, kept)], K[kept] @ weights)
    return float(np.sqrt(max(float(z @ K @ z), 0.0)))


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
def test_komp_removes_the_cheapest_atom_each_time_and_stops_when_it_must(
    epsilon: float, rng: np.random.Generator
) -> None:
    atoms, weights = 2 * rng.random((8, 1)), rng.normal(size=8)
    K = narrow(atoms, atoms)
    kept = list(range(8))
    while kept:
        rests = [[k for k in kept if k != gone] for gone in kept]
        costs = [cost_of_keeping(K, weights, rest) for rest in rests]
        if min(costs) > epsilon:
            break
        kept = rests[int(np.argmin(costs))]
    result, fit = komp(narrow, atoms, weights, epsilon)
    assert result.tolist() == kept
    assert 0 < len(kept) < 8
    best = np.linalg.solve(K[np.ix_(kept, kept)], K[kept] @ weights)
    np.testing.assert_allclose(fit, best, rtol=1e-8)


def test_komp_merges_duplicates_at_no_cost(rng: np.random.Generator) -> None:
    atoms, weights = rng.random((4, 1)), rng.normal(size=4)
    doubled = np.vstack([atoms, atoms[::-1], atoms[:2]])
    kept, fit = komp(narrow, doubled, np.concatenate([weights] * 3)[:10], 0.0)
    assert kept.tolist() == [0, 1, 2, 3]
    expected = weights + weights[::-1] + np.append(weights[:2], [0.0, 0.0])
    np.testing.assert_allclose(fit, expected, rtol=1e-12)


def test_komp_without_budget_keeps_the_function_and_drops_zero_weights(
    rng: np.random.Generator,
) -> None:
    atoms, weights = rng.random((6, 1)), rng.normal(size=6)
    kept, fit = komp(narrow, atoms, weights, 0.0)
    assert kept.tolist() == list(range(6))
    np.testing.assert_array_equal(fit, weights)
    weights[2] = 0.0
    kept, fit = komp(narrow, atoms, weights, 0.0)
    assert kept.tolist() == [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(fit, weights[kept])


@every_kernel
def test_komp_without_budget_keeps_the_function_of_a_crowded_dictionary(
    kernel: Any, rng: np.random.Generator
) -> None:
    atoms, weights = 0.3 * rng.random((14, 2)), rng.normal(size=14)
    kept, fit = komp(kernel, atoms, weights, 0.0)
    grid = rng.random((30, 2))
    before, after = kernel(grid, atoms) @ weights, kernel(grid, atoms[kept]) @ fit
    np.testing.assert_allclose(after, before, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1e-3])
def test_komp_honours_its_budget_where_double_precision_runs_out(
    epsilon: float, rng: np.random.Generator
) -> None:
    for length_scale in [0.1, 0.5, 2.0, 20.0] * 4:
        atoms, weights = rng.random((20, 1)), rng.normal(size=20)
        atoms[-3:] = atoms[:3]

        def kernel(X: Any, Y: Any, length_scale: float = length_scale) -> Any:
            return np.exp(-((X - Y.T) ** 2) / (2 * length_scale**2))

        kept, fit = komp(kernel, atoms, weights, epsilon)
        assert set(kept).isdisjoint({17, 18, 19})
        z = weights.astype(np.longdouble)
        z[kept] -= fit
        precise = atoms.astype(np.longdouble)
        square = max(z @ kernel(precise, precise) @ z, np.longdouble(0))
        assert np.sqrt(square) <= epsilon + 1e-6


def test_komp_removes_atoms_in_the_span_of_others(rng: np.random.Generator) -> None:
    atoms, weights = rng.normal(size=(7, 2)), rng.normal(size=7)
    kept, fit = komp(reference.linear, atoms, weights, 0.0)
    assert len(kept) == 2
    np.testing.assert_allclose(fit @ atoms[kept], weights @ atoms, rtol=1e-9)


def test_komp_in_a_tie_removes_the_newest_atom() -> None:
    atoms = np.array([[0.0], [100.0], [200.0]])
    kept, _ = komp(narrow, atoms, np.array([1.0, 1.0, 1.0]), 1.0)
    assert kept.tolist() == [0, 1]


def test_komp_may_leave_nothing() -> None:
    atoms = np.array([[0.0], [100.0]])
    kept, fit = komp(narrow, atoms, np.array([0.6, 0.8]), 1.0)
    assert len(kept) == len(fit) == 0
    kept, fit = komp(narrow, atoms[:0], np.empty(0), 1.0)
    assert len(kept) == len(fit) == 0


# The network ------------------------------------------------------------------------


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_without_edges_agents_are_independent_online_kernel_regressions(
    coupling: str, rng: np.random.Generator
) -> None:
    eta, lam, n_steps = 0.4, 0.05, 12
    x, y = rng.random((n_steps, 2, 1)), rng.normal(size=(n_steps, 2))
    learner = network(
        n_agents=2,
        edges=[],
        step_size=eta,
        regularization=lam,
        coupling=coupling,
        step="plain",
    )
    for t in range(n_steps):
        learner.step(x[t], y[t])
    grid = np.linspace(0, 1, 20)[:, None]
    for i in range(2):
        w = np.empty(0)
        for t in range(n_steps):
            error = (narrow(x[t, [i]], x[:t, i]) @ w)[0] - y[t, i]
            w = np.append((1 - eta * lam) * w, -eta * error)
        expected = narrow(grid, x[:, i]) @ w
        np.testing.assert_allclose(learner.predict(i, grid), expected, atol=1e-6)


def lagrangian(
    learner: HALK, weights: list[Array], x: Array, y: Array, gamma: float
) -> float:
    """Return the instantaneous S2, in the units the agents learn in."""
    o, s = learner.offset, learner.scale

    def f(i: int, point: Array) -> float:
        return float((narrow(point[None], learner.atoms[i]) @ weights[i])[0])

    total = 0.0
    for i in range(3):
        K = narrow(learner.atoms[i], learner.atoms[i])
        if not np.isnan(y[i]):
            total += learner.loss.value(f(i, x[i]), (y[i] - o[i]) / s[i])
            total += learner.regularization / 2 * float(weights[i] @ K @ weights[i])
    for mu, (i, j) in zip(learner.multipliers, EDGES, strict=True):
        if not np.isnan(y[i]):
            answer = (o[j] + s[j] * f(j, x[i]) - o[i]) / s[i]
            total += mu * (learner.proximity.value(f(i, x[i]), answer) - gamma)
    return total


def gradient(learner: HALK, x: Array, y: Array) -> list[Array]:
    """Return the derivatives of the Lagrangian in all weights, by differences."""
    slopes, step = [np.zeros(len(w)) for w in learner.weights], 1e-6
    for i in range(3):
        for k in range(len(slopes[i])):
            values = []
            for sign in (1, -1):
                moved = [w.copy() for w in learner.weights]
                moved[i][k] += sign * step
                values.append(lagrangian(learner, moved, x, y, 0.01))
            slopes[i][k] = (values[0] - values[1]) / (2 * step)
    return slopes


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("proximity", ["squared", "huber"])
@pytest.mark.parametrize("missing", [None, 0, 1])
def test_the_exact_step_descends_the_gradient_of_the_lagrangian(
    loss: str, proximity: str, missing: int | None, rng: np.random.Generator
) -> None:
    learner = network(
        loss=build(loss),
        proximity=PROXIMITIES[proximity](*PARAMETERS.get(proximity, ())),
        regularization=0.1,
        step="plain",
    )
    x, y = np.array([[0.0], [0.6], [1.3]]), np.array([1.0, -1.0, 1.0])
    if missing is not None:
        y[missing] = NAN
    learner.atoms = [x.copy() for _ in range(3)]
    learner.weights = [rng.normal(size=3) for _ in range(3)]
    learner.multipliers = rng.random(4)
    slopes, before = gradient(learner, x, y), learner.weights
    K = narrow(x, x)
    learner.step(x, y)
    for i in range(3):
        # In the RKHS: <f_new - f, k(d_k, .)> = -eta dL / dw_k for every atom d_k.
        moved = K @ (learner.weights[i] - before[i])
        np.testing.assert_allclose(moved, -0.3 * slopes[i], atol=1e-8)


def test_the_standardized_step_descends_the_lagrangian_in_its_units(
    rng: np.random.Generator,
) -> None:
    learner = network(step="plain", standardize=True, tolerance=1e3)
    x = np.array([[0.0], [0.6], [1.3]])
    for y in rng.normal([0, 5, -3], [1, 4, 0.3], size=(5, 3)):
        learner.step(x, y)
    learner.atoms = [x.copy() for _ in range(3)]
    learner.weights = [rng.normal(size=3) for _ in range(3)]
    learner.multipliers = rng.random(4)
    y = learner.mean + np.array([0.2, -1.0, 0.1])
    start = copy.deepcopy(learner)
    for i in range(3):
        start._update_statistics(i, y[i])
    slopes = gradient(start, x, y)
    learner.step(x, y)
    assert len(set(learner.scale)) == 3
    for i in range(3):
        moved = narrow(x, x) @ (learner.weights[i] - start.weights[i])
        np.testing.assert_allclose(moved, -0.3 * slopes[i], atol=1e-7)


def test_the_paper_coupling_drops_the_neighbours_pulls(
    rng: np.random.Generator,
) -> None:
    x, y = rng.random((3, 1)), rng.normal(size=3)
    learner = trained(rng, coupling="paper", step="plain")
    own = [learner.predict(i, x[[i]])[0] for i in range(3)]
    pulls = np.array(own) - y
    for mu, (i, j) in zip(learner.multipliers, EDGES, strict=True):
        pulls[i] += mu * (own[i] - learner.predict(j, x[[i]])[0])
    grid = np.linspace(0, 1, 9)[:, None]
    before = [learner.predict(i, grid) for i in range(3)]
    learner.step(x, y)
    for i in range(3):
        expected = before[i] - 0.3 * pulls[i] * narrow(grid, x[[i]])[:, 0]
        np.testing.assert_allclose(learner.predict(i, grid), expected, atol=1e-6)


def test_multipliers_follow_their_equation(rng: np.random.Generator) -> None:
    gamma = np.array([0.0, 0.1, 0.2, 50.0])
    changes: dict[str, Any] = {
        "dual_regularization": 0.5,
        "tightening": 0.03,
        "dual_step_size": 0.2,
    }
    learner = trained(rng, tolerance=gamma, **changes)
    x, y, mu = rng.random((3, 1)), np.array([0.3, NAN, -1.0]), learner.multipliers
    info = learner.step(x, y)
    for e, (i, _) in enumerate(EDGES):
        if i == 1:
            assert learner.multipliers[e] == mu[e]
            assert np.isnan(info.answers[e])
            continue
        h = (info.own[i] - info.answers[e]) ** 2 / 2
        new = mu[e] * (1 - 0.5 * 0.2**2) + 0.2 * (h - gamma[e] + 0.03)
        assert learner.multipliers[e] == pytest.approx(max(new, 0.0), rel=1e-12)
    assert learner.multipliers[3] == 0.0


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_an_agent_with_neither_reading_nor_pull_is_untouched(
    coupling: str, rng: np.random.Generator
) -> None:
    learner = trained(rng, coupling=coupling, epsilon=0.0, regularization=0.1)
    learner.epsilon[:] = 0.5
    atoms, weights = learner.atoms, learner.weights
    y = np.array([0.7, NAN, NAN])
    x = np.array([[0.5], [NAN], [NAN]])
    info = learner.step(x, y)
    untouched = [2] if coupling == "exact" else [1, 2]
    for i in range(3):
        assert (learner.weights[i] is weights[i]) == (i in untouched)
        assert np.isnan(info.step_sizes[i]) == (i in untouched)
    for i in untouched:
        assert learner.atoms[i] is atoms[i]


def test_a_pull_of_zero_leaves_an_agent_without_a_reading_untouched(
    rng: np.random.Generator,
) -> None:
    learner = network()
    learner.multipliers = np.ones(4)  # and nobody predicts other than zero
    weights = learner.weights
    info = learner.step(rng.random((3, 1)), np.array([0.7, NAN, NAN]))
    assert learner.weights[1] is weights[1]
    assert np.isnan(info.step_sizes[1])


def test_new_atoms_come_own_first_then_neighbours_and_duplicates_merge() -> None:
    learner = network(step="plain")
    learner.multipliers = np.ones(4)
    x = np.array([[0.9], [0.5], [0.1]])
    for i in range(3):
        learner.atoms[i], learner.weights[i] = np.array([[5.0]]), np.array([1.0])
    learner.step(x, np.array([1.0, 2.0, 3.0]))
    assert learner.atoms[1].ravel().tolist() == [5.0, 0.5]
    for i, f in enumerate([0.3, -0.2, 0.8]):
        learner.weights[i] = np.full(len(learner.atoms[i]), f)
    learner.step(x, np.array([1.0, 2.0, 3.0]))
    assert learner.atoms[1].ravel().tolist() == [5.0, 0.5, 0.9, 0.1]
    learner.step(np.full((3, 1), 0.5), np.array([1.0, 2.0, 3.0]))
    assert learner.atoms[1].ravel().tolist() == [5.0, 0.5, 0.9, 0.1]


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_the_step_size_counts_own_terms_always_and_pulls_that_act(
    coupling: str, rng: np.random.Generator
) -> None:
    learner = trained(rng, coupling=coupling, kernel=reference.linear)
    mu = learner.multipliers = np.array([0.5, 1.0, 2.0, 4.0])
    x = np.array([[2.0], [3.0], [NAN]])
    info = learner.step(x, np.array([0.1, -0.2, NAN]))
    taught = mu[[1, 0]] if coupling == "exact" else np.zeros(2)
    largest = [9.0, 9.0] if coupling == "exact" else [4.0, 9.0]
    first = 0.3 / (1 + 0.3 * largest[0] * (1 + 2 * mu[0] + 2 * taught[0]))
    second = 0.3 / (1 + 0.3 * largest[1] * (1 + 2 * (mu[1] + mu[2]) + 2 * taught[1]))
    idle = 0.3 / (1 + 0.3 * 9 * (1 + 2 * mu[3] + 2 * mu[2]))  # without a reading
    last = idle if coupling == "exact" else NAN
    np.testing.assert_allclose(info.step_sizes, [first, second, last], rtol=1e-12)


def test_the_step_size_of_a_taught_agent_is_in_its_own_units(
    rng: np.random.Generator,
) -> None:
    learner = trained(rng, standardize=True)
    mu, scale = learner.multipliers, learner.scale.copy()
    y = np.array([0.3, NAN, NAN])
    info = learner.step(rng.random((3, 1)), y)
    theirs = 2 * mu[0] * (scale[1] / learner.scale[0]) ** 2
    curvature = 1 + 2 * (mu[1] + mu[2]) + theirs
    assert info.step_sizes[1] == pytest.approx(0.3 / (1 + 0.3 * curvature), rel=1e-12)
    assert learner.scale[0] != scale[0]


def test_every_agent_may_have_its_own_kernel_and_settings() -> None:
    kernels = [lambda X, Y, b=b: reference.gaussian(X, Y, b) for b in (0.1, 1.0, 9.0)]
    settings = {"step_size": [0.1, 0.2, 0.3], "epsilon": [0.0, 0.0, 9.0]}
    learner = network(edges=[], tolerance=[], kernel=kernels, step="plain", **settings)
    info = learner.step(np.zeros((3, 1)), np.ones(3))
    np.testing.assert_array_equal(info.step_sizes, [0.1, 0.2, 0.3])
    values = [learner.predict(i, np.array([[1.0]]))[0] for i in range(3)]
    np.testing.assert_allclose(values, [0.1 * np.exp(-50), 0.2 * np.exp(-0.5), 0.0])


def test_the_norm_ball_holds(rng: np.random.Generator) -> None:
    learner = trained(rng, norm_bound=0.25)
    for i in range(3):
        K = narrow(learner.atoms[i], learner.atoms[i])
        assert learner.weights[i] @ K @ learner.weights[i] <= 0.25**2 * (1 + 1e-9)


@pytest.mark.parametrize("standardize", ["offset", True])
def test_standardized_learning_shifts_with_the_targets(
    standardize: Any, rng: np.random.Generator
) -> None:
    low = network(standardize=standardize, epsilon=0.01)
    high = network(standardize=standardize, epsilon=0.01)
    grid = np.linspace(0, 1, 9)[:, None]
    for t in range(15):
        x, y = rng.random((3, 1)), rng.normal(size=3)
        # An agent that never read anything answers 0, whatever the others' offset.
        if t > 0:
            y[rng.random(3) < 0.2] = NAN
        low.step(x, y)
        high.step(x, y + 20.0)
    for i in range(3):
        shifted = low.predict(i, grid) + 20.0
        np.testing.assert_allclose(high.predict(i, grid), shifted, rtol=1e-9)


def test_fully_standardized_learning_scales_with_the_targets(
    rng: np.random.Generator,
) -> None:
    small, large = network(standardize=True), network(standardize=True)
    first, grid = rng.random((3, 1)), np.linspace(0, 1, 9)[:, None]
    small.step(first, np.full(3, 2.0))
    large.step(first, np.full(3, 20.0))
    for _ in range(10):
        x, y = rng.random((3, 1)), rng.normal(size=3)
        small.step(x, y)
        large.step(x, 10 * y)
    for i in range(3):
        scaled = 10 * small.predict(i, grid)
        np.testing.assert_allclose(large.predict(i, grid), scaled, rtol=1e-6)


def test_running_statistics_are_the_mean_and_deviation_of_own_targets(
    rng: np.random.Generator,
) -> None:
    learner = network(standardize=True)
    targets = rng.normal(5.0, 3.0, size=(9, 3))
    targets[4, 1] = NAN
    for y in targets:
        learner.step(rng.random((3, 1)), y)
    np.testing.assert_allclose(learner.offset, np.nanmean(targets, axis=0))
    np.testing.assert_allclose(learner.scale, np.nanstd(targets, axis=0))


def test_a_new_scale_leaves_the_function_in_the_targets_units_its_shape() -> None:
    learner = network(n_agents=1, edges=[], standardize=True, step_size=1e-300)
    learner.atoms[0], learner.weights[0] = np.array([[0.0]]), np.array([2.0])
    grid = np.linspace(0, 1, 9)[:, None]
    shape = learner.predict(0, grid)
    for y in (1.0, 5.0, 2.0):
        learner.step(np.array([[0.0]]), np.array([y]))
    assert learner.scale[0] > 1
    moved = learner.predict(0, grid) - learner.offset[0]
    np.testing.assert_allclose(moved, shape, rtol=1e-12)


# Length scales ----------------------------------------------------------------------


def test_leave_one_out_length_scale_of_three_atoms_by_hand() -> None:
    atoms, length_scale = np.array([[0.0], [1.0], [3.0]]), 2.0
    e1, e4, e9 = np.exp(-1 / 8), np.exp(-4 / 8), np.exp(-9 / 8)
    rows = [
        (e1 * 1 + e9 * 9) / (e1 + e9),
        (e1 * 1 + e4 * 4) / (e1 + e4),
        (e9 * 9 + e4 * 4) / (e9 + e4),
    ]
    expected = np.sqrt(np.mean(rows))
    for points in (atoms, np.vstack([atoms, atoms])):
        sigma = reference.leave_one_out_length_scale(points, length_scale)
        assert sigma == pytest.approx(expected, rel=1e-12)


def test_leave_one_out_length_scale_of_isolated_atoms_is_finite() -> None:
    atoms = np.array([[0.0], [1e3], [2e3]])
    assert reference.leave_one_out_length_scale(atoms, 1e-3) == pytest.approx(1e3)
    assert reference.leave_one_out_length_scale(atoms[:1], 0.7) == 0.7
