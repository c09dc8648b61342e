"""Bandwidth adaptation at work: proposals, and the refit when the kernel changes."""

from functools import cache
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from halk._jit import (
    LANES,
    decay,
    filled,
    fma,
    generic_procedure,
    internal,
    is_ours,
    load,
    parameters,
    pointer,
    skeleton,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector
from halk.bandwidth import Adaptation, Fixed, LeaveOneOut, LossFollowing
from halk.compression import (
    AGE,
    DRIFT,
    Block,
    Dictionary,
    Workspace,
    block,
    commit,
    dictionary,
    rebuild,
    workspace,
)
from halk.compression.algebra import dot, sweep
from halk.compression.rows import kernel_row, kernel_square
from halk.kernels import Kernel, rescaled
from halk.kernels.stationary import squared_ratios

N_STATE = 4
"""Numbers an agent keeps: log of the proposed scale, readings, slope and its square."""

_FAR = 1400.0
"""Added to half a squared distance, it leaves a weight of exp(-700): nothing."""


class Adapter(NamedTuple):
    """A rule as compiled code takes it: a pointer, and the rule's parameters.

    ``adapt(theta, kernel, D, m, block, ws, state, scale, slope, around, trust)`` lets
    the rule see the reading at ``block.points[:, 0]`` and returns the atoms left.
    ``kernel`` are the parameters of the learner's kernel, ``scale`` (1,) is what the
    agent multiplies its bandwidth by, ``slope`` the loss's at the reading, ``around``
    the mean of the neighbours' log scales, NaN without neighbours. Mutates ``D``,
    ``state``, ``scale`` and ``trust``.
    """

    adapt: Any
    theta: Vector
    is_fixed: bool


def adapter_of(rule: Adaptation, kernel: Kernel) -> Adapter:
    """Return a rule for a kernel; all of the same types share one compiled function."""
    is_fixed = isinstance(rule, Fixed)
    # a fixed bandwidth does not ask for the kernel: one pointer will do for all
    bones = None if is_fixed else skeleton(kernel)
    return Adapter(_adapting(skeleton(rule), bones), parameters(rule), is_fixed)


@cache
def _adapting(rule: Any, kernel: Any) -> Any:
    vector = np.zeros(1)
    shapes = dictionary(1, 1), 1, block(1, 1, 1), workspace(1, 1, 1)
    signature = (vector, vector, *shapes, vector, vector, 1.0, 1.0, vector)
    if kernel is None:
        return pointer(1, *signature)(_keep)

    def adapt(
        theta: Vector, kernel_theta: Vector, D: Dictionary, m: int, block: Block,
        ws: Workspace, state: Vector, scale: Vector, slope: float, around: float,
        trust: Vector,
    ) -> int:  # fmt: skip
        guards, base = filled(rule, theta), filled(kernel, kernel_theta)
        state[1] += 1.0
        if m >= 3 and state[1] > guards.warm_up:
            now = rescaled(base, scale[0])
            _propose(guards, now, D, m, block, ws, state, scale[0], slope)
        if around == around:
            state[0] += guards.sharing * (around - state[0])
        state[0] = min(max(state[0], log(guards.narrowest)), log(guards.widest))
        if abs(state[0] - log(scale[0])) <= guards.threshold:
            return m
        old, scale[0] = rescaled(base, scale[0]), exp(state[0])
        new = rescaled(base, scale[0])
        m = refit_to_scale(old, new, D, m, block, ws, guards.smoothing)
        trust[DRIFT], trust[AGE] = ws.drift[0], 0.0
        return m

    cache = is_ours(kernel) and is_ours(rule)
    return pointer(1, *signature, cache=cache)(adapt)


def _keep(
    theta: Vector, kernel_theta: Vector, D: Dictionary, m: int, block: Block,
    ws: Workspace, state: Vector, scale: Vector, slope: float, around: float,
    trust: Vector,
) -> int:  # fmt: skip
    return m


@generic_procedure
def _propose(
    rule: Any, kernel: Any, D: Dictionary, m: int, block: Block, ws: Workspace,
    state: Vector, scale: float, slope: float,
) -> None:  # fmt: skip
    """Move ``state[0]``, the log of the proposed scale."""


@_propose.register
def _(
    rule: LeaveOneOut, kernel: Any, D: Dictionary, m: int, block: Block,
    ws: Workspace, state: Vector, scale: float, slope: float,
) -> None:  # fmt: skip
    ratio = leave_one_out_ratio(kernel, D, m, block.points, ws)
    if ratio > 0.0:
        state[0] += rule.rate * (log(scale) + 0.5 * log(ratio) - state[0])


@_propose.register
def _(
    rule: LossFollowing, kernel: Any, D: Dictionary, m: int, block: Block,
    ws: Workspace, state: Vector, scale: float, slope: float,
) -> None:  # fmt: skip
    gradient = slope * refitted_slope(kernel, D, m, block.points, ws, rule.smoothing)
    n = state[1] - rule.warm_up
    state[2] += (gradient - state[2]) * max(0.05, 1.0 / n)
    state[3] += (gradient * gradient - state[3]) * max(0.01, 1.0 / n)
    if state[3] > 0.0:
        pace = rule.rate / sqrt(1.0 + n / 100.0)
        state[0] -= pace * state[2] / sqrt(state[3])


@internal
def leave_one_out_ratio(
    kernel: Any, D: Dictionary, m: int, points: Matrix, ws: Workspace
) -> float:
    """Return the right-hand side of S10 over the squared bandwidth in use.

    The dictionary counts with the new point. Exponents are shifted by the nearest
    neighbour's, so an isolated atom cannot divide by zero; duplicates are left out.
    """
    new, line = ws.residual, ws.solution
    for k in range(0, m, LANES):
        store(new, k, squared_ratios(kernel.bandwidth, D.atoms, k, points, 0))
    total, counted = 0.0, 0
    for row in range(m + 1):
        for k in range(0, m, LANES):
            if row < m:
                squares = squared_ratios(kernel.bandwidth, D.atoms, k, D.atoms, row)
                store(line, k, squares)
            else:
                store(line, k, load(new, k))
        line[m] = new[row] if row < m else 0.0
        mean = _weighted_mean(line, row, m + 1)
        if mean >= 0.0:
            total += mean
            counted += 1
    return total / max(counted, 1)


@internal
def _weighted_mean(squares: Vector, own: int, n: int) -> float:
    """Return the mean of squared distances weighted by ``exp(-square / 2)``; else -1.

    The point's own and those of duplicates do not count. Writes to ``squares``.
    """
    nearest = 1e308
    for k in range(n):
        if k != own and squares[k] > 0.0:
            nearest = min(nearest, squares[k])
    if nearest == 1e308:
        return -1.0
    for k in range((n + LANES - 1) // LANES * LANES):
        if k >= n or k == own or not squares[k] > 0.0:
            squares[k] = nearest + _FAR
    above, below = spread(0.0), spread(0.0)
    for k in range(0, n, LANES):
        square = load(squares, k)
        weight = decay(spread(0.5) * (square - spread(nearest)))
        above, below = fma(weight, square, above), below + weight
    return total(above) / total(below)


@internal
def _ridge_inverse(m: int, ws: Workspace, smoothing: float) -> None:
    """Fill ``ws.inverse`` with ``(K + smoothing I)^-1``, ``K`` in ``ws.gram``."""
    for k in range(m):
        for c in range(m):
            ws.inverse[k, c] = ws.gram[k, c]
        ws.inverse[k, k] += smoothing * ws.gram[k, k]
    for k in range(m):
        sweep(ws.inverse, m, k)


@internal
def refitted_slope(
    kernel: Any, D: Dictionary, m: int, points: Matrix, ws: Workspace, smoothing: float
) -> float:
    """Return ``df(x) / d log sigma`` when weights follow so that atoms keep values.

    ``dk(x)' w - u' dK w`` with ``u = (K + smoothing I)^-1 k(x)``: what widening does
    between the atoms. ``x`` is in the first column of ``points``.
    """
    step = 1e-4
    wider, narrower = rescaled(kernel, exp(step)), rescaled(kernel, exp(-step))
    K, change, other, w = ws.gram, ws.solution, ws.residual, D.weights
    kernel_square(wider, D.atoms, m, K, ws.scratch)
    for k in range(m):
        change[k] = dot(K[k], w, m)
    kernel_square(narrower, D.atoms, m, K, ws.scratch)
    for k in range(m):
        change[k] -= dot(K[k], w, m)
    kernel_row(wider, D.atoms, m, points, 0, other, ws.scratch)
    slope = dot(other, w, m)
    kernel_row(narrower, D.atoms, m, points, 0, other, ws.scratch)
    slope -= dot(other, w, m)
    kernel_square(kernel, D.atoms, m, K, ws.scratch)
    kernel_row(kernel, D.atoms, m, points, 0, other, ws.scratch)
    return (slope - _ridge_product(m, ws, smoothing, other, change)) / (2.0 * step)


@internal
def _ridge_product(
    m: int, ws: Workspace, smoothing: float, u: Vector, v: Vector
) -> float:
    """Return ``u' (K + smoothing I)^-1 v``; ``K``, in ``ws.gram``, ``u``, ``v`` go.

    With ``L C L'`` for the matrix it is ``(L^-1 u)' C^-1 (L^-1 v)``: both go through
    the elimination of its rows, which takes a third of what an inverse does.
    """
    A, product = ws.gram, 0.0
    for k in range(m):
        A[k, k] += smoothing * A[k, k]
    for k in range(m):
        row, pivot, first = A[k], 1.0 / A[k, k], (k + 1) // LANES * LANES
        product += u[k] * v[k] * pivot
        for i in range(k + 1, m):
            below = A[i]
            factor = -row[i] * pivot
            share = spread(factor)
            for c in range(first, m, LANES):
                store(below, c, fma(share, load(row, c), load(below, c)))
            u[i] += factor * u[k]
            v[i] += factor * v[k]
    return product


@internal
def refit_to_scale(
    old: Any, new: Any, D: Dictionary, m: int, block: Block, ws: Workspace,
    smoothing: float,
) -> int:  # fmt: skip
    """Exchange the kernel under the function, keeping its values at its atoms.

    Kernel ridge regression of the old values at the atoms: interpolating them to the
    last digit with a wider kernel would make the function swing between the atoms.
    Mutates ``D``; returns the number of atoms, fewer where the wider kernel makes some
    depend on others.
    """
    values = ws.residual
    for k in range(m):
        kernel_row(old, D.atoms, m, D.atoms, k, ws.solution, ws.scratch)
        values[k] = dot(ws.solution, D.weights, m)
    kernel_square(new, D.atoms, m, ws.gram, ws.scratch)
    _ridge_inverse(m, ws, smoothing)
    for k in range(m):
        ws.start[k] = dot(ws.inverse[k], values, m)
    n_kept = rebuild(ws, m)
    commit(D, m, block, ws, n_kept)
    return n_kept
