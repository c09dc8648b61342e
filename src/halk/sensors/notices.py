"""What a method noticed about sensors: suspect readings, stuck, drifts, new levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from halk.data.schema import TIME
from halk.data.times import format_times
from halk.sensors.method import Method

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

LEAST_DRIFT = 0.5
"""Standard deviations below which a drift is not worth a word."""

SUSPECT, STUCK, DRIFT, SHIFT = KINDS = ("suspect", "stuck", "drift", "shift")

_PARTS = {SUSPECT: "suspects", STUCK: "stuck", DRIFT: "drifts", SHIFT: "shifts"}


class Notice(NamedTuple):
    """One thing noticed.

    Attributes
    ----------
    kind : {"suspect", "stuck", "drift", "shift"}
    sensor : str
    start, end : float
        In seconds since 1970, or in the first input; NaN if it goes on.
    value, expected : float
        What was read, and what was expected; of a shift the level after and before.
    deviation : float
        How far that is, in standard deviations; NaN if it is not told so.
    """

    kind: str
    sensor: str
    start: float
    end: float
    value: float
    expected: float
    deviation: float

    @property
    def weight(self) -> float:
        """How much is to be said for it: how far off it is, or how long it lasts."""
        size = self.end - self.start if self.kind == STUCK else self.deviation
        return abs(float(size)) if np.isfinite(size) else 0.0

    def text(self, model: SensorModel) -> str:
        """Return the notice as an operator reads it."""
        when, until = self._times(model)
        shown = model.shown
        if self.kind == STUCK:
            return f"{shown(self.value)} from {when} to {until}"
        if self.kind == DRIFT:
            side = "above" if self.deviation > 0 else "below"
            return (
                f"drifts since {when}, by now {abs(self.deviation):.1f} standard "
                f"deviations {side} what its neighbours say"
            )
        if self.kind == SHIFT:
            return f"another level since {when}: {shown(self.value)} after " + (
                f"{shown(self.expected)}"
            )
        side = "above" if self.deviation > 0 else "below"
        return (
            f"{shown(self.value)} at {when}, {abs(self.deviation):.1f} standard "
            f"deviations {side} what its neighbours and its own past say"
        )

    def as_dict(self, model: SensorModel) -> dict[str, Any]:
        """Return the notice for JSON."""
        start, end = self._times(model)
        return self._asdict() | {
            "start": start, "end": end, "text": self.text(model)
        }  # fmt: skip

    def _times(self, model: SensorModel) -> tuple[str, str]:
        first = model.schema.inputs[0]
        if first.kind != TIME:
            return f"{first.name} {self.start:g}", f"{first.name} {self.end:g}"
        return tuple(  # type: ignore[return-value]
            "now" if t != t else format_times(np.array([t]))[0].replace("T", " ")[:16]
            for t in (self.start, self.end)
        )


def find_notices(method: Method, names: tuple[str, ...]) -> list[Notice]:
    """Return what a method noticed, by kind and then by time."""
    found = [
        _notice(kind, one._asdict(), names)
        for kind, part in _PARTS.items()
        for one in getattr(method, part, ())
    ]
    kept = [n for n in found if n.kind != DRIFT or abs(n.deviation) >= LEAST_DRIFT]
    return sorted(kept, key=lambda n: (KINDS.index(n.kind), n.start))


def _notice(kind: str, one: dict[str, Any], names: tuple[str, ...]) -> Notice:
    start = one.get("start", one.get("time", np.nan))
    return Notice(
        kind,
        names[one["sensor"]],
        float(start),
        float(one.get("end", start if kind == SUSPECT else np.nan)),
        float(one.get("value", one.get("after", np.nan))),
        float(one.get("expected", one.get("before", np.nan))),
        float(one.get("deviation", one.get("size", np.nan))),
    )
