"""Bytes are exactly one message, or an error with a reason; for any bytes at all."""

import struct
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from halk.net.bodies import MAX_FEATURES, MAX_NAME
from halk.net.messages import (
    COUPLINGS,
    Answer,
    Error,
    Hello,
    Message,
    Pass,
    ProtocolError,
    Query,
    Reason,
    Stamp,
)
from halk.net.protocol import MAX_LENGTH, decode, encode

COUNTS = st.integers(0, 2**64 - 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(codec="utf-8"), max_size=16)
BODIES = st.one_of(
    st.builds(
        Hello,
        n_features=st.integers(1, MAX_FEATURES),
        coupling=st.sampled_from(COUPLINGS),
        is_lockstep=st.booleans(),
        unit=TEXT,
        wants_reply=st.booleans(),
    ),
    st.builds(
        Query,
        step=COUNTS,
        x=st.lists(NUMBERS, min_size=1, max_size=5).map(tuple),
        value=NUMBERS,
        multiplier=NUMBERS.map(abs),
        std=NUMBERS.map(abs).filter(bool),
    ),
    st.builds(Pass, step=COUNTS),
    st.builds(Answer, COUNTS, COUNTS, NUMBERS, NUMBERS, NUMBERS.map(abs)),
    st.builds(Error, st.sampled_from(Reason), COUNTS, COUNTS),
)
MESSAGES = st.builds(
    Message, TEXT.filter(bool), st.builds(Stamp, COUNTS, COUNTS), BODIES
)
QUERY = Message("süd", Stamp(3, 7), Query(5, (0.5, -1.0), 2.0, 0.25, 1.0))
TO = "nord"


def sealed(content: bytes) -> bytes:
    """Return contents with the right length and checksum, whatever else is wrong."""
    content = content[:6] + struct.pack("<H", len(content) + 4) + content[8:]
    return content + struct.pack("<I", zlib.crc32(content, zlib.crc32(TO.encode())))


@given(MESSAGES)
def test_messages_come_back_as_they_were(message):
    data = encode(message, TO)
    assert decode(data, TO) == message
    assert len(data) <= MAX_LENGTH


@given(MESSAGES, TEXT.filter(bool))
def test_what_is_for_another_is_refused(message, other):
    if other != TO:
        with pytest.raises(ProtocolError) as caught:
            decode(encode(message, TO), other)
        assert caught.value.reason is Reason.CHECKSUM


def test_the_longest_message_is_the_longest():
    x = (1.0,) * MAX_FEATURES
    message = QUERY._replace(sender="n" * MAX_NAME, body=QUERY.body._replace(x=x))
    assert len(encode(message, TO)) == MAX_LENGTH


def test_the_layout_of_a_query_is_the_one_on_the_page():
    data = bytes.fromhex(
        "48414c4b 02 02 5300 0300000000000000 0700000000000000 04 73c3bc64"
        "0500000000000000 0000000000000040 000000000000d03f 000000000000f03f"
        "0200 000000000000e03f 000000000000f0bf"
    )
    assert encode(QUERY, TO) == data + struct.pack(
        "<I", zlib.crc32(data, zlib.crc32(b"nord"))
    )


@given(st.binary(max_size=2 * MAX_LENGTH))
def test_any_bytes_are_refused_by_a_protocol_error(data):
    with pytest.raises(ProtocolError):
        decode(data, TO)


@given(st.integers(0, 255), st.integers(0, 300), st.binary(max_size=120))
def test_bytes_under_a_right_checksum_are_a_message_or_refused(kind, n_name, rest):
    # the checksum is no protection against who can compute it
    head = struct.pack("<4sBBHQQB", b"HALK", 2, kind % 8, 0, 1, 1, n_name % 70)
    data = sealed(head + rest)
    try:
        message = decode(data, TO)
    except ProtocolError:
        return
    assert encode(message, TO) == data


