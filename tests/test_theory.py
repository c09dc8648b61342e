"""The guarantees as laws: hand-computed values, monotony, and the lemmas by trial."""

import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk import theory
from halk.theory import Problem, constants, plan, regression_problem

HAND = Problem(
    n_agents=3,
    n_edges=4,
    loss_lipschitz=2.0,
    proximity_lipschitz=3.0,
    proximity_bound=5.0,
    norm_bound=7.0,
    slater_slack=0.5,
    kernel_bound=2.0,
    regularization=0.5,
    dual_regularization=4000.0,
    n_features=2,
)


def sizes(low: float = 1e-2, high: float = 1e2) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    n_agents = draw(st.integers(1, 60))
    most = n_agents * (n_agents - 1) // 2
    slack = draw(sizes())
    return Problem(
        n_agents=n_agents,
        n_edges=2 * draw(st.integers(0, most)),
        loss_lipschitz=draw(sizes()),
        proximity_lipschitz=draw(sizes()),
        proximity_bound=slack * draw(sizes(1.001, 100)),
        norm_bound=draw(sizes()),
        slater_slack=slack,
        kernel_bound=draw(sizes()),
        regularization=draw(st.one_of(st.just(0.0), sizes(1e-6, 1.0))),
        n_features=draw(st.integers(1, 4)),
    )


def test_constants_equal_values_computed_by_hand() -> None:
    K = 8 * 3 * 4 * 4 + 4 * 3 * 0.25 * 49 + 2 * 4 * 25 + 2 * 4 * 9 * 4 * 49
    assert K == 14843
    Q = 4 * 3 * 7 * (2 * 2 + 0.5 * 7) / 0.5
    assert Q == 1260
    Gamma = (3 * 49 + 4001 * (2 + 2 * 1260**2) + 14843) / 2
    found = constants(HAND)
    assert found.gradient_bound == K
    assert found.multiplier_bound == Q
    assert found.dual_growth == 8 * 3 * 4 * 9 * 4 == 3456
    assert found.dual_regularization == 4000
    default = constants(replace(HAND, dual_regularization=None))
    assert default.dual_regularization == 2 * 3456
    assert found.violation == pytest.approx(Gamma, rel=1e-14)
    assert found.compression == 84
    assert found.gap_per_root == pytest.approx((147 + K) / 2 + Q * Gamma, rel=1e-14)
    assert found.gap_per_alpha == 84 + 1260 * 84


def test_tightening_and_gap_by_hand() -> None:
    c = constants(HAND)
    assert theory.tightening(HAND, 4, 0.5) == c.violation / 2 + 42
    assert theory.tightening(HAND, 10**40) == pytest.approx(c.violation * 1e-20)
    assert theory.gap_bound(HAND, 4, 0.5) == c.gap_per_root / 2 + c.gap_per_alpha / 2
    assert theory.practical_tightening(9) == pytest.approx(0.1)
    assert theory.practical_tightening(4, factor=2.0) == 1.0


@given(problems(), st.integers(1, 10**30), sizes(1e-9, 1.0))
def test_bounds_fall_with_steps_and_rise_with_alpha(
    problem: Problem, n_steps: int, alpha: float
) -> None:
    for bound in (theory.gap_bound, theory.tightening):
        assert bound(problem, 2 * n_steps) < bound(problem, n_steps)
        assert bound(problem, n_steps, alpha) > bound(problem, 10**40)
        assert bound(problem, 10**60, 2 * alpha) > bound(problem, 10**60, alpha)


@given(problems(), sizes(1e-6, 1e6))
def test_plan_keeps_its_promises(problem: Problem, gap: float) -> None:
    made = plan(problem, gap)
    assert made.gap_bound <= gap
    assert made.gap_bound == theory.gap_bound(problem, made.n_steps, made.alpha)
    assert made.tightening <= problem.slater_slack / 2
    assert made.tightening == theory.tightening(problem, made.n_steps, made.alpha)
    assert theory.unmet_conditions(problem, made.n_steps, made.alpha) == ()
    assert made.alpha <= gap / (2 * constants(problem).gap_per_alpha)
    assert made.epsilon == pytest.approx(made.alpha * made.step_size)
    assert made.dual_regularization == constants(problem).dual_regularization
    assert made.step_size == pytest.approx(made.n_steps**-0.5)
    assert type(made.n_steps) is int
    assert max(map(len, str(made).splitlines())) <= 80


