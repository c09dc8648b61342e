"""One agent's step, S3 to S9, compiled: what agents and simulator both run.

Values travel between agents in the unit of the target, ``F = offset + spread f``; every
agent measures its own constraints in its own unit, that is, over its own spread. With
offset 0 and spread 1, the default, these are the equations to the letter.
"""

from typing import Any, NamedTuple

import numpy as np

from halk._jit import compiled
from halk._validation import Indices, Matrix, Vector
from halk.compression import Dictionary, Workspace, compress
from halk.expansion import kernel_vector
from halk.kernels import kernel_value, rescaled
from halk.losses import loss_curvature, loss_slope
from halk.proximity import proximity_curvature, proximity_slope, proximity_value

LARGEST = 1e50
"""Values beyond this are divergence; squares and products below it stay finite."""


class Rules(NamedTuple):
    """The components that make a learner: formulas, chosen when it is compiled."""

    kernel: Any
    loss: Any
    proximity: Any
    adaptation: Any
    compressor: Any


class Settings(NamedTuple):
    """The numbers of a learner that all its agents share."""

    regularization: float  # lambda
    dual_regularization: float  # delta
    tightening: float  # nu
    norm_bound: float  # R, infinite for none
    is_exact: bool  # coupling: S5 as written, or the paper's
    is_normalized: bool  # step: S9, or plain
    removes_offset: bool  # of the target
    removes_spread: bool


class Pace(NamedTuple):
    """The numbers that may differ between agents."""

    step_size: float  # eta
    dual_step_size: float
    budget: float  # epsilon


class Inbox(NamedTuple):
    """Queries received, one a row of the workspace's block; row 0 is the agent's own.

    ``answer`` has one entry a neighbour: what it predicts at the agent's own point, NaN
    where no answer came.
    """

    value: Vector  # (B,)       F_j(x_j)
    multiplier: Vector  # (B,)  mu_ji
    spread: Vector  # (B,)      spread of j
    answer: Vector  # (degree,) F_j(x_i)


def fresh_inbox(n_block: int, degree: int) -> Inbox:
    """Return an inbox for a block of points and a number of neighbours."""
    B = n_block
    return Inbox(np.zeros(B), np.zeros(B), np.zeros(B), np.zeros(degree))


COUNT, MEAN, SQUARES, OFFSET, SPREAD, ADOPTED = range(6)
"""Columns of an agent's running statistics of its target."""

WARM_UP = 10
"""Readings before offset and spread are known well enough to price a tolerance."""

CONSTANT = 1e-9
"""Spread, as a share of the mean, below which a target counts as constant."""


def fresh_targets(n_agents: int) -> Matrix:
    """Return the statistics of agents that have seen nothing: offset 0, spread 1."""
    targets = np.zeros((n_agents, ADOPTED + 1))
    targets[:, SPREAD] = 1.0
    return targets


@compiled
def observe(target: Vector, y: float, settings: Settings) -> float:
    """Update running mean and spread with ``y``; return old over new spread.

    Mutates ``target`` (Welford's recursion). Taking the statistics first bounds the
    scaled target by the square root of the number of readings, outlier or not.
    """
    target[COUNT] += 1.0
    before = y - target[MEAN]
    target[MEAN] += before / target[COUNT]
    target[SQUARES] += before * (y - target[MEAN])
    old = target[SPREAD]
    if settings.removes_offset:
        target[OFFSET] = target[MEAN]
    if settings.removes_spread:
        spread = (target[SQUARES] / target[COUNT]) ** 0.5
        if spread > CONSTANT * abs(target[MEAN]):
            target[SPREAD] = spread
    return float(old / target[SPREAD])


@compiled
def adopt(target: Vector, value: float, spread: float, settings: Settings) -> None:
    """Let an agent that has read nothing take over offset and spread from who asks.

    It would predict zero otherwise, far from everybody, and be made to pay for it.
    Happens once; mutates ``target``.
    """
    if target[COUNT] == 0.0 and target[ADOPTED] == 0.0:
        target[ADOPTED] = 1.0
        if settings.removes_offset:
            target[OFFSET] = value
        if settings.removes_spread:
            target[SPREAD] = spread


@compiled
def dual_pace(target: Vector, eta: float, settings: Settings) -> float:
    """Return the dual step size; zero while the agent's statistics are not yet known.

    A sensor that is stuck never knows its spread: priced in one of nothing, its
    neighbours would be made to follow it.
    """
    if not (settings.removes_offset or settings.removes_spread):
        return eta
    spread = (target[SQUARES] / max(target[COUNT], 1.0)) ** 0.5
    is_stuck = settings.removes_spread and spread <= CONSTANT * abs(target[MEAN])
    return 0.0 if target[COUNT] < WARM_UP or is_stuck else eta


@compiled
def _fill_block(
    kernel: Any, D: Dictionary, m: int, ws: Workspace, b: int, target: Vector
) -> float:
    """Fill kernel values and predictions at the new points; return the largest k."""
    kappa = 0.0
    for row in range(b):
        kernel_vector(kernel, D.atoms, m, ws.points[row], ws.cross[row])
        total = 0.0
        for k in range(m):
            total += D.weights[k] * ws.cross[row, k]
        ws.values[row] = target[OFFSET] + target[SPREAD] * total
        kappa = max(kappa, kernel_value(kernel, ws.points[row], ws.points[row]))
    return kappa


