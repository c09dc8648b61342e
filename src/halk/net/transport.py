"""What a transport must offer, and how a node is served by one."""

from typing import Protocol

from halk.errors import HalkError
from halk.net.node import Node, Parcel


class TransportError(HalkError, OSError):
    """An agent cannot be brought onto the network as it was asked to."""


class Transport(Protocol):
    """Carries bytes to neighbours and brings theirs; may lose, delay and mix them up.

    A transport knows its peers by name and vouches for it: bytes are handed over with
    the name of who sent them, as far as the transport can tell (by a certificate, an
    address). What they say is none of its business.
    """

    def send(self, receiver: str, data: bytes) -> None:
        """Send bytes to a neighbour; returns at once, and never raises for the net."""

    def poll(self) -> list[tuple[str, bytes]]:
        """Return what has arrived since the last call: senders' names and bytes."""

    def close(self) -> None:
        """Leave the network; may be called twice."""


def post(transport: Transport, parcels: list[Parcel]) -> None:
    """Send what a node wants to be sent."""
    for parcel in parcels:
        transport.send(parcel.receiver, parcel.data)


def serve(node: Node, transport: Transport, now: float) -> None:
    """Hand a node what has arrived, let it do what is due, send what it says."""
    for sender, data in transport.poll():
        post(transport, node.receive(sender, data, now))
    post(transport, node.wake(now))
