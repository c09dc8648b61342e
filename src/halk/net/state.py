"""Stop a node and go on later, as if it had not stopped.

A file is like those of :mod:`halk.checkpoint`: the node's notes in the header, and the
arrays of the agent; nothing is pickled. The settings of the agent are not in
it: who brings a node back makes it as before, and the file is checked against it.

Every return is a new incarnation. It is written to the file before the node says
anything, so that no two starts have the same, and no stamp is ever used again.
"""

import os
from pathlib import Path
from typing import Any, TypeVar

from halk._atomic import replacing
from halk.checkpoint import (
    WRONG,
    Arrays,
    RefusedError,
    check_kernel,
    pack,
    pack_state,
    refuse,
    unpack,
    unpack_state,
)
from halk.errors import CheckpointError
from halk.net.node import Node

N = TypeVar("N", bound=Node)


def dump(node: Node) -> bytes:
    """Return a node as bytes, at any moment."""
    agent = node.agent
    header = {"node": node.notes(), "n_features": agent.n_features}
    return pack(header, pack_state(agent.state_dict(), agent.kernel))


def bring_back(data: bytes, node: N) -> N:
    """Let a fresh node go on from bytes, as their next incarnation; return it.

    Raises
    ------
    CheckpointError
        If the bytes are damaged, or of a node that was made otherwise; the node must
        not be used then.
    """
    try:
        header, arrays = unpack(data)
        try:
            _recall(node, header, arrays)
        except WRONG as error:
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


def _recall(node: Node, header: dict[str, Any], arrays: Arrays) -> None:
    agent = node.agent
    if set(header) != {"node", "n_features"}:
        refuse("is not a node but a model", "load it with the learner's own load")
    if header["n_features"] != agent.n_features:
        refuse(f"has {header['n_features']} features, not {agent.n_features}")
    state, values = unpack_state(arrays)
    if arrays:
        refuse(f"has unknown arrays {', '.join(sorted(arrays))}")
    agent.load_state_dict(state)
    check_kernel(state, agent.kernel, values)
    node.recall(header["node"])
