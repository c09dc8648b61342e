"""Stop a node and go on later, as if it had not stopped.

A file is an archive as that of :mod:`halk.checkpoint`: the node's notes in the header,
the agent's arrays as members; nothing is pickled. The settings of the agent are not in
it: who brings a node back makes it as before, and the file is checked against it.

Every return is a new incarnation. It is written to the file before the node says
anything, so that no two starts have the same, and no stamp is ever used again.
"""

import os
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from halk._atomic import replacing
from halk.agent import Agent, Memory, Query
from halk.arena import arena, copy_dictionary, dictionary_of
from halk.checkpoint.archive import Members, RefusedError, read, refuse, write
from halk.checkpoint.state import check_kernel, kernel_values, packed, unpacked
from halk.errors import CheckpointError
from halk.net.node import Node
from halk.simulator.arrays import State

N = TypeVar("N", bound=Node)

_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def dump(node: Node) -> bytes:
    """Return a node as bytes, at any moment."""
    agent = node.agent
    memory = agent.memory
    state = _state(agent, memory)
    members = packed(state) | {
        "kernel_values": kernel_values(state, agent.rules.kernel)
    }
    members |= _pending(memory)
    header = {"node": node.notes(), "n_features": agent.n_features}
    file = BytesIO()
    write(file, header, members)
    return file.getvalue()


def bring_back(data: bytes, node: N) -> N:
    """Let a fresh node go on from bytes, as their next incarnation; return it.

    Raises
    ------
    CheckpointError
        If the bytes are damaged, or of a node that was made otherwise; the node must
        not be used then.
    """
    try:
        header, members = read(BytesIO(data))
        try:
            _recall(node, header, members)
        except _WRONG as error:
            refuse(f"is not consistent: {error}", "make the node as it was made before")
    except RefusedError as refusal:
        raise CheckpointError(f"the node {refusal}") from None
    return node


def save(node: Node, path: str | os.PathLike[str]) -> None:
    """Save a node; an earlier file is replaced whole, or not at all."""
    with replacing(path) as file:
        file.write(dump(node))


def load(path: str | os.PathLike[str], node: N) -> N:
    """Let a fresh node go on from its file; return it.

    Writes the new incarnation to the file before it returns.
    """
    bring_back(Path(path).read_bytes(), node)
    save(node, path)
    return node


def _state(agent: Agent, memory: Memory) -> State:
    """Return an agent as a network of one, which checkpoints know how to pack."""
    store = arena(np.array([memory.order + 2]), agent.n_features)
    store.order[0] = memory.order
    copy_dictionary(memory.dictionary, dictionary_of(store, 0), memory.order)
    return State(
        arena=store,
        multipliers=memory.multipliers,
        scale=np.array([memory.scale]),
        target=memory.target[None],
        adaptation=memory.adaptation[None],
        violation=memory.violation,
        asked=memory.asked,
        readings=np.zeros(1, np.int64),
    )


def _pending(memory: Memory) -> Members:
    """Return the reading that waits and the queries that pull, one a row."""
    members: Members = {}
    if memory.reading is not None:
        x, y, own = memory.reading
        members["reading"] = np.array([*x, y, own])
    if memory.queries:
        rows = [[j, *q.x, *q[1:]] for j, q in sorted(memory.queries.items())]
        members["queries"] = np.array(rows)
    return members


def _recall(node: Node, header: dict[str, Any], members: Members) -> None:
    agent = node.agent
    if set(header) != {"node", "n_features"}:
        refuse("is not a node but a model", "load it with the learner's own load")
    if header["n_features"] != agent.n_features:
        refuse(f"has {header['n_features']} features, not {agent.n_features}")
    values = members.pop("kernel_values")
    reading, queries = members.pop("reading", None), members.pop("queries", None)
    state = unpacked(members, _state(agent, agent.memory))
    if members:
        refuse(f"has unknown members {', '.join(sorted(members))}")
    check_kernel(state, agent.rules.kernel, values)
    p = agent.n_features
    agent.recall(
        Memory(
            dictionary=dictionary_of(state.arena, 0),
            order=int(state.arena.order[0]),
            scale=float(state.scale[0]),
            target=state.target[0],
            adaptation=state.adaptation[0],
            multipliers=state.multipliers,
            violation=state.violation,
            asked=state.asked,
            reading=_reading(reading, p),
            queries={} if queries is None else _queries(queries, agent),
        )
    )
    node.recall(header["node"])


def _finite(name: str, values: Any, width: int) -> Any:
    if values.shape[-1] != width or not np.isfinite(values).all():
        refuse(f"is not consistent: {name} must be {width} finite numbers")
    return values.astype(np.float64)


def _reading(row: Any, p: int) -> tuple[Any, float, float] | None:
    if row is None:
        return None
    row = _finite("reading", row, p + 2)
    return row[:p].copy(), float(row[p]), float(row[p + 1])


def _queries(rows: Any, agent: Agent) -> dict[int, Query]:
    p, found = agent.n_features, {}
    for row in _finite("queries", rows, p + 4):
        j, (value, multiplier, spread) = int(row[0]), row[p + 1 :].tolist()
        if j not in agent.neighbours or multiplier < 0 or spread <= 0:
            refuse(f"is not consistent: it has a query of {j} that pulls {multiplier}")
        found[j] = Query(row[1 : p + 1].copy(), value, multiplier, spread)
    return found
