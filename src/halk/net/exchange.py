"""What was said in one step of lockstep, kept until nobody can ask for it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from halk.net.messages import Answer, Error, Message, Pass, Query, Stamp
from halk.net.protocol import decode, encode

Turn = Query | Pass

_FILE = "file"
"""The receiver of messages that are kept."""


@dataclass
class Exchange:
    """One step: what was said, heard, answered and got, by neighbour."""

    step: int
    mine: dict[str, Turn] = field(default_factory=dict)
    theirs: dict[str, tuple[Stamp, Turn]] = field(default_factory=dict)
    given: dict[str, Answer | Error | None] = field(default_factory=dict)
    """Answers to queries, or why there is none; None where none is waited for."""
    got: dict[str, Answer | None] = field(default_factory=dict)
    """Answers to the own queries; None where there will be none."""
    sent: dict[str, set[Stamp]] = field(default_factory=dict)
    """Under which stamps ``mine`` went out; of this run only."""
    said_again: dict[str, float] = field(default_factory=dict)
    """When ``mine`` was last said to one who asks about the step before; this run."""
    has_begun: bool = False
    """Whether the agent knows if it has a reading in this step."""

    def is_heard(self, names: list[str]) -> bool:
        """Return whether the step has begun here and at all neighbours."""
        return self.has_begun and all(name in self.theirs for name in names)

    def is_complete(self) -> bool:
        """Return whether all answers are in."""
        asked = (n for n, turn in self.mine.items() if isinstance(turn, Query))
        return all(name in self.got for name in asked)

    def lacks(self, name: str) -> bool:
        """Return whether something from this neighbour is still missing."""
        asked = isinstance(self.mine.get(name), Query)
        return name not in self.theirs or (asked and name not in self.got)

    def notes(self) -> dict[str, Any]:
        """Return the exchange as JSON; messages are in their own bytes."""
        nobody = Stamp(0, 0)
        return {
            "step": self.step,
            "has_begun": self.has_begun,
            "mine": {n: as_text(n, nobody, turn) for n, turn in self.mine.items()},
            "theirs": {n: as_text(n, *said) for n, said in self.theirs.items()},
            "given": {n: as_text(n, nobody, a) for n, a in self.given.items()},
            "got": {n: as_text(n, nobody, a) for n, a in self.got.items()},
        }


def exchange_of(notes: dict[str, Any]) -> Exchange:
    """Return the exchange that notes tell of."""
    parts: dict[str, dict[str, Any]] = {
        part: {name: from_text(text) for name, text in notes[part].items()}
        for part in ("mine", "theirs", "given", "got")
    }
    return Exchange(
        step=int(notes["step"]),
        has_begun=bool(notes["has_begun"]),
        mine={name: m.body for name, m in parts["mine"].items()},
        theirs={name: (m.stamp, m.body) for name, m in parts["theirs"].items()},
        given={name: m and m.body for name, m in parts["given"].items()},
        got={name: m and m.body for name, m in parts["got"].items()},
    )


def as_text(name: str, stamp: Stamp, body: Turn | Answer | Error | None) -> str | None:
    """Return a message that is kept, as JSON."""
    return None if body is None else encode(Message(name, stamp, body), _FILE).hex()


def from_text(text: str | None) -> Message | None:
    """Return the message that :func:`as_text` was given."""
    return None if text is None else decode(bytes.fromhex(text), _FILE)
