"""What an agent sees of others: who is there, what was refused; told to its log."""

from __future__ import annotations

from collections import Counter
from typing import Any

from halk.deploy.logs import Log
from halk.net import Reason, Transport

_TELL_EVERY = 10.0


class Around:
    """The surroundings of a node.

    Parameters
    ----------
    node : FieldNode or StepNode
    transport : Transport
        May have ``alive()``, ``news()`` and counters, as Zenoh's has.
    log : Log
    now : float
    """

    def __init__(self, node: Any, transport: Transport, log: Log, now: float) -> None:
        self._node, self._transport, self._log = node, transport, log
        self._alive: dict[str, bool] = {}
        self._told = self._refusals()
        self._tell_at = now + _TELL_EVERY

    def alive(self) -> dict[str, bool]:
        """Return which neighbours can be reached, if the transport knows."""
        found = getattr(self._transport, "alive", None)
        return dict(found()) if found is not None else {}

    def traffic(self) -> dict[str, Any]:
        """Return what the transport has counted."""
        names = ("n_sent", "n_received", "bytes_sent", "bytes_received")
        found = {name: getattr(self._transport, name, None) for name in names}
        return found | {"dropped": dict(getattr(self._transport, "dropped", {}))}

    def refused(self) -> Counter[Reason]:
        """Return how often something was refused, by the node or before it."""
        found = Counter(self._node.refused)
        found.update(getattr(self._transport, "refused", {}))
        return found

    def look(self, now: float) -> None:
        """Note who has come and gone; say what was refused, now and then."""
        for one in getattr(self._transport, "news", list)():
            reason = one.reason.name.lower()
            self._log.say(
                "warning", "turned away", now, reason=reason, who=one.who, at=one.where
            )
        alive = self.alive()
        if alive != self._alive:
            self._changed(alive, now)
        if now >= self._tell_at:
            self._tell_at = now + _TELL_EVERY
            self._tell_refusals(now)

    def _changed(self, alive: dict[str, bool], now: float) -> None:
        for name, is_alive in alive.items():
            if is_alive != self._alive.get(name, False):
                event = "neighbour is there" if is_alive else "neighbour is gone"
                level = "info" if is_alive else "warning"
                self._log.say(level, event, now, neighbour=name)
            if not is_alive and not self._node.is_lockstep:
                # asking it would cost `wait` seconds a reading; its hello undoes this
                self._node.peers[name].is_greeted = False
        self._alive = alive

    def _refusals(self) -> dict[str, int]:
        node = self._node
        tables = (("refused", self.refused()), ("complaints", node.complaints))
        return {f"{w} {r.name.lower()}": n for w, t in tables for r, n in t.items()}

    def _tell_refusals(self, now: float) -> None:
        counts = self._refusals()
        fresh = {k: n - self._told.get(k, 0) for k, n in counts.items()}
        fresh = {k: n for k, n in fresh.items() if n > 0}
        self._told = counts
        if fresh:
            self._log.say("warning", "messages refused", now, **fresh)
