"""What must hold after every event, whatever went wrong before."""

from collections.abc import Iterable, Mapping

import numpy as np

from halk.errors import HalkError
from halk.net.messages import Answer, Message, Query, Stamp
from halk.net.node import Node, Parcel, Update
from halk.net.protocol import decode


class BrokenLawError(HalkError, AssertionError):
    """A network under faults did what must never happen."""


def law(holds: bool, what: str) -> None:
    """Raise unless a law holds."""
    if not holds:
        raise BrokenLawError(what)


def check_state(node: Node, max_order: int) -> None:
    """Check that an agent is finite and small, its multipliers not negative."""
    for what, values in node.agent.state_dict().items():
        is_right = np.isfinite(values).all()
        if what == "multipliers":
            is_right = is_right and (values >= 0).all()
        if not is_right:  # saying what is wrong is not cheap
            law(False, f"{node.name} has {what} {values}")
    m = node.agent.order
    law(m <= max_order, f"{node.name} has {m} atoms, more than {max_order}")


Ledgers = Mapping[str, "Ledger"]


class Ledger:
    """What one node said and learned over all its lives.

    What it learned after its last file is unlearned by a crash, and so is the memory
    of having learned it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = Stamp(0, 0)
        self.queries: set[tuple[str, Stamp]] = set()
        """Sent, with their receivers."""
        self.learned: set[tuple[str, Stamp, str]] = set()
        self._saved: set[tuple[str, Stamp, str]] = set()

    def booted(self, node: Node) -> None:
        """Check that this life is a new one."""
        is_new = node.incarnation > self.last.incarnation
        law(is_new, f"{node.name} lives as {node.incarnation} after {self.last}")

    def said(self, node: Node, parcels: Iterable[Parcel], ledgers: Ledgers) -> None:
        """Check that stamps rise, and that answers answer what was asked."""
        for parcel in parcels:
            message = decode(parcel.data, parcel.receiver)
            stamp = message.stamp
            what = f"{node.name} says {stamp[0]}.{stamp[1]} after {self.last}"
            law(stamp.incarnation == node.incarnation and stamp > self.last, what)
            self.last = stamp
            self._note(parcel.receiver, message, ledgers)

    def _note(self, receiver: str, message: Message, ledgers: Ledgers) -> None:
        body = message.body
        if isinstance(body, Query):
            self.queries.add((receiver, message.stamp))
        if isinstance(body, Answer):
            asked = Stamp(body.incarnation, body.sequence)
            known = ledgers[receiver].queries
            what = f"{self.name} answers {asked} of {receiver}, which never asked it"
            law((self.name, asked) in known, what)

    def updated(self, update: Update) -> None:
        """Check that nothing is learned twice from one message."""
        parts = [(update.pulls, "pull"), (update.answers, "answer")]
        for stamps, what in parts:
            for name, stamp in stamps.items():
                item = (name, stamp, what)
                law(item not in self.learned, f"{self.name} learned {item} twice")
                self.learned.add(item)

    def saved(self) -> None:
        """Note that a file was written."""
        self._saved = set(self.learned)

    def crashed(self) -> None:
        """Go back to the last file."""
        self.learned = set(self._saved)
