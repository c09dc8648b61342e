"""The flat arrays that the compiled loop runs over."""

from typing import NamedTuple

from halk._validation import Indices, Matrix, Vector
from halk.arena import Arena


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


class Readings(NamedTuple):
    """A stream: step ``t`` has the readings ``start[t]`` up to ``start[t + 1]``."""

    start: Indices  # (T + 1,)
    agent: Indices  # (R,) ascending within a step
    x: Matrix  # (R, p)
    y: Vector  # (R,)


class Exchange(NamedTuple):
    """What agents say to each other in one step, and who is touched by it."""

    reading: Indices  # (V,)  position of the agent's reading, -1 for none
    own: Vector  # (V,)       F_i(x_i)
    answer: Vector  # (E,)    F_j(x_i)
    around: Vector  # (V,)    mean log scale of the neighbours' bandwidths
    touched: Indices  # (V,)  agents to update
    cursor: Indices  # (5,)   step, phase, next touched, number touched, room wanted


class Record(NamedTuple):
    """What observers want to know: predictions before learning, and disagreement."""

    prediction: Vector  # (R,)
    disagreement: Vector  # (T,) mean of h over the edges asked
    asked: Indices  # (T,)       number of edges asked
