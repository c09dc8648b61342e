"""Functions move, then multipliers: what agents do with the answers of a step."""

from halk._jit import borrowed, inlined, internal, part_of, row_of
from halk.arena import run_of
from halk.compression import (
    NEEDS_DECISION,
    NEEDS_PROJECTION,
    NEEDS_RESCUE,
    TERMS,
    Block,
    Dictionary,
)
from halk.compression.panels import products
from halk.simulator.ahead import ask_for_update
from halk.simulator.answers import kept_rows, with_rows
from halk.simulator.arrays import (
    FINISHED,
    NEEDS_ARENA,
    NEEDS_DECIDER,
    NEEDS_PROJECTOR,
    NEEDS_RESCUER,
    Engine,
    Readings,
    Record,
)
from halk.simulator.inbox import fill_inbox
from halk.step import (
    Desk,
    Pace,
    adapted,
    dual_pace,
    own_slope,
    update_multipliers,
)


@inlined
def _with_rows(
    engine: Engine, desk: Desk, i: int, D: Dictionary, m: int, b: int
) -> Block:
    """Return the block with kernel values and products, put aside or made again."""
    block, talk, place = desk.block, engine.talk, engine.talk.place[i]
    cross, solved = block.cross, block.solved
    if place < 0:
        rows, ws = engine.formulas.rows, desk.workspace
        scale = engine.state.scale[i]
        rows.fill(rows.theta, scale, D, m, block, b, ws.scratch, D.inverse)
        ws.counts[TERMS] += b * m
        products(D.inverse, m, cross, b, solved)
    else:
        cross = kept_rows(talk.kept, place, m, b)
        solved = kept_rows(talk.solved, place, m, b)
    return with_rows(block, cross, solved)


@internal
def update_touched(
    engine: Engine, desk: Desk, readings: Readings, n: int, last: int, may_move: bool
) -> int:
    """Move the function of touched agent ``n``, before that of ``n + 1``: a status."""
    ask_for_update(engine, n, last)
    return update_agent(engine, desk, readings, engine.talk.touched[n], may_move)


@internal
def update_agent(
    engine: Engine, desk: Desk, readings: Readings, i: int, may_move: bool
) -> int:
    """Move agent ``i``'s function; return a status."""
    state, talk, links, paces = engine.state, engine.talk, engine.links, engine.paces
    arena, formulas, settings = state.arena, engine.formulas, engine.settings
    r = talk.reading[i]
    y = readings.y[r] if r >= 0 else 0.0
    pace = borrowed(Pace(paces[i, 0], paces[i, 1], paces[i, 2]))
    first = links.start[i]
    mu = part_of(state.multipliers, first, links.start[i + 1] - first)
    while True:
        b = fill_inbox(engine, desk, readings, i)
        D, m = borrowed(run_of(arena, i)), arena.order[i]
        block = borrowed(_with_rows(engine, desk, i, D, m, b))
        m = engine.move(
            formulas, settings, pace, D, m, state.scale[i], row_of(state.target, i),
            row_of(talk.trust, i), block, desk.workspace, desk.inbox, b, r >= 0, y, mu,
        )  # fmt: skip
        if m >= 0:
            break
        talk.place[i] = -1  # rows of points that repeat were overwritten
        if m == NEEDS_PROJECTION:
            return NEEDS_PROJECTOR
        if m == NEEDS_DECISION:
            return NEEDS_DECIDER
        if m == NEEDS_RESCUE:
            return NEEDS_RESCUER
        if not (may_move and engine.make_room(arena, i, -m)):
            talk.cursor[4] = -m
            return NEEDS_ARENA
    arena.order[i] = m
    if r < 0:
        return FINISHED
    h, apart = desk.inbox.h, talk.h
    for e in range(len(mu)):
        apart[first + e] = h[e]
    if not formulas.adapter.is_fixed:
        _adapt(engine, desk, readings, i, D, m, y)
    return FINISHED


@internal
def _adapt(
    engine: Engine, desk: Desk, readings: Readings, i: int, D: Dictionary, m: int,
    y: float,
) -> None:  # fmt: skip
    """Let the bandwidth of agent ``i`` follow its reading."""
    state, talk, block = engine.state, engine.talk, desk.block
    for f in range(len(block.points)):
        block.points[f, 0] = readings.x[talk.reading[i], f]
    slope = own_slope(engine.formulas, talk.own[i, 0], y, state.target[i])
    state.arena.order[i] = adapted(
        engine.formulas, D, m, block, desk.workspace, state.adaptation[i],
        part_of(state.scale, i, 1), slope, talk.around[i], talk.trust[i],
        engine.settings.norm_bound,
    )  # fmt: skip


@internal
def n_updated(engine: Engine, readings: Readings) -> int:
    """Return how many of the agents touched move their functions."""
    t = engine.talk.cursor[0]
    with_readings: int = readings.start[t + 1] - readings.start[t]
    return engine.talk.cursor[3] if engine.settings.is_exact else with_readings


@internal
def settle(engine: Engine, first: int, last: int) -> None:
    """Move the multipliers of those who asked, ``first`` up to ``last``."""
    state, talk, links = engine.state, engine.talk, engine.links
    for n in range(first, last):
        i = talk.touched[n]
        e = links.start[i]
        n_edges = links.start[i + 1] - e
        eta = dual_pace(row_of(state.target, i), engine.paces[i, 1], engine.settings)
        talk.apart[i] = update_multipliers(
            engine.settings, eta,
            part_of(talk.answer, e, n_edges), part_of(talk.h, e, n_edges),
            part_of(links.tolerance, e, n_edges),
            part_of(state.multipliers, e, n_edges),
            part_of(state.violation, e, n_edges), part_of(state.asked, e, n_edges),
        )  # fmt: skip
        state.readings[i] += 1


@internal
def finish(engine: Engine, readings: Readings, record: Record) -> None:
    """Write down what was seen in this step, forget the exchange, and go on."""
    talk, links, t = engine.talk, engine.links, engine.talk.cursor[0]
    total, asked = 0.0, 0
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        total += talk.apart[i]
        asked += links.start[i + 1] - links.start[i]
    record.asked[t] = asked
    record.disagreement[t] = total / asked if asked > 0 else 0.0
    for n in range(talk.cursor[3]):
        talk.reading[talk.touched[n]] = -1
    talk.cursor[0], talk.cursor[1] = t + 1, 0
