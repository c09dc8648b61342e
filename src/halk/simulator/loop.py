"""The compiled loop: all agents of one process, step by step.

A step touches the agents that have a reading and those they talk to, nobody else, so it
costs in proportion to the readings, not to the network. Three passes, because all
right-hand sides are those of step t: everybody answers, then functions move, then
multipliers do.
"""

from math import nan

from halk._jit import compiled
from halk._validation import Indices, Matrix, Vector
from halk.arena import dictionary_of, make_room
from halk.bandwidth import adapt
from halk.compression import Workspace
from halk.expansion import value_at
from halk.kernels import rescaled
from halk.simulator.arrays import Exchange, Links, Readings, Record, State
from halk.step import (
    LARGEST,
    OFFSET,
    SPREAD,
    Inbox,
    Pace,
    Rules,
    Settings,
    adopt,
    dual_pace,
    observe,
    own_slope,
    scale_into_ball,
    update_function,
    update_multipliers,
)

FINISHED, NEEDS_ARENA, NEEDS_WORKSPACE, DIVERGED = 0, 1, 2, 3
"""What the compiled loop returns: done, or why it must come back."""


@compiled
def value_of(rules: Rules, state: State, i: int, x: Vector) -> float:
    """Return agent ``i``'s prediction ``F_i(x)`` in the unit of the target."""
    arena = state.arena
    m, row = arena.order[i], arena.row[i]
    atoms, weights = arena.atoms[row : row + m], arena.weights[row : row + m]
    value = value_at(rescaled(rules.kernel, state.scale[i]), atoms, weights, m, x)
    return float(state.target[i, OFFSET] + state.target[i, SPREAD] * value)


@compiled
def values_of(
    rules: Rules, state: State, agent: Indices, x: Matrix, out: Vector
) -> None:
    """Fill ``out`` with the prediction of agent ``agent[r]`` at ``x[r]``."""
    for r in range(len(agent)):
        out[r] = value_of(rules, state, agent[r], x[r])


@compiled
def _listen(
    rules: Rules, settings: Settings, state: State, readings: Readings, t: int,
    talk: Exchange, record: Record,
) -> bool:  # fmt: skip
    """Predict at the readings of step ``t``, then take them in; False on divergence."""
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        talk.reading[i] = r
        record.prediction[r] = value_of(rules, state, i, readings.x[r])
        talk.own[i] = record.prediction[r]
        if not abs(talk.own[i]) <= LARGEST:
            talk.cursor[4] = i
            return False
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        if settings.removes_offset or settings.removes_spread:
            ratio = observe(state.target[i], readings.y[r], settings)
            D = dictionary_of(state.arena, i)
            for k in range(state.arena.order[i]):
                D.weights[k] *= ratio
            talk.own[i] = value_of(rules, state, i, readings.x[r])
    return True


@compiled
def _is_finite(
    rules: Rules, links: Links, state: State, readings: Readings, t: int,
    talk: Exchange,
) -> bool:  # fmt: skip
    """Return whether all values of step ``t`` are finite, before anything changes."""
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        talk.cursor[4] = i
        if not abs(value_of(rules, state, i, readings.x[r])) <= LARGEST:
            return False
        for e in range(links.start[i], links.start[i + 1]):
            talk.cursor[4] = links.neighbour[e]
            value = value_of(rules, state, talk.cursor[4], readings.x[r])
            if not abs(value) <= LARGEST:
                return False
    return True


@compiled
def _answer(
    rules: Rules, settings: Settings, links: Links, state: State,
    readings: Readings, t: int, talk: Exchange,
) -> bool:  # fmt: skip
    """Let every neighbour answer the queries of step ``t``; False on divergence."""
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        total = 0.0
        for e in range(links.start[i], links.start[i + 1]):
            j = links.neighbour[e]
            adopt(state.target[j], talk.own[i], state.target[i, SPREAD], settings)
            answer = value_of(rules, state, j, readings.x[r])
            if not abs(answer) <= LARGEST:
                talk.cursor[4] = j
                return False
            talk.answer[e] = answer
            total += state.adaptation[j, 0]
        degree = links.start[i + 1] - links.start[i]
        talk.around[i] = total / degree if degree > 0 else nan
    return True


@compiled
def _collect_touched(
    settings: Settings, links: Links, readings: Readings, t: int, talk: Exchange
) -> int:
    """List the agents to update: those with readings and, if exact, those asked."""
    n = 0
    for r in range(readings.start[t], readings.start[t + 1]):
        talk.touched[n] = readings.agent[r]
        n += 1
    if settings.is_exact:
        for r in range(readings.start[t], readings.start[t + 1]):
            i = readings.agent[r]
            for e in range(links.start[i], links.start[i + 1]):
                j = links.neighbour[e]
                if talk.reading[j] == -1:
                    talk.reading[j] = -2  # touched, without a reading of its own
                    talk.touched[n] = j
                    n += 1
    return n


@compiled
def _block_size(settings: Settings, links: Links, talk: Exchange, i: int) -> int:
    """Return how many new points agent ``i`` gets in this step."""
    b = 1 if talk.reading[i] >= 0 else 0
    if settings.is_exact:
        for e in range(links.start[i], links.start[i + 1]):
            b += talk.reading[links.neighbour[e]] >= 0
    return b


