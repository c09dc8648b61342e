"""Free running: every agent at its own pace, with whatever arrives in time."""

from math import inf
from typing import Any, ClassVar

from halk import agent as agents
from halk._validation import positive
from halk.net.exchange import as_text, from_text
from halk.net.messages import Answer, Pass, Query, Reason, Stamp, refuse
from halk.net.node import Node, Parcel
from halk.net.peer import Peer


class FreeNode(Node):
    """A node that never waits longer than it is told to.

    A reading is asked about at every neighbour that was heard of; the update is made
    when all have answered, or after ``wait`` seconds with the answers that came, or
    when the next reading comes. A query is answered at once from the current function,
    also while the agent waits itself. Without a reading of its own, the agent updates
    with the pulls alone, ``wait`` seconds after the first. Where readings are exchanged
    there is nothing to wait for: all are learned as they come.

    Parameters
    ----------
    wait : float
        Longest time to wait for answers, in seconds.
    others
        As for :class:`Node`.
    """

    is_lockstep: ClassVar[bool] = False

    def __init__(self, *args: Any, wait: float = 0.5, **options: Any) -> None:
        super().__init__(*args, **options)
        self.wait = positive("wait", wait)
        self._deadline = inf
        self._asks: dict[str, Stamp] = {}  # queries of this step without an answer
        self._got: dict[str, agents.Answer] = {}
        self._used: dict[str, Stamp] = {}  # queries of this step with one
        self._pulls: dict[str, Stamp] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether it has a reading that it waits to learn from."""
        return self.agent.has_reading

    def read(self, x: Any, y: float, now: float) -> list[Parcel]:
        """Take in a reading; return the queries about it.

        One that is still being asked about is learned first, with the answers so far.
        """
        if self.is_waiting:
            self._finish()
        queries, parcels = self._ask(x, y), []
        for name, query in queries.items():
            if self.peers[name].is_greeted:
                parcels.append(self._send(name, query))
                if not self._awaits_answers:
                    continue
                self._asks[name] = Stamp(self.incarnation, self.sequence)
        self._deadline = now + self.wait
        self._finish_if_complete()
        return parcels

    def _asked(
        self, peer: Peer, stamp: Stamp, body: Query | Pass, now: float
    ) -> list[Parcel]:
        if isinstance(body, Pass):
            refuse(Reason.MISFIT, f"{peer.name} is in lockstep")
        reply = self._reply(peer, stamp, body)
        self._pulls[peer.name] = stamp
        if self._deadline == inf and self._pulling(self._pulls):
            self._deadline = now + self.wait
        if reply is None:
            self._finish()
            return []
        return [self._send(peer.name, reply)]

    def _answered(self, peer: Peer, answer: Answer, now: float) -> list[Parcel]:
        stamp = Stamp(answer.incarnation, answer.sequence)
        if self._asks.get(peer.name) != stamp:
            is_ours = stamp <= (self.incarnation, self.sequence)
            reason = Reason.LATE if is_ours else Reason.UNASKED
            refuse(reason, f"{peer.name} answers a query that is not open")
        del self._asks[peer.name]
        try:
            self._got[peer.name] = self._vetted(answer)
            self._used[peer.name] = stamp
        finally:
            self._finish_if_complete()
        return []

    def _without(self, peer: Peer, sequence: int, now: float) -> list[Parcel]:
        if self._asks.get(peer.name) == (self.incarnation, sequence):
            del self._asks[peer.name]
            self._finish_if_complete()
        return []

    def _finish_if_complete(self) -> None:
        if self.is_waiting and not self._asks:
            self._finish()

    def _finish(self) -> None:
        self._update(self._got, self._pulls, self._used)
        self._asks, self._got, self._used, self._pulls = {}, {}, {}, {}
        self._deadline = inf

    def _due(self, now: float) -> list[Parcel]:
        if now >= self._deadline:
            self._finish()
        return []

    def _again(self, now: float) -> list[Parcel]:
        return []  # what was lost is made up for by the next reading

    def notes(self) -> dict[str, Any]:
        """Return what must outlive a restart, as JSON."""
        return super().notes() | {
            "got": {
                name: as_text(name, stamp, Answer(*stamp, *self._got[name]))
                for name, stamp in self._used.items()
            },
            "pulls": {name: list(stamp) for name, stamp in self._pulls.items()},
        }

    def recall(self, notes: dict[str, Any]) -> None:
        """Take over the notes of an earlier run.

        Answers to its open queries would be answers to another incarnation: a step that
        was under way ends with those that it had.
        """
        super().recall(notes)
        for name, text in notes["got"].items():
            message: Any = from_text(text)
            self._got[name] = agents.Answer(*message.body[2:])
            self._used[name] = message.stamp
        self._pulls = {name: Stamp(*pair) for name, pair in notes["pulls"].items()}
        if self.is_waiting or self._pulling(self._pulls):
            self._deadline = -inf
