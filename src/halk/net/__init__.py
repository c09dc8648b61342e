"""Agents that talk over a network: messages, nodes, transports, faults.

A node wraps an agent with all that a networked one needs but the network itself: bytes
in, bytes out, time as an argument. :class:`FreeNode` is for the field, where messages
get lost and neighbours stop; :class:`LockstepNode` gives the numbers of the simulator.
``docs/protocol.md`` has the bytes and the rules.
"""

from halk.net.free import FreeNode
from halk.net.limits import Limits
from halk.net.lockstep import LockstepNode
from halk.net.memory import Hub
from halk.net.messages import ProtocolError, Reason
from halk.net.node import Node, Parcel, Update
from halk.net.state import bring_back, dump, load, save
from halk.net.transport import Transport, TransportError, post, serve

__all__ = [
    "FreeNode",
    "Hub",
    "Limits",
    "LockstepNode",
    "Node",
    "Parcel",
    "ProtocolError",
    "Reason",
    "Transport",
    "TransportError",
    "Update",
    "bring_back",
    "dump",
    "load",
    "post",
    "save",
    "serve",
]