@given(MESSAGES, st.data())
def test_a_flipped_byte_is_noticed(message, data):
    content = bytearray(encode(message, TO))
    where = data.draw(st.integers(0, len(content) - 1))
    content[where] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ProtocolError):
        decode(bytes(content), TO)


@given(MESSAGES, st.data())
def test_a_changed_content_under_a_right_checksum_decodes_to_itself(message, data):
    content = bytearray(encode(message, TO)[:-4])
    where = data.draw(st.integers(8, len(content) - 1))
    content[where] = data.draw(st.integers(0, 255))
    changed = sealed(bytes(content))
    try:
        other = decode(changed, TO)
    except ProtocolError:
        return
    assert encode(other, TO) == changed


@given(MESSAGES, st.data())
def test_cut_or_longer_bytes_are_refused(message, data):
    content = encode(message, TO)
    short = content[: data.draw(st.integers(0, len(content) - 1))]
    longer = content + data.draw(st.binary(min_size=1, max_size=9))
    for wrong in (short, longer, sealed(content[:-4] + b"\0")):
        with pytest.raises(ProtocolError):
            decode(wrong, TO)


def changed(where: int, new: bytes) -> bytes:
    content = encode(QUERY, TO)[:-4]
    return sealed(content[:where] + new + content[where + len(new) :])


NAN, INFINITE, NEGATIVE = (
    struct.pack("<d", v) for v in map(float, ("nan", "inf", "-1"))
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.MAGIC),
        (b"HALK", Reason.LENGTH),
        (b"HELK" + encode(QUERY, TO)[4:], Reason.MAGIC),
        (changed(4, b"\1"), Reason.VERSION),
        (changed(5, b"\0"), Reason.KIND),
        (changed(5, b"\6"), Reason.KIND),
        (encode(QUERY, TO) + b"\0", Reason.LENGTH),
        (b"HALK" + bytes(MAX_LENGTH), Reason.LENGTH),
        (encode(QUERY, TO)[:-1] + b"\0", Reason.CHECKSUM),
        (changed(24, b"\0"), Reason.NAME),
        (changed(25, b"\xff\xff\xff\xff"), Reason.NAME),
        (changed(37, NAN), Reason.NUMBER),
        (changed(45, NEGATIVE), Reason.NUMBER),
        (changed(53, bytes(8)), Reason.NUMBER),
        (changed(61, b"\0\0"), Reason.DIMENSION),
        (changed(61, struct.pack("<H", MAX_FEATURES + 1)), Reason.DIMENSION),
        (changed(61, b"\3\0"), Reason.LENGTH),
        (changed(63, INFINITE), Reason.NUMBER),
    ],
)
def test_every_fault_has_its_reason(data, reason):
    with pytest.raises(ProtocolError) as caught:
        decode(data, TO)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    "body",
    [
        QUERY.body._replace(x=()),
        QUERY.body._replace(x=(0.0,) * (MAX_FEATURES + 1)),
        QUERY.body._replace(value=float("nan")),
        QUERY.body._replace(multiplier=-1.0),
        QUERY.body._replace(step=-1),
        Answer(0, 2**64, 0.0, 0.0),
        Answer(0, 0, float("inf"), 0.0),
        Answer(0, 0, 0.0, 0.0, -1.0),
        Answer(0, 0, 0.0, 0.0, float("nan")),
        Hello(1, "exact", True, "\ud800", True),
        Hello(1, "exact", True, "m" * (MAX_NAME + 1), True),
        Hello(1, "loose", True, "", True),
    ],
)
def test_what_nobody_would_accept_is_not_sent(body):
    with pytest.raises(ProtocolError):
        encode(QUERY._replace(body=body), TO)


@example("")
@example("\ud800")
@given(st.text(min_size=MAX_NAME + 1, max_size=MAX_NAME + 9))
def test_names_that_cannot_be_sent_are_refused(name):
    with pytest.raises(ProtocolError):
        encode(QUERY._replace(sender=name), TO)
