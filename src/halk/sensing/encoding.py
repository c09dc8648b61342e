"""From what a table says of a reading to what a kernel compares.

Every input becomes a *part*: one or two numbers over their spread. A part's width says
how far apart two readings may be in it and still tell of each other, in spreads.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.schema import TIME, Schema
from halk.data.sensors import Sensors
from halk.data.times import DAY, PERIODS, WEEK, YEAR, on_circle

PLACE = "place"
"""The part of where a sensor is."""


@dataclass(frozen=True)
class Part:
    """An input of the kernel.

    Parameters
    ----------
    name : str
        As users see it: "time: hour".
    source : str
        A column of the readings, a column of the sensors' table, or ``PLACE``.
    kind : {"number", "log", "seconds", "hour", "weekday", "day", "place", "attribute"}
    offset, spread : float
        Taken from the readings; of places and circles, the spread only.
    width : float
        In spreads.
    is_given : bool
        Whether the user gave the width: it rests.
    """

    name: str
    source: str
    kind: str
    offset: float = 0.0
    spread: float = 1.0
    width: float = 1.0
    is_given: bool = False

    @property
    def is_of_sensor(self) -> bool:
        """Whether it is known of a sensor, and the same for all its readings."""
        return self.kind in ("place", "attribute")

    @property
    def length(self) -> float:
        """How far readings tell of each other, in the unit of the source."""
        return self.width * self.spread

    def n_columns(self, sensors: Sensors) -> int:
        """Return how many numbers it becomes."""
        if self.kind == "place":
            return int(sensors.plane().shape[1])
        return 2 if self.kind in PERIODS else 1

    def values(self, column: Vector) -> Matrix:
        """Return the numbers of readings from those of the source column."""
        if self.kind in PERIODS:
            return on_circle(column, self.kind) / self.length
        if self.kind == "log":
            column = np.log1p(np.maximum(column, 0.0) / self.offset)
            return (column / self.length)[:, None]
        return ((column - self.offset) / self.length)[:, None]


@dataclass(frozen=True)
class Encoder:
    """The parts of the inputs, in order."""

    parts: tuple[Part, ...]

    def encoded(
        self, x: Matrix, agent: Indices, schema: Schema, sensors: Sensors
    ) -> Matrix:
        """Return what the kernel compares, (n, number of columns of all parts)."""
        columns = {one.name: x[:, k] for k, one in enumerate(schema.inputs)}
        found = [self._of(part, columns, agent, sensors) for part in self.parts]
        return np.ascontiguousarray(np.column_stack(found))

    def _of(
        self, part: Part, columns: dict[str, Vector], agent: Indices, sensors: Sensors
    ) -> Matrix:
        if part.kind == "place":
            return (sensors.plane() / part.length)[agent]
        if part.kind == "attribute":
            return part.values(sensors.attributes[part.source][agent])
        return part.values(columns[part.source])

    def as_list(self) -> list[dict[str, Any]]:
        """Return the parts for JSON."""
        return [dict(vars(part)) for part in self.parts]


def candidates(
    schema: Schema,
    sensors: Sensors,
    x: Matrix,
    agent: Indices,
    time_parts: tuple[str, ...] | None = None,
) -> list[Part]:
    """Return all parts that inputs and sensors offer, with their spreads.

    Parameters
    ----------
    time_parts : subset of ("seconds", "hour", "weekday", "day"), optional
        What times become; by default what their span and spacing can tell of.
    """
    found = []
    for one, column in zip(schema.inputs, x.T, strict=True):
        if one.kind == TIME:
            kinds = time_parts or telling_parts(column)
            found += [_time_part(one.name, kind, column) for kind in kinds]
        elif np.ptp(column) > 0:
            found.append(_number_part(one.name, one.name, "number", column))
    if sensors.positions is not None and len(sensors.names) > 1:
        flat = sensors.plane()
        spread = float(np.sqrt(flat.var(axis=0).mean()))
        if spread > 0:
            found.append(Part(PLACE, PLACE, "place", 0.0, spread, 1.0))
    for name, values in sensors.attributes.items():
        found.append(_number_part(name, name, "attribute", values[agent], 1.0))
    return found or [Part(schema.inputs[0].name, schema.inputs[0].name, "number")]


def telling_parts(times: Vector) -> tuple[str, ...]:
    """Return what times can tell of: a cycle must be seen twice, and in steps."""
    distinct = np.unique(times)
    span = float(np.ptp(distinct))
    step = float(np.median(np.diff(distinct))) if len(distinct) > 1 else span
    kept = ["seconds"]
    kept += ["hour"] if span >= 2 * DAY and step <= DAY / 4 else []
    kept += ["weekday"] if span >= 2 * WEEK and step <= 1.5 * DAY else []
    kept += ["day"] if span >= 1.5 * YEAR and step <= YEAR / 8 else []
    return tuple(kept)


def _time_part(source: str, kind: str, column: Vector) -> Part:
    if kind == "seconds":
        return _number_part(f"{source}: seconds", source, "seconds", column, 0.2)
    return Part(f"{source}: {kind}", source, kind, 0.0, 1.0, 0.7)


def _number_part(
    name: str, source: str, kind: str, column: Vector, width: float = 0.5
) -> Part:
    spread = float(column.std()) or 1.0
    return Part(name, source, kind, float(column.mean()), spread, width)


def logarithm_of(part: Part, column: Vector) -> Part | None:
    """Return a part as its logarithm, if it is one of lengths from near to far."""
    middle = float(np.median(column))
    if part.kind != "number" or column.min() < 0 or column.max() <= 5 * middle:
        return None
    offset = middle or float(column.mean())
    spread = float(np.log1p(column / offset).std()) or 1.0
    return replace(part, kind="log", offset=offset, spread=spread)
