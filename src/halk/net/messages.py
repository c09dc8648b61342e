"""What agents say to each other: five messages, and the reasons to refuse one."""

from enum import IntEnum
from typing import NamedTuple, NoReturn

from halk.errors import HalkError


class Reason(IntEnum):
    """Why something was refused; the number is what an :class:`Error` carries."""

    # bytes that are no message
    MAGIC = 1
    VERSION = 2
    KIND = 3
    LENGTH = 4
    CHECKSUM = 5
    NAME = 6
    NUMBER = 7
    DIMENSION = 8
    # messages that do not belong here
    STRANGER = 16
    IMPOSTOR = 17
    UNGREETED = 18
    MISFIT = 19
    RATE = 20
    # who never came to say one
    HANDSHAKE = 21
    # messages of another time
    OLD_INCARNATION = 32
    REPEATED = 33
    LATE = 34
    UNASKED = 35
    STEP = 36
    # contents out of bounds
    VALUE = 48
    INPUT = 49
    STD = 50
    SCALE = 51
    MULTIPLIER = 52
    FULL = 53
    DIVERGED = 54
    VARIANCE = 55
    # nothing is wrong: there is no answer yet
    UNTAUGHT = 56


class ProtocolError(HalkError, ValueError):
    """Bytes that are no message of this protocol, or a message that has no bytes."""

    def __init__(self, reason: Reason, wrong: str) -> None:
        super().__init__(f"{wrong} ({reason.name.lower()})")
        self.reason = reason


def refuse(reason: Reason, wrong: str) -> NoReturn:
    """Raise a :class:`ProtocolError`."""
    raise ProtocolError(reason, wrong)


COUPLINGS = ("paper", "exact", "predictions", "readings")
"""How agents bind, by number: two of first order, two of second."""


class Hello(NamedTuple):
    """Who is there: what two agents must have in common to talk."""

    n_features: int
    coupling: str
    """One of ``COUPLINGS``; it says the order too."""
    is_lockstep: bool
    unit: str
    """The unit of the target, to be equal on both sides; may be empty."""
    wants_reply: bool


class Query(NamedTuple):
    """A point, and what the sender predicts there; asks for the same of the receiver.

    With the number of the step that the sender is in. Where readings are exchanged the
    value is what the sender read there, and nothing is asked.
    """

    step: int
    x: tuple[float, ...]
    value: float
    multiplier: float
    std: float


class Pass(NamedTuple):
    """The sender has no reading in this step and asks nothing; in lockstep only."""

    step: int


class Answer(NamedTuple):
    """A prediction, and the log of its scale; names the query it answers."""

    incarnation: int
    sequence: int
    value: float
    log_scale: float
    variance: float = 0.0
    """Of the prediction; 0 in first order."""


class Error(NamedTuple):
    """The message with this incarnation and number was refused, and why."""

    reason: Reason
    incarnation: int
    sequence: int


Body = Hello | Query | Pass | Answer | Error


class Stamp(NamedTuple):
    """What makes a message of one sender unlike all others it ever sent."""

    incarnation: int
    """How often the sender has been started; never the same for two starts."""
    sequence: int


class Message(NamedTuple):
    """A body with its sender and stamp."""

    sender: str
    stamp: Stamp
    body: Body
