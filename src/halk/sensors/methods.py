"""All methods by name, and which of them suit a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix
from halk.data.readings import Readings
from halk.sensors import scattered, simple
from halk.sensors.field import NEIGHBOURS, FieldModel
from halk.sensors.method import Estimates, Method, Site
from halk.sensors.neighbours import NeighbourModel
from halk.sensors.order import Line, find_line
from halk.sensors.simple import Simple

Options = dict[str, Any]
"""Of users: ``neighbours``, how many nearest sensors each hears; ``features``, which
inputs the field model has; ``together``, whether its sensors talk; ``coverage``."""

FIELD_MOST = 50_000
"""Readings of sensors read at the same times beyond which no field is tried: 60 atoms
cannot follow a year of weather."""


class Way(NamedTuple):
    """A method that can be made for a site."""

    make: Callable[[Site, Options], Method]
    is_model: bool


def _neighbours(heard: int, memory: float) -> Callable[[Site, Options], Method]:
    def make(site: Site, options: Options) -> Method:
        n_heard = options.get("neighbours") or heard
        cover = options.get("coverage", 0.9)
        return NeighbourModel(site, neighbours=n_heard, memory=memory, coverage=cover)

    return make


def _field(together: bool) -> Callable[[Site, Options], Method]:
    def make(site: Site, options: Options) -> Method:
        return FieldModel(
            site, together, neighbours=options.get("neighbours") or NEIGHBOURS,
            features=options.get("features"),
        )  # fmt: skip

    return make


class Suited:
    """A simple method that is one thing for series in time, another for profiles.

    Which of the two suits is seen when readings are taken in.
    """

    def __init__(
        self, site: Site, of_series: type[Simple], of_inputs: type[Simple]
    ) -> None:
        self.site, self.name = site, of_series.name
        self._classes = of_inputs, of_series

    def fit(self, rows: Readings) -> None:
        """Take in readings; what was known before is forgotten."""
        line = find_line(self.site.schema, rows.with_values())
        self.method = self._classes[line.is_time and line.is_only](self.site)
        self.method.fit(rows)

    def estimate(
        self, sensor: Indices, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return estimates at inputs in the units of the schema."""
        return self.method.estimate(sensor, x, causal=causal)


def _simple(*classes: type[Simple]) -> Way:
    def make(site: Site, options: Options) -> Method:
        return classes[0](site) if len(classes) == 1 else Suited(site, *classes)

    return Way(make, False)


METHODS: dict[str, Way] = {
    "neighbours": Way(_neighbours(12, 700.0), True),
    "neighbours, wide": Way(_neighbours(18, 450.0), True),
    "field, together": Way(_field(True), True),
    "field, independent": Way(_field(False), True),
    "kriging": _simple(simple.Kriging, scattered.Kriging),
    "inverse distance": _simple(simple.InverseDistance, scattered.InverseDistance),
    "linear interpolation": _simple(simple.Linear),
    "sensor mean": _simple(simple.SensorMean),
}
"""The models first, then the simple methods."""


def list_methods(
    site: Site, rows: Readings, line: Line, options: Options
) -> tuple[list[str], dict[str, str]]:
    """Return the names of methods that suit a table, and why others do not.

    The first is what the structure of the table suggests. ``rows`` are sorted.
    """
    skipped: dict[str, str] = {}
    is_series = line.is_time and line.is_only
    has_common = is_series and measure_common(rows, line) >= 0.5
    can_talk = site.graph is not None or site.sensors.positions is not None
    if not has_common or len(rows.x.T) > 1:
        skipped["neighbours"] = (
            "sensors are hardly read at the same times" if is_series
            else "readings do not depend on the time alone"
        )  # fmt: skip
    if has_common and len(rows.y) > FIELD_MOST:
        skipped["field"] = f"more than {FIELD_MOST:,} readings at the same times"
    elif not can_talk or len(site.sensors.names) < 2:
        skipped["field, together"] = "sensors have neither places nor a graph"
    elif options.get("together") is False:
        skipped["field, together"] = "sensors were to be independent"
    if options.get("together"):
        skipped["field, independent"] = "sensors were to learn together"
    if not line.is_only:
        skipped["linear interpolation"] = "readings depend on more than one input"
    suited = [
        name
        for name in METHODS
        if not any(name.startswith(left_out) for left_out in skipped)
    ]
    return suited, skipped


def measure_common(rows: Readings, line: Line) -> float:
    """Return the share of readings at whose time another sensor is read too."""
    if not len(rows.y):
        return 0.0
    cell = np.rint(line.place(rows.x)).astype(np.int64)
    _, which = np.unique(cell, return_inverse=True)
    width = int(rows.sensor.max()) + 1
    pairs = np.unique(which * width + rows.sensor)
    n_sensors = np.bincount(pairs // width)
    return float((n_sensors[which] > 1).mean())
