"""Functions move, then multipliers: what agents do with the answers of a step."""

from halk._jit import borrowed, internal
from halk.arena import dictionary_of
from halk.compression import (
    NEEDS_DECISION,
    NEEDS_PROJECTION,
    NEEDS_RESCUE,
    TERMS,
    Block,
    Dictionary,
)
from halk.simulator.answers import kept_rows, with_cross
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
from halk.step import (
    SPREAD,
    Desk,
    Pace,
    adapted,
    dual_pace,
    own_slope,
    update_multipliers,
)


@internal
def _fill_inbox(engine: Engine, desk: Desk, readings: Readings, i: int) -> int:
    """Lay out agent ``i``'s block: its own point, then those that pull on it."""
    links, talk, state, inbox = engine.links, engine.talk, engine.state, desk.inbox
    first, last = links.start[i], links.start[i + 1]
    points, x, reading, b = desk.block.points, readings.x, talk.reading, 0
    answers, own, mine = talk.answer, talk.own, inbox.mine
    r, p = reading[i], len(points)
    if r >= 0:
        for f in range(p):
            points[f, 0] = x[r, f]
        received = inbox.answer
        for e in range(first, last):
            received[e - first] = answers[e]
        mine[0] = own[i]
        b = 1
    neighbour, reverse, target = links.neighbour, links.reverse, state.target
    value, mu, spread = inbox.value, inbox.multiplier, inbox.spread
    multipliers = state.multipliers
    for a in range(first, first + talk.n_pulling[i]):
        e = talk.pulling[a]
        j, back = neighbour[e], reverse[e]
        r = reading[j]
        for f in range(p):
            points[f, b] = x[r, f]
        mine[b] = answers[back]
        value[b] = own[j]
        mu[b] = multipliers[back]
        spread[b] = target[j, SPREAD]
        b += 1
    return b


@internal
def _with_rows(
    engine: Engine, desk: Desk, i: int, D: Dictionary, m: int, b: int
) -> Block:
    """Return the block with kernel values: those put aside, or computed again."""
    block, place = desk.block, engine.talk.place[i]
    cross = block.cross
    if place < 0:
        rows, ws = engine.formulas.rows, desk.workspace
        rows.fill(rows.theta, engine.state.scale[i], D, m, block, b, ws.scratch)
        ws.counts[TERMS] += b * m
    else:
        cross = kept_rows(engine.talk, place, m, b)
    return with_cross(block, cross)


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
    mu = state.multipliers[links.start[i] : links.start[i + 1]]
    while True:
        b = _fill_inbox(engine, desk, readings, i)
        D, m = borrowed(dictionary_of(arena, i)), arena.order[i]
        block = borrowed(_with_rows(engine, desk, i, D, m, b))
        m = engine.move(
            formulas, settings, pace, D, m, state.scale[i], state.target[i],
            talk.trust[i], block, desk.workspace, desk.inbox, b, r >= 0, y, mu,
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
    if r >= 0 and not formulas.adapter.is_fixed:
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
    slope = own_slope(engine.formulas, talk.own[i], y, state.target[i])
    state.arena.order[i] = adapted(
        engine.formulas, D, m, block, desk.workspace, state.adaptation[i],
        state.scale[i : i + 1], slope, talk.around[i], talk.trust[i],
        engine.settings.norm_bound,
    )  # fmt: skip


@internal
def n_updated(engine: Engine, readings: Readings) -> int:
    """Return how many of the agents touched move their functions."""
    t = engine.talk.cursor[0]
    with_readings: int = readings.start[t + 1] - readings.start[t]
    return engine.talk.cursor[3] if engine.settings.is_exact else with_readings


@internal
def settle(
    engine: Engine, desk: Desk, readings: Readings, first: int, last: int
) -> None:
    """Move the multipliers of those who asked, ``first`` up to ``last``."""
    state, talk, links = engine.state, engine.talk, engine.links
    for n in range(first, last):
        i = talk.touched[n]
        begin, end = links.start[i], links.start[i + 1]
        eta = dual_pace(state.target[i], engine.paces[i, 1], engine.settings)
        talk.apart[i] = update_multipliers(
            engine.formulas, engine.settings, eta, talk.own[i], talk.answer[begin:end],
            state.target[i, SPREAD], links.tolerance[begin:end],
            state.multipliers[begin:end], state.violation[begin:end],
            state.asked[begin:end], desk.inbox,
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
