"""What an agent has before it when its function moves: who pulls on it, and how."""

from halk._jit import inlined
from halk.simulator.arrays import Engine, Readings
from halk.step import SPREAD, Desk


@inlined
def fill_inbox(engine: Engine, desk: Desk, readings: Readings, i: int) -> int:
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
