"""Everybody answers: each agent evaluates its function where it was asked.

Grouped by who answers, not by who asks: an agent's atoms are fetched once for all its
questions. The agent's own prediction comes with them.
"""

from math import nan

import numpy as np

from halk._jit import borrowed, inlined, internal, matrix_at, padded
from halk._validation import Matrix, Vector
from halk.arena import run_of
from halk.compression import TERMS, Block
from halk.compression.panels import products
from halk.simulator.ahead import ask_for_answers
from halk.simulator.arrays import (
    DIVERGED,
    FINISHED,
    NEEDS_ROOM,
    Engine,
    Readings,
    Record,
)
from halk.step import LARGEST, OFFSET, SPREAD, Desk


@internal
def answer(
    engine: Engine, desk: Desk, readings: Readings, record: Record, first: int,
    last: int, free: int, end: int,
) -> int:  # fmt: skip
    """Let the touched agents ``first`` up to ``last`` answer; return a status.

    Kernel values that the update will need, and their products with the inverse, stay
    in ``talk.kept`` and ``talk.solved`` from ``free`` on, as long as there is room up
    to ``end``; what follows them is written over. A pass that finds no room at the desk
    is made again from its beginning.
    """
    talk, arena = engine.talk, engine.state.arena
    for n in range(first, last):
        j, after = talk.touched[n], talk.touched[min(n + 1, last - 1)]
        ask_for_answers(engine, readings, n, last)
        b, n_needed = _gather(engine, desk, readings, j)
        m = arena.order[j]
        # one more than the union: adaptation looks at the atoms and a point
        if b > len(desk.inbox.value) or m + b >= len(desk.workspace.start):
            talk.cursor[4], talk.cursor[5] = m + b, b
            return NEEDS_ROOM
        if free + b * padded(m) <= end:
            cross = kept_rows(talk.kept, free, m, b)
            solved = kept_rows(talk.solved, free, m, b)
            block = with_rows(desk.block, cross, solved)
            talk.place[j] = free
            free += n_needed * padded(m)
        else:
            block = with_rows(desk.block, desk.block.cross, desk.block.solved)
            talk.place[j] = -1
        here = borrowed(block)
        if not _evaluate(engine, desk, record, j, m, here, b, n_needed, after):
            talk.cursor[4] = j
            return DIVERGED
    return FINISHED


@inlined
def kept_rows(kept: Vector, place: int, m: int, b: int) -> Matrix:
    """Return the rows of ``m`` atoms that are kept at a place."""
    return matrix_at(kept, place, b, padded(m))


@inlined
def with_rows(block: Block, cross: Matrix, solved: Matrix) -> Block:
    """Return the block with other places for kernel values and their products."""
    return Block(
        block.points,
        cross,
        solved,
        block.gram,
        block.coefficients,
        block.values,
        block.diagonal,
    )


@inlined
def _gather(engine: Engine, desk: Desk, readings: Readings, j: int) -> tuple[int, int]:
    """Lay out the points where ``j`` is asked; return their number.

    Its own comes first, then those that will pull on it, then the others. How many come
    before the others is returned too. ``inbox.edge`` tells who asks, ``talk.pulling``
    and ``talk.pulls`` who pulls, and where. If there is too little room they are
    counted only.
    """
    talk, points, edge = engine.talk, desk.block.points, desk.inbox.edge
    reading, neighbour, x = talk.reading, engine.links.neighbour, readings.x
    own, n_pulling, p = 1 if reading[j] >= 0 else 0, 0 * j, len(points)
    if engine.settings.is_exact:
        n_pulling, n_asking = _pulling_first(engine, desk, j, own)
    else:
        n_asking = _all_asking(engine, desk, j, own)
    talk.n_pulling[j] = n_pulling
    b = own + n_asking
    if b > len(edge):
        return b, own + n_pulling
    if own == 1:
        for f in range(p):
            points[f, 0] = x[reading[j], f]
    for a in range(own, b):
        r = reading[neighbour[edge[a]]]
        for f in range(p):
            points[f, a] = x[r, f]
    first, pulls = engine.links.start[j], talk.pulls
    for a in range(n_pulling):
        for f in range(p):
            pulls[first + a, 2 + f] = points[f, own + a]
    return b, own + n_pulling