@given(problems())
def test_half_the_gap_takes_four_times_the_steps(problem: Problem) -> None:
    p = problem
    spread = p.norm_bound * p.loss_lipschitz * p.kernel_bound
    gap = 1e-3 * min(spread, p.slater_slack * p.proximity_bound, 1.0)
    ratio = plan(problem, gap / 2).n_steps / plan(problem, gap).n_steps
    assert ratio == pytest.approx(4, rel=1e-6)


def test_plan_is_not_wasteful() -> None:
    """Neither fewer steps nor a larger alpha would do: both halves are used up."""
    pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    made = plan(pair, 0.1)
    assert made.gap_bound == pytest.approx(0.1, rel=1e-9)
    assert theory.gap_bound(pair, made.n_steps) == pytest.approx(0.05, rel=1e-9)


def test_wide_gap_is_bounded_by_the_conditions_instead() -> None:
    made = plan(HAND, gap=1e30)
    assert made.tightening == pytest.approx(HAND.slater_slack / 2, rel=1e-9)
    mild = replace(HAND, n_agents=2, n_edges=2, kernel_bound=1, proximity_lipschitz=1)
    mild = replace(mild, loss_lipschitz=1e-3, norm_bound=0.01, slater_slack=1)
    little = replace(mild, dual_regularization=32.001)
    expected = 4 * 32.001**2 / 0.001
    assert plan(little, 1e30).n_steps == pytest.approx(expected, rel=1e-3)
    small = replace(HAND, n_agents=1, n_edges=0, norm_bound=0.01, proximity_bound=100)
    slack = replace(small, slater_slack=100, dual_regularization=0)
    assert plan(slack, 1e30).alpha == pytest.approx(2 * 0.01)


def test_plan_with_a_hopeless_dual_regularization_says_what_is_needed() -> None:
    paper = replace(HAND, dual_regularization=1e-5)
    message = r"dual_regularization must be above 8 V X\^2 L_h\^2 E = 3456.0 for any "
    with pytest.raises(ValueError, match=message + r"guarantee, got 1e-05"):
        plan(paper, 0.1)
    assert not theory.is_dual_regularization_admissible(paper, 1e-6)


def test_plan_prints_a_table_that_owns_up_to_its_limits() -> None:
    text = str(plan(HAND, 0.1))
    assert text.startswith("Plan for an average gap of 0.1\n")
    for phrase in (
        "Worst case",
        "delta = 1e-5, violate",
        "= 3.46e+03",
        "xi / 2 = 0.25",
    ):
        assert phrase in text
    assert "if beta = 2, mu <= 0.5" in str(plan(HAND, 1, beta=2, max_multiplier=0.5))


def test_plan_of_many_features_stays_readable() -> None:
    made = plan(replace(HAND, n_features=784), 0.1)
    assert made.model_order_bound > 10**5000
    assert "model_order_bound" not in repr(made)
    assert max(map(len, str(made).splitlines())) <= 80


@given(problems(), sizes(1e-12, 1.0))
def test_admissible_range_solves_its_inequality(problem: Problem, eta: float) -> None:
    E, growth = problem.n_edges, constants(problem).dual_growth

    def excess(delta: float) -> float:
        return (growth + 2 * E * delta**2 * eta**2 - delta) / delta

    ends = theory.dual_regularization_range(problem, eta)
    if E == 0:
        assert ends == (0.0, math.inf)
    elif ends is None:
        assert excess(2 * growth) > 0
    else:
        assert ends[0] <= 2 * growth * (1 + 1e-9)
        assert excess(ends[0]) == pytest.approx(0, abs=1e-6)
        assert excess(ends[1]) == pytest.approx(0, abs=1e-6)
        assert excess(math.sqrt(ends[0] * ends[1])) <= 1e-9
    is_default = theory.is_dual_regularization_admissible(problem, eta)
    assert is_default == (ends is not None)


def test_both_ends_of_the_range_matter() -> None:
    ends = theory.dual_regularization_range(HAND, 1e-3)
    assert ends is not None
    for delta, is_inside in (
        (ends[0] * 0.999, False),
        (ends[0] * 1.001, True),
        (ends[1] * 0.999, True),
        (ends[1] * 1.001, False),
    ):
        problem = replace(HAND, dual_regularization=delta)
        assert theory.is_dual_regularization_admissible(problem, 1e-3) == is_inside


