"""A gap of a station, its estimates with their intervals, and what was true."""

import csv
from pathlib import Path

import numpy as np

from halk import fit
from halk.report import Figure, Line, Panel, Points

STATION = "Birk"
MARGIN = 18
"""Hours that are shown before and after the longest gap."""


def read_series(name: str, column: str) -> dict[str, float]:
    """Return readings of the station by time; NaN where there is none."""
    with Path(name).open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r.get("station", STATION) == STATION]
    return {row["time"]: float(row[column] or "nan") for row in rows}


def figure() -> Figure:
    """Return one panel with the longest gap of the station."""
    model = fit("readings.csv", "stations.csv", unit="°C", method="neighbours")
    read, truth = (
        read_series("readings.csv", STATION),
        read_series("truth.csv", "temperature_C"),
    )
    times = sorted(set(read) | set(truth))
    y = np.array([read.get(time, np.nan) for time in times])
    edges = np.flatnonzero(~np.isnan(y))
    start = int(edges[np.argmax(np.diff(edges))])
    end = start + int(np.diff(edges).max())
    shown = slice(max(start - MARGIN, 0), end + MARGIN)
    times, y = times[shown], y[shown]
    hours = np.arange(len(times), dtype=float)
    found = model.predict(STATION, {"time": times})
    is_gap = np.isnan(y)
    true = np.array([truth.get(time, np.nan) for time in times])
    items = [
        Line("estimate", hours, found.value, found.low, found.high, style="blue"),
        Points("readings", hours[~is_gap], y[~is_gap]),
        Points("what was true", hours[is_gap], true[is_gap], is_open=True),
    ]
    label = f"hours since {times[0]}"
    caption = (
        f"The longest gap of {STATION}. Open circles are what was emptied: nobody "
        f"learned from them. The band is the 90 % interval."
    )
    return Figure(
        "longest-gap", caption, [Panel(STATION, label, "temperature [°C]", items)]
    )
