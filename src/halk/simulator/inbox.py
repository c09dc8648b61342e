"""What an agent has before it when its function moves: who pulls on it, and how."""

from halk._jit import inlined
from halk.simulator.arrays import Engine, Readings
from halk.step import Desk


@inlined
def fill_inbox(engine: Engine, desk: Desk, readings: Readings, i: int) -> int:
    """Lay out agent ``i``'s block: its own point, then those that pull on it."""
    links, talk, inbox = engine.links, engine.talk, desk.inbox
    first, last = links.start[i], links.start[i + 1]
    points, x, b = desk.block.points, readings.x, 0
    answers, own, mine = talk.answer, talk.own, inbox.mine
    r, p = talk.reading[i], len(points)
    if r >= 0:
        for f in range(p):
            points[f, 0] = x[r, f]
        received = inbox.answer
        for e in range(first, last):
            received[e - first] = answers[e]
        mine[0] = own[i, 0]
        b = 1
    value, mu, spread = inbox.value, inbox.multiplier, inbox.spread
    pulling, pulls = talk.pulling, talk.pulls
    for a in range(first, first + talk.n_pulling[i]):
        j = pulling[a]
        mine[b], mu[b] = pulls[a, 0], pulls[a, 1]
        value[b], spread[b] = own[j, 0], own[j, 1]
        for f in range(p):
            points[f, b] = pulls[a, 2 + f]
        b += 1
    return b
