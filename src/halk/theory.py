"""What the theorems guarantee, in numbers.

They speak of ``coupling="exact"`` with plain steps ``eta = T^(-1/2)`` for functions and
multipliers alike, a reading for every agent at every step, the norm ball (S8) on, and
averages over the T steps of a run. All constants are worst cases: real runs need far
fewer steps. Where a proof of the paper slips, the constant here is the larger one that
holds, and its description says so. A guarantee holds where `unmet_conditions` is empty;
``alpha = epsilon / eta`` is the compression of a step over its size.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil, inf, isqrt, sqrt
from typing import Any, NamedTuple

from halk._validation import (
    choice,
    integer,
    nonnegative,
    per_item,
    positive,
    real,
    require,
)

# Steps to step size, and the units of compression -------------------------------------


def _inverse_root(n_steps: int) -> float:
    """Return ``T^(-1/2)``, for a T beyond the floats too."""
    T = integer("n_steps", n_steps, 1)
    return 1 / (sqrt(T) if T.bit_length() < 1000 else isqrt(T))


class Compression(NamedTuple):
    """How much a step may prune: one number in three units, see `compression`."""

    epsilon: float
    parsimony: float
    alpha: float


def compression(
    step_size: float,
    *,
    epsilon: float | None = None,
    parsimony: float | None = None,
    alpha: float | None = None,
) -> Compression:
    """Return epsilon, parsimony and alpha from the one that is given.

    ``epsilon = P eta^(3/2)``, ``alpha = epsilon / eta``: the distance that a step may
    lose (S7), the paper's constant P, and what the theorems speak of.

    Examples
    --------
    >>> compression(0.01, parsimony=40)
    Compression(epsilon=0.04, parsimony=40.0, alpha=4.0)
    """
    eta = positive("step_size", step_size)
    power = positive("step_size^(3/2)", eta * sqrt(eta))
    units = {"epsilon": 1.0, "parsimony": power, "alpha": eta}
    values = {"epsilon": epsilon, "parsimony": parsimony, "alpha": alpha}
    given = {name: value for name, value in values.items() if value is not None}
    rule = "be given as exactly one of epsilon, parsimony and alpha"
    require(len(given) == 1, "compression", rule, given)
    ((name, value),) = given.items()
    distance = nonnegative(name, value) * units[name]
    same = {unit: distance / scale for unit, scale in units.items()}
    same[name] = float(value)
    return Compression(*(real(unit, number) for unit, number in same.items()))


# The problem as the theorems see it ---------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What the theorems need to know of S1 and S2.

    Parameters
    ----------
    n_agents, n_edges : int
        V and E. Edges are directed: each link counts in both directions.
    loss_lipschitz, proximity_lipschitz : float
        C and L_h, the steepest slopes of the loss in the prediction and of h in either
        argument, for predictions that the norm ball allows.
    proximity_bound : float
        The largest value of h, or the largest tolerance if that is more. As long as
        ``nu <= xi / 2``, no step pushes a multiplier harder; its square is K_1.
    norm_bound : float
        R_B, radius of the ball that each agent's function is kept in (S8).
    slater_slack : float
        xi, by how much all constraints can be met to spare at once. Functions that
        agree have h = 0, so the smallest tolerance will do.
    kernel_bound : float
        X, the square root of the largest k(x, x); 1 for Gaussian, Laplacian, Matern.
    regularization : float
        lambda, weight of the squared norms in the objective.
    dual_regularization : float, optional
        delta, how fast multipliers are forgotten. By default ``16 V X^2 L_h^2 E``,
        which is admissible whenever any delta is.
    n_features : int
        p, dimension of the inputs; only the model order depends on it.
    """

    n_agents: int
    n_edges: int
    loss_lipschitz: float
    proximity_lipschitz: float
    proximity_bound: float
    norm_bound: float
    slater_slack: float
    kernel_bound: float = 1.0
    regularization: float = 0.0
    dual_regularization: float | None = None
    n_features: int = 1

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            checked: float | None = value
            if name.startswith("n_"):
                checked = integer(name, value, int(name != "n_edges"))
            elif not name.endswith("regularization"):
                checked = positive(name, value)
            elif value is not None:
                checked = nonnegative(name, value)
            object.__setattr__(self, name, checked)
        n_edges, most = self.n_edges, self.n_agents * (self.n_agents - 1)
        rule = f"be even (each link has two directions) and at most {most}"
        require(n_edges % 2 == 0 and n_edges <= most, "n_edges", rule, n_edges)
        xi, bound = self.slater_slack, self.proximity_bound
        require(xi <= bound, "slater_slack", f"not exceed proximity_bound {bound}", xi)


