"""Free-running nodes, each at a pace of its own, by the rules of a runner.

As :class:`halk.deploy.runner.Runner` has it, an agent does something in turns only:
when a message is there, when a reading is due, or after a pulse. A turn hears, ends a
wait that is over, and takes the next reading if it is time. Where that is work, what
comes meanwhile is for the next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from random import Random
from typing import Any, NamedTuple

from halk.deploy.clocks import Clock
from halk.deploy.diary import Score
from halk.deploy.runner import due_after, next_turn, pulse
from halk.net import FreeNode
from halk.net.faults import Delay, Faults, World


def begins(now: float, wait: float, seed: int) -> float:
    """Return when agents are told to begin who have all met now.

    Who tells them, ``halk up``, looks at them from time to time: when in a pulse of
    theirs it does is chance.
    """
    return now + (1 + Random(f"{seed} begins").random()) * pulse(wait)


class Course(NamedTuple):
    """What the agents of a world read, and when."""

    X: Any
    Y: Any
    counts: Sequence[int]
    """Rows of every agent."""
    clocks: Sequence[Clock]
    thinks: Sequence[Delay]
    """Seconds between the end of a step and the next reading, without a rate."""
    lags: Sequence[Delay]
    """Seconds until who waits does what there is to do."""
    works: Sequence[Delay]
    """Seconds of work for a message that is heard, or a reading that is taken."""
    is_common: bool
    """Whether the clocks are one clock, which starts for all at once."""
    batches: bool
    """Whether what is said to a neighbour in one turn arrives together."""


class PacedWorld(World):
    """A world in which every agent has a clock of its own, and a score."""

    def __init__(
        self,
        make: Callable[[int], FreeNode],
        wait: float,
        course: Course,
        seed: int,
        faults: Faults,
    ) -> None:
        n = len(course.counts)
        self.course, self._wait = course, wait
        self.scores = [Score() for _ in range(n)]
        self._due: list[float | None] = [None] * n
        self._is_learning = [False] * n
        self._turn_at = [0.0] * n
        self._is_roused = [False] * n
        """Whether there is something to do for one who waited, after its lag."""
        self._done_at = [0.0] * n
        """When the work of the last turn is done, or of this one so far."""
        self._sent: dict[tuple[str, str], tuple[float, float]] = {}
        """The last turn in which one spoke to another, and when it arrives."""
        self._has_met, self._begins = False, inf
        super().__init__(make, n, self._reading, 0, seed, faults, max_order=10**9)

    @property
    def is_over(self) -> bool:
        """Whether all readings are taken."""
        return self._n_read == self.course.counts

    def _begin(self) -> None:
        for i in range(len(self.nodes)):
            self.at(0.0, "boot", i)
            self._turn_by(i, self.rng.random() * pulse(self._wait))

    # -------------------------------------------------------------------- turns

    def on_wake(self, i: int) -> None:
        """Make a turn, unless there was one since that was meant to be."""
        if self.now != self._turn_at[i]:
            return
        if self._is_roused[i] or self.now <= self._done_at[i]:
            self._turn(i)
        else:
            self._rouse(i)

    def on_deliver(self, packet: tuple[str, str, bytes]) -> None:
        """Put bytes into a box, and let the receiver make a turn as soon as it can.

        Nodes of this world do not crash, and no link is cut.
        """
        self.hub.deliver(*packet)
        i = self.names.index(packet[1])
        if self.now < self._done_at[i]:
            self._turn_by(i, self._done_at[i])
        elif not self._is_roused[i]:
            self._rouse(i)

    def _rouse(self, i: int) -> None:
        """Let an agent that waits make a turn, after its lag."""
        lag = self.course.lags[i].draw(self.rng)
        if lag > 0:
            self._is_roused[i] = True
            self._turn_by(i, self.now + lag)
        else:
            self._turn(i)

    def arrival(self, sender: str, receiver: str) -> float:
        """Return when a message arrives: it leaves when the work for it is done.

        In batches, with what was said to the same neighbour before in this turn.
        """
        leaves = self._done_at[self.names.index(sender)]
        turn, time = self._sent.get((sender, receiver), (-1.0, 0.0))
        if not self.course.batches or turn != self.now:
            time = leaves + self.faults.latency(self.rng)
            self._sent[sender, receiver] = self.now, time
        return max(time, leaves)

    def _turn(self, i: int) -> None:
        node: Any = self.nodes[i]
        self._done_at[i], self._is_roused[i] = self.now, False
        for name, content in self._ends[i].poll():
            self._work(i)
            self._did(i, node, node.receive(name, content, self.now))
        step, parcels = node.step, node.wake(self.now)
        if parcels or node.step != step:
            self._did(i, node, parcels)
        if self._is_due(i, node):
            self._work(i)
            self._take(i, node)
            self._turn_by(i, self._done_at[i])
        else:
            spent = self._done_at[i] - self.now
            self._turn_by(i, self._next_turn(i, node) + spent)

    def _work(self, i: int) -> None:
        self._done_at[i] += self.course.works[i].draw(self.rng)

    def _turn_by(self, i: int, time: float) -> None:
        self._turn_at[i] = time
        self.at(time, "wake", i)

    def _next_turn(self, i: int, node: Any) -> float:
        is_idle = self._has_all(i) or self._must_wait(i, node)
        due = None if is_idle else self._due[i]
        return next_turn(self._wait, self.course.clocks[i], due, self.now)

    # ----------------------------------------------------------------- readings

    def _has_all(self, i: int) -> bool:
        return self._n_read[i] >= self.course.counts[i]

    def _must_wait(self, i: int, node: Any) -> bool:
        return bool(self.course.clocks[i].waits and node.is_waiting)

    def _is_due(self, i: int, node: Any) -> bool:
        """Return whether it is time for the next reading."""
        if self._has_all(i) or self._must_wait(i, node) or not self._may_begin():
            return False
        due = self._due[i]
        if due is None:
            due = self._due[i] = self.course.clocks[i].start(self.now)
        if self._is_learning[i]:  # until just now
            self._is_learning[i] = False
            if self.course.clocks[i].waits:
                thought = self.now + self.course.thinks[i].draw(self.rng)
                due = self._due[i] = max(due, thought)
        if self.now < due:
            return False
        opens = self.course.clocks[i].open(self.now)
        self._due[i] = opens if opens > self.now else due
        return opens <= self.now

    def _may_begin(self) -> bool:
        """Return whether all have met and know it; who begins before learns alone."""
        if not self._has_met:
            nodes: list[Any] = self.nodes
            peers = [peer for node in nodes for peer in node.peers.values()]
            self._has_met = all(peer.is_greeted for peer in peers)
            if self._has_met:
                self._begins = begins(self.now, self._wait, self.seed)
                if self.course.is_common:
                    self._start_together()
        return self.now >= self._begins

    def _start_together(self) -> None:
        for i, clock in enumerate(self.course.clocks):
            due = self._due[i] = clock.start(self._begins)
            if not self._is_roused[i]:
                self._turn_by(i, max(due, self._done_at[i]))

    def _take(self, i: int, node: Any) -> None:
        """Give an agent its next reading, and note what it would have said."""
        n, self._is_learning[i] = self._n_read[i], True
        self._n_read[i] += 1
        self._due[i] = due_after(self.course.clocks[i], self._due[i], self.now)
        reading = self._reading(i, n)
        if reading is not None:
            self.scores[i].add(node.agent.predict(reading[0]), reading[1])
            self._did(i, node, node.read(*reading, self.now))

    def _reading(self, i: int, n: int) -> tuple[Any, float] | None:
        y = float(self.course.Y[n, i])
        return None if y != y else (self.course.X[n, i], y)