@compiled
def _own_pull(
    rules: Rules, ws: Workspace, y: float, target: Vector, mu: Vector, answer: Vector
) -> float:
    """Fill S3 into row 0 of the block; return its curvature, for S9."""
    spread = target[SPREAD]
    pull = own_slope(rules, ws.values[0], y, target)
    curvature = loss_curvature(rules.loss)
    for e in range(len(mu)):
        if answer[e] == answer[e]:
            pull += mu[e] * proximity_slope(
                rules.proximity, ws.values[0] / spread, answer[e] / spread
            )
            curvature += 2.0 * mu[e] * proximity_curvature(rules.proximity)
    ws.coefficients[0] = pull
    return curvature


@compiled
def _neighbour_pulls(
    rules: Rules, ws: Workspace, inbox: Inbox, first: int, b: int, target: Vector
) -> float:
    """Fill S4 into the rows of received queries; return their curvature, for S9."""
    curvature = 0.0
    for row in range(first, b):
        spread = inbox.spread[row]
        ratio = target[SPREAD] / spread
        # d2h(a, b) = d1h(b, a): proximities are symmetric
        slope = proximity_slope(
            rules.proximity, ws.values[row] / spread, inbox.value[row] / spread
        )
        ws.coefficients[row] = inbox.multiplier[row] * slope * ratio
        bound = inbox.multiplier[row] * proximity_curvature(rules.proximity)
        curvature += 2.0 * bound * ratio * ratio
    return curvature


@compiled
def update_function(
    rules: Rules,
    settings: Settings,
    pace: Pace,
    D: Dictionary,
    m: int,
    scale: float,
    target: Vector,
    ws: Workspace,
    inbox: Inbox,
    b: int,
    has_reading: bool,
    y: float,
    mu: Vector,
) -> int:
    """Make one step of one agent's function, S3 to S5 and S7 to S9.

    The block of ``b`` points is in ``ws.points``, the agent's own first if it has a
    reading. Mutates ``D`` and returns the number of atoms, or minus the number that
    ``D`` should have room for, with ``D`` untouched.
    """
    kernel = rescaled(rules.kernel, scale)
    kappa = _fill_block(kernel, D, m, ws, b, target)
    first = 1 if has_reading else 0
    curvature = _neighbour_pulls(rules, ws, inbox, first, b, target)
    if has_reading:
        curvature += _own_pull(rules, ws, y, target, mu, inbox.answer)
    eta = pace.step_size
    if settings.is_normalized:
        eta /= 1.0 + eta * kappa * curvature
    is_pulled = has_reading
    for row in range(b):
        ws.coefficients[row] *= -eta
        is_pulled = is_pulled or ws.coefficients[row] != 0.0
    if not is_pulled:
        return m
    shrink = 1.0 - eta * settings.regularization if has_reading else 1.0
    for k in range(m):
        ws.start[k] = shrink * D.weights[k]
    m = compress(kernel, rules.compressor, D, m, ws, b, pace.budget)
    if m > 0:
        scale_into_ball(D, m, settings.norm_bound)
    return m


@compiled
def own_slope(rules: Rules, own: float, y: float, target: Vector) -> float:
    """Return the slope of the loss at a reading, both in the agent's own unit."""
    offset, spread = target[OFFSET], target[SPREAD]
    return loss_slope(rules.loss, (own - offset) / spread, (y - offset) / spread)


@compiled
def scale_into_ball(D: Dictionary, m: int, norm_bound: float) -> None:
    """Scale the weights so that the norm is at most ``norm_bound`` (S8)."""
    if norm_bound > LARGEST:
        return
    square = 0.0
    for k in range(m):
        for c in range(m):
            square += D.weights[k] * D.gram[k, c] * D.weights[c]
    if square > norm_bound * norm_bound:
        for k in range(m):
            D.weights[k] *= norm_bound / square**0.5


@compiled
def update_multipliers(
    rules: Rules,
    settings: Settings,
    eta: float,
    own: float,
    answer: Vector,
    spread: float,
    tolerance: Vector,
    mu: Vector,
    violation: Vector,
    asked: Indices,
) -> float:
    """Move the multipliers of an agent's own edges, S6; return the sum of ``h``.

    Mutates ``mu``, and the running sums of ``h - gamma`` and of their number. An edge
    without an answer (NaN) is left alone.
    """
    total = 0.0
    for e in range(len(mu)):
        if answer[e] == answer[e]:
            h = proximity_value(rules.proximity, own / spread, answer[e] / spread)
            kept = mu[e] * (1.0 - settings.dual_regularization * eta * eta)
            move = eta * (h - tolerance[e] + settings.tightening)
            mu[e] = max(kept + move, 0.0)
            violation[e] += h - tolerance[e]
            asked[e] += 1
            total += h
    return total
