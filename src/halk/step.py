"""One agent's step, S3 to S9, compiled: what agents and simulator both run.

Values travel between agents in the unit of the target, ``F = offset + spread f``; every
agent measures its own constraints in its own unit, that is, over its own spread. With
offset 0 and spread 1, the default, these are the equations to the letter.
"""

from typing import Any, NamedTuple

import numpy as np

from halk._jit import (
    LANES,
    borrowed,
    compiled,
    internal,
    load,
    pointer,
    spread,
    store,
)
from halk._validation import Indices, Matrix, Vector
from halk.compression import (
    Block,
    Dictionary,
    Workspace,
    block,
    compress,
    dictionary,
    workspace,
)
from halk.compression.algebra import dot
from halk.formulas import Formulas

LARGEST = 1e50
"""Values beyond this are divergence; squares and products below it stay finite."""


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
    """Queries received, one a row of the block; row 0 is the agent's own.

    ``answer`` has one entry a neighbour: what it predicts at the agent's own point, NaN
    where no answer came. The others are scratch, for as many queries or neighbours.
    """

    mine: Vector  # (B,)        F_i(x_j)
    value: Vector  # (B,)       F_j(x_j)
    multiplier: Vector  # (B,)  mu_ji
    spread: Vector  # (B,)      spread of j
    edge: Indices  # (B,)       which of the simulator's edges it came over
    answer: Vector  # (degree,) F_j(x_i)
    first: Vector  # what is compared,
    second: Vector  # with what,
    h: Vector  # how far apart they are,
    slope: Vector  # and the slope of that in the first


class Desk(NamedTuple):
    """Where one agent at a time is worked on."""

    block: Block
    workspace: Workspace
    inbox: Inbox


def desk(n_union: int, n_block: int, degree: int, n_features: int) -> Desk:
    """Return room for a union of atoms, a block of new points and some neighbours."""
    B, n = n_block, max(n_block, degree)
    inbox = Inbox(
        np.zeros(B), np.zeros(B), np.zeros(B), np.ones(B), np.zeros(B, np.int64),
        np.zeros(degree), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n),
    )  # fmt: skip
    n_union = max(n_union, n_block)
    return Desk(
        block(n_union, n_block, n_features),
        workspace(n_union, n_block, n_features),
        inbox,
    )


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


@internal
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


@internal
def evaluate(
    formulas: Formulas, scale: float, D: Dictionary, m: int, target: Vector,
    place: Desk, b: int,
) -> None:  # fmt: skip
    """Fill kernel values of a block and, in the unit of the target, predictions."""
    rows = formulas.rows
    scratch = place.workspace.scratch
    rows.fill(rows.theta, scale, D, m, place.block, b, scratch, D.inverse)
    for row in range(b):
        value = place.block.values[row]
        place.inbox.mine[row] = target[OFFSET] + target[SPREAD] * value


@internal
def _compare(
    formulas: Formulas, own: float, answer: Vector, n: int, spread: float, inbox: Inbox
) -> None:
    """Fill ``inbox.h`` and ``inbox.slope`` with how far answers are from ``own``."""
    ours, theirs, unit = inbox.first, inbox.second, 1.0 / spread
    for e in range(n):
        ours[e] = own * unit
        theirs[e] = answer[e] * unit
    formulas.compare(formulas.proximity, ours, theirs, n, inbox.h, inbox.slope)


@internal
def _own_pull(
    formulas: Formulas, block: Block, y: float, target: Vector, mu: Vector, inbox: Inbox
) -> None:
    """Fill S3 into row 0 of the block."""
    n, own = len(mu), inbox.mine[0]
    answer, slope = inbox.answer, inbox.slope
    _compare(formulas, own, answer, n, target[SPREAD], inbox)
    pull = own_slope(formulas, own, y, target)
    for e in range(n):
        if answer[e] == answer[e]:
            pull += mu[e] * slope[e]
    block.coefficients[0] = pull


