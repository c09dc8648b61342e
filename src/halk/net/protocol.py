"""Messages as bytes, and back: version 2, little endian, a checksum at the end.

A message is a head, the sender's name, a body and a CRC-32 of the receiver's name and
all that; ``docs/protocol.md`` draws it. Decoding is strict: bytes are exactly one
message that :func:`encode` could have made, or they are a :class:`ProtocolError` with
the reason.
"""

import struct
import zlib

from halk.net.bodies import (
    MAX_BODY,
    MAX_NAME,
    count,
    packed,
    packed_text,
    text,
    unpacked,
)
from halk.net.messages import (
    Answer,
    Body,
    Error,
    Hello,
    Message,
    Pass,
    ProtocolError,
    Query,
    Reason,
    Stamp,
    refuse,
)

__all__ = ["MAGIC", "MAX_LENGTH", "VERSION", "ProtocolError", "decode", "encode"]

MAGIC = b"HALK"
VERSION = 2

_HEAD = struct.Struct("<4sBBHQQB")  # magic, version, kind, length, stamp, name length
_CHECKSUM = struct.Struct("<I")
_KINDS: tuple[type[Body], ...] = (Hello, Query, Pass, Answer, Error)

MAX_LENGTH = _HEAD.size + MAX_NAME + MAX_BODY + _CHECKSUM.size
"""Bytes of the longest message."""


def encode(message: Message, receiver: str) -> bytes:
    """Return the bytes of a message for a receiver, by its name.

    The name is not sent, but the checksum begins with it: what arrives at somebody else
    is refused there. A query is for one neighbour, it has the multiplier of that edge.

    Raises
    ------
    ProtocolError
        If it holds what no receiver would accept: then it must not be sent.
    """
    kind, body = _KINDS.index(type(message.body)) + 1, packed(message.body)
    name = packed_text(message.sender, "name", 1)
    length = _HEAD.size + len(name) + len(body) + _CHECKSUM.size
    stamp = (count(number, "stamp") for number in message.stamp)
    head = _HEAD.pack(MAGIC, VERSION, kind, length, *stamp, len(name))
    content = head + name + body
    return content + _CHECKSUM.pack(_checksum(content, receiver))


def decode(data: bytes, receiver: str) -> Message:
    """Return the message that bytes are, to a receiver of this name.

    Raises
    ------
    ProtocolError
        For all other bytes, and nothing else for any bytes at all.
    """
    if len(data) > MAX_LENGTH:
        refuse(Reason.LENGTH, f"at most {MAX_LENGTH} bytes, got {len(data)}")
    if data[:4] != MAGIC:
        refuse(Reason.MAGIC, "the first bytes are not HALK")
    if len(data) < _HEAD.size + _CHECKSUM.size:
        refuse(Reason.LENGTH, f"{len(data)} bytes are less than head and checksum")
    _, version, kind, length, incarnation, number, n_name = _HEAD.unpack_from(data)
    if version != VERSION:
        refuse(Reason.VERSION, f"version {version}, this is version {VERSION}")
    if length != len(data):
        refuse(Reason.LENGTH, f"{length} bytes announced, got {len(data)}")
    content = data[: -_CHECKSUM.size]
    if _CHECKSUM.unpack_from(data, len(content))[0] != _checksum(content, receiver):
        refuse(Reason.CHECKSUM, "the checksum is another")
    if not 1 <= kind <= len(_KINDS):
        refuse(Reason.KIND, f"no message has kind {kind}")
    end = _HEAD.size + n_name
    sender = text(content[_HEAD.size : end], n_name, "name", 1)
    body = unpacked(_KINDS[kind - 1], content[end:])
    return Message(sender, Stamp(incarnation, number), body)


def _checksum(content: bytes, receiver: str) -> int:
    return zlib.crc32(content, zlib.crc32(packed_text(receiver, "name", 1)))
