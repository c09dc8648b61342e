"""What a node knows of one neighbour: who it is now, and what was heard last."""

from dataclasses import dataclass, field
from typing import Any

from halk.net.limits import Bucket
from halk.net.messages import Error, Hello, Message, Reason, refuse


@dataclass
class Peer:
    """One neighbour, and which of its messages are new.

    Numbers must rise for every kind of message by itself: a query that is overtaken by
    a newer one is out of date, but an answer that is overtaken by a query is not.
    """

    name: str
    index: int
    """Its number in the agent."""
    bucket: Bucket
    incarnation: int = 0
    is_greeted: bool = False
    """Its hello of this incarnation was heard, and fits."""
    misfit: str = ""
    """What does not fit in its last hello."""
    last: dict[str, int] = field(default_factory=dict)
    """Number of the newest message of every kind."""

    def admit(self, message: Message) -> None:
        """Refuse what was heard before or comes from before a restart; note the rest.

        Only a hello opens a new incarnation.
        """
        kind, stamp = type(message.body), message.stamp
        if stamp.incarnation < self.incarnation:
            refuse(Reason.OLD_INCARNATION, f"{self.name} has been restarted since")
        if stamp.incarnation > self.incarnation:
            if kind is Error:
                return  # from one that waits for a hello itself
            if kind is not Hello:
                refuse(Reason.UNGREETED, f"{self.name} did not say hello")
            self.incarnation, self.last, self.is_greeted = stamp.incarnation, {}, False
        if stamp.sequence <= self.last.get(kind.__name__, -1):
            refuse(Reason.REPEATED, f"{self.name} said number {stamp.sequence} before")
        if not self.is_greeted and kind not in (Hello, Error):
            refuse(Reason.UNGREETED, f"{self.name} did not say hello")
        self.last[kind.__name__] = stamp.sequence

    def notes(self) -> dict[str, Any]:
        """Return what must outlive a restart, as JSON.

        Not whether it was greeted: who starts again asks again who is there.
        """
        return {"incarnation": self.incarnation, "last": dict(self.last)}

    def recall(self, notes: dict[str, Any]) -> None:
        """Take over the notes of an earlier run."""
        self.incarnation = int(notes["incarnation"])
        self.last = {str(kind): int(n) for kind, n in notes["last"].items()}
