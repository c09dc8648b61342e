"""What has arrived and was not looked at yet: bounded, for every sender by itself."""

from collections import Counter, deque
from collections.abc import Iterable
from threading import Condition
from typing import Any

__all__ = ["Inbox"]


class Inbox:
    """Boxes by name, each with room for so many; a full one loses its oldest.

    A sender that floods its box takes nothing from the others. Filled by the threads
    of Zenoh, emptied by one of ours.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.dropped: Counter[str] = Counter()
        self.n_received = 0
        self.bytes_received = 0
        self._boxes: dict[str, deque[bytes]] = {}
        self._changed = Condition()
        self._is_closed = False

    def open(self, name: str) -> None:
        """Make a box."""
        self._boxes[name] = deque(maxlen=self.room)

    def put(self, name: str, payload: Any, longest: int, full: str) -> None:
        """Put a payload into a box, or count why not.

        ``full`` is the reason under which the oldest is counted that has to go.
        """
        box, size = self._boxes[name], len(payload)
        with self._changed:
            if size > longest:  # before it is copied
                self.dropped["too long"] += 1
            else:
                if len(box) == self.room:
                    self.dropped[full] += 1
                box.append(bytes(payload))
                self.n_received += 1
                self.bytes_received += size
                self._changed.notify_all()

    def drop(self, reason: str) -> None:
        """Count something that was not put into a box."""
        with self._changed:
            self.dropped[reason] += 1

    def take(self, names: Iterable[str]) -> list[tuple[str, bytes]]:
        """Empty some boxes."""
        with self._changed:
            found = [(name, data) for name in names for data in self._boxes[name]]
            for name in names:
                self._boxes[name].clear()
        return found

    def wait(self, seconds: float) -> bool:
        """Wait until a box has something; return whether one has."""
        with self._changed:
            self._changed.wait_for(self._is_ready, max(seconds, 0.0))
            return any(self._boxes.values())

    def _is_ready(self) -> bool:
        return self._is_closed or any(self._boxes.values())

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
