"""Agents as peers on Zenoh: linked to their neighbours, and to nobody else."""

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from halk._validation import integer, require
from halk.net.identity import Identity, checked_name
from halk.net.messages import Reason
from halk.net.protocol import MAX_LENGTH
from halk.net.zenoh.access import data_key, token_key
from halk.net.zenoh.config import configuration
from halk.net.zenoh.credentials import check_identity
from halk.net.zenoh.door import Door, Refusal
from halk.net.zenoh.endpoints import checked
from halk.net.zenoh.inbox import Inbox
from halk.net.zenoh.session import direct, open_session, zenoh_module
from halk.net.zenoh.topic import Topic, checked_topic

__all__ = ["ZenohTransport"]


class ZenohTransport:
    """A :class:`halk.net.Transport` over Zenoh.

    Messages go from agent to agent, without a broker. Which of two neighbours starts
    first does not matter, and one that returns is found again.

    Parameters
    ----------
    name : str
        Of this agent.
    listen : sequence of str
        Endpoints to listen on, such as ``tls/0.0.0.0:7447``.
    neighbours : mapping
        From names to the endpoints they listen on; none for a neighbour that connects
        to this agent.
    identity : Identity, optional
        Certificate, key and authority. With them all links are in mutual TLS, and the
        name under which bytes are handed over is that of the sender's certificate.
        Without them it is only what the sender says, and all endpoints must be on this
        machine.
    network : str
        First part of all keys: agents of two networks do not hear each other.
    allow_plain : bool
        Allow links without encryption between machines. Everybody on the way can then
        read and change what agents say, and speak in their names.
    room : int
        Messages of one neighbour that are kept until :meth:`poll`; of more, the oldest
        are dropped.
    topics : mapping
        Keys of readings (:meth:`topic`), with the names of who may put them. With an
        identity, topics that are not listed are closed.

    Raises
    ------
    TransportError
        If an endpoint cannot be listened on, or the identity does not hold.
    """

    def __init__(
        self,
        name: str,
        listen: Sequence[str],
        neighbours: Mapping[str, Sequence[str]],
        identity: Identity | None = None,
        *,
        network: str = "halk",
        allow_plain: bool = False,
        room: int = 256,
        topics: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.name, self.network = checked_name("name", name), network
        for part in network.split("/"):
            checked_name("network", part)
        for neighbour in neighbours:
            checked_name("name of a neighbour", neighbour)
        require(name not in neighbours, "neighbours", "be others", name)
        checked(listen, neighbours, identity is not None, allow_plain)
        listed = {
            checked_topic(key, network): set(n) for key, n in (topics or {}).items()
        }
        if identity is not None:
            check_identity(name, identity)
        self._topics = listed if identity is not None else None
        self._inbox = Inbox(integer("room", room, minimum=1))
        self._door = Door(
            {*neighbours, *(n for names in listed.values() for n in names)}
        )
        self._alive = dict.fromkeys(neighbours, False)
        self.n_sent, self.bytes_sent = 0, 0
        config = configuration(name, listen, neighbours, identity, network, listed)
        session = open_session(config, listen)
        self._session = session
        # Also when this object is lost and at exit: neighbours then know at once.
        self._finalize = weakref.finalize(self, _closed, session, self._inbox)
        try:
            self._declare(neighbours, identity is not None)
        except BaseException:
            self.close()
            raise

    def _declare(self, neighbours: Iterable[str], is_secure: bool) -> None:
        zenoh, session = zenoh_module(), self._session
        if is_secure:  # else links have no names
            watch = self._door.watcher(zenoh.SampleKind.PUT)
            info = session.info
            self._links = info.declare_link_events_listener(direct(watch), history=True)
        self._error = zenoh.ZError
        self._publishers = {
            name: session.declare_publisher(
                data_key(self.network, name, self.name),
                congestion_control=zenoh.CongestionControl.DROP,
                allowed_destination=zenoh.Locality.REMOTE,
            )
            for name in neighbours
        }
        for name in neighbours:
            self._inbox.open(name)
        key = data_key(self.network, self.name, "*")
        put = zenoh.SampleKind.PUT
        take = _receiver(self._inbox, self._door, set(neighbours), len(key) - 1, put)
        session.declare_subscriber(key, direct(take))
        liveliness = session.liveliness()
        for name in neighbours:
            watch = _watcher(self._alive, name, put)
            token = token_key(self.network, name)
            liveliness.declare_subscriber(token, direct(watch), history=True)
        self._token = liveliness.declare_token(token_key(self.network, self.name))

    @property
    def dropped(self) -> Counter[str]:
        """How much was thrown away before anybody saw it, by reason.

        "flood": a neighbour sent more than there is room for; "too long": more bytes
        than a message has; "deletion": no message at all; "topic": more readings than
        there is room for; "unsent": sent after the transport was closed.
        """
        return self._inbox.dropped

    @property
    def refused(self) -> Counter[Reason]:
        """How often somebody was not heard who is no neighbour.

        ``STRANGER``: with an identity, links of who has another name, once a link; else
        messages under another name. ``HANDSHAKE``: what :meth:`turn_away` was told.
        """
        return self._door.refused

    def turn_away(self, reason: Reason, who: str) -> None:
        """Count somebody who got no link, of whom the session says nothing."""
        self._door.refuse(reason, who)

    def news(self) -> list[Refusal]:
        """Return who was refused for the first time since the last call."""
        return self._door.news()

    @property
    def n_received(self) -> int:
        """Messages that arrived and were not dropped at once, and readings."""
        return self._inbox.n_received

    @property
    def bytes_received(self) -> int:
        """Bytes of those."""
        return self._inbox.bytes_received

    def send(self, receiver: str, data: bytes) -> None:
        """Send bytes to a neighbour; returns at once, and never raises for the net.

        To one that is not there, or does not read as fast as this, they are lost.
        """
        listed = receiver in self._publishers
        require(listed, "receiver", "be a neighbour", receiver)
        try:
            self._publishers[receiver].put(data)
        except self._error:
            self._inbox.drop("unsent")
        else:
            self.n_sent += 1
            self.bytes_sent += len(data)

    def poll(self) -> list[tuple[str, bytes]]:
        """Return what has arrived since the last call: senders' names and bytes."""
        return self._inbox.take(self._alive)

    def wait(self, seconds: float) -> bool:
        """Wait until a message or a reading is there; return whether one is."""
        return self._inbox.wait(seconds)

    def alive(self) -> dict[str, bool]:
        """Return which neighbours are there now."""
        return dict(self._alive)

    def topic(self, key: str) -> Topic:
        """Return the readings that come in under a key from now on."""
        checked_topic(key, self.network)
        if self._topics is not None:
            rule = "be listed in topics, with the names of who may put there"
            require(key in self._topics, "topic", rule, key)
        return Topic(self._session, self._inbox, key)

    def n_links(self) -> int:
        """Return the number of links to others, whoever they are."""
        return 0 if self._session.is_closed() else len(self._session.info.transports())

    def close(self) -> None:
        """Leave the network; may be called twice."""
        self._finalize()


def _closed(session: Any, inbox: Inbox) -> None:
    inbox.close()
    if not session.is_closed():
        session.close()


def _receiver(
    inbox: Inbox, door: Door, neighbours: set[str], n_prefix: int, put: Any
) -> Callable[[Any], None]:
    def take(sample: Any) -> None:
        if sample.kind != put:
            inbox.drop("deletion")
            return
        sender = str(sample.key_expr)[n_prefix:]
        if sender not in neighbours:
            door.refuse(Reason.STRANGER, sender)
            return
        inbox.put(sender, sample.payload, MAX_LENGTH, "flood")

    return take


def _watcher(alive: dict[str, bool], name: str, put: Any) -> Callable[[Any], None]:
    def watch(sample: Any) -> None:
        alive[name] = sample.kind == put

    return watch
