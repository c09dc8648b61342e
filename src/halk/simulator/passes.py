"""The passes of a step over a range of agents, for threads to share.

They are those of the compiled loop, with two differences: nobody is given more room
while others run, and each range of agents has its own part of the room where kernel
values are put aside.
"""

from halk._jit import borrowed, compiled
from halk._validation import Indices
from halk.compression import PANEL
from halk.simulator.answers import answer
from halk.simulator.arrays import DIVERGED, FINISHED, Post, Readings, Record
from halk.simulator.loop import begin
from halk.simulator.updates import (
    finish,
    n_updated,
    settle,
    update_agent,
    update_touched,
)


@compiled
def begin_step(post: Post, stream: Readings, seen: Record) -> int:
    """Take in the readings of the next step; return a status."""
    engine, desk = post.engine, post.desk
    is_fine = begin(engine, desk, borrowed(stream), borrowed(seen))
    return FINISHED if is_fine else DIVERGED


@compiled
def answer_some(
    post: Post, stream: Readings, seen: Record, first: int, last: int, n: int
) -> int:
    """Let touched agents, ``first`` up to ``last`` of ``n``, answer: a status."""
    engine, desk = post.engine, post.desk
    share = len(engine.talk.kept) // PANEL / max(n, 1)
    free, end = PANEL * int(first * share), PANEL * int(last * share)
    readings, record = borrowed(stream), borrowed(seen)
    return answer(engine, desk, readings, record, first, last, free, end)


@compiled
def update_some(
    post: Post, stream: Readings, first: int, last: int, waits: Indices
) -> None:
    """Move functions; who needs more room, or rescue, is marked in ``waits`` (V,)."""
    engine, desk = post.engine, post.desk
    readings, late = borrowed(stream), borrowed(waits)
    for n in range(first, last):
        status = update_touched(engine, desk, readings, n, last, False)
        late[engine.talk.touched[n]] = status


@compiled
def update_late(post: Post, stream: Readings, waits: Indices) -> int:
    """Move the functions of those who waited, from where the cursor stands."""
    engine, desk = post.engine, post.desk
    readings, late = borrowed(stream), borrowed(waits)
    cursor, last = engine.talk.cursor, n_updated(engine, readings)
    while cursor[2] < last:
        i = engine.talk.touched[cursor[2]]
        if late[i] != FINISHED:
            late[i] = update_agent(engine, desk, readings, i, True)
            if late[i] != FINISHED:
                return late[i]  # type: ignore[no-any-return]
        cursor[2] += 1
    return FINISHED


@compiled
def settle_some(post: Post, first: int, last: int) -> None:
    """Move the multipliers of those who asked, ``first`` up to ``last``."""
    settle(post.engine, first, last)


@compiled
def finish_step(post: Post, stream: Readings, seen: Record) -> None:
    """Write down what was seen, and go on to the next step."""
    finish(post.engine, borrowed(stream), borrowed(seen))
