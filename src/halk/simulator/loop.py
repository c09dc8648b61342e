"""The compiled loop: all agents of one process, step by step.

A step touches the agents that have a reading and those they talk to, nobody else, so it
costs in proportion to the readings, not to the network. Passes follow one another
because all right-hand sides are those of step t: everybody answers, then functions
move, then multipliers do. Within a pass agents do not depend on each other.
"""

from halk._jit import borrowed, compiled, internal
from halk._validation import Indices, Matrix, Vector
from halk.simulator.answers import answer
from halk.simulator.arrays import DIVERGED, FINISHED, Engine, Post, Readings, Record
from halk.simulator.listening import collect, is_finite, listen, value_of
from halk.simulator.updates import finish, n_updated, settle, update_agent
from halk.step import Desk


@compiled
def values_of(post: Post, agent: Indices, x: Matrix, out: Vector) -> None:
    """Fill ``out`` with the prediction of agent ``agent[r]`` at ``x[r]``."""
    engine, desk = post.engine, post.desk
    points, values = borrowed(x), borrowed(out)
    for r in range(len(agent)):
        values[r] = value_of(engine, desk, agent[r], points, r)


@internal
def begin(engine: Engine, desk: Desk, readings: Readings, record: Record) -> bool:
    """Take in the readings of a step and list who is touched; False on divergence."""
    settings = engine.settings
    # taking a reading in changes an agent: look before, where that is so
    if settings.removes_offset or settings.removes_spread:
        if not is_finite(engine, desk, readings):
            return False
        listen(engine, desk, readings, record)
    engine.talk.cursor[3] = collect(engine, readings)
    return True


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
            status = answer(engine, desk, readings, record, 0, cursor[3], True)
            if status != FINISHED:
                return status
            cursor[1], cursor[2] = 2, 0
        last = n_updated(engine, readings)
        while cursor[2] < last:
            i = engine.talk.touched[cursor[2]]
            status = update_agent(engine, desk, readings, i, True)
            if status != FINISHED:
                return status
            cursor[2] += 1
        asking = readings.start[cursor[0] + 1] - readings.start[cursor[0]]
        settle(engine, desk, readings, 0, asking)
        finish(engine, readings, record)
    return FINISHED
