"""What was measured, and what must hold of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from benchmarks.timing import Times, ratio

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """Quick or full, and a function that is told what is being measured."""

    is_quick: bool = False
    tell: Callable[[str], None] = lambda what: None

    def pick(self, quick: T, full: T) -> T:
        """Return the size that fits.

        Examples
        --------
        >>> Plan(is_quick=True).pick(10, 1000)
        10
        """
        return quick if self.is_quick else full


class Target(NamedTuple):
    """A bound on what was measured, or on its ratio to what it is held against."""

    sense: Literal["at most", "at least", "under"]
    limit: float
    unit: str
    of: Literal["measured", "ratio"] = "measured"

    def is_met(self, value: float) -> bool:
        """Return whether a value keeps the bound; NaN does not.

        Examples
        --------
        >>> Target("under", 3, "GB").is_met(3.0), Target("at most", 3, "GB").is_met(3.0)
        (False, True)
        """
        if self.sense == "under":
            return value < self.limit
        return value <= self.limit if self.sense == "at most" else value >= self.limit

    def __str__(self) -> str:
        return f"{self.sense} {self.limit:g} {self.unit}"


TARGETS: dict[str, Target] = {
    "dense-paper": Target("at most", 2.2, "x floor", "ratio"),
    "dense-exact": Target("at most", 3.2, "x floor", "ratio"),
    "ocean": Target("at most", 2.2, "x floor", "ratio"),
    "size-growth": Target("at most", 1.5, "x V = 1,000", "ratio"),
    "size-memory": Target("under", 1.6, "GB"),
    "second": Target("at most", 3.0, "x floor", "ratio"),
    "second-large": Target("at most", 4.5, "x floor", "ratio"),
    "order": Target("at most", 2.2, "as exponent"),
    "report": Target("under", 100.0, "us"),
    "reference": Target("at least", 200.0, "x faster", "ratio"),
    "threads-speed": Target("at least", 1.6, "x faster", "ratio"),
    "threads-bits": Target("at most", 0.0, "different"),
    "start": Target("under", 0.5, "s"),
    "memory": Target("under", 80.0, "MB"),
    "single": Target("at most", 2.4, "us"),
    "kernel": Target("at most", 5.0, "x Gaussian", "ratio"),
    "loss": Target("at most", 5.0, "x Squared", "ratio"),
    "adaptive": Target("at most", 5.0, "x Fixed", "ratio"),
}
"""By name, or the beginning of one: ``dense-paper`` holds for ``dense-paper-p1``. The
last three only say that there is no cliff."""


def find_target(name: str) -> Target | None:
    """Return the target of a row.

    Examples
    --------
    >>> str(find_target("dense-paper-p3"))
    'at most 2.2 x floor'
    """
    parts = name.split("-")
    beginnings = ("-".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((TARGETS[key] for key in beginnings if key in TARGETS), None)


@dataclass(frozen=True)
class Row:
    """One measurement, and what it is held against.

    Parameters
    ----------
    name : str
        ``find_target`` finds its target by it.
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

    @classmethod
    def compare(
        cls, name: str, what: str, unit: str, own: Times, base: Times, **more: Any
    ) -> Row:
        """Return the row of two times, with the medians and their ratio."""
        factor = {"ns": 1e9, "us": 1e6, "s": 1.0}[unit.split(" ")[0]]
        details = {"best": own.best * factor, "base_best": base.best * factor}
        values: dict[str, Any] = {
            "measured": own.median * factor,
            "base": base.median * factor,
            "ratio": ratio(own, base),
        }
        details |= more.pop("details", {})
        return cls(name, what, unit, **(values | more), details=details)

    @property
    def target(self) -> Target | None:
        """What is asked of it; None if nothing."""
        return find_target(self.name)

    @property
    def holds(self) -> bool | None:
        """Whether the target is met; None if there is none, or nothing to judge."""
        if self.target is None or self.missing:
            return None
        value = self.ratio if self.target.of == "ratio" else self.measured
        return None if value is None else self.target.is_met(value)

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
    """A learner on a stream: time per sample and prequential error.

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


@dataclass(frozen=True)
class Point:
    """An agent's step at one size, in nanoseconds: of the engine, and its floor.

    ``panel`` names what grows, ``x`` is how large it is.
    """

    panel: str
    x: float
    coupling: str
    engine: float
    floor: float
    order: float


Result = Row | Score | Point
