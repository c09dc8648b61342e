"""A network of nodes on a clock and a random generator of its own."""

import hashlib
import heapq
from collections.abc import Callable
from random import Random
from typing import Any

from halk.net.faults.budget import CheckedAgent
from halk.net.faults.hub import FaultyHub
from halk.net.faults.laws import BrokenLawError, Ledger, check_state, law
from halk.net.faults.plan import Faults
from halk.net.memory import MemoryTransport
from halk.net.node import Node, Parcel
from halk.net.state import bring_back, dump
from halk.net.transport import post

Reading = tuple[Any, float] | None


class World:
    """Nodes, a faulty hub between them, and what is to happen when.

    Parameters
    ----------
    make : callable
        Takes the number of an agent, returns its node, untaught; also after a crash.
    n_agents : int
    reading : callable
        Takes the number of an agent and of its reading; returns a point and a target,
        or None for none. Nodes in lockstep get the reading of their step.
    n_readings : int
        Readings of every agent.
    seed : int
        Decides everything, together with the arguments.
    faults : Faults
    pause : float
        Seconds between two readings of an agent; wakes are twice as often.
    max_order : int
        Atoms that no agent may exceed.
    check_every : int
        Of so many updates of an agent, one is checked against its budget.
    """

    def __init__(
        self,
        make: Callable[[int], Node],
        n_agents: int,
        reading: Callable[[int, int], Reading],
        n_readings: int,
        seed: int,
        faults: Faults,
        pause: float = 0.2,
        max_order: int = 100,
        check_every: int = 20,
    ) -> None:
        self.make, self.reading, self.n_readings = make, reading, n_readings
        self.seed, self.faults, self.pause = seed, faults, pause
        self.max_order, self.check_every = max_order, check_every
        self.rng = Random(seed)
        self.now = 0.0
        self.n_events = 0
        self._digest = hashlib.sha256()
        self._heap: list[tuple[float, int, str, Any]] = []
        self._n_scheduled = 0
        self.hub = FaultyHub(self)
        self.nodes: list[Node | None] = [None] * n_agents
        self._ends: dict[int, MemoryTransport] = {}
        self.names = [make(i).name for i in range(n_agents)]
        self.ledgers = {name: Ledger(name) for name in self.names}
        self._disk: dict[int, bytes] = {}
        self._n_read = [0] * n_agents
        self._n_crashes = [0] * n_agents  # still to come
        self._saved_at = [(-1, 0.0)] * n_agents
        self._begin()

    @property
    def log(self) -> str:
        """The hash of all that has happened."""
        return self._digest.hexdigest()

    def _begin(self) -> None:
        for i in range(len(self.nodes)):
            self.at(0.0, "boot", i)
            self.at(self.rng.random() * self.pause, "wake", i)
            self.at(self.rng.random() * self.pause, "read", i)
        for _ in range(self.faults.n_crashes):
            victim = self._anybody()
            self._n_crashes[victim] += 1
            self.at(self.rng.random() * self.faults.until, "crash", victim)
        for _ in range(self.faults.n_partitions):
            self.at(self.rng.random() * self.faults.until, "cut", self._anybody())

    def _anybody(self) -> int:
        return self.rng.randrange(len(self.nodes))

    def at(self, time: float, kind: str, what: Any) -> None:
        """Let something happen at a time; at equal times in the order of this call."""
        heapq.heappush(self._heap, (time, self._n_scheduled, kind, what))
        self._n_scheduled += 1

    def arrival(self, sender: str, receiver: str) -> float:
        """Return when a message arrives that is said now."""
        return self.now + self.faults.latency(self.rng)

    def run(self, until: float) -> None:
        """Let everything happen up to a time.

        Raises
        ------
        BrokenLawError
            With the seed, the event and the faults; the same seed breaks it again.
        """
        try:
            while self._heap and self._heap[0][0] <= until:
                self.now, _, kind, what = heapq.heappop(self._heap)
                self.n_events += 1
                self._digest.update(f"{self.now!r} {kind} {what!r}\n".encode())
                getattr(self, f"on_{kind}")(what)
        except BrokenLawError as error:
            error.add_note(f"seed {self.seed}, event {self.n_events}, at {self.now}")
            error.add_note(f"faults {self.faults}")
            raise

    # ------------------------------------------------------------------ events

    def on_boot(self, i: int) -> None:
        """Start a node, from its file if there is one."""
        node = self.make(i)
        if i in self._disk:
            node = bring_back(self._disk[i], node)
        checked: Any = CheckedAgent(node.agent, self.check_every)
        node.agent = checked
        node.observe = self.ledgers[node.name].updated
        self.ledgers[node.name].booted(node)
        self.nodes[i] = node
        self._ends[i] = self.hub.join(node.name)
        self._save(i, node)  # the incarnation, before a word is said

    def on_crash(self, i: int) -> None:
        """Kill a node; what was not written is gone. It comes back after a while."""
        node = self.nodes[i]
        self._n_crashes[i] -= 1
        if node is not None:
            self.nodes[i] = None
            self._ends.pop(i).close()
            self.ledgers[node.name].crashed()
            self.at(self.now + self.rng.random(), "boot", i)

    def on_cut(self, i: int) -> None:
        """Cut an agent off from some others, for a while."""
        others = [name for name in self.names if self.rng.random() < 0.6]
        for other in others:
            self.hub.cut[self.names[i], other] = self.now + 2 * self.rng.random()

    def on_wake(self, i: int) -> None:
        """Let a node do what is due."""
        self.at(self.now + self.pause / 2, "wake", i)
        node = self.nodes[i]
        if node is not None:
            self._did(i, node, node.wake(self.now))

    def on_read(self, i: int) -> None:
        """Give a node a reading, if there is one and it can take it."""
        self.at(self.now + self.pause, "read", i)
        node: Any = self.nodes[i]
        if node is None or (node.is_lockstep and not node.is_idle):
            return
        n = node.step if node.is_lockstep else self._n_read[i]
        if n >= self.n_readings:
            return
        self._n_read[i] += 1
        reading = self.reading(i, n)
        if reading is not None:
            self._did(i, node, node.read(*reading, self.now))
        elif node.is_lockstep:
            self._did(i, node, node.skip(self.now))

    def on_deliver(self, packet: tuple[str, str, bytes]) -> None:
        """Hand bytes over."""
        sender, receiver, data = packet
        if self.hub.is_cut(sender, receiver):
            return
        self.hub.deliver(sender, receiver, data)
        i = self.names.index(receiver)
        node: Any = self.nodes[i]
        for name, content in self._ends[i].poll() if i in self._ends else []:
            self._did(i, node, node.receive(name, content, self.now))

    def _did(self, i: int, node: Node, parcels: list[Parcel]) -> None:
        """Check a node after an event, save it if it is time, send what it says."""
        check_state(node, self.max_order)
        self.ledgers[node.name].said(node, parcels, self.ledgers)
        step, time = self._saved_at[i]
        every = self.faults.save_every
        is_due = node.step != step if every == 0 else self.now - time >= every
        if is_due:
            self._save(i, node)
        post(self._ends[i], parcels)

    def _save(self, i: int, node: Node) -> None:
        if self._n_crashes[i]:  # else nobody will ever read it
            self._disk[i] = dump(node)
        self._saved_at[i] = (node.step, self.now)
        self.ledgers[node.name].saved()

    def living(self) -> list[Any]:
        """Return all nodes; none may be dead."""
        law(None not in self.nodes, "a node did not come back")
        return list(self.nodes)
