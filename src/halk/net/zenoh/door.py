"""Who came and is not heard: counted by reason, and told by name once."""

from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, NamedTuple

from halk.net.messages import Reason

__all__ = ["Door", "Refusal"]

MOST_NAMES = 64
"""Refusals of one reason that are told by name; of more there is only the number."""

LONGEST = 120
"""Letters of a name that are kept."""


class Refusal(NamedTuple):
    """Something that was refused, and was not before."""

    reason: Reason
    who: str
    """The name of a certificate; of others what is known, such as what was wrong."""
    where: str
    """The address, if it is known."""


class Door:
    """Counts whom an agent does not listen to. Told by threads of Zenoh, asked by ours.

    Parameters
    ----------
    known : iterable of str
        Names of certificates whose links are welcome.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._refused: Counter[Reason] = Counter()
        self._named: dict[Reason, set[str]] = {}
        self._news: list[Refusal] = []
        self._lock = Lock()

    def refuse(self, reason: Reason, who: str, where: str = "") -> None:
        """Count somebody who is not heard; ``who`` may be anything."""
        name = "".join(c if c.isprintable() else "?" for c in who[:LONGEST])
        with self._lock:
            self._refused[reason] += 1
            named = self._named.setdefault(reason, set())
            if len(named) < MOST_NAMES and name not in named:
                named.add(name)
                self._news.append(Refusal(reason, name, where))

    @property
    def refused(self) -> Counter[Reason]:
        """How often somebody was refused, by reason."""
        with self._lock:
            return self._refused.copy()

    def news(self) -> list[Refusal]:
        """Return who was refused for the first time since the last call."""
        with self._lock:
            found, self._news = self._news, []
        return found

    def watcher(self, put: Any) -> Callable[[Any], None]:
        """Return what takes Zenoh's events of links, and counts those of strangers.

        All links have been through mutual TLS, so the name is that of a certificate.
        """

        def watch(event: Any) -> None:
            name = event.link.auth_identifier
            if event.kind == put and name not in self._known:
                self.refuse(Reason.STRANGER, name or "", str(event.link.dst))

        return watch
