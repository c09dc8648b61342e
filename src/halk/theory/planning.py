"""From the gap that is wanted to a run that is guaranteed to reach it."""

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt

from halk._validation import positive, real, require
from halk.theory.bounds import (
    gap_bound,
    model_order_bound,
    practical_tightening,
    tightening,
)
from halk.theory.conversions import inverse_root
from halk.theory.lemmas import constants
from halk.theory.problem import Problem

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
        order = f"if beta = {self.beta:.3g}, mu <= {self.max_multiplier:.3g}"
        rows = (
            ("steps", "T", Decimal(self.n_steps), ""),
            ("step size", "eta", self.step_size, "T^(-1/2)"),
            ("compression", "epsilon", self.epsilon, "alpha eta"),
            ("compression over step", "alpha", self.alpha, "epsilon / eta"),
            ("dual regularization", "delta", self.dual_regularization, ""),
            (
                "tightening, guaranteed",
                "nu",
                self.tightening,
                f"<= xi / 2 = {xi / 2:.3g}",
            ),
            ("tightening, practical", "nu", self.practical_tightening, "no guarantee"),
            ("average gap", "", self.gap_bound, "at most"),
            ("atoms of an agent", "M", Decimal(self.model_order_bound), order),
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
    >>> from halk.theory import regression_problem
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
        step_size=inverse_root(T),
        alpha=alpha,
        epsilon=alpha * inverse_root(T),
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
