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
TABLE = {
    "sensor": np.repeat(["west", "middle", "east"], len(HOUR)),
    "hour": np.tile(HOUR, 3),
    "temperature_C": SEEN.ravel(),
}
PAIRS = [("west", "middle"), ("middle", "east")]


def panel(title: str, tolerance: object) -> Panel:
    """Return what the middle sensor has learned."""
    options = {"tolerance": tolerance, "widths": {"hour": 6}}
    model = fit(TABLE, graph=PAIRS, quick=True, options=options)
    found = model.predict("middle", {"hour": HOUR})
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
        "itself it cannot know; its two neighbours saw the front. The band is made of "
        "the sensor's usual errors, to hold nine readings in ten; in the middle of the "
        "gap errors are larger than that."
    )
    panels = [panel("by itself", "apart"), panel("with its neighbours", 1.0)]
    return Figure("gap", caption, panels, columns=2)