def squared_loss_lipschitz(reach: float, target_bound: float) -> float:
    """Return C of the squared loss ``(a - y)^2 / 2``: ``X R_B + y_max``.

    ``reach`` is ``X R_B``, the largest prediction in the ball, ``target_bound`` the
    largest reading. Absolute, epsilon-insensitive, hinge and logistic loss have C = 1,
    Huber's is at most its phi, the quantile loss has ``max(tau, 1 - tau)``.

    Examples
    --------
    >>> squared_loss_lipschitz(reach=3.0, target_bound=2.0)
    5.0
    """
    y_max = nonnegative("target_bound", target_bound)
    return real("loss_lipschitz", positive("reach", reach) + y_max)


def proximity_constants(
    proximity: str, reach: float, tolerance: float, width: float = 1.0
) -> tuple[float, float]:
    """Return ``proximity_lipschitz`` and ``proximity_bound`` on the norm ball.

    Predictions differ by at most ``d = 2 X R_B``, twice the ``reach``, and there h and
    its slope are largest. The slope is d ("squared"), the smaller of d and ``width``
    ("huber") or 1 ("absolute"). ``tolerance`` is the largest gamma of all edges.

    Examples
    --------
    >>> proximity_constants("squared", reach=1.0, tolerance=0.5)
    (2.0, 2.0)
    >>> proximity_constants("absolute", reach=1.0, tolerance=3.0)
    (1.0, 3.0)
    """
    choice("proximity", proximity, ("squared", "huber", "absolute"))
    d = 2 * positive("reach", reach)
    slope = d if proximity == "squared" else min(d, positive("width", width))
    slope, h = (1.0, d) if proximity == "absolute" else (slope, slope * (d - slope / 2))
    return slope, real("proximity_bound", max(h, positive("tolerance", tolerance)))


def regression_problem(
    n_agents: int,
    n_edges: int,
    *,
    norm_bound: float,
    target_bound: float,
    tolerance: Any,
    kernel_bound: float = 1.0,
    **others: Any,
) -> Problem:
    """Return the problem of squared loss and proximity, from what an operator knows.

    ``tolerance`` is gamma, one number or one per edge; the smallest serves as the
    Slater slack. ``others`` are further parameters of `Problem`.

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> pair.loss_lipschitz, pair.proximity_lipschitz, pair.slater_slack
    (2.0, 2.0, 1.0)
    """
    n_tolerances = max(integer("n_edges", n_edges), 1)
    gamma = per_item("tolerance", tolerance, n_tolerances, "edge")
    least, most = float(gamma.min()), float(gamma.max())
    require(least > 0, "tolerance", "be positive (consensus has no slack)", least)
    reach = positive("kernel_bound", kernel_bound) * positive("norm_bound", norm_bound)
    slope, bound = proximity_constants("squared", reach, most)
    return Problem(
        n_agents=n_agents,
        n_edges=n_edges,
        loss_lipschitz=squared_loss_lipschitz(reach, target_bound),
        proximity_lipschitz=slope,
        proximity_bound=bound,
        norm_bound=norm_bound,
        slater_slack=least,
        kernel_bound=kernel_bound,
        **others,
    )


# Constants of the theorems ------------------------------------------------------------


class Constants(NamedTuple):
    """The constants of the theorems; see `constants` for their formulas."""

    gradient_bound: float
    """K, how large stochastic gradients get, squared: data, shrinkage, duals."""
    multiplier_bound: float
    """Q, the most that optimal multipliers sum to, and so what tightening costs."""
    dual_growth: float
    """What multipliers add to the gradients; delta has to outweigh it."""
    dual_regularization: float
    """delta, as given or by default."""
    violation: float
    """Gamma, average violation times ``T^(1/2)`` if nothing is tightened."""
    compression: float
    """Lambda, what a unit of alpha adds to gap and violation."""
    gap_per_root: float
    """What the gap bound multiplies ``T^(-1/2)`` with."""
    gap_per_alpha: float
    """What the gap bound multiplies alpha with."""


