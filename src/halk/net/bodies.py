"""The bodies of messages as bytes, and back; and the checks of what they hold."""

import struct
from math import isfinite
from typing import Any

from halk.net.messages import (
    COUPLINGS,
    Answer,
    Body,
    Error,
    Hello,
    Pass,
    Query,
    Reason,
    refuse,
)

MAX_NAME = 64
"""Most bytes of a name or a unit."""
MAX_FEATURES = 256
MAX_BODY = 34 + 8 * MAX_FEATURES
"""Bytes of the longest body, that of a query."""

_HELLO = struct.Struct("<HBBB")  # features, coupling, flags, length of the unit
_QUERY = struct.Struct("<QdddH")  # step, value, multiplier, std, features
_PASS = struct.Struct("<Q")
_ANSWER = struct.Struct("<QQddd")
_ERROR = struct.Struct("<BQQ")

_LOCKSTEP, _REPLY = 1, 2
_LARGEST_COUNT = 2**64 - 1


def packed_text(text: str, what: str, shortest: int = 0) -> bytes:
    """Return a name or a unit as bytes, if it can be sent."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        refuse(Reason.NAME, f"{what} {text!r} has no UTF-8")
    if not shortest <= len(content) <= MAX_NAME:
        limits = f"{shortest} to {MAX_NAME} bytes of UTF-8"
        refuse(Reason.NAME, f"{what} must have {limits}, got {text!r}")
    return content


def text(content: bytes, length: int, what: str, shortest: int = 0) -> str:
    """Return the name or unit that bytes are."""
    if len(content) != length:
        refuse(Reason.LENGTH, f"{what} of {length} bytes has only {len(content)}")
    if not shortest <= length <= MAX_NAME:
        refuse(Reason.NAME, f"{what} has {length} bytes, not {shortest} to {MAX_NAME}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        refuse(Reason.NAME, f"{what} is not UTF-8")


def count(number: int, what: str) -> int:
    """Return a number that counts, if it can be sent."""
    if not 0 <= number <= _LARGEST_COUNT:
        refuse(Reason.NUMBER, f"{what} must be of 64 bits, got {number}")
    return number


def _dimension(n_features: int) -> int:
    if not 1 <= n_features <= MAX_FEATURES:
        refuse(Reason.DIMENSION, f"{n_features} features, not 1 to {MAX_FEATURES}")
    return n_features


def _finite(*numbers: float) -> None:
    for number in numbers:
        if not isfinite(number):
            refuse(Reason.NUMBER, f"numbers must be finite, got {number}")


def _check_query(body: Query) -> None:
    _finite(*body.x, body.value, body.multiplier, body.std)
    if body.multiplier < 0:
        refuse(Reason.NUMBER, f"multiplier must not be negative: {body.multiplier}")
    if body.std <= 0:
        refuse(Reason.NUMBER, f"std must be positive, got {body.std}")


def _check_answer(body: Answer) -> None:
    _finite(body.value, body.log_scale, body.variance)
    if body.variance < 0:
        refuse(Reason.NUMBER, f"variance must not be negative: {body.variance}")


def packed(body: Body) -> bytes:
    """Return the bytes of a body, or refuse it."""
    match body:
        case Hello():
            flags = _LOCKSTEP * body.is_lockstep + _REPLY * body.wants_reply
            if body.coupling not in COUPLINGS:
                refuse(Reason.KIND, f"unknown coupling {body.coupling!r}")
            n, coupling = _dimension(body.n_features), COUPLINGS.index(body.coupling)
            unit = packed_text(body.unit, "unit")
            return _HELLO.pack(n, coupling, flags, len(unit)) + unit
        case Query():
            _check_query(body)
            n, step = _dimension(len(body.x)), count(body.step, "step")
            fixed = (step, body.value, body.multiplier, body.std, n)
            return _QUERY.pack(*fixed) + struct.pack(f"<{n}d", *body.x)
        case Pass():
            return _PASS.pack(count(body.step, "step"))
        case Answer():
            _check_answer(body)
            count(body.incarnation, "incarnation"), count(body.sequence, "sequence")
            return _ANSWER.pack(*body)
        case Error():
            count(body.incarnation, "incarnation"), count(body.sequence, "sequence")
            return _ERROR.pack(Reason(body.reason), body.incarnation, body.sequence)


def _fixed(layout: struct.Struct, content: bytes, is_whole: bool = True) -> Any:
    has_room = len(content) >= layout.size
    if not has_room or (is_whole and len(content) > layout.size):
        wanted = f"{layout.size} bytes" if is_whole else f"at least {layout.size}"
        refuse(Reason.LENGTH, f"the body needs {wanted}, got {len(content)}")
    return layout.unpack_from(content)


def unpacked(kind: type[Body], content: bytes) -> Body:
    """Return the body of a kind that bytes are, or refuse them."""
    if kind is Hello:
        return _unpacked_hello(content)
    if kind is Query:
        return _unpacked_query(content)
    if kind is Pass:
        return Pass(*_fixed(_PASS, content))
    if kind is Answer:
        answer = Answer(*_fixed(_ANSWER, content))
        _check_answer(answer)
        return answer
    reason, incarnation, sequence = _fixed(_ERROR, content)
    if reason not in Reason.__members__.values():
        refuse(Reason.KIND, f"no reason has number {reason}")
    return Error(Reason(reason), incarnation, sequence)


def _unpacked_hello(content: bytes) -> Hello:
    n_features, coupling, flags, length = _fixed(_HELLO, content, is_whole=False)
    if flags > _LOCKSTEP + _REPLY:
        refuse(Reason.KIND, f"unknown flags {flags:#x}")
    if coupling >= len(COUPLINGS):
        refuse(Reason.KIND, f"no coupling has number {coupling}")
    rest = content[_HELLO.size :]
    if len(rest) > length:
        refuse(Reason.LENGTH, f"unit of {length} bytes has {len(rest)}")
    return Hello(
        n_features=_dimension(n_features),
        coupling=COUPLINGS[coupling],
        is_lockstep=bool(flags & _LOCKSTEP),
        unit=text(rest, length, "unit"),
        wants_reply=bool(flags & _REPLY),
    )


def _unpacked_query(content: bytes) -> Query:
    step, value, multiplier, std, n = _fixed(_QUERY, content, is_whole=False)
    rest = content[_QUERY.size :]
    if len(rest) != 8 * _dimension(n):
        refuse(Reason.LENGTH, f"{n} features need {8 * n} bytes, got {len(rest)}")
    x = struct.unpack(f"<{n}d", rest)
    query = Query(step, x, value, multiplier, std)
    _check_query(query)
    return query