def test_unmet_conditions_name_each_breach() -> None:
    broken = theory.unmet_conditions(replace(HAND, dual_regularization=1.0), 1, 20.0)
    assert [text.split(" <= ")[0] for text in broken] == [
        "nu",
        "epsilon",
        "8 V X^2 L_h^2 E + 2 E delta^2 eta^2",
    ]
    assert broken[1] == "epsilon <= 2 R_B = 14, got 20"
    n_steps = math.ceil((constants(HAND).violation / (0.51 * HAND.slater_slack)) ** 2)
    assert theory.unmet_conditions(HAND, n_steps, 0.0)[0].startswith("nu <= xi / 2")
    assert theory.unmet_conditions(HAND, 2 * n_steps, 0.0) == ()


def test_model_order_by_hand() -> None:
    order = theory.model_order_bound(HAND, alpha=2.0, max_multiplier=0.5, beta=3.0)
    assert order == 3 * ((2 + 3 * 4 * 0.5) / 2) ** 4 == 768
    assert theory.model_order_bound(HAND, 1.5, 0.0) == math.ceil((2 / 1.5) ** 4)
    assert theory.model_order_bound(HAND, 1e-300, 0.0) > 10**1200


@given(sizes(1e-9, 10), sizes(1e-9, 1e3))
def test_compression_converts_there_and_back(eta: float, value: float) -> None:
    first = theory.compression(eta, parsimony=value)
    assert first.parsimony == value
    assert first.epsilon == pytest.approx(value * eta**1.5)
    assert first.alpha == pytest.approx(first.epsilon / eta)
    for unit in first._fields:
        again = theory.compression(eta, **{unit: getattr(first, unit)})
        assert again == pytest.approx(first, rel=1e-14)


def test_ingredients_bound_slopes_and_values_on_the_ball() -> None:
    a, b = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(-3, 3, 61))
    d = np.abs(a - b)
    huber = np.where(d <= 2.5, d * d / 2, 2.5 * (d - 1.25))
    for name, h in (("squared", d * d / 2), ("huber", huber), ("absolute", d)):
        slope, bound = theory.proximity_constants(name, 3.0, 0.1, width=2.5)
        steepest = np.abs(np.diff(h, axis=1)).max() / 0.1
        assert steepest <= slope * (1 + 1e-12) <= steepest + 0.06
        assert bound == pytest.approx(h.max())
    assert theory.proximity_constants("huber", 3.0, 0.1, width=50.0) == (6.0, 18.0)
    assert theory.proximity_constants("huber", 3.0, 99.0)[1] == 99.0
    assert theory.squared_loss_lipschitz(3.0, 4.0) == np.abs(a - 4.0).max()


def test_regression_problem_takes_tolerances_of_edges() -> None:
    problem = regression_problem(
        2, 2, norm_bound=1, target_bound=3, tolerance=[0.2, 40], kernel_bound=2
    )
    assert (problem.slater_slack, problem.proximity_bound) == (0.2, 40.0)
    assert (problem.loss_lipschitz, problem.proximity_lipschitz) == (5.0, 4.0)
    alone = regression_problem(1, 0, norm_bound=1, target_bound=1, tolerance=1)
    assert plan(alone, 0.1).gap_bound <= 0.1


def test_gradient_bound_holds_for_the_exact_coupling() -> None:
    """Lemma 2 by trial, linear kernel: 2 |primal|^2 + |dual|^2 <= K + (...) |mu|^2."""
    V, E, delta, eta, gamma, nu = 3, 6, 256.0, 0.01, 0.5, 0.25
    problem = regression_problem(
        V, E, norm_bound=1, target_bound=1, tolerance=gamma, dual_regularization=delta
    )
    c, rng, ratios = constants(problem), np.random.default_rng(0), []
    for _ in range(3000):
        w, x, y = rng.choice([-1.0, 1.0, 0.3], (3, V))
        mu = rng.exponential(rng.choice([0.0, 1.0, 10.0]), (V, V)) * (1 - np.eye(V))
        apart = np.outer(x, w).diagonal()[:, None] - np.outer(x, w)
        pull = mu * apart
        primal = (x * w - y) * x + pull.sum(1) * x - (pull * x[:, None]).sum(0)
        dual = (apart**2 / 2 - gamma + nu - delta * eta * mu) * (1 - np.eye(V))
        growth = (c.dual_growth + 2 * E * delta**2 * eta**2) * (mu**2).sum()
        left = 2 * (primal**2).sum() + (dual**2).sum()
        ratios.append((c.gradient_bound + growth) / left)
    assert 1 <= min(ratios) < 30