def constants(problem: Problem) -> Constants:
    """Return the constants of Theorem 2 and its lemmas.

    ::

        K       = 8 V X^2 C^2 + 4 V lambda^2 R_B^2 + 2 E K_1 + 2 E L_h^2 X^2 R_B^2
        Q       = 4 V R_B (C X + lambda R_B) / xi
        growth  = 8 V X^2 L_h^2 E
        Gamma   = (V R_B^2 + (1 + delta)(2 + 2 Q^2) + K) / 2
        Lambda  = 4 V R_B
        gap     = T^(-1/2) (V R_B^2 / 2 + K / 2 + Q Gamma) + alpha (4 V R_B + Q Lambda)

    Raises
    ------
    ValueError
        If one of them exceeds the largest float.

    Notes
    -----
    Lemma 2 leaves K_1 open and loses gamma and a factor of two on the way; the square
    of ``proximity_bound`` makes up for both. Where the paper has ``R_B^2`` in Gamma and
    in the gap, its proof needs the norm of all V optimal functions together, hence
    ``V R_B^2``. All hold for the exact coupling too: an agent's edges of both
    directions are at most E.

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> constants(pair)[:4]  # K = 64 + 0 + 16 + 16
    (96.0, 16.0, 128.0, 256.0)
    >>> constants(pair).violation  # (2 + 257 * 514 + 96) / 2
    66098.0
    """
    p, V, E = problem, problem.n_agents, problem.n_edges
    X, R, lam, L = p.kernel_bound, p.norm_bound, p.regularization, p.proximity_lipschitz
    C, B, LX, RR = p.loss_lipschitz, p.proximity_bound, L * X, R * R
    K = 8 * V * (X * C) * (X * C) + 4 * V * (lam * R) * (lam * R)
    K += 2 * E * B * B + 2 * E * (LX * R) * (LX * R)
    Q = 4 * V * R * (C * X + lam * R) / p.slater_slack
    growth = 8 * V * E * LX * LX
    delta = 2 * growth if p.dual_regularization is None else p.dual_regularization
    Gamma = (V * RR + (1 + delta) * (2 + 2 * Q * Q) + K) / 2
    Lambda = 4 * V * R
    gap = ((V * RR + K) / 2 + Q * Gamma, 4 * V * R + Q * Lambda)
    found = Constants(K, Q, growth, delta, Gamma, Lambda, *gap)
    return Constants(*map(real, Constants._fields, found))


# What a run of T steps is guaranteed to reach -----------------------------------------


def tightening(problem: Problem, n_steps: int, alpha: float = 0.0) -> float:
    """Return the guaranteed nu: with it, no constraint is violated on average.

    ``nu = zeta T^(-1/2) + Lambda alpha`` with ``zeta = Gamma`` (paper, Theorem 2).

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> round(tightening(pair, n_steps=10**12, alpha=0.001), 9)
    0.074098
    """
    c, alpha = constants(problem), nonnegative("alpha", alpha)
    return real("nu", c.violation * _inverse_root(n_steps) + c.compression * alpha)


def practical_tightening(n_steps: int, factor: float = 0.3) -> float:
    """Return the nu that did in practice, ``0.3 T^(-1/2)`` (docs/results.md).

    Examples
    --------
    >>> practical_tightening(10_000)
    0.003
    """
    return nonnegative("factor", factor) * _inverse_root(n_steps)


