"""The constants of the theorems; all other numbers follow from them."""

from typing import NamedTuple

from halk._validation import real
from halk.theory.problem import Problem


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
    >>> from halk.theory import regression_problem
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


def gradient_bound(problem: Problem) -> float:
    """Return K of `constants` (paper, Lemma 2)."""
    return constants(problem).gradient_bound


def multiplier_bound(problem: Problem) -> float:
    """Return Q of `constants` (paper, Lemma 1)."""
    return constants(problem).multiplier_bound


def violation_per_root(problem: Problem) -> float:
    """Return Gamma of `constants`, the smallest zeta (paper, Theorem 2).

    Examples
    --------
    >>> from halk.theory import regression_problem
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> gradient_bound(pair), multiplier_bound(pair), violation_per_root(pair)
    (96.0, 16.0, 66098.0)
    """
    return constants(problem).violation
