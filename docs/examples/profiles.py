"""Two buoys that read nothing below 100 m, by themselves and with their neighbours."""

import csv
from pathlib import Path

from halk import SensorModel, fit
from halk.report import Figure, Line, Panel, Points

BUOYS = ("buoy-02", "buoy-12")
DEPTHS = [5.0 * k for k in range(201)]


def readings(name: str, buoy: str) -> tuple[list[float], list[float]]:
    """Return depths and temperatures of a buoy in a table."""
    with Path(name).open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["buoy"] == buoy]
    deepest = DEPTHS[-1]
    known = [r for r in rows if r["temperature_C"] and float(r["depth_m"]) <= deepest]
    depths = [float(row["depth_m"]) for row in known]
    return depths, [float(row["temperature_C"]) for row in known]


def panel(buoy: str, apart: SensorModel, together: SensorModel) -> Panel:
    """Return the profile of a buoy."""
    alone, found = (
        model.predict(buoy, {"depth_m": DEPTHS}) for model in (apart, together)
    )
    items = [
        Line("by itself", DEPTHS, alone.value, style="vermilion"),
        Line("together", DEPTHS, found.value, found.low, found.high, style="blue"),
        Points("readings", *readings("readings.csv", buoy)),
        Points("withheld", *readings("withheld.csv", buoy), is_open=True),
    ]
    return Panel(buoy, "depth [m]", "temperature [°C]", items, y_limits=(0, 30))


def figure() -> Figure:
    """Return one panel a buoy."""
    together = fit("readings.csv", "sensors.csv")
    apart = fit("readings.csv", "sensors.csv", options={"tolerance": "apart"})
    caption = (
        "Two buoys that read nothing below 100 m. Open circles are what was emptied: "
        "nobody learned from them. By itself a buoy falls back to the mean of all "
        "readings; with its neighbours it follows the profile. The band is the 90 % "
        "interval."
    )
    panels = [panel(buoy, apart, together) for buoy in BUOYS]
    return Figure("profiles", caption, panels, columns=2)
