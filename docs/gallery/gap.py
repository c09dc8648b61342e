"""A sensor that falls silent, filled in by its neighbours, with an interval."""

import numpy as np

from halk import fit
from halk.report import Figure, Line, Panel, Points

rng = np.random.default_rng(5)
HOUR = np.arange(0, 120, 0.5)
DAY = np.sin(2 * np.pi * (HOUR - 9) / 24)
FRONT = -5 / (1 + np.exp(-(HOUR - 66) / 3))  # a cold front on the third day
TRUTH = 15 + np.array([[5.0], [4.0], [4.5]]) * DAY + FRONT + [[0.0], [1.0], [-1.0]]
SEEN = TRUTH + 0.4 * rng.normal(size=TRUTH.shape)
SEEN[1, (HOUR > 50) & (HOUR < 90)] = np.nan  # the middle sensor is silent
TIMES = [
    str(np.datetime64("2024-05-01T00:00") + np.timedelta64(int(60 * hour), "m"))
    for hour in HOUR
]
TABLE = {
    "time": np.tile(TIMES, 3),
    "sensor": np.repeat(["west", "middle", "east"], len(HOUR)),
    "temperature_C": SEEN.ravel(),
}


def panel(title: str, method: str) -> Panel:
    """Return what a method makes of the middle sensor."""
    model = fit(TABLE, method=method, quick=True)
    found = model.predict("middle", {"time": TIMES})
    items = [
        Points("readings", HOUR, SEEN[1], style="grey"),
        Line("truth", HOUR, TRUTH[1], style="reference"),
        Line("filled in", HOUR, found.value, found.low, found.high, style="blue"),
    ]
    return Panel(title, "hour", "temperature [°C]", items, y_limits=(0, 24))


def figure() -> Figure:
    """Return the sensor by itself and with its neighbours."""
    caption = (
        "A sensor that is silent for forty hours, while a cold front passes. By "
        "itself it cannot know; its two neighbours saw the front. Bands are to hold "
        "nine readings in ten."
    )
    panels = [panel("by itself", "linear"), panel("with its neighbours", "neighbours")]
    return Figure("gap", caption, panels, columns=2)
