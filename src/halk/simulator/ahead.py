"""What the next agent will need is asked for while this one is worked on.

The numbers of a large network lie in the memory, some kilobytes an agent and a few more
at each neighbour's. One after the other they would be waited for; asked for an agent
ahead they have come when it is their turn. All of this changes no result.
"""

from halk._jit import inlined, padded, prefetch_ahead
from halk.compression.rows import LINE
from halk.simulator.arrays import Engine, Readings


@inlined
def ask_for_answers(engine: Engine, readings: Readings, j: int, after: int) -> None:
    """Ask for what agent ``j`` will answer with, and where ``after`` finds its own."""
    links, talk, state = engine.links, engine.talk, engine.state
    neighbour, reverse, reading = links.neighbour, links.reverse, talk.reading
    arena, row, x = state.arena, state.arena.row[j], readings.x
    for k in range(row, row + arena.order[j], LINE):
        prefetch_ahead(arena.weights, k)
        prefetch_ahead(arena.atoms, k)
    is_exact, answers, multipliers = (
        engine.settings.is_exact, talk.answer, state.multipliers,
    )  # fmt: skip
    for e in range(links.start[j], links.start[j + 1]):
        prefetch_ahead(answers, reverse[e])
        prefetch_ahead(x[max(reading[neighbour[e]], 0)], 0)
        if is_exact:
            prefetch_ahead(multipliers, reverse[e])
    for e in range(links.start[after], links.start[after + 1]):
        prefetch_ahead(reading, neighbour[e])


@inlined
def ask_for_update(engine: Engine, i: int) -> None:
    """Ask for what agent ``i`` will move its function with."""
    links, talk, arena = engine.links, engine.talk, engine.state.arena
    m, row, place = arena.order[i], arena.row[i], talk.place[i]
    weights, diagonal, norms = arena.weights, arena.diagonal, arena.norms
    for k in range(row, row + m, LINE):
        prefetch_ahead(weights, k)
        prefetch_ahead(diagonal, k)
        prefetch_ahead(norms, k)
    n_pulling, own, pulling = talk.n_pulling[i], talk.own, talk.pulling
    if place >= 0:
        kept, solved = talk.kept, talk.solved
        for k in range(place, place + (1 + n_pulling) * padded(m), LINE):
            prefetch_ahead(kept, k)
            prefetch_ahead(solved, k)
    first = links.start[i]
    for a in range(first, first + n_pulling):
        prefetch_ahead(own[pulling[a]], 0)
