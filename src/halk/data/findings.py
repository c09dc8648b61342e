"""What is wrong with a table, or worth knowing, and what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from halk.errors import DataError

ERROR, WARNING, NOTE = "error", "warning", "note"
"""What stops learning; what makes it worse; what is only said."""

LISTED = 5
"""How many places a finding lists."""


def counted(n: int, one: str, many: str = "") -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "copy", "copies")
    ('1 row', '2,000 copies')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names, or the first and the last of many.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["1", "2", "3", "4", "5", "6"])
    ('a, b', '1, 2, 3, ..., 6')
    """
    return ", ".join(names if len(names) < 6 else [*names[:3], "...", names[-1]])


@dataclass(frozen=True)
class Finding:
    """One thing found.

    Parameters
    ----------
    level : {"error", "warning", "note"}
    code : str
        What kind of thing, for machines: "bad-number".
    message : str
        What was found, where, in one sentence.
    advice : str
        What to do; empty if nothing need be done.
    places : sequence of str
        Where, of which a few are shown.
    """

    level: str
    code: str
    message: str
    advice: str = ""
    places: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The finding as a user reads it."""
        lines = [self.message, *(f"  {place}" for place in self.places[:LISTED])]
        more = len(self.places) - LISTED
        lines += [f"  ... and {more} more"] if more > 0 else []
        lines += [f"  -> {self.advice}"] if self.advice else []
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON, with all its places."""
        return {
            "level": self.level, "code": self.code, "message": self.message,
            "advice": self.advice, "places": list(self.places),
        }  # fmt: skip


@dataclass
class Findings:
    """Everything found so far, worst first when asked for."""

    found: list[Finding] = field(default_factory=list)

    def add(
        self,
        level: str,
        code: str,
        message: str,
        advice: str = "",
        places: Iterable[str] = (),
    ) -> None:
        """Add a finding."""
        self.found.append(Finding(level, code, message, advice, tuple(places)))

    def of(self, level: str) -> list[Finding]:
        """Return the findings of one level."""
        return [finding for finding in self.found if finding.level == level]

    @property
    def sorted(self) -> list[Finding]:
        """All findings, errors first."""
        return [one for level in (ERROR, WARNING, NOTE) for one in self.of(level)]

    def refuse(self) -> None:
        """Raise what stops learning, if there is any."""
        errors = self.of(ERROR)
        if errors:
            raise DataError("\n".join(finding.text for finding in errors))
