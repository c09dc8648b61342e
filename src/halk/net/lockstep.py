"""Lockstep: a barrier between neighbours, the simulator's numbers bit for bit.

In step ``t`` every agent says to all neighbours either its query or that it passes.
When it has heard the same from all of them it answers their queries, in the order of
the neighbours, so with its own reading of the step taken in; when it has all its
answers it updates, and step ``t + 1`` begins. So
nobody is more than one step ahead of a neighbour, and it is enough to keep what was
said in the step before, for those who lost it. Messages may be lost, late, doubled or
overtaken, and agents may stop and go on from a file (:mod:`halk.net.state`) that was
written after their last update and before their next query: the numbers stay the same.
An agent that goes on must begin the step with the reading that it had before; another
one is refused.

A neighbour that does not come back stops all who can be reached from it. In the field
use free running.
"""

from math import inf
from typing import Any, ClassVar

from halk import agent as agents
from halk._validation import require
from halk.net.exchange import Exchange, Turn, exchange_of
from halk.net.messages import (
    Answer,
    Error,
    Hello,
    Pass,
    ProtocolError,
    Query,
    Reason,
    Stamp,
    refuse,
)
from halk.net.node import Node, Parcel
from halk.net.peer import Peer


class LockstepNode(Node):
    """A node whose steps are those of the whole network; parameters as :class:`Node`.

    Every step begins with :meth:`read` or :meth:`skip`; ``is_idle`` tells when.
    """

    is_lockstep: ClassVar[bool] = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._now = Exchange(0)
        self._before: Exchange | None = None
        self._ahead: dict[str, tuple[Stamp, Turn]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether the last step is done and the next reading can come."""
        return not self._now.has_begun

    @property
    def is_awaited(self) -> bool:
        """Whether a neighbour has begun the step that this agent has not."""
        return self.is_idle and bool(self._now.theirs)

    def read(self, x: Any, y: float, now: float) -> list[Parcel]:
        """Begin the step with a reading."""
        require(self.is_idle, "a step", "be done before the next begins", self.step)
        return self._begin(dict(self._ask(x, y)))

    def skip(self, now: float) -> list[Parcel]:
        """Begin the step without a reading."""
        require(self.is_idle, "a step", "be done before the next begins", self.step)
        return self._begin({name: Pass(self.step) for name in self.peers})

    def _begin(self, turns: dict[str, Any]) -> list[Parcel]:
        exchange = self._now
        exchange.mine, exchange.has_begun = turns, True
        if not self._awaits_answers:
            exchange.got = dict.fromkeys(turns)
        greeted = [name for name, peer in self.peers.items() if peer.is_greeted]
        return [self._say(exchange, name) for name in greeted] + self._advance()

    def _say(self, exchange: Exchange, name: str) -> Parcel:
        parcel = self._send(name, exchange.mine[name])
        stamp = Stamp(self.incarnation, self.sequence)
        exchange.sent.setdefault(name, set()).add(stamp)
        return parcel

    def _advance(self) -> list[Parcel]:
        """Answer when all were heard, update when all answers are in."""
        exchange, parcels = self._now, []
        if not exchange.is_heard(list(self.peers)):
            return []
        if not exchange.given:
            for peer in self.peers.values():  # in the order of the simulator
                exchange.given[peer.name] = self._given(peer)
                parcels += self._handed(exchange, peer.name)
        if exchange.is_complete():
            self._finish()
        return parcels

    def _given(self, peer: Peer) -> Answer | Error | None:
        stamp, turn = self._now.theirs[peer.name]
        if isinstance(turn, Pass):
            return None
        try:
            return self._reply(peer, stamp, turn)
        except ProtocolError as error:
            self.refused[error.reason] += 1
            return Error(error.reason, *stamp) if self._awaits_answers else None

    def _handed(self, exchange: Exchange, name: str) -> list[Parcel]:
        """Return the answer to a neighbour's newest query, or why there is none."""
        (incarnation, sequence), answer = exchange.theirs[name][0], exchange.given[name]
        if answer is None:
            return []
        again = answer._replace(incarnation=incarnation, sequence=sequence)
        return [self._send(name, again)]

    def _finish(self) -> None:
        exchange, done = self._now, {}
        for name, answer in exchange.got.items():
            if answer is not None:
                done[name] = agents.Answer(*answer[2:])
        pulls = {name: stamp for name, (stamp, _) in exchange.theirs.items()}
        used = {n: Stamp(*a[:2]) for n, a in exchange.got.items() if a is not None}
        self._update(done, pulls, used)
        self._before = exchange
        self._now, self._ahead = Exchange(self.step, theirs=self._ahead), {}

    def _asked(
        self, peer: Peer, stamp: Stamp, body: Query | Pass, now: float
    ) -> list[Parcel]:
        name, exchange = peer.name, self._now
        if body.step == exchange.step:
            is_new = _hear(exchange, name, stamp, body)
            if is_new:
                return self._advance()
            self.refused[Reason.REPEATED] += 1
            return self._handed(exchange, name) if name in exchange.given else []
        if body.step == exchange.step + 1:
            self._ahead[name] = (stamp, body)
            return []
        before = self._before
        if before is None or body.step != before.step:
            refuse(Reason.STEP, f"{name} is in step {body.step}, not {exchange.step}")
        # it lost something, or has been restarted since
        _hear(before, name, stamp, body)
        return [*self._said_again(before, name, now), *self._handed(before, name)]

    def _said_again(self, before: Exchange, name: str, now: float) -> list[Parcel]:
        """Return the turn of the step before, unless it was just said again.

        Who is through with that step too takes it for a loss here and does the same;
        without the pause two of them would go on for ever.
        """
        if now < before.said_again.get(name, -inf) + self.retry / 2:
            return []
        before.said_again[name] = now
        return [self._say(before, name)]

    def _answered(self, peer: Peer, answer: Answer, now: float) -> list[Parcel]:
        self._take_in(peer.name, Stamp(answer.incarnation, answer.sequence), answer)
        return self._advance()

    def _without(self, peer: Peer, sequence: int, now: float) -> list[Parcel]:
        self._take_in(peer.name, Stamp(self.incarnation, sequence), None)
        return self._advance()

    def _take_in(self, name: str, stamp: Stamp, answer: Answer | None) -> None:
        exchange = self._now
        if stamp not in exchange.sent.get(name, ()) or name in exchange.got:
            is_ours = stamp <= (self.incarnation, self.sequence)
            reason = Reason.LATE if is_ours else Reason.UNASKED
            refuse(reason, f"{name} answers a query that is not open")
        exchange.got[name] = None
        if answer is not None:
            try:
                self._vetted(answer)
                exchange.got[name] = answer
            except ProtocolError as error:
                self.refused[error.reason] += 1

    def _greeted(self, peer: Peer, hello: Hello, now: float) -> list[Parcel]:
        parcels, exchange = super()._greeted(peer, hello, now), self._now
        if exchange.has_begun and exchange.lacks(peer.name):
            parcels.append(self._say(exchange, peer.name))
        return parcels

    def _due(self, now: float) -> list[Parcel]:
        return self._advance()

    def _again(self, now: float) -> list[Parcel]:
        exchange = self._now
        return [
            self._say(exchange, name)
            for name, peer in self.peers.items()
            if exchange.has_begun and peer.is_greeted and exchange.lacks(name)
        ]

    def notes(self) -> dict[str, Any]:
        """Return what must outlive a restart, as JSON."""
        ahead = Exchange(self.step + 1, theirs=self._ahead)
        return super().notes() | {
            "now": self._now.notes(),
            "before": self._before and self._before.notes(),
            "ahead": ahead.notes(),
        }

    def recall(self, notes: dict[str, Any]) -> None:
        """Take over the notes of an earlier run."""
        super().recall(notes)
        self._now = exchange_of(notes["now"])
        self._before = notes["before"] and exchange_of(notes["before"])
        self._ahead = exchange_of(notes["ahead"]).theirs


def _hear(exchange: Exchange, name: str, stamp: Stamp, turn: Turn) -> bool:
    """Note what a neighbour says in a step; return whether it is the first time."""
    is_new = name not in exchange.theirs
    if not is_new and exchange.theirs[name][1] != turn:
        refuse(Reason.STEP, f"{name} had another reading in step {turn.step}")
    exchange.theirs[name] = (stamp, turn)
    return is_new
