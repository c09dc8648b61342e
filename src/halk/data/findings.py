"""What is wrong with a table, or worth knowing, and what to do about it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

from halk._validation import Indices
from halk.errors import DataError

ERROR, WARNING, NOTE = "error", "warning", "note"
"""What stops learning; what makes it worse; what is only mentioned."""

LISTED = 5
"""How many places a message lists."""


def counted(n: int, one: str, many: str = "") -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "copy", "copies")
    ('1 row', '2,000 copies')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def suggest(name: str, known: Sequence[str]) -> str:
    """Return a hint at the nearest of the ``known`` names, or nothing.

    Examples
    --------
    >>> suggest("depht_m", ["node", "depth_m"])
    ", did you mean 'depth_m'?"
    """
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def shorten(names: Sequence[str]) -> str:
    """Return names in one line, of many the first and the last.

    Examples
    --------
    >>> shorten(["a", "b"]), shorten(["1", "2", "3", "4", "5", "6"])
    ('a, b', '1, 2, 3, ..., 6')
    """
    return ", ".join(names if len(names) < 6 else [*names[:3], "...", names[-1]])


def problems(found: Sequence[str], advice: str) -> DataError:
    """Return what to raise for problems of one kind, of which a few are listed."""
    lines = _first(found)
    return DataError("\n".join(lines) + ("; " if len(lines) == 1 else "\n") + advice)


def _first(places: Sequence[str]) -> list[str]:
    more = len(places) - LISTED
    return [*places[:LISTED], *([f"... and {more} more"] if more > 0 else [])]


@dataclass(frozen=True)
class Finding:
    """One thing found."""

    level: str  # ERROR, WARNING or NOTE
    code: str  # what kind of thing, for machines: "bad-cell"
    message: str  # what was found, in which file, in one sentence
    advice: str = ""  # what to do; empty if nothing need be done
    places: Sequence[str] = ()  # where, of which the text shows a few

    @property
    def text(self) -> str:
        """The finding as a user reads it."""
        lines = [self.message, *(f"  {place}" for place in _first(self.places))]
        return "\n".join(lines + ([f"  -> {self.advice}"] if self.advice else []))

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON, with all its places."""
        return asdict(self) | {"places": list(self.places)}


@dataclass
class Findings:
    """Everything found so far."""

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

    def add_rows(
        self,
        rows: Indices,
        show: Callable[[int], str],
        level: str,
        code: str,
        message: str,
        advice: str = "",
    ) -> None:
        """Add a finding about rows, if there are any; ``show`` says where one is."""
        if len(rows):
            self.add(level, code, message, advice, map(show, rows.tolist()))

    def of(self, level: str) -> list[Finding]:
        """Return the findings of one level."""
        return [finding for finding in self.found if finding.level == level]

    @property
    def sorted(self) -> list[Finding]:
        """All findings, errors first."""
        return [one for level in (ERROR, WARNING, NOTE) for one in self.of(level)]

    def refuse(self) -> None:
        """Raise what stops learning, if there is any."""
        if errors := self.of(ERROR):
            raise DataError("\n".join(finding.text for finding in errors))
