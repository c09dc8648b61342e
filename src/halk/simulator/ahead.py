"""What the next agent will need is asked for while this one is worked on.

The numbers of a large network lie in the memory, some kilobytes an agent and a few more
at each neighbour's. One after the other they would be waited for; asked for an agent
ahead they have come when it is their turn. All of this changes no result.
"""

from halk._jit import inlined, padded, prefetch_ahead
from halk.compression.rows import LINE
from halk.simulator.arrays import Engine, Readings

MOST = 64
"""Neighbours that are asked for: those of a hub would push each other out."""


@inlined
def ask_for_answers(engine: Engine, readings: Readings, n: int, last: int) -> None:
    """Ask for what the touched agent after ``n`` will answer with, and write to.

    Where its neighbours' questions are must be known by then, so the readings of those
    of the agent after it are asked for too.
    """
    if n + 1 >= last:
        return
    links, talk, state = engine.links, engine.talk, engine.state
    neighbour, reverse, reading = links.neighbour, links.reverse, talk.reading
    j, x = talk.touched[n + 1], readings.x
    _ask_for_function(engine, j)
    answers, multipliers = talk.answer, state.multipliers
    is_exact, first = engine.settings.is_exact, links.start[j]
    for e in range(first, min(links.start[j + 1], first + MOST)):
        prefetch_ahead(answers, reverse[e])
        prefetch_ahead(x[max(reading[neighbour[e]], 0)], 0)
        if is_exact:
            prefetch_ahead(multipliers, reverse[e])
    j = talk.touched[min(n + 2, last - 1)]
    first = links.start[j]
    for e in range(first, min(links.start[j + 1], first + MOST)):
        prefetch_ahead(reading, neighbour[e])


@inlined
def _ask_for_function(engine: Engine, j: int) -> None:
    """Ask for weights and atoms; the inverse is asked for during kernel sums."""
    arena = engine.state.arena
    row, p, weights, atoms = arena.row[j], arena.tail[2], arena.weights, arena.atoms
    for k in range(row, row + arena.order[j], LINE):
        prefetch_ahead(weights, k)
    for k in range(p * row, p * (row + arena.capacity[j]), LINE):
        prefetch_ahead(atoms, k)


@inlined
def ask_for_update(engine: Engine, n: int, last: int) -> None:
    """Ask for what the touched agent after ``n`` will move its function with."""
    if n + 1 >= last:
        return
    links, talk, arena = engine.links, engine.talk, engine.state.arena
    i = talk.touched[n + 1]
    m, row, place = arena.order[i], arena.row[i], talk.place[i]
    weights, diagonal, norms = arena.weights, arena.diagonal, arena.norms
    for k in range(row, row + m, LINE):
        prefetch_ahead(weights, k)
        prefetch_ahead(diagonal, k)
        prefetch_ahead(norms, k)
    n_pulling, own, pulling = min(talk.n_pulling[i], MOST), talk.own, talk.pulling
    if place >= 0:
        kept, solved = talk.kept, talk.solved
        for k in range(place, place + (1 + n_pulling) * padded(m), LINE):
            prefetch_ahead(kept, k)
            prefetch_ahead(solved, k)
    first = links.start[i]
    for a in range(first, first + n_pulling):
        prefetch_ahead(own[pulling[a]], 0)