@internal
def _own_curvature(formulas: Formulas, mu: Vector) -> float:
    """Return the curvature of an agent's own terms, for S9.

    They count in every step, also in one in which the agent has no reading or hears no
    answer: who alone reads makes small steps, and the neighbours that it asks must not
    make large ones. Their pulls on each other would no longer balance, and a network
    whose agents read one after the other would drift away.
    """
    price = 0.0
    for e in range(len(mu)):
        price += mu[e]
    return formulas.loss_curvature + 2.0 * price * formulas.proximity_curvature


@internal
def _neighbour_pulls(
    formulas: Formulas, block: Block, inbox: Inbox, first: int, b: int, target: Vector
) -> float:
    """Fill S4 into the rows of received queries; return their curvature, for S9."""
    mine, value, spread = inbox.mine, inbox.value, inbox.spread
    ours, theirs, slope = inbox.first, inbox.second, inbox.slope
    for row in range(first, b):
        unit = 1.0 / spread[row]
        ours[row - first] = mine[row] * unit
        theirs[row - first] = value[row] * unit
    formulas.compare(formulas.proximity, ours, theirs, b - first, inbox.h, slope)
    mu, coefficients, own = inbox.multiplier, block.coefficients, target[SPREAD]
    price = 0.0
    for row in range(first, b):
        ratio = own / spread[row]
        # d2h(a, b) = d1h(b, a): proximities are symmetric
        coefficients[row] = mu[row] * slope[row - first] * ratio
        price += mu[row] * ratio * ratio
    return 2.0 * price * formulas.proximity_curvature


def update_function(
    formulas: Formulas,
    settings: Settings,
    pace: Pace,
    D: Dictionary,
    m: int,
    scale: float,
    target: Vector,
    trust: Vector,
    block: Block,
    ws: Workspace,
    inbox: Inbox,
    b: int,
    has_reading: bool,
    y: float,
    mu: Vector,
) -> int:
    """Make one step of one agent's function, S3 to S5 and S7 to S9.

    The block of ``b`` points is in ``block`` with kernel values and their products with
    the inverse, the agent's own first if it has a reading; predictions there are in
    ``inbox.mine``. Leaves in ``inbox.h`` how far its neighbours' answers to a reading
    are from its own. Mutates ``D`` and returns the number of atoms, or minus the number
    that ``D`` should have room for, with ``D`` untouched.
    """
    curvature = _own_curvature(formulas, mu)
    first = 1 if has_reading else 0
    if b > first:
        curvature += _neighbour_pulls(formulas, block, inbox, first, b, target)
    if has_reading:
        _own_pull(formulas, block, y, target, mu, inbox)
    eta, rows = pace.step_size, formulas.rows
    kappa, diagonal = rows.at_itself, block.diagonal
    if kappa == kappa:
        for row in range(b):
            diagonal[row] = kappa
    else:
        rows.fill_diagonal(rows.theta, scale, block, b, ws.scratch)
        kappa = 0.0
        for row in range(b):
            kappa = diagonal[row] if diagonal[row] > kappa else kappa
    if settings.is_normalized:
        eta /= 1.0 + eta * kappa * curvature
    is_pulled, coefficients = has_reading, block.coefficients
    for row in range(b):
        coefficients[row] *= -eta
        is_pulled = is_pulled or coefficients[row] != 0.0
    if not is_pulled:
        return m
    shrink = 1.0 - eta * settings.regularization if has_reading else 1.0
    start, weights, factor = ws.start, D.weights, spread(shrink)
    for k in range(0, m, LANES):
        store(start, k, factor * load(weights, k))
    m = compress(
        formulas.rows, formulas.procedures, scale, D, m, block, ws, b, pace.budget,
        trust,
    )  # fmt: skip
    if m > 0:
        scale_into_ball(formulas, scale, D, m, ws, settings.norm_bound)
    return m


_mover: list[Any] = []


