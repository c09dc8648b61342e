"""What was measured: rows of the table, scores of peers, points of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.targets import Target, target_of

__all__ = ["Point", "Result", "Results", "Row", "Score"]


@dataclass(frozen=True)
class Row:
    """One measurement, and what it is held against.

    Parameters
    ----------
    name : str
        ``targets.target_of`` finds its target by it.
    what : str
        The workload in words.
    measured : float, optional
        In ``unit``; None if it could not be measured.
    base : float, optional
        What it is compared with, in the same unit: the floor, unless ``against`` says
        otherwise.
    ratio : float, optional
        Of the two, as the target reads it.
    note : str
        What a reader should know beside the numbers.
    missing : str
        Why it was not measured or cannot be judged; empty if it was and can.
    details : dict
        Further numbers, for the JSON file.
    """

    name: str
    what: str
    unit: str = ""
    measured: float | None = None
    base: float | None = None
    against: str = "floor"
    ratio: float | None = None
    note: str = ""
    missing: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> Target | None:
        """What the issue asks of it; None if nothing."""
        return target_of(self.name)

    @property
    def holds(self) -> bool | None:
        """Whether the target is met; None if there is none, or nothing to judge."""
        value = None
        if self.target is not None and not self.missing:
            value = self.ratio if self.target.of == "ratio" else self.measured
        return None if value is None or self.target is None else self.target.met(value)

    @property
    def verdict(self) -> str:
        """Whether it holds, in a word; a dash if that cannot be said."""
        return {True: "yes", False: "NO", None: "–"}[self.holds]

    def as_json(self) -> dict[str, Any]:
        """Return all fields, with target and verdict."""
        target = None if self.target is None else str(self.target)
        return asdict(self) | {"target": target, "holds": self.holds}


@dataclass(frozen=True)
class Score:
    """A learner on a stream: time a sample and prequential error.

    ``n_samples`` is how many it went through, ``size`` how many weights it ended with;
    all are None if its package is ``missing``.
    """

    stream: str
    peer: str
    microseconds: float | None = None
    error: float | None = None
    n_samples: int | None = None
    size: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    missing: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return all fields."""
        return asdict(self)


@dataclass(frozen=True)
class Point:
    """An agent-step at one size, in nanoseconds: of the engine, and its floor.

    ``panel`` names what grows, ``x`` is how large it is.
    """

    panel: str
    x: float
    coupling: str
    engine: float
    floor: float
    order: float

    def as_json(self) -> dict[str, Any]:
        """Return all fields."""
        return asdict(self)


Result = Row | Score | Point


@dataclass(frozen=True)
class Results:
    """Everything of one run, in the order measured."""

    items: Sequence[Result]

    @property
    def rows(self) -> list[Row]:
        """The rows of the table."""
        return [item for item in self.items if isinstance(item, Row)]

    @property
    def scores(self) -> list[Score]:
        """The peers."""
        return [item for item in self.items if isinstance(item, Score)]

    @property
    def points(self) -> list[Point]:
        """The points of the figure."""
        return [item for item in self.items if isinstance(item, Point)]

    def as_json(self) -> dict[str, Any]:
        """Return lists of rows, peers and points."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "peers": [score.as_json() for score in self.scores],
            "scaling": [point.as_json() for point in self.points],
        }
