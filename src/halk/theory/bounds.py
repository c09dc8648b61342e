"""What a run of T steps is guaranteed to reach, and under which conditions.

A guarantee holds where `unmet_conditions` is empty. ``alpha = epsilon / eta`` is the
compression of a step over its size.
"""

from fractions import Fraction
from math import ceil, inf, sqrt

from halk._validation import nonnegative, positive, real
from halk.theory.conversions import inverse_root
from halk.theory.lemmas import constants
from halk.theory.problem import Problem


def tightening(problem: Problem, n_steps: int, alpha: float = 0.0) -> float:
    """Return the guaranteed nu: with it, no constraint is violated on average.

    ``nu = zeta T^(-1/2) + Lambda alpha`` with ``zeta = Gamma`` (paper,
    Theorem 2).

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> round(tightening(pair, n_steps=10**12, alpha=0.001), 9)
    0.074098
    """
    c, alpha = constants(problem), nonnegative("alpha", alpha)
    return real("nu", c.violation * inverse_root(n_steps) + c.compression * alpha)


def practical_tightening(n_steps: int, factor: float = 0.3) -> float:
    """Return the nu that did in practice, ``0.3 T^(-1/2)`` (docs/results.md).

    Examples
    --------
    >>> practical_tightening(10_000)
    0.003
    """
    return nonnegative("factor", factor) * inverse_root(n_steps)


def gap_bound(problem: Problem, n_steps: int, alpha: float = 0.0) -> float:
    """Bound the average of ``S(f_t) - S(f*)`` over a run with the guaranteed nu.

    The formula is in `constants` (paper, Corollary 2): the way to go,
    the noise, and what tightening and compression cost.

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> round(gap_bound(pair, n_steps=10**12, alpha=1e-6), 9)  # 1.057617 + 0.000136
    1.057753
    """
    c, alpha = constants(problem), nonnegative("alpha", alpha)
    return real("gap", c.gap_per_root * inverse_root(n_steps) + c.gap_per_alpha * alpha)


def model_order_bound(
    problem: Problem, alpha: float, max_multiplier: float, beta: float = 1.0
) -> int:
    """Bound the atoms of one agent, rounded up; huge, hence an int.

    ``M_i <= beta (R_M / alpha)^(2 p)``, ``R_M = C + L_h E max_j mu_ij`` (paper,
    Theorem 1). R_M is the largest weight that a new atom can get, over the step size.

    Parameters
    ----------
    problem : Problem
    alpha : float
        ``epsilon / eta``.
    max_multiplier : float
        The largest multiplier of the agent, at any step so far.
    beta : float
        Depends on kernel and domain; the theorem says only that it exists. With 1 the
        result tells how the order scales, not how large it is.

    Notes
    -----
    The paper argues for one new atom a step, that is for its own coupling.

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> model_order_bound(pair, alpha=0.5, max_multiplier=2.0)  # (10 / 0.5)^2
    400
    """
    mu, alpha = nonnegative("max_multiplier", max_multiplier), positive("alpha", alpha)
    pull = problem.proximity_lipschitz * problem.n_edges * mu
    ratio = Fraction(real("R_M", problem.loss_lipschitz + pull)) / Fraction(alpha)
    return ceil(Fraction(positive("beta", beta)) * ratio ** (2 * problem.n_features))


def dual_regularization_range(
    problem: Problem, step_size: float
) -> tuple[float, float] | None:
    """Return the least and largest admissible delta, or None if the step is too long.

    ``8 V X^2 L_h^2 E + 2 E delta^2 eta^2 - delta <= 0`` (paper, proof
    of Theorem 2): forgetting outweighs what multipliers add to the gradients. Nothing
    does if ``eta > 1 / (8 E X L_h sqrt(V))``; without edges anything does, up to
    ``inf``. The paper's own experiments, with delta = 1e-5, break the condition.

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> [round(end, 1) for end in dual_regularization_range(pair, step_size=0.01)]
    [135.3, 2364.7]
    """
    eta, E = positive("step_size", step_size), problem.n_edges
    if E == 0:
        return 0.0, inf
    growth = constants(problem).dual_growth
    discriminant = 1 - 8 * E * growth * eta * eta
    if discriminant < 0:
        return None
    root = 1 + sqrt(discriminant)
    return 2 * growth / root, root / (4 * E) / eta / eta


def is_dual_regularization_admissible(problem: Problem, step_size: float) -> bool:
    """Tell whether the problem's delta is in `dual_regularization_range`.

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> [is_dual_regularization_admissible(pair, eta) for eta in (0.01, 0.1)]
    [True, False]
    """
    delta = constants(problem).dual_regularization
    ends = dual_regularization_range(problem, step_size)
    return ends is not None and ends[0] <= delta <= ends[1]


def unmet_conditions(problem: Problem, n_steps: int, alpha: float) -> tuple[str, ...]:
    """Return the conditions of the theorems that a run breaks; none: it is guaranteed.

    They are ``nu <= xi / 2`` (Lemma 1), ``epsilon <= 2 R_B`` (Theorem 2) and that of
    `dual_regularization_range`.

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> unmet_conditions(pair, n_steps=10_000, alpha=0.0)
    ('nu <= xi / 2 = 0.5, got 660.98',)
    """
    nu, eta = tightening(problem, n_steps, alpha), inverse_root(n_steps)
    xi, R, epsilon = problem.slater_slack, problem.norm_bound, alpha * eta
    delta = constants(problem).dual_regularization
    is_forgetting = is_dual_regularization_admissible(problem, eta)
    conditions = {
        f"nu <= xi / 2 = {xi / 2:.6g}, got {nu:.6g}": nu <= xi / 2,
        f"epsilon <= 2 R_B = {2 * R:.6g}, got {epsilon:.6g}": epsilon <= 2 * R,
        f"8 V X^2 L_h^2 E + 2 E delta^2 eta^2 <= delta = {delta:.6g}": is_forgetting,
    }
    return tuple(text for text, is_met in conditions.items() if not is_met)
