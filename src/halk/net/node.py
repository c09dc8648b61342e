"""A networked agent without a network: bytes in, bytes out, time as an argument.

The rules, the same in both modes:

1.  Only listed neighbours are heard, and only under the name that they are known by.
2.  First contact is a hello: protocol version, number of features, coupling (and by it
    the order), mode and unit must be the same. Until then all else is refused.
3.  Numbers of messages rise for every sender, incarnation and kind. What was heard
    before, or comes from before the sender's restart, is counted and ignored.
4.  An answer is used for the query of the current step only, and once. Where readings
    are exchanged there are none.
5.  A query pulls in the next update; of one neighbour, only its newest.
6.  What is out of bounds is refused (:class:`halk.net.limits.Limits`).
7.  All that is refused is counted, by reason. Who can do something about it is told, by
    an error; errors are never answered by errors.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np

from halk import agent as agents
from halk._validation import Vector, finite_array, integer, positive, require
from halk.agent import Agent, NewtonAgent
from halk.errors import DivergenceError
from halk.net.bodies import packed_text
from halk.net.limits import Bucket, Limits
from halk.net.messages import (
    Answer,
    Body,
    Error,
    Hello,
    Message,
    Pass,
    ProtocolError,
    Query,
    Reason,
    Stamp,
    refuse,
)
from halk.net.peer import Peer
from halk.net.protocol import decode, encode
from halk.net.vetting import vetted_answer, vetted_query
from halk.state import COUNT, MEAN, SQUARES

_FINAL = {
    Reason.DIMENSION,
    Reason.VALUE,
    Reason.INPUT,
    Reason.STD,
    Reason.DIVERGED,
    Reason.UNTAUGHT,
}
"""Why a query will have no answer, however often it is asked."""

_TOLD = {Reason.UNGREETED, Reason.MISFIT, Reason.OLD_INCARNATION} | _FINAL
"""What a sender is told: it can greet, be set up otherwise, or stop waiting."""


class Parcel(NamedTuple):
    """Bytes for a neighbour, by its name."""

    receiver: str
    data: bytes


class Update(NamedTuple):
    """What an update was made of: the messages it learned from."""

    step: int
    has_reading: bool
    pulls: dict[str, Stamp]
    """Of the queries that pulled, by neighbour."""
    answers: dict[str, Stamp]
    """Of the own queries whose answers were used, by neighbour."""


class Node(ABC):
    """An agent with a name, its neighbours' names, and the rules of this module.

    Parameters
    ----------
    agent : Agent or NewtonAgent
    name : str
        Under which the neighbours know it; 1 to 64 bytes of UTF-8.
    neighbours : sequence of str
        Names, in the order of ``agent.neighbours``.
    unit : str
        Unit of the target. Neighbours with another one are refused.
    limits : Limits
    retry : float
        Seconds after which what had no reply is said again.
    incarnation : int
        Larger than at every earlier start. :mod:`halk.net.state` sees to it; who starts
        without the file of the last run must give one, such as the time in seconds.
    observe : callable, optional
        Is told every :class:`Update`.
    """

    is_lockstep: ClassVar[bool]

    def __init__(
        self,
        agent: Agent | NewtonAgent,
        name: str,
        neighbours: Sequence[str],
        *,
        unit: str = "",
        limits: Limits | None = None,
        retry: float = 1.0,
        incarnation: int = 1,
        observe: Callable[[Update], None] | None = None,
    ) -> None:
        for text in (name, *neighbours):
            packed_text(text, "name", 1)
        packed_text(unit, "unit")
        names = [name, *neighbours]
        distinct = len(set(names)) == len(names) == len(agent.neighbours) + 1
        rule = f"be {len(agent.neighbours)} distinct names of others"
        require(distinct, "neighbours", rule, neighbours)
        self.agent, self.name, self.unit = agent, name, unit
        self._awaits_answers = agent.coupling != "readings"
        self.limits = limits or Limits()
        self.retry = positive("retry", retry)
        self.incarnation = integer("incarnation", incarnation, minimum=1)
        self.sequence = 0
        self.step = 0
        self.refused: Counter[Reason] = Counter()
        """How often something was refused here, by reason."""
        self.complaints: Counter[Reason] = Counter()
        """How often a neighbour refused something of this agent's, by reason."""
        self.targets: Vector = np.zeros(3)
        """Count, mean and sum of squares of the agent's own targets."""
        self.observe = observe
        self.peers = {
            name: Peer(name, j, Bucket(self.limits))
            for name, j in zip(neighbours, agent.neighbours, strict=True)
        }
        self._next_retry = -inf

    # ------------------------------------------------------------- what comes in

    @abstractmethod
    def read(self, x: Any, y: float, now: float) -> list[Parcel]:
        """Take in a reading; return what to send."""

    def receive(self, sender: str, data: bytes, now: float) -> list[Parcel]:
        """Take in bytes that came from ``sender``, as the transport knows it."""
        message = None
        try:
            if sender not in self.peers:
                refuse(Reason.STRANGER, f"{sender} is no neighbour")
            message = decode(data, self.name)
            if message.sender != sender:
                refuse(Reason.IMPOSTOR, f"{sender} speaks as {message.sender}")
            return self._heard(self.peers[sender], message, now)
        except ProtocolError as error:
            self.refused[error.reason] += 1
            if message is None or isinstance(message.body, Error):
                return []
            if message.sender != sender or error.reason not in _TOLD:
                return []
            return [self._send(sender, Error(error.reason, *message.stamp))]

    def wake(self, now: float) -> list[Parcel]:
        """Do what is due; return what to send. To be called a few times a second."""
        parcels = self._due(now)
        if now >= self._next_retry:
            self._next_retry = now + self.retry
            parcels += [
                self._send(peer.name, self._hello(wants_reply=True))
                for peer in self.peers.values()
                if not peer.is_greeted
            ]
            parcels += self._again(now)
        return parcels

    def _heard(self, peer: Peer, message: Message, now: float) -> list[Parcel]:
        body = message.body
        if not isinstance(body, Answer) and not peer.bucket.takes(now):
            refuse(Reason.RATE, f"{peer.name} speaks too often")
        peer.admit(message)
        match body:
            case Hello():
                return self._greeted(peer, body, now)
            case Query() | Pass():
                return self._asked(peer, message.stamp, body, now)
            case Answer():
                return self._answered(peer, body, now)
            case Error():
                return self._declined(peer, body, now)

    def _greeted(self, peer: Peer, hello: Hello, now: float) -> list[Parcel]:
        own, said = self._hello(False)._asdict(), hello._asdict()
        del own["wants_reply"]
        wrong = [f"{k} {said[k]!r}, not {own[k]!r}" for k in own if said[k] != own[k]]
        peer.is_greeted, peer.misfit = not wrong, "; ".join(wrong)
        if wrong:
            refuse(Reason.MISFIT, f"{peer.name} has {peer.misfit}")
        replies = [self._hello(False)] if hello.wants_reply else []
        return [self._send(peer.name, reply) for reply in replies]

    def _declined(self, peer: Peer, error: Error, now: float) -> list[Parcel]:
        if error.incarnation != self.incarnation or error.sequence > self.sequence:
            refuse(Reason.UNASKED, f"{peer.name} refuses what was never said")
        self.complaints[error.reason] += 1
        if error.reason is Reason.UNGREETED:
            return [self._send(peer.name, self._hello(wants_reply=True))]
        if error.reason in _FINAL:
            return self._without(peer, error.sequence, now)
        return []

    # ------------------------------------------------------------ what modes do

    @abstractmethod
    def _asked(
        self, peer: Peer, stamp: Stamp, body: Query | Pass, now: float
    ) -> list[Parcel]:
        """Hear a query, or that there is none."""

    @abstractmethod
    def _answered(self, peer: Peer, answer: Answer, now: float) -> list[Parcel]:
        """Hear an answer."""

    @abstractmethod
    def _without(self, peer: Peer, sequence: int, now: float) -> list[Parcel]:
        """Go on without an answer to the query of this number."""

    @abstractmethod
    def _due(self, now: float) -> list[Parcel]:
        """Do what waited for its time."""

    @abstractmethod
    def _again(self, now: float) -> list[Parcel]:
        """Return what must be said again."""

    # ---------------------------------------------------------- what they share

    def _hello(self, wants_reply: bool) -> Hello:
        return Hello(
            n_features=self.agent.n_features,
            coupling=self.agent.coupling,
            is_lockstep=self.is_lockstep,
            unit=self.unit,
            wants_reply=wants_reply,
        )

    def _send(self, receiver: str, body: Body) -> Parcel:
        self.sequence += 1
        stamp = Stamp(self.incarnation, self.sequence)
        return Parcel(receiver, encode(Message(self.name, stamp, body), receiver))

    def _ask(self, x: Any, y: float) -> dict[str, Query]:
        """Take in a reading; return the queries to send, by neighbour."""
        queries = self.agent.ask(x, y)
        self.targets[COUNT] += 1
        before = y - self.targets[MEAN]
        self.targets[MEAN] += before / self.targets[COUNT]
        self.targets[SQUARES] += before * (y - self.targets[MEAN])
        return {
            peer.name: Query(self.step, tuple(q.x.tolist()), *q[1:])
            for peer in self.peers.values()
            for q in (queries[peer.index],)
        }

    def _vetted(self, answer: Answer) -> agents.Answer:
        return vetted_answer(self.limits, self.targets, answer)

    def _reply(self, peer: Peer, stamp: Stamp, query: Query) -> Answer | Error | None:
        """Return what the agent says to a query, which pulls in the next update.

        What must not be heard is refused. An agent that does not know the scale of its
        target yet says so; where readings are exchanged nobody waits for an answer.
        """
        heard, weakened = vetted_query(self.limits, self.agent, self.targets, query)
        try:
            answer = self.agent.answer(peer.index, heard)
        except DivergenceError as error:
            refuse(Reason.DIVERGED, str(error))
        self.refused.update(weakened)
        if not self._awaits_answers:
            return None
        if not isfinite(answer.value):
            return Error(Reason.UNTAUGHT, *stamp)
        return Answer(*stamp, *answer)

    def _pulling(self, stamps: dict[str, Stamp]) -> dict[str, Stamp]:
        """Return those of some stamps whose queries pull in the next update."""
        queries = self.agent.queries
        return {n: s for n, s in stamps.items() if self.peers[n].index in queries}

    def _update(
        self,
        got: dict[str, agents.Answer],
        pulls: dict[str, Stamp],
        asked: dict[str, Stamp],
    ) -> None:
        """Let the agent update, and say what it was made of."""
        told = Update(self.step, self.agent.has_reading, self._pulling(pulls), asked)
        self.agent.update({self.peers[name].index: a for name, a in got.items()})
        self.step += 1
        if self.observe is not None:
            self.observe(told)

    # ------------------------------------------------------------------- notes

    def notes(self) -> dict[str, Any]:
        """Return what must outlive a restart, without the agent's own, as JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "is_lockstep": self.is_lockstep,
            "incarnation": self.incarnation,
            "sequence": self.sequence,
            "step": self.step,
            "targets": self.targets.tolist(),
            "refused": {r.name: n for r, n in self.refused.items()},
            "complaints": {r.name: n for r, n in self.complaints.items()},
            "peers": {name: peer.notes() for name, peer in self.peers.items()},
        }

    def recall(self, notes: dict[str, Any]) -> None:
        """Take over the notes of an earlier run, as its next incarnation."""
        for name in ("name", "unit", "is_lockstep"):
            require(notes[name] == getattr(self, name), name, "fit", notes[name])
        names = sorted(notes["peers"])
        require(names == sorted(self.peers), "neighbours", "be the same", names)
        self.incarnation = integer("incarnation", notes["incarnation"], minimum=1) + 1
        self.sequence = integer("sequence", notes["sequence"])
        self.step = integer("step", notes["step"])
        self.targets[:] = finite_array("targets", notes["targets"], (3,))
        self.refused = Counter({Reason[r]: n for r, n in notes["refused"].items()})
        self.complaints = Counter(
            {Reason[r]: n for r, n in notes["complaints"].items()}
        )
        for name, peer in self.peers.items():
            peer.recall(notes["peers"][name])
