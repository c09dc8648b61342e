"""Everybody answers: each agent evaluates its function where it was asked.

Grouped by who answers, not by who asks: an agent's atoms are fetched once for all its
questions. The agent's own prediction comes with them.
"""

from math import nan

import numpy as np

from halk._jit import LANES, borrowed, internal, load, store
from halk.arena import dictionary_of
from halk.compression import TERMS
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
    last: int, keeps: bool,
) -> int:  # fmt: skip
    """Let the touched agents ``first`` up to ``last`` answer; return a status.

    With ``keeps``, kernel values that the update will need are put aside, as long as
    there is room. A pass that finds no room is made again from its beginning.
    """
    talk = engine.talk
    # not a literal, which would be compiled for by itself
    free: int = np.int64(0)  # type: ignore[assignment]
    for n in range(first, last):
        j = talk.touched[n]
        b = _gather(engine, desk, readings, j)
        m = engine.state.arena.order[j]
        if b > len(desk.inbox.value) or m + b > len(desk.workspace.start):
            talk.cursor[4], talk.cursor[5] = m + b, b
            return NEEDS_ROOM
        if not _evaluate(engine, desk, readings, record, j, m, b):
            talk.cursor[4] = j
            return DIVERGED
        talk.place[j] = -1
        if keeps:
            free = _keep(engine, desk, j, m, b, free)
    return FINISHED


@internal
def _gather(engine: Engine, desk: Desk, readings: Readings, j: int) -> int:
    """Lay out the points where ``j`` is asked, its own first; return their number.

    Those that find no room are counted only.
    """
    links, reading, points = engine.links, engine.talk.reading, desk.block.points
    neighbour, x = links.neighbour, readings.x
    b, room, p = 0, len(desk.inbox.value), len(points)
    r = reading[j]
    if r >= 0:
        for f in range(p):
            points[f, 0] = x[r, f]
        b = 1
    for e in range(links.start[j], links.start[j + 1]):
        r = reading[neighbour[e]]
        if r >= 0:
            if b < room:
                for f in range(p):
                    points[f, b] = x[r, f]
            b += 1
    return b


@internal
def _evaluate(
    engine: Engine, desk: Desk, readings: Readings, record: Record, j: int, m: int,
    b: int,
) -> bool:  # fmt: skip
    """Fill in the answers of ``j``; False if one is not finite."""
    links, talk, state = engine.links, engine.talk, engine.state
    rows, block, settings = engine.formulas.rows, desk.block, engine.settings
    D = borrowed(dictionary_of(state.arena, j))
    scratch = desk.workspace.scratch
    rows.fill(rows.theta, state.scale[j], D, m, block, b, scratch)
    desk.workspace.counts[TERMS] += b * m
    offset, spread = state.target[j, OFFSET], state.target[j, SPREAD]
    row, is_finite, reading = 0, True, talk.reading
    r, values = reading[j], block.values
    if r >= 0:
        own = offset + spread * values[0]
        talk.own[j] = own
        is_finite = abs(own) <= LARGEST
        if not (settings.removes_offset or settings.removes_spread):
            record.prediction[r] = own
        row = 1
    first, last = links.start[j], links.start[j + 1]
    neighbour, reverse, answers = links.neighbour, links.reverse, talk.answer
    for e in range(first, last):
        if reading[neighbour[e]] >= 0:
            value = offset + spread * values[row]
            answers[reverse[e]] = value
            is_finite = is_finite and abs(value) <= LARGEST
            row += 1
    if not engine.formulas.adapter.is_fixed:
        total, adaptation = 0.0, state.adaptation
        for e in range(first, last):
            total += adaptation[neighbour[e], 0]
        talk.around[j] = total / (last - first) if last > first else nan
    return is_finite


@internal
def _keep(engine: Engine, desk: Desk, j: int, m: int, b: int, free: int) -> int:
    """Put aside the kernel values of ``j`` for its update; return the next free row."""
    talk, cross = engine.talk, desk.block.cross
    if not engine.settings.is_exact:
        b = 1 if talk.reading[j] >= 0 else 0
    if free + b + 4 > len(talk.kept) or m > talk.kept.shape[1]:
        return free
    for row in range(b):
        source, target = cross[row], talk.kept[free + row]
        for k in range(0, m, LANES):
            store(target, k, load(source, k))
    talk.place[j] = free
    return free + b
