"""A map of the Gulf of Mexico: where holding neighbours together is dear."""

import numpy as np

from halk import HALK, Network, data, kernels
from halk.report import MapFigure

FIELD = data.gulf("temperature")


def figure() -> MapFigure:
    """Return the map after 3000 steps."""
    network = Network.from_positions(
        FIELD.positions, k=3, metric="haversine", names=FIELD.names,
        tolerance=0.5,  # half a square degree: neighbours may differ by one degree
    )  # fmt: skip
    model = HALK(
        network, kernel=kernels.Gaussian(0.5), step_size=0.5, dual_step_size=0.02,
        epsilon=0.05, standardize="offset",
    )  # fmt: skip
    X, Y = data.draw_steps(FIELD, 3000, seed=0)
    model.learn_many(np.log1p(X / 50), Y)
    dear = np.argsort(model.multipliers)[::-1][:1]
    caption = (
        "Fifty places in the Gulf of Mexico learn temperature by depth. Neighbours may "
        "differ by one degree; the multiplier of an edge is the price of holding them "
        "to it. It is highest off the western tip of Cuba."
    )
    return MapFigure(
        "multipliers", caption, network, model.multipliers,
        labels=sorted(set(network.edges[dear].ravel().tolist())),
        title="The price of every tolerance",
    )  # fmt: skip
