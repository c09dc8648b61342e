"""The compiled loop: all agents of one process, step by step.

A step touches the agents that have a reading and those they talk to, nobody else, so it
costs in proportion to the readings, not to the network. Passes follow one another
because all right-hand sides are those of step t: everybody answers, then functions
move, then multipliers do. Within a pass agents do not depend on each other.
"""

from halk._jit import borrowed, compiled, internal, prefetch
from halk._validation import Indices, Matrix, Vector
from halk.simulator.answers import answer
from halk.simulator.arrays import DIVERGED, FINISHED, Engine, Post, Readings, Record
from halk.simulator.listening import value_of
from halk.simulator.updates import finish, n_updated, settle, update_touched
from halk.step import Desk


@compiled
def values_of(post: Post, agent: Indices, x: Matrix, out: Vector) -> None:
    """Fill ``out`` with the prediction of agent ``agent[r]`` at ``x[r]``."""
    engine, desk = post.engine, post.desk
    points, values, rows = borrowed(x), borrowed(out), engine.formulas.rows
    for r in range(len(agent)):
        values[r] = value_of(rows, engine.state, desk, agent[r], points, r)


@internal
def begin(engine: Engine, desk: Desk, readings: Readings, record: Record) -> bool:
    """Take in the readings of a step and list who is touched; False on divergence."""
    rows, state, talk = engine.formulas.rows, engine.state, engine.talk
    if not engine.listen(
        rows, engine.settings, engine.links, state, talk, desk, readings, record
    ):
        return False
    talk.cursor[3] = _collect(engine, readings)
    return True


@internal
def _collect(engine: Engine, readings: Readings) -> int:
    """List the agents with readings, and behind them the others that are asked."""
    links, talk, t = engine.links, engine.talk, engine.talk.cursor[0]
    n = 0
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        talk.reading[i] = r
        talk.touched[n] = i
        prefetch(readings.x[r], 0)  # neighbours read it out of order
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


@compiled
def run(post: Post, stream: Readings, seen: Record) -> int:
    """Run the stream from where the cursor stands; return a status.

    Mutates state and exchange. After a status that asks for room the caller makes it
    and calls again: no work is lost.
    """
    engine, desk = post.engine, post.desk
    readings, record = borrowed(stream), borrowed(seen)
    cursor = engine.talk.cursor
    while cursor[0] < len(readings.start) - 1:
        if cursor[1] == 0:
            if not begin(engine, desk, readings, record):
                return DIVERGED
            cursor[1] = 1
        if cursor[1] == 1:
            room = len(engine.talk.kept)
            status = answer(engine, desk, readings, record, 0, cursor[3], 0, room)
            if status != FINISHED:
                return status
            cursor[1], cursor[2] = 2, 0
        last = n_updated(engine, readings)
        while cursor[2] < last:
            status = update_touched(engine, desk, readings, cursor[2], last, True)
            if status != FINISHED:
                return status
            cursor[2] += 1
        asking = readings.start[cursor[0] + 1] - readings.start[cursor[0]]
        settle(engine, 0, asking)
        finish(engine, readings, record)
    return FINISHED
