"""The flat arrays that the compiled loop runs over."""

from typing import Any, NamedTuple

import numpy as np

from halk._jit import lined_up, padded
from halk._validation import Indices, Matrix, Vector
from halk.adaptation import N_STATE
from halk.arena import Arena, arena
from halk.formulas import Formulas
from halk.network import Network
from halk.step import Desk, Settings, fresh_targets

_FIRST_CAPACITY = 4


class Links(NamedTuple):
    """The network as the loop reads it: neighbours of ``i`` from ``start[i]`` on."""

    start: Indices  # (V + 1,)
    neighbour: Indices  # (E,)
    reverse: Indices  # (E,) index of the edge in the other direction
    tolerance: Vector  # (E,)


class State(NamedTuple):
    """What the next step needs to know of all agents, and nothing else."""

    arena: Arena
    multipliers: Vector  # (E,)
    scale: Vector  # (V,)      of the bandwidth
    target: Matrix  # (V, 6)   running statistics of the targets
    adaptation: Matrix  # (V, 4)
    violation: Vector  # (E,)  sum of h - gamma over the steps that asked
    asked: Indices  # (E,)     number of those steps
    readings: Indices  # (V,)  number of readings taken in


class Readings(NamedTuple):
    """A stream: step ``t`` has the readings ``start[t]`` up to ``start[t + 1]``."""

    start: Indices  # (T + 1,)
    agent: Indices  # (R,) ascending within a step
    x: Matrix  # (R, p)
    y: Vector  # (R,)


class Exchange(NamedTuple):
    """What agents say to each other in one step, and who is touched by it."""

    reading: Indices  # (V,)  position of the agent's reading, -1 for none
    own: Matrix  # (V, 2)     F_i(x_i), and the spread of i, who reads
    answer: Vector  # (E,)    F_j(x_i)
    around: Vector  # (V,)    mean log scale of the neighbours' bandwidths
    pulling: Indices  # (E,)  who pulls on agent i in this step, from its first edge on
    pulls: Matrix  # (E, 2 + p) what i answered them, their multipliers, their points
    n_pulling: Indices  # (V,)
    touched: Indices  # (V,)  agents with readings, then the others asked
    cursor: Indices  # (6,)   step, phase, next touched, number touched, and what is
    #                         wanted: room for atoms (or the agent diverged), for points
    h: Vector  # (E,)         how far answers are from the agent's own value
    apart: Vector  # (V,)     sum of h over an agent's edges
    trust: Matrix  # (V, 2)   how far an agent's inverse is trusted
    kept: Vector  # kernel values made for answering, kept for the update
    solved: Vector  # products of the kept rows with the inverse
    place: Indices  # (V,)    where an agent's are, row after row, -1 for nowhere


class Engine(NamedTuple):
    """All that the loop runs over besides readings, for whoever runs it."""

    formulas: Formulas
    move: Any  # update_function
    listen: Any
    make_room: Any
    settings: Settings
    paces: Matrix  # (V, 3)
    links: Links
    state: State
    talk: Exchange


class Post(NamedTuple):
    """What one thread works with, lent to compiled code."""

    engine: Engine
    desk: Desk


class Record(NamedTuple):
    """What observers want to know: predictions before learning, and disagreement."""

    prediction: Vector  # (R,)
    disagreement: Vector  # (T,) mean of h over the edges asked
    asked: Indices  # (T,)       number of edges asked


(
    FINISHED, NEEDS_ARENA, NEEDS_ROOM, DIVERGED, NEEDS_DECIDER, NEEDS_RESCUER,
    NEEDS_PROJECTOR,
) = range(7)  # fmt: skip
"""What the compiled loop returns: done, or why it must come back."""

_KEPT = 2**24
"""Most numbers to keep between answer and update, of each kind: 128 MB."""


def links_of(network: Network) -> Links:
    """Return the network for the loop.

    Copies, because the network's own arrays are read-only, and the loop would be
    compiled again for those.
    """
    return Links(
        network.indptr.copy(),
        network.neighbours.copy(),
        network.reverse.copy(),
        network.tolerance.copy(),
    )


def fresh_state(network: Network, n_features: int) -> State:
    """Return the state of agents that have learned nothing."""
    V, E = network.n_agents, network.n_edges
    return State(
        arena=arena(np.full(V, _FIRST_CAPACITY), n_features),
        multipliers=np.zeros(E),
        scale=np.ones(V),
        target=fresh_targets(V),
        adaptation=np.zeros((V, N_STATE)),
        violation=np.zeros(E),
        asked=np.zeros(E, dtype=np.int64),
        readings=np.zeros(V, dtype=np.int64),
    )


def fresh_trust(n_agents: int) -> Matrix:
    """Return trust in inverses of which nothing is known."""
    return np.tile([np.inf, 0.0], (n_agents, 1))


def room_to_keep(n_rows: int, n_atoms: int) -> Vector:
    """Return room for rows of kernel values, as many as are worth keeping."""
    kept: Vector = lined_up(min(n_rows * padded(n_atoms), _KEPT))
    return kept


def room_for_pulls(n_edges: int, n_features: int) -> Matrix:
    """Return room for what agents have to do with those that pull on them."""
    return np.zeros((n_edges, 2 + n_features))


def fresh_exchange(network: Network, n_features: int) -> Exchange:
    """Return room for what agents say to each other."""
    V, E = network.n_agents, network.n_edges
    return Exchange(
        reading=np.full(V, -1),
        own=np.zeros((V, 2)),
        answer=np.zeros(E),
        around=np.zeros(V),
        pulling=np.zeros(E, dtype=np.int64),
        pulls=room_for_pulls(E, n_features),
        n_pulling=np.zeros(V, dtype=np.int64),
        touched=np.zeros(V, dtype=np.int64),
        cursor=np.zeros(6, dtype=np.int64),
        h=np.zeros(E),
        apart=np.zeros(V),
        trust=fresh_trust(V),
        kept=room_to_keep(V + E, 16),
        solved=room_to_keep(V + E, 16),
        place=np.full(V, -1),
    )


def writable(value: Any) -> Any:
    """Return a value with copies of its arrays that are read-only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, list):
        return [writable(part) for part in value]
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return type(value)._make(map(writable, value))
    return value