@compiled
def _fill_inbox(
    settings: Settings, links: Links, state: State, readings: Readings,
    talk: Exchange, ws: Workspace, inbox: Inbox, i: int,
) -> int:  # fmt: skip
    """Lay out agent ``i``'s block: its own point, then its asking neighbours'."""
    b = 0
    if talk.reading[i] >= 0:
        ws.points[0] = readings.x[talk.reading[i]]
        b = 1
        for e in range(links.start[i], links.start[i + 1]):
            inbox.answer[e - links.start[i]] = talk.answer[e]
    if settings.is_exact:
        for e in range(links.start[i], links.start[i + 1]):
            j = links.neighbour[e]
            if talk.reading[j] >= 0:
                ws.points[b] = readings.x[talk.reading[j]]
                inbox.value[b] = talk.own[j]
                inbox.multiplier[b] = state.multipliers[links.reverse[e]]
                inbox.spread[b] = state.target[j, SPREAD]
                b += 1
    return b


@compiled
def _update(
    rules: Rules, settings: Settings, paces: Matrix, links: Links, state: State,
    readings: Readings, talk: Exchange, ws: Workspace, inbox: Inbox, i: int,
) -> int:  # fmt: skip
    """Move agent ``i``'s function; return a status."""
    arena = state.arena
    r = talk.reading[i]
    b = _block_size(settings, links, talk, i)
    if arena.order[i] + b > len(ws.start) or b > len(ws.rest):
        talk.cursor[4], talk.cursor[5] = arena.order[i] + b, b
        return NEEDS_WORKSPACE
    y = readings.y[r] if r >= 0 else 0.0
    pace = Pace(paces[i, 0], paces[i, 1], paces[i, 2])
    mu = state.multipliers[links.start[i] : links.start[i + 1]]
    while True:
        b = _fill_inbox(settings, links, state, readings, talk, ws, inbox, i)
        D = dictionary_of(arena, i)
        m = update_function(
            rules, settings, pace, D, arena.order[i], state.scale[i],
            state.target[i], ws, inbox, b, r >= 0, y, mu,
        )  # fmt: skip
        if m >= 0:
            break
        if not make_room(arena, i, -m):
            talk.cursor[4] = -m
            return NEEDS_ARENA
    arena.order[i] = m
    if r >= 0:
        slope = own_slope(rules, talk.own[i], y, state.target[i])
        state.scale[i], arena.order[i] = adapt(
            rules.adaptation, rules.kernel, D, m, ws, state.adaptation[i],
            state.scale[i], readings.x[r], slope, talk.around[i],
        )  # fmt: skip
        scale_into_ball(D, arena.order[i], settings.norm_bound)
    return FINISHED


@compiled
def _settle(
    rules: Rules, settings: Settings, paces: Matrix, links: Links, state: State,
    readings: Readings, t: int, talk: Exchange, record: Record,
) -> None:  # fmt: skip
    """Move the multipliers of everybody who asked, and forget the exchange."""
    total, asked = 0.0, 0
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        first, last = links.start[i], links.start[i + 1]
        spread = state.target[i, SPREAD]
        eta = dual_pace(state.target[i], paces[i, 1], settings)
        total += update_multipliers(
            rules, settings, eta, talk.own[i], talk.answer[first:last],
            spread, links.tolerance[first:last], state.multipliers[first:last],
            state.violation[first:last], state.asked[first:last],
        )  # fmt: skip
        asked += last - first
        state.readings[i] += 1
    record.asked[t] = asked
    record.disagreement[t] = total / asked if asked > 0 else 0.0
    for n in range(talk.cursor[3]):
        talk.reading[talk.touched[n]] = -1


@compiled
def run(
    rules: Rules, settings: Settings, paces: Matrix, links: Links, state: State,
    readings: Readings, talk: Exchange, ws: Workspace, inbox: Inbox, record: Record,
) -> int:  # fmt: skip
    """Run the stream from where ``talk.cursor`` stands; return a status.

    Mutates everything it is given but rules, settings, links and readings. After a
    status that asks for room the caller makes it and calls again: no work is lost.
    """
    cursor = talk.cursor
    while cursor[0] < len(readings.start) - 1:
        t = cursor[0]
        if cursor[1] == 0:
            # taking a reading in changes an agent: look before, where that is so
            changes = settings.removes_offset or settings.removes_spread
            if changes and not _is_finite(rules, links, state, readings, t, talk):
                return DIVERGED
            if not (
                _listen(rules, settings, state, readings, t, talk, record)
                and _answer(rules, settings, links, state, readings, t, talk)
            ):
                return DIVERGED
            cursor[3] = _collect_touched(settings, links, readings, t, talk)
            cursor[1], cursor[2] = 1, 0
        while cursor[2] < cursor[3]:
            status = _update(
                rules, settings, paces, links, state, readings, talk, ws, inbox,
                talk.touched[cursor[2]],
            )  # fmt: skip
            if status != FINISHED:
                return status
            cursor[2] += 1
        _settle(rules, settings, paces, links, state, readings, t, talk, record)
        cursor[0], cursor[1] = t + 1, 0
    return FINISHED
