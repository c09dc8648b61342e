"""From what a table says of a reading to the numbers that a kernel compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.readings import Readings
from halk.data.schema import TIME
from halk.data.times import DAY, WEEK, YEAR, on_circle
from halk.sensors.method import Site

WIDE = 5.0
"""Times its median that an input reaches if its logarithm is taken instead."""


class Part(NamedTuple):
    """An input of the kernel; a circle becomes two numbers, all else one.

    Attributes
    ----------
    source : str
        A column of readings or an attribute of sensors; "" for their places.
    kind : {"number", "log", "hour", "weekday", "day", "attribute", "place"}
    offset, scale : float
        ``(value - offset) / scale`` has mean 0 and std 1. Of circles 0 and 1.
    unit : float
        Of a logarithm: ``log(1 + value / unit)``.
    """

    source: str
    kind: str
    offset: float = 0.0
    scale: float = 1.0
    unit: float = 1.0

    @property
    def name(self) -> str:
        """As users read it: "time: hour"."""
        return f"{self.source}: {self.kind}" if self.source else self.kind


class Encoder:
    """Inputs of the field model, about 0 and about 1 wide.

    Parameters
    ----------
    site : Site
    rows : Readings
        Whose span and spacing say what their times can tell of.
    features : sequence of str, optional
        The inputs to use, by source ("depth_m") or name ("time: hour"); "place".
    """

    def __init__(
        self, site: Site, rows: Readings, features: Sequence[str] | None = None
    ) -> None:
        self.site, self.parts = site, _find_parts(site, rows)
        if features is not None:
            self.parts = _choose_parts(self.parts, features)

    def encode(self, sensor: Indices, x: Matrix) -> Matrix:
        """Return what the kernel compares, (n, number of columns of all parts)."""
        column = {one.name: x[:, k] for k, one in enumerate(self.site.schema.inputs)}
        return np.column_stack(
            [self._encode(part, column, sensor) for part in self.parts]
        )

    def _encode(
        self, part: Part, column: dict[str, Vector], sensor: Indices
    ) -> Matrix | Vector:
        if part.kind == "place":
            values: Matrix = self.site.sensors.plane()[sensor]
        elif part.kind == "attribute":
            values = self.site.sensors.attributes[part.source][sensor]
        elif part.kind in ("hour", "weekday", "day"):
            return on_circle(column[part.source], part.kind)
        elif part.kind == "log":
            values = _log(column[part.source], part.unit)
        else:
            values = column[part.source]
        return (values - part.offset) / part.scale


def _log(values: Vector, unit: float) -> Vector:
    found: Vector = np.log1p(np.maximum(values, 0.0) / unit)
    return found


def _find_parts(site: Site, rows: Readings) -> list[Part]:
    parts = []
    for one, column in zip(site.schema.inputs, rows.x.T, strict=True):
        if np.ptp(column) == 0:
            continue
        if one.kind == TIME:
            parts.append(_scaled(Part(one.name, "number"), column))
            parts += [Part(one.name, kind) for kind in _find_circles(column)]
        elif column.min() >= 0 and column.max() > WIDE * np.median(column):
            unit = float(np.quantile(column, 0.25)) or float(column.mean())
            part = Part(one.name, "log", unit=unit)
            parts.append(_scaled(part, _log(column, unit)))
        else:
            parts.append(_scaled(Part(one.name, "number"), column))
    sensors = site.sensors
    if sensors.positions is not None and len(sensors.names) > 1:
        scale = float(np.sqrt(sensors.plane().var(axis=0).mean()))
        parts += [Part("", "place", scale=scale)] if scale > 0 else []
    parts += [
        _scaled(Part(name, "attribute"), values)
        for name, values in sensors.attributes.items()
    ]
    return parts or [Part(site.schema.inputs[0].name, "number")]


def _choose_parts(parts: list[Part], features: Sequence[str]) -> list[Part]:
    known = {part.name for part in parts} | {part.source for part in parts} - {""}
    for name in features:
        if name not in known:
            there = ", ".join(sorted(known))
            raise ValueError(f"features must be among {there}, got {name!r}")
    return [part for part in parts if {part.name, part.source} & set(features)]


def _scaled(part: Part, values: Vector) -> Part:
    return part._replace(offset=float(values.mean()), scale=float(values.std()) or 1.0)


def _find_circles(times: Vector) -> list[str]:
    """Return the circles that times can tell of: seen twice, and in steps."""
    distinct = np.unique(times)
    span, step = float(np.ptp(times)), float(np.median(np.diff(distinct)))
    kept = ["hour"] if span >= 2 * DAY and step <= DAY / 4 else []
    kept += ["weekday"] if span >= 2 * WEEK and step <= 1.5 * DAY else []
    return kept + (["day"] if span >= 1.5 * YEAR and step <= YEAR / 8 else [])
