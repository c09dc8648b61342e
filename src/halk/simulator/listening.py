"""Before a step: predictions at single points, readings taken in, who is touched."""

from halk._jit import borrowed, internal, shared
from halk._validation import Matrix
from halk.arena import dictionary_of
from halk.simulator.arrays import Engine, Readings, Record
from halk.step import LARGEST, OFFSET, SPREAD, Desk, adopt, observe


@shared
def value_of(engine: Engine, desk: Desk, i: int, x: Matrix, r: int) -> float:
    """Return agent ``i``'s prediction ``F_i(x_r)`` in the unit of the target."""
    state, rows, block = engine.state, engine.formulas.rows, desk.block
    D = borrowed(dictionary_of(state.arena, i))
    for f in range(len(block.points)):
        block.points[f, 0] = x[r, f]
    scratch = desk.workspace.scratch
    m = state.arena.order[i]
    rows.fill(rows.theta, state.scale[i], D, m, block, 1, scratch)
    return float(state.target[i, OFFSET] + state.target[i, SPREAD] * block.values[0])


@internal
def is_finite(engine: Engine, desk: Desk, readings: Readings) -> bool:
    """Return whether all values of this step are finite, before anything changes."""
    links, cursor = engine.links, engine.talk.cursor
    for r in range(readings.start[cursor[0]], readings.start[cursor[0] + 1]):
        i = readings.agent[r]
        cursor[4] = i
        if not abs(value_of(engine, desk, i, readings.x, r)) <= LARGEST:
            return False
        for e in range(links.start[i], links.start[i + 1]):
            cursor[4] = links.neighbour[e]
            value = value_of(engine, desk, cursor[4], readings.x, r)
            if not abs(value) <= LARGEST:
                return False
    return True


@internal
def listen(engine: Engine, desk: Desk, readings: Readings, record: Record) -> None:
    """Predict at the readings of this step, then take their statistics in."""
    state, settings, links = engine.state, engine.settings, engine.links
    talk, t = engine.talk, engine.talk.cursor[0]
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        record.prediction[r] = value_of(engine, desk, i, readings.x, r)
        ratio = observe(state.target[i], readings.y[r], settings)
        D = borrowed(dictionary_of(state.arena, i))
        for k in range(state.arena.order[i]):
            D.weights[k] *= ratio
        talk.own[i] = value_of(engine, desk, i, readings.x, r)
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        for e in range(links.start[i], links.start[i + 1]):
            j = links.neighbour[e]
            adopt(state.target[j], talk.own[i], state.target[i, SPREAD], settings)


@internal
def collect(engine: Engine, readings: Readings) -> int:
    """List the agents with readings, and behind them the others that are asked."""
    links, talk, t = engine.links, engine.talk, engine.talk.cursor[0]
    n = 0
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        talk.reading[i] = r
        talk.touched[n] = i
        n += 1
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        for e in range(links.start[i], links.start[i + 1]):
            j = links.neighbour[e]
            if talk.reading[j] == -1:
                talk.reading[j] = -2  # touched, without a reading of its own
                talk.touched[n] = j
                n += 1
    return n
