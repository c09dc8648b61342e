"""The hub of a world: takes bytes from nodes and decides what becomes of them."""

from typing import TYPE_CHECKING, Any

from halk.net.faults.delays import delay_of
from halk.net.memory import Hub
from halk.net.messages import Answer, Hello, Query
from halk.net.protocol import decode, encode

if TYPE_CHECKING:
    from halk.net.faults.world import World


class FaultyHub(Hub):
    """Drops, delays, doubles and corrupts messages, and makes up others."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world
        self.cut: dict[tuple[str, str], float] = {}
        """Until when two cannot hear each other."""
        self._old: list[tuple[str, str, bytes]] = []

    def is_cut(self, a: str, b: str) -> bool:
        """Return whether the link between two is down."""
        now, until = self._world.now, self._world.faults.until
        is_down = any(now < self.cut.get(pair, 0.0) for pair in ((a, b), (b, a)))
        return is_down and now < until

    def carry(self, sender: str, receiver: str, data: bytes) -> None:
        """Take bytes from a sender; whether and when they arrive is chance."""
        world, faults, rng = self._world, self._world.faults, self._world.rng
        if world.now >= faults.until:
            time = world.now + delay_of(faults.delay).mean
            world.at(time, "deliver", (sender, receiver, data))
            return
        if rng.random() < faults.forge:
            self._forge(sender, receiver)
        self._old.append((sender, receiver, data))
        if rng.random() < faults.lie:
            data = self._lie(data, receiver)
        if rng.random() < faults.drop or self.is_cut(sender, receiver):
            return
        for _ in range(2 if rng.random() < faults.duplicate else 1):
            content = data
            if rng.random() < faults.corrupt:
                content = self._corrupted(data)
            time = world.arrival(sender, receiver)
            world.at(time, "deliver", (sender, receiver, content))

    def _corrupted(self, data: bytes) -> bytes:
        rng, content = self._world.rng, bytearray(data)
        match rng.randrange(3):
            case 0:
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            case 1:
                del content[rng.randrange(len(content)) :]
            case _:
                content += rng.randbytes(3)
        return bytes(content)

    def _forge(self, sender: str, receiver: str) -> None:
        """Send what nobody said now: noise, or an old message.

        Again, under another name, or to somebody else.
        """
        world, rng = self._world, self._world.rng
        packet = (sender, receiver, rng.randbytes(rng.randrange(90)))
        match rng.randrange(4):
            case 0 if self._old:
                packet = rng.choice(self._old)
            case 1 if self._old:
                name = rng.choice(("stranger", sender))
                packet = (name, *rng.choice(self._old)[1:])
            case 2 if self._old:
                name, _, data = rng.choice(self._old)
                packet = (name, receiver, data)
        world.at(world.now + world.faults.latency(rng), "deliver", packet)

    def _lie(self, data: bytes, receiver: str) -> bytes:
        """Return a message as a liar would send it: all is right but a number."""
        rng, message = self._world.rng, decode(data, receiver)
        wild = rng.choice((1e300, -1e300, 1e-300, 1e40, 2.0**63, 30.0, -3.0))
        body = message.body
        if isinstance(body, Query):
            size, x = abs(wild), (wild,) * len(body.x)
            lies: dict[str, Any] = {
                "x": x,
                "value": wild,
                "multiplier": size,
                "std": size,
            }
            name = rng.choice(list(lies))
            body = body._replace(**{name: lies[name]})
        elif isinstance(body, Answer):
            body = body._replace(value=wild)
            if rng.random() < 0.6:
                body = body._replace(log_scale=wild, variance=abs(wild))
        elif isinstance(body, Hello):
            body = body._replace(n_features=7)
        return encode(message._replace(body=body), receiver)