def mover_of(formulas: Formulas) -> Any:
    """Return ``update_function`` as a pointer, compiled when first asked for.

    Formulas are all of one type: any will do.
    """
    if not _mover:
        settings = Settings(0.0, 0.0, 0.0, 0.0, True, True, True, True)
        D, place, vector = dictionary(1, 1), desk(1, 1, 1, 1), np.zeros(1)
        example = (
            formulas, settings, Pace(0.0, 0.0, 0.0), D, 1, 1.0, vector, vector,
            place.block, place.workspace, place.inbox, 1, True, 0.0, vector,
        )  # fmt: skip
        _mover.append(pointer(1, *example, is_hot=True)(update_function))
    return _mover[0]


@internal
def own_slope(formulas: Formulas, own: float, y: float, target: Vector) -> float:
    """Return the slope of the loss at a reading, both in the agent's own unit."""
    offset, unit = target[OFFSET], 1.0 / target[SPREAD]
    a, b = (own - offset) * unit, (y - offset) * unit
    return float(formulas.slope(formulas.loss, a, b))


@internal
def scale_into_ball(
    formulas: Formulas, scale: float, D: Dictionary, m: int, ws: Workspace,
    norm_bound: float,
) -> None:  # fmt: skip
    """Scale the weights so that the norm is at most ``norm_bound`` (S8)."""
    if norm_bound > LARGEST:
        return
    rows = formulas.rows
    rows.fill_gram(rows.theta, scale, D.atoms, m, ws.gram, ws.scratch)
    square = 0.0
    for k in range(m):
        square += D.weights[k] * dot(ws.gram[k], D.weights, m)
    if square > norm_bound * norm_bound:
        for k in range(m):
            D.weights[k] *= norm_bound / square**0.5


@internal
def adapted(
    formulas: Formulas, D: Dictionary, m: int, block: Block, ws: Workspace,
    state: Vector, scale: Vector, slope: float, around: float, trust: Vector,
    norm_bound: float,
) -> int:  # fmt: skip
    """Let the bandwidth follow a reading, in ``block.points[:, 0]``; return atoms left.

    Mutates all but the formulas; ``scale`` (1,) is the agent's.
    """
    adapter = formulas.adapter
    m = adapter.adapt(
        adapter.theta, formulas.rows.theta, D, m, block, ws, state, scale, slope,
        around, trust,
    )  # fmt: skip
    scale_into_ball(formulas, scale[0], D, m, ws, norm_bound)
    return m


@compiled
def adapt_arrays(
    formulas: Formulas, D: Dictionary, m: int, place: Desk, state: Vector,
    scale: Vector, slope: float, around: float, trust: Vector,
) -> int:  # fmt: skip
    """Adapt the bandwidth as :func:`adapted` does, called from Python, without ball."""
    here = borrowed(place)
    return adapted(
        borrowed(formulas), borrowed(D), m, here.block, here.workspace,
        borrowed(state), borrowed(scale), slope, around, borrowed(trust), np.inf,
    )  # fmt: skip


@internal
def update_multipliers(
    settings: Settings,
    eta: float,
    answer: Vector,
    h: Vector,
    tolerance: Vector,
    mu: Vector,
    violation: Vector,
    asked: Indices,
) -> float:
    """Move the multipliers of an agent's own edges, S6; return the sum of ``h``.

    ``h`` is how far answers are from the agent's own value. Mutates ``mu``, and the
    running sums of ``h - gamma`` and of their number. An edge without an answer (NaN)
    is left alone.
    """
    n, total = len(mu), 0.0
    shrink = 1.0 - settings.dual_regularization * eta * eta
    tightening = settings.tightening
    for e in range(n):
        if answer[e] == answer[e]:
            excess = h[e] - tolerance[e]
            moved = mu[e] * shrink + eta * (excess + tightening)
            mu[e] = moved if moved > 0.0 else 0.0
            violation[e] += excess
            asked[e] += 1
            total += h[e]
    return total
