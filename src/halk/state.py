"""The state of agents as the native core gives it: what its columns mean, what fits."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from halk._validation import (
    Indices,
    Matrix,
    Vector,
    array,
    check_state,
    require,
    require_each,
)

COUNT, MEAN, SQUARES, OFFSET, STD, ADOPTED = range(6)
"""Columns of the numbers of an agent: first the running statistics of its target."""
TARGET, ADAPTATION, SCALE, READINGS = slice(6), slice(6, 10), 10, 11
"""Then what its adaptation remembers, its multiple of the length scale, and a count."""

SEEN, SAMPLE, READS, SUSPECTS = 6, 50, 57, 58
"""Of an agent of second order, after its target and the sample of its scale."""

TOLERANCE, MULTIPLIER, VIOLATION, ASKED, TOLD = range(5)
"""Columns of the numbers of an edge; ``VIOLATION`` is a sum over ``ASKED`` steps.

``TOLD``, the neighbour's multiplier for the way back, and a running disagreement are
known in second order only.
"""

WIDTHS = {False: (12, 4), True: (61, 6)}
"""Numbers per agent and per edge, of first and second order."""


def start_edges(
    tolerance: Vector, multiplier: float | Vector = 0.0, is_second: bool = False
) -> Matrix:
    """Return the numbers of edges before the first step."""
    edges = np.zeros((len(tolerance), WIDTHS[is_second][1]))
    edges[:, TOLERANCE], edges[:, MULTIPLIER] = tolerance, multiplier
    if is_second:
        edges[:, TOLD] = multiplier
    return edges


def check_native_state(
    state: Mapping[str, Any],
    n_agents: int,
    n_edges: int,
    n_features: int,
    is_second: bool = False,
) -> dict[str, Any]:
    """Return the arrays of a state as the native core takes them.

    Raises
    ------
    ValueError or TypeError
        That names the array that fits no such model.
    """
    order = check_counts(state, "order", n_agents)
    n_atoms, n_cells = sum(order.tolist()), sum(m * m for m in order.tolist())
    agent, edge = WIDTHS[is_second]
    shapes = {
        "atoms": (n_atoms, n_features), "weights": (n_atoms,), "inverse": (n_cells,),
        "agents": (n_agents, agent), "edges": (n_edges, edge),
    }  # fmt: skip
    if is_second:
        shapes |= {"values": (n_atoms,), "covariance": (n_cells,)}
    arrays: dict[str, Any] = {
        name: array(name, take(state, name), shape) for name, shape in shapes.items()
    }
    agents, edges = arrays["agents"], arrays["edges"]
    check_state(
        arrays
        | {"multipliers": edges[:, MULTIPLIER], "asked": edges[:, ASKED]}
        | {"count": agents[:, COUNT]}
        | {"readings": agents[:, READS if is_second else READINGS]}
    )
    require_each("std", "be positive", agents[:, STD], agents[:, STD] > 0)
    kept = np.delete(edges, VIOLATION, axis=1)
    require_each("edges", "not be negative", kept, kept >= 0)
    if is_second:
        seen, rule = agents[:, SEEN], f"be a number of readings below {SAMPLE + 1}"
        require_each("agents", rule, seen, (seen >= 0) & (seen <= SAMPLE))
    else:
        require_each("scale", "be positive", agents[:, SCALE], agents[:, SCALE] > 0)
    return arrays | {"order": order}


def check_counts(state: Mapping[str, Any], name: str, n: int) -> Indices:
    """Return ``n`` whole numbers of a state, none of them negative."""
    array(name, take(state, name), (n,))
    given = np.asarray(state[name])
    require(given.dtype.kind in "iu", name, "hold whole numbers", str(given.dtype))
    check_state({name: given})
    return given.astype(np.int64)


def take(state: Mapping[str, Any], name: str) -> Any:
    """Return an array of a state; raises ``ValueError`` if it is not there."""
    if name not in state:
        raise ValueError(f"state must hold {name}; give all that state_dict returned")
    return state[name]
