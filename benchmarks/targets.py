"""What must hold: the figures that every row is judged by."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["TARGETS", "Target", "target_of"]


class Target(NamedTuple):
    """A bound on what was measured, or on its ratio to what it is held against."""

    sense: Literal["at most", "at least", "under"]
    limit: float
    unit: str
    of: Literal["measured", "ratio"] = "measured"

    def met(self, value: float) -> bool:
        """Return whether a value keeps the bound; NaN does not.

        Examples
        --------
        >>> Target("under", 3, "GiB").met(3.0), Target("at most", 3, "GiB").met(3.0)
        (False, True)
        """
        if self.sense == "under":
            return value < self.limit
        return value <= self.limit if self.sense == "at most" else value >= self.limit

    def __str__(self) -> str:
        return f"{self.sense} {self.limit:g} {self.unit}".rstrip()


def _times(sense: Literal["at most", "at least"], limit: float, what: str) -> Target:
    return Target(sense, limit, f"x {what}", of="ratio")


_NO_CLIFF = 5.0

TARGETS: dict[str, Target] = {
    "dense-paper": _times("at most", 2.0, "floor"),
    "dense-exact": _times("at most", 3.0, "floor"),
    "ocean": _times("at most", 2.0, "floor"),
    "size-growth": _times("at most", 1.5, "V = 1,000"),
    "size-memory": Target("under", 3.0, "GiB"),
    "order": Target("at most", 2.2, "as exponent"),
    "report": Target("under", 100.0, "us"),
    "reference": _times("at least", 200.0, "faster"),
    "threads-speed": _times("at least", 1.6, "faster"),
    "threads-bits": Target("at most", 0.0, "different"),
    "start-warm": Target("at most", 2.5, "s"),
    "start-cold": Target("at most", 12.0, "s"),
    "start-says": Target("at least", 1.0, "message"),
    "single": Target("at most", 15.0, "us"),
    "kernel": _times("at most", _NO_CLIFF, "Gaussian"),
    "loss": _times("at most", _NO_CLIFF, "Squared"),
    "adaptive": _times("at most", _NO_CLIFF, "fixed"),
}
"""By name, or the beginning of one: ``dense-paper`` holds for ``dense-paper-p1``. The
bound on kernels is taken for losses and bandwidth rules too: no cliff."""


def target_of(name: str) -> Target | None:
    """Return the target of a row.

    Examples
    --------
    >>> str(target_of("dense-paper-p3"))
    'at most 2 x floor'
    """
    parts = name.split("-")
    beginnings = ("-".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((TARGETS[key] for key in beginnings if key in TARGETS), None)
