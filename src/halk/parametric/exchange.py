"""What agents know of each other in one step."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from halk._jit import compiled
from halk._validation import Indices, Matrix, Vector
from halk.features import FeatureMap
from halk.losses import loss_slope
from halk.network import Network
from halk.parametric.products import dots
from halk.proximity import proximity_slope, proximity_value
from halk.simulator import Readings

_NUMBERS_A_CALL = 1_000_000
"""Features are made for many steps in one go, but not for a whole long stream."""


class Formulas(NamedTuple):
    """Loss and proximity of a learner."""

    loss: Any
    proximity: Any


class Exchange(NamedTuple):
    """The readings of a step, and what the neighbours of their agents predict."""

    agents: Indices  # (R,)    who has a reading
    phi: Matrix  # (R, D)      its features
    y: Vector  # (R,)
    own: Vector  # (R,)        f_i(x_i)
    edges: Indices  # (A,)     the edges of those agents
    reader: Indices  # (A,)    whose reading it is, a row of ``phi``
    neighbour: Indices  # (A,) who answers
    answer: Vector  # (A,)     f_j(x_i)
    slope: Vector  # (R,)      loss'(f_i(x_i), y_i)
    h: Vector  # (A,)          h(f_i(x_i), f_j(x_i))
    forth: Vector  # (A,)      d1h
    back: Vector  # (A,)       d2h


@compiled
def _slope(formulas: Formulas, a: float, b: float) -> float:
    # Numba cannot inline a formula twice into one function without complaint
    return proximity_slope(formulas.proximity, a, b)


@compiled
def _fill(
    formulas: Formulas, own: Vector, y: Vector, reader: Indices, answer: Vector,
    slope: Vector, apart: Matrix,
) -> None:  # fmt: skip
    """Fill in the loss's slope, and proximity with both slopes, (3, A)."""
    for r in range(len(y)):
        slope[r] = loss_slope(formulas.loss, own[r], y[r])
    for k in range(len(answer)):
        a, b = own[reader[k]], answer[k]
        apart[0, k] = proximity_value(formulas.proximity, a, b)
        apart[1, k] = _slope(formulas, a, b)
        apart[2, k] = _slope(formulas, b, a)  # d2h(a, b): proximities are symmetric


def edges_of(network: Network, agents: Indices) -> tuple[Indices, Indices]:
    """Return the edges from some agents, and for each the place of its agent."""
    counts = network.degree[agents]
    place = np.repeat(np.arange(len(agents)), counts)
    before = network.indptr[agents] - (np.cumsum(counts) - counts)
    return before[place] + np.arange(len(place)), place


def exchange(
    network: Network,
    formulas: Formulas,
    weights: Matrix,
    agents: Indices,
    phi: Matrix,
    y: Vector,
) -> Exchange:
    """Return what is known in a step, at the weights ``(V, D)`` before it."""
    own = dots(weights, agents, phi, np.arange(len(agents)))
    edges, reader = edges_of(network, agents)
    neighbour = network.neighbours[edges]
    answer = dots(weights, neighbour, phi, reader)
    slope, apart = np.empty(len(y)), np.empty((3, len(answer)))
    _fill(formulas, own, y, reader, answer, slope, apart)
    return Exchange(
        agents, phi, y, own, edges, reader, neighbour, answer, slope, *apart
    )


def steps(
    features: FeatureMap, readings: Readings
) -> Iterator[tuple[int, Indices, Matrix, Vector]]:
    """Yield number, agents, features and targets of every step of a stream."""
    start = readings.start.tolist()
    size = features.size(readings.x.shape[1])
    block, first, last = np.zeros((0, size)), 0, 0
    for t, (begin, end) in enumerate(pairwise(start)):
        if end > last:
            first, last = begin, max(end, begin + _NUMBERS_A_CALL // size)
            block = features.matrix(readings.x[first:last])
        phi = block[begin - first : end - first]
        yield t, readings.agent[begin:end], phi, readings.y[begin:end]
