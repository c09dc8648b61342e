"""Free-running nodes, each at a pace of its own, by the rules of a runner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from halk.deploy.diary import Score
from halk.deploy.runner import PULSE
from halk.net import FreeNode, Parcel
from halk.net.faults import Faults, World


class Pace(NamedTuple):
    """How an agent takes its readings."""

    is_timed: bool
    """At times of its own; otherwise each when the last is learned."""
    pause: float
    """Seconds between two."""


class PacedWorld(World):
    """A world in which every agent has a pace of its own, and a score."""

    def __init__(
        self,
        make: Callable[[int], FreeNode],
        wait: float,
        X: Any,
        Y: Any,
        counts: list[int],
        scores: list[Score],
        paces: list[Pace],
        seed: int,
        faults: Faults,
    ) -> None:
        self._X, self._Y, self._counts = X, Y, counts
        self._scores, self._paces = scores, paces
        self._is_coming = [True] * len(paces)
        self._has_begun = False
        pulse = min(PULSE, max(wait / 2, 0.01))
        pulse = min([pulse, *(pace.pause for pace in paces if pace.is_timed)])
        super().__init__(
            make, len(paces), self._reading, 0, seed, faults, 2 * pulse, 10**9
        )

    @property
    def is_over(self) -> bool:
        """Whether all readings are taken."""
        return self._n_read == self._counts

    def on_read(self, i: int) -> None:
        """Give an agent its next reading, and note what it would have said."""
        self._is_coming[i] = False
        node: Any = self.nodes[i]
        if not self._may_begin():
            self._come(i, self.rng.random() * max(PULSE, self._paces[i].pause))
            return
        self._take(i, node)
        if self._paces[i].is_timed:
            self._come(i, self._paces[i].pause)
        else:
            self._go_on(i, node)

    def _may_begin(self) -> bool:
        """Return whether all have met; who begins before that learns alone."""
        if not self._has_begun:
            nodes: list[Any] = self.nodes
            peers = [peer for node in nodes for peer in node.peers.values()]
            self._has_begun = all(peer.is_greeted for peer in peers)
        return self._has_begun

    def _come(self, i: int, pause: float) -> None:
        """Let the next reading come, if there is one and it does not already."""
        if not self._is_coming[i] and self._n_read[i] < self._counts[i]:
            self._is_coming[i] = True
            self.at(self.now + pause, "read", i)

    def _go_on(self, i: int, node: Any) -> None:
        if not self._paces[i].is_timed and not node.is_waiting:
            self._come(i, self._paces[i].pause)

    def _did(self, i: int, node: Any, parcels: list[Parcel]) -> None:
        super()._did(i, node, parcels)
        self._go_on(i, node)

    def _take(self, i: int, node: Any) -> None:
        n = self._n_read[i]
        if n >= self._counts[i]:
            return
        self._n_read[i] += 1
        reading = self._reading(i, n)
        if reading is not None:
            self._scores[i].add(node.agent.predict(reading[0]), reading[1])
            self._did(i, node, node.read(*reading, self.now))

    def _reading(self, i: int, n: int) -> tuple[Any, float] | None:
        y = float(self._Y[n, i])
        return None if y != y else (self._X[n, i], y)