@pytest.mark.parametrize("nu", [1e-4, 0.01, 0.1, 0.25])
def test_tightening_costs_at_most_the_multiplier_bound(nu: float) -> None:
    """Lemma 1 where the optimum is known: targets 1 and -1 at one input."""
    gamma, lam = 0.5, 0.1

    def best(tolerance: float) -> float:
        s = math.sqrt(tolerance / 2)
        return (1 - s) ** 2 + lam * s**2

    problem = regression_problem(
        2, 2, norm_bound=1, target_bound=1, tolerance=gamma, regularization=lam
    )
    cost = best(gamma - nu) - best(gamma)
    assert 0 < cost <= constants(problem).multiplier_bound * nu


def test_huge_numbers_stay_exact_or_say_so() -> None:
    dear = replace(HAND, slater_slack=1e-30)
    made = plan(dear, 1e-20)
    assert made.n_steps > 10**200
    assert made.gap_bound <= 1e-20
    huge = plan(replace(HAND, slater_slack=1e-60), 1e-20)
    assert huge.n_steps > 10**400
    assert 0 < huge.gap_bound <= 1e-20
    with pytest.raises(ValueError, match="violation must be finite, got inf"):
        constants(replace(HAND, slater_slack=1e-200))
    with pytest.raises(ValueError, match="gradient_bound must be finite, got inf"):
        constants(replace(HAND, loss_lipschitz=1e200))
    with pytest.raises(ValueError, match=r"sqrt\(n_steps\) must be finite, got inf"):
        plan(HAND, 1e-300)
    with pytest.raises(ValueError, match="gap must be finite, got inf"):
        theory.gap_bound(HAND, 1, 1e308)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_agents": 0}, "n_agents must be at least 1, got 0"),
        ({"n_edges": 3}, "n_edges must be even .* and at most 6, got 3"),
        ({"n_edges": 8}, "n_edges must be even .* and at most 6, got 8"),
        ({"norm_bound": 0.0}, "norm_bound must be positive, got 0.0"),
        ({"regularization": -1}, "regularization must not be negative, got -1.0"),
        ({"dual_regularization": -1}, "dual_regularization must not be negative"),
        ({"slater_slack": 6.0}, "slater_slack must not exceed proximity_bound 5.0"),
        ({"kernel_bound": math.nan}, "kernel_bound must be finite, got nan"),
    ],
)
def test_problem_is_validated(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(HAND, **change)


def test_arguments_are_validated() -> None:
    with pytest.raises(TypeError, match=r"n_steps must be a whole number, got 2\.5"):
        theory.tightening(HAND, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_steps must be at least 1, got 0"):
        theory.practical_tightening(0)
    with pytest.raises(ValueError, match="alpha must not be negative, got -1"):
        theory.gap_bound(HAND, 1, -1)
    with pytest.raises(ValueError, match="alpha must be positive, got 0"):
        theory.model_order_bound(HAND, 0.0, 1.0)
    with pytest.raises(ValueError, match="gap must be positive, got 0"):
        plan(HAND, 0)
    with pytest.raises(ValueError, match=r"tolerance must be positive .*, got 0\.0"):
        regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=[0, 1])
    with pytest.raises(ValueError, match="proximity must be one of 'squared'"):
        theory.proximity_constants("cubic", 1.0, 1.0)
    with pytest.raises(ValueError, match="compression must be given as exactly one"):
        theory.compression(0.1, epsilon=1.0, alpha=2.0)
    with pytest.raises(ValueError, match="compression must be given as exactly one"):
        theory.compression(0.1)


def test_problem_and_plan_are_immutable_values() -> None:
    with pytest.raises(FrozenInstanceError):
        HAND.n_agents = 5  # type: ignore[misc]
    assert replace(HAND) == HAND
    assert plan(HAND, 0.1) == plan(HAND, 0.1)
    scalar: Any = np.float32(1)
    assert type(replace(HAND, norm_bound=scalar).norm_bound) is float
