"""The map of the buoys: who talks to whom, and what holding them together costs."""

import numpy as np

from halk import fit
from halk.report import MapFigure


def figure() -> MapFigure:
    """Return the map of multipliers and errors."""
    model = fit("readings.csv", "sensors.csv")
    network, prices = model.learner.network, model.learner.multipliers
    dearest = network.edges[np.argmax(prices)]
    caption = (
        "Thirty buoys, and who talks to whom. The darker an edge, the higher the price "
        "of its tolerance; the larger a marker, the larger the buoy's error."
    )
    return MapFigure(
        "prices", caption, network, prices, labels=dearest.tolist(),
        node_values=np.nan_to_num(model.learned.errors), node_label="error [°C]",
    )  # fmt: skip
