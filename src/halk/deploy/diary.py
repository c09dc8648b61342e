"""What an agent remembers beside its model: readings, errors, its place in the feed.

It goes into the node's own file, so that model and place are always of one moment.
"""

from __future__ import annotations

from math import inf, isfinite, nan, sqrt
from typing import Any

from halk.deploy.feeds import Feed
from halk.deploy.times import Times
from halk.net import FreeNode, LockstepNode, Parcel
from halk.net.messages import Answer
from halk.net.node import Node
from halk.net.peer import Peer

RECENT = 100
"""Readings that the recent error is about, roughly."""

_OPEN = 1000
"""Queries without an answer that are remembered, for how long it takes."""

COUNTS = ("n_readings", "n_gaps", "n_bad", "n_diverged")


class Score:
    """Errors of predictions made before learning."""

    def __init__(self) -> None:
        self.n_readings = 0
        self.last_error = nan
        self._squares = 0.0
        self._recent = nan

    def add(self, prediction: float, y: float) -> None:
        """Note a reading, and what was predicted for it."""
        self.n_readings += 1
        self.last_error = error = y - prediction
        square = error * error
        self._squares += square
        weight = max(1 / self.n_readings, 1 / RECENT)
        is_first = self._recent != self._recent
        gained = 0.0 if is_first else (1 - weight) * self._recent
        self._recent = gained + (square if is_first else weight * square)

    @property
    def rmse(self) -> float:
        """Root mean square of all errors; NaN before the first reading."""
        return sqrt(self._squares / self.n_readings) if self.n_readings else nan

    @property
    def recent_rmse(self) -> float:
        """The same of the last hundred readings, roughly."""
        return sqrt(self._recent) if self._recent >= 0 else nan


class Diary(Score):
    """Errors, counts of rows, and the place in the feed."""

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed
        self.n_gaps = 0
        self.n_bad = 0
        self.n_diverged = 0
        """Readings that could not be learned, since the prediction was not finite."""
        self.saved_at = 0.0
        """When the file was written, in seconds since 1970; by the wall clock."""

    def notes(self) -> dict[str, Any]:
        """Return all of it, as JSON."""
        numbers = {"squares": self._squares, "recent": self._recent}
        numbers["last_error"] = self.last_error
        known = {k: v if isfinite(v) else None for k, v in numbers.items()}
        counts = {name: getattr(self, name) for name in COUNTS}
        place = self.feed.position()
        return counts | known | {"saved_at": self.saved_at, "place": place}

    def recall(self, notes: dict[str, Any]) -> None:
        """Go on from notes; the feed too."""
        for name in COUNTS:
            setattr(self, name, int(notes[name]))
        self.saved_at = float(notes["saved_at"])
        squares, self._recent, self.last_error = (
            nan if notes[name] is None else float(notes[name])
            for name in ("squares", "recent", "last_error")
        )
        self._squares = inf if squares != squares else squares
        self.feed.seek(notes["place"])


class _Remembering(Node):
    """A node that keeps a diary."""

    def __init__(self, *args: Any, diary: Diary, **options: Any) -> None:
        super().__init__(*args, **options)
        self.diary = diary

    def notes(self) -> dict[str, Any]:
        """Return what must outlive a restart, as JSON."""
        return super().notes() | {"diary": self.diary.notes()}

    def recall(self, notes: dict[str, Any]) -> None:
        """Take over the notes of an earlier run."""
        super().recall(notes)
        self.diary.recall(notes["diary"])


class FieldNode(_Remembering, FreeNode):
    """A free-running node with a diary, and an eye on how long answers take."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.round_trips = Times()
        """From queries to their answers, since this start."""
        self._asked_at: dict[int, float] = {}

    def read(self, x: Any, y: float, now: float) -> list[Parcel]:
        """Take in a reading; return the queries about it."""
        parcels = super().read(x, y, now)
        self._asked_at |= {stamp.sequence: now for stamp in self._asks.values()}
        while len(self._asked_at) > _OPEN:  # those that nobody answered
            del self._asked_at[next(iter(self._asked_at))]
        return parcels

    def _answered(self, peer: Peer, answer: Answer, now: float) -> list[Parcel]:
        asked_at = self._asked_at.pop(answer.sequence, None)
        if asked_at is not None and answer.incarnation == self.incarnation:
            self.round_trips.add(now - asked_at)
        return super()._answered(peer, answer, now)


class StepNode(_Remembering, LockstepNode):
    """A node in lockstep with a diary."""
