"""Before a step: predictions at single points, and readings taken in."""

from typing import Any

import numpy as np

from halk._jit import borrowed, pointer, shared
from halk._validation import Indices, Matrix
from halk.arena import run_of
from halk.compression.rows import Rows
from halk.network import Network
from halk.simulator.arrays import (
    Exchange,
    Links,
    Readings,
    Record,
    State,
    fresh_exchange,
    fresh_state,
    links_of,
)
from halk.step import LARGEST, OFFSET, SPREAD, Desk, Settings, adopt, desk, observe


@shared
def value_of(rows: Rows, state: State, desk: Desk, i: int, x: Matrix, r: int) -> float:
    """Return agent ``i``'s prediction ``F_i(x_r)`` in the unit of the target."""
    block, m = desk.block, state.arena.order[i]
    D = borrowed(run_of(state.arena, i))
    for f in range(len(block.points)):
        block.points[f, 0] = x[r, f]
    scale, scratch = state.scale[i], desk.workspace.scratch
    rows.fill(rows.theta, scale, D, m, block, 1, scratch, D.inverse)
    return float(state.target[i, OFFSET] + state.target[i, SPREAD] * block.values[0])


@shared
def _is_finite(
    rows: Rows, links: Links, state: State, cursor: Indices, desk: Desk,
    readings: Readings,
) -> bool:  # fmt: skip
    """Return whether all values of this step are finite, before anything changes."""
    for r in range(readings.start[cursor[0]], readings.start[cursor[0] + 1]):
        i = readings.agent[r]
        cursor[4] = i
        if not abs(value_of(rows, state, desk, i, readings.x, r)) <= LARGEST:
            return False
        for e in range(links.start[i], links.start[i + 1]):
            cursor[4] = links.neighbour[e]
            value = value_of(rows, state, desk, cursor[4], readings.x, r)
            if not abs(value) <= LARGEST:
                return False
    return True


def listen(
    rows: Rows, settings: Settings, links: Links, state: State, talk: Exchange,
    desk: Desk, readings: Readings, record: Record,
) -> bool:  # fmt: skip
    """Predict at the readings of a step, then take in their statistics.

    False on divergence; then nothing has changed.
    """
    if not _is_finite(rows, links, state, talk.cursor, desk, readings):
        return False
    t = talk.cursor[0]
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        record.prediction[r] = value_of(rows, state, desk, i, readings.x, r)
        ratio = observe(state.target[i], readings.y[r], settings)
        D = borrowed(run_of(state.arena, i))
        for k in range(state.arena.order[i]):
            D.weights[k] *= ratio
        talk.own[i, 0] = value_of(rows, state, desk, i, readings.x, r)
    for r in range(readings.start[t], readings.start[t + 1]):
        i = readings.agent[r]
        for e in range(links.start[i], links.start[i + 1]):
            j = links.neighbour[e]
            adopt(state.target[j], talk.own[i, 0], state.target[i, SPREAD], settings)
    return True


def _nothing_to_take_in(
    rows: Rows, settings: Settings, links: Links, state: State, talk: Exchange,
    desk: Desk, readings: Readings, record: Record,
) -> bool:  # fmt: skip
    return True


_listeners: dict[bool, Any] = {}


def listener_of(rows: Rows, settings: Settings) -> Any:
    """Return ``listen`` as a pointer, compiled when first asked for.

    Only targets that are standardised have statistics to take in.
    """
    standardizes = settings.removes_offset or settings.removes_spread
    if standardizes not in _listeners:
        network, n = Network(1), np.zeros(1, np.int64)
        readings = Readings(n, n, np.zeros((1, 1)), np.zeros(1))
        record = Record(np.zeros(1), np.zeros(1), n)
        example = (
            rows, settings, links_of(network), fresh_state(network, 1),
            fresh_exchange(network, 1), desk(1, 1, 1, 1), readings, record,
        )  # fmt: skip
        function = listen if standardizes else _nothing_to_take_in
        _listeners[standardizes] = pointer(True, *example)(function)
    return _listeners[standardizes]
