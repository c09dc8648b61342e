"""The transport between machines: Eclipse Zenoh, with mutual TLS.

Needs Zenoh and cryptography: ``pip install 'halk[net]'``. ``docs/protocol.md`` says who
is heard, and ``docs/decisions/0010-transport.md`` why it is done this way.
"""

from halk.net.identity import Identity
from halk.net.zenoh.topic import Topic
from halk.net.zenoh.transport import ZenohTransport

__all__ = ["Identity", "Topic", "ZenohTransport"]
