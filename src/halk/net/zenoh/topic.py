"""Readings that come in over a Zenoh key, as they are put there by a sensor."""

from typing import Any

from halk._validation import require
from halk.net.zenoh.inbox import Inbox
from halk.net.zenoh.session import direct, zenoh_module

__all__ = ["LONGEST_READING", "Topic", "checked_topic"]

LONGEST_READING = 8192
"""Bytes of one reading."""


class Topic:
    """What was put under a key and not looked at yet; the oldest goes if it is full."""

    def __init__(self, session: Any, inbox: Inbox, key: str) -> None:
        self.key = key
        self._inbox, self._box = inbox, f"/{key}"  # no neighbour has such a name
        inbox.open(self._box)
        put = zenoh_module().SampleKind.PUT

        def take(sample: Any) -> None:
            if sample.kind == put:
                inbox.put(self._box, sample.payload, LONGEST_READING, "topic")

        self._subscriber = session.declare_subscriber(key, direct(take))

    def poll(self) -> list[bytes]:
        """Return what has arrived since the last call."""
        return [data for _, data in self._inbox.take([self._box])]


def checked_topic(key: str, network: str) -> str:
    """Return a key that readings may have."""
    is_plain = all(part and not set(part) & set("*$?#@") for part in key.split("/"))
    require(is_plain, "topic", "be words between slashes, without wildcards", key)
    is_apart = not f"{key}/".startswith(f"{network}/")
    require(is_apart, "topic", f"not be within {network}/, where agents talk", key)
    return key
