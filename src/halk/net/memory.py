"""The transport within one process: nothing is lost, everything is in order."""

from collections import deque


class Hub:
    """Where the transports of one process meet.

    Examples
    --------
    >>> hub = Hub()
    >>> north, south = hub.join("north"), hub.join("south")
    >>> north.send("south", b"hello")
    >>> south.poll()
    [('north', b'hello')]
    """

    def __init__(self) -> None:
        self._boxes: dict[str, deque[tuple[str, bytes]]] = {}

    def join(self, name: str) -> "MemoryTransport":
        """Return a transport under a name that nobody else has now."""
        if name in self._boxes:
            raise ValueError(f"name must not be taken, got {name!r}")
        self._boxes[name] = deque()
        return MemoryTransport(self, name)

    def leave(self, name: str) -> None:
        """Forget a name, and what lies in its box."""
        self._boxes.pop(name, None)

    def carry(self, sender: str, receiver: str, data: bytes) -> None:
        """Take bytes from a sender; here they arrive at once."""
        self.deliver(sender, receiver, data)

    def deliver(self, sender: str, receiver: str, data: bytes) -> None:
        """Put bytes into a box; those for nobody are lost."""
        if receiver in self._boxes:
            self._boxes[receiver].append((sender, data))

    def collect(self, name: str) -> list[tuple[str, bytes]]:
        """Empty a box."""
        box = self._boxes.get(name, deque())
        found = list(box)
        box.clear()
        return found


class MemoryTransport:
    """One end of a :class:`Hub`; a :class:`halk.net.transport.Transport`."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub, self.name = hub, name

    def send(self, receiver: str, data: bytes) -> None:
        """Send bytes to a neighbour."""
        self._hub.carry(self.name, receiver, data)

    def poll(self) -> list[tuple[str, bytes]]:
        """Return what has arrived since the last call."""
        return self._hub.collect(self.name)

    def close(self) -> None:
        """Leave the hub."""
        self._hub.leave(self.name)