def gap_bound(problem: Problem, n_steps: int, alpha: float = 0.0) -> float:
    """Bound the average of ``S(f_t) - S(f*)`` over a run with the guaranteed nu.

    The formula is in `constants` (paper, Corollary 2): the way to go,
    the noise, and what tightening and compression cost.

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> round(gap_bound(pair, n_steps=10**12, alpha=1e-6), 9)  # 1.057617 + 0.000136
    1.057753
    """
    c, alpha = constants(problem), nonnegative("alpha", alpha)
    return real(
        "gap", c.gap_per_root * _inverse_root(n_steps) + c.gap_per_alpha * alpha
    )


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
    The paper argues for one new atom per step, that is for its own coupling.

    Examples
    --------
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
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> unmet_conditions(pair, n_steps=10_000, alpha=0.0)
    ('nu <= xi / 2 = 0.5, got 660.98',)
    """
    nu, eta = tightening(problem, n_steps, alpha), _inverse_root(n_steps)
    xi, R, epsilon = problem.slater_slack, problem.norm_bound, alpha * eta
    delta = constants(problem).dual_regularization
    is_forgetting = is_dual_regularization_admissible(problem, eta)
    conditions = {
        f"nu <= xi / 2 = {xi / 2:.6g}, got {nu:.6g}": nu <= xi / 2,
        f"epsilon <= 2 R_B = {2 * R:.6g}, got {epsilon:.6g}": epsilon <= 2 * R,
        f"8 V X^2 L_h^2 E + 2 E delta^2 eta^2 <= delta = {delta:.6g}": is_forgetting,
    }
    return tuple(text for text, is_met in conditions.items() if not is_met)


# From the gap that is wanted to a run that reaches it ---------------------------------


_MARGIN = 1 + 1e-12  # keeps what a plan promises true after rounding
_CAVEAT = """\
Worst case: K, Q and Gamma, and with them T, alpha, the guaranteed nu and M,
cover anything that the ball allows; runs in practice need far fewer steps.
delta has to be above 8 V X^2 L_h^2 E = {:.3g}. The paper's own experiments,
with delta = 1e-5, violate this condition: none of these bounds covers them."""


@dataclass(frozen=True)
class Plan:
    """A run that is guaranteed to reach a gap, from `plan`; print it for a table."""

    problem: Problem
    gap: float
    n_steps: int
    step_size: float
    alpha: float
    epsilon: float
    dual_regularization: float
    tightening: float
    practical_tightening: float
    gap_bound: float
    max_multiplier: float
    beta: float
    model_order_bound: int = field(repr=False)  # may have more digits than repr allows

    def __str__(self) -> str:
        xi, growth = self.problem.slater_slack, constants(self.problem).dual_growth
        slack = f"<= xi / 2 = {xi / 2:.3g}"
        order = f"if beta = {self.beta:.3g}, mu <= {self.max_multiplier:.3g}"
        rows = (
            ("steps", "T", Decimal(self.n_steps), ""),
            ("step size", "eta", self.step_size, "T^(-1/2)"),
            ("compression", "epsilon", self.epsilon, "alpha eta"),
            ("compression over step", "alpha", self.alpha, "epsilon / eta"),
            ("dual regularization", "delta", self.dual_regularization, ""),
            ("tightening, guaranteed", "nu", self.tightening, slack),
            ("tightening, practical", "nu", self.practical_tightening, "no guarantee"),
            ("average gap", "", self.gap_bound, "at most"),
            ("atoms per agent", "M", Decimal(self.model_order_bound), order),
        )
        table = [f"  {a:<24}{b:<8}{c:>11.3g}  {d}".rstrip() for a, b, c, d in rows]
        title = f"Plan for an average gap of {self.gap:.3g}"
        return "\n".join([title, *table, _CAVEAT.format(growth)])


def plan(
    problem: Problem,
    gap: float,
    *,
    beta: float = 1.0,
    max_multiplier: float | None = None,
) -> Plan:
    """Return a run whose average gap is guaranteed to be at most ``gap``.

    Half of the gap goes to compression, half to the steps (paper,
    Corollary 2): ``alpha <= gap / (2 (4 V R_B + Q Lambda))``, T of the order of
    ``gap^-2``. Both also keep `unmet_conditions` empty; that of nu binds only for gaps
    above ``2 V R_B (C X + lambda R_B)``, which any function in the ball meets.

    Parameters
    ----------
    problem : Problem
    gap : float
        Largest admissible average of ``S(f_t) - S(f*)``, in units of the loss.
    beta, max_multiplier : float
        As of `model_order_bound`. By default multipliers are taken to stay below Q,
        which is certain of optimal ones only.

    Raises
    ------
    ValueError
        If the problem's own ``dual_regularization`` is admissible for no step size.

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> plan(pair, gap=0.1).n_steps
    447421487476495
    """
    gap, c, xi = positive("gap", gap), constants(problem), problem.slater_slack
    widest = min(xi / (4 * c.compression), 2 * problem.norm_bound)
    alpha = positive("alpha", min(gap / (2 * c.gap_per_alpha), widest) / _MARGIN)
    fewest = max(4 * c.violation / xi, _least_root(problem), 1.0)
    root = real("sqrt(n_steps)", max(2 * c.gap_per_root / gap, fewest) * _MARGIN)
    T = ceil(Fraction(root) ** 2)
    mu = c.multiplier_bound if max_multiplier is None else max_multiplier
    return Plan(
        problem=problem,
        gap=gap,
        n_steps=T,
        step_size=_inverse_root(T),
        alpha=alpha,
        epsilon=alpha * _inverse_root(T),
        dual_regularization=c.dual_regularization,
        tightening=tightening(problem, T, alpha),
        practical_tightening=practical_tightening(T),
        gap_bound=gap_bound(problem, T, alpha),
        max_multiplier=mu,
        beta=beta,
        model_order_bound=model_order_bound(problem, alpha, mu, beta),
    )


def _least_root(problem: Problem) -> float:
    """Return the least ``T^(1/2)`` whose steps admit the problem's delta."""
    if problem.n_edges == 0:
        return 1.0
    c = constants(problem)
    delta, growth = c.dual_regularization, c.dual_growth
    rule = f"be above 8 V X^2 L_h^2 E = {growth} for any guarantee"
    require(delta > growth, "dual_regularization", rule, delta)
    return delta * sqrt(2 * problem.n_edges / (delta - growth))
