"""Sensors that join a network: those that are new, and those nobody built."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from halk.data.findings import Findings
from halk.data.sensors import Sensors, read_sensors
from halk.data.sources import read_table
from halk.errors import DataError
from halk.sensors.method import Site


def add_sensors(site: Site, source: Any) -> Site:
    """Return a site with the sensors of a table that it does not have yet."""
    findings, known = Findings(), site.sensors
    chart = read_sensors(read_table(source, "sensors"), site.schema.sensor, findings)
    findings.refuse()
    assert chart is not None
    new = [i for i, name in enumerate(chart.names) if name not in known.names]
    if not new:
        return site
    more = chart.subset(np.array(new))
    lacks = [name for name in known.attributes if name not in more.attributes]
    if known.positions is not None and more.positions is None:
        lacks += list(known.columns)
    if lacks:
        raise DataError(
            f"new sensors must have {', '.join(lacks)}, as the others have; sensors "
            f"without: {', '.join(more.names)}"
        )
    positions = None
    if known.positions is not None and more.positions is not None:
        positions = np.concatenate([known.positions, more.positions])
    attributes = {
        name: np.concatenate([values, more.attributes[name]])
        for name, values in known.attributes.items()
    }
    names = known.names + more.names
    return site._replace(
        sensors=replace(known, names=names, positions=positions, attributes=attributes)
    )


def add_station(site: Site, at: tuple[float, float]) -> Site:
    """Return a site with a station more, where nobody ever measured.

    Its attributes are those of the nearest sensor.
    """
    known = site.sensors
    if known.positions is None:
        raise DataError(
            "at needs places of sensors, and none are known: fit with --sensors"
        )
    spot = np.array(at, dtype=np.float64)
    if spot.shape != (2,) or not np.isfinite(spot).all():
        raise ValueError(f"at must be two numbers, {' and '.join(known.columns)}")
    if known.is_geographic and (abs(spot[0]) > 90 or not -180 <= spot[1] <= 360):
        raise ValueError(
            f"at must be latitude, longitude, got {spot[0]:g}, {spot[1]:g}; are they "
            f"swapped?"
        )
    made = Sensors(
        (*known.names, name_at(at)), np.vstack([known.positions, spot]),
        known.is_geographic, {}, known.columns,
    )  # fmt: skip
    away = made.plane()[:-1] - made.plane()[-1]
    nearest = int(np.argmin((away**2).sum(axis=1)))
    attributes = {n: np.append(v, v[nearest]) for n, v in known.attributes.items()}
    return site._replace(sensors=replace(made, attributes=attributes))


def name_at(at: tuple[float, float]) -> str:
    """Return what a station is called that has no name."""
    return f"at {at[0]:g},{at[1]:g}"