@inlined
def _all_asking(engine: Engine, desk: Desk, j: int, own: int) -> int:
    """List in ``inbox.edge`` who asks ``j``, behind its own; return how many."""
    reading, links, edge = engine.talk.reading, engine.links, desk.inbox.edge
    neighbour, n, room = links.neighbour, own, len(desk.inbox.edge)
    for e in range(links.start[j], links.start[j + 1]):
        if reading[neighbour[e]] >= 0:
            if n < room:
                edge[n] = e
            n += 1
    return n - own


@inlined
def _pulling_first(engine: Engine, desk: Desk, j: int, own: int) -> tuple[int, int]:
    """List who asks, those that pull first; return how many pull, and how many ask.

    ``talk.pulling`` and ``talk.pulls`` get who pulls, and with what multiplier.
    """
    links, multipliers = engine.links, engine.state.multipliers
    talk, edge, others = engine.talk, desk.inbox.edge, desk.workspace.kept
    reading, pulling, pulls = talk.reading, talk.pulling, talk.pulls
    neighbour, reverse = links.neighbour, links.reverse
    first, room = links.start[j], len(edge)
    n_pulling, n_others = 0 * j, 0 * j
    for e in range(first, links.start[j + 1]):
        if reading[neighbour[e]] >= 0:
            # whether it pulls is anybody's guess: written to both, counted in one
            mu = multipliers[reverse[e]]
            is_pulling = np.int64(mu > 0.0)
            pulling[first + n_pulling] = neighbour[e]
            pulls[first + n_pulling, 1] = mu
            edge[min(own + n_pulling, room - 1)] = e
            others[min(n_others, room - 1)] = e
            n_pulling += is_pulling  # type: ignore[assignment]
            n_others += 1 - is_pulling  # type: ignore[assignment]
    n_asking = n_pulling + n_others
    if own + n_asking <= room:
        for a in range(n_others):
            edge[own + n_pulling + a] = others[a]
    return n_pulling, n_asking


@inlined
def _evaluate(
    engine: Engine, desk: Desk, record: Record, j: int, m: int, block: Block, b: int,
    n_needed: int, after: int,
) -> bool:  # fmt: skip
    """Fill in the answers of ``j``, who comes before ``after``; False if not finite."""
    links, talk, state = engine.links, engine.talk, engine.state
    rows, settings = engine.formulas.rows, engine.settings
    D = borrowed(run_of(state.arena, j))
    scratch = desk.workspace.scratch
    next_inverse = borrowed(run_of(state.arena, after)).inverse
    rows.fill(rows.theta, state.scale[j], D, m, block, b, scratch, next_inverse)
    if talk.place[j] >= 0:
        products(D.inverse, m, block.cross, n_needed, block.solved)
    desk.workspace.counts[TERMS] += b * m
    offset, spread = state.target[j, OFFSET], state.target[j, SPREAD]
    row, is_finite = 0, True
    r, values = talk.reading[j], block.values
    if r >= 0:
        own = offset + spread * values[0]
        talk.own[j, 0], talk.own[j, 1] = own, spread
        is_finite = abs(own) <= LARGEST
        if not (settings.removes_offset or settings.removes_spread):
            record.prediction[r] = own
        row = 1
    edge, reverse, answers = desk.inbox.edge, links.reverse, talk.answer
    first, pulls = links.start[j], talk.pulls
    for a in range(row, b):
        value = offset + spread * values[a]
        answers[reverse[edge[a]]] = value
        is_finite = is_finite and abs(value) <= LARGEST
        if a < n_needed:
            pulls[first + a - row, 0] = value
    if not engine.formulas.adapter.is_fixed:
        last = links.start[j + 1]
        total, adaptation = 0.0, state.adaptation
        for e in range(first, last):
            total += adaptation[links.neighbour[e], 0]
        talk.around[j] = total / (last - first) if last > first else nan
    return is_finite
