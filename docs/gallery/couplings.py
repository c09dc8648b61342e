"""The paper's coupling and the exact one, where a neighbour has read nothing."""

import numpy as np

from halk import HALK, Network, kernels
from halk.report import Figure, Line, Panel

rng = np.random.default_rng(2)
X = rng.uniform(size=(4000, 2, 1))
Y = 1.5 + np.cos(4 * X[..., 0]) + 0.1 * rng.normal(size=(4000, 2))
Y[X[:, 1, 0] > 0.4, 1] = np.nan  # a shallow buoy: no readings further down
GRID = np.linspace(0, 1, 200)


def panel(title: str, coupling: str) -> Panel:
    """Return what both buoys have learned."""
    model = HALK(
        Network.path(2, tolerance=0.01), kernel=kernels.Gaussian(0.12),
        step_size=0.3, dual_step_size=0.05, epsilon=0.02, coupling=coupling,
    )  # fmt: skip
    model.learn_many(X, Y)
    items = [
        Line("truth of both", GRID, 1.5 + np.cos(4 * GRID), style="reference"),
        Line("deep buoy", GRID, model.predict(0, GRID[:, None]), style="blue"),
        Line("shallow buoy", GRID, model.predict(1, GRID[:, None]), style="vermilion"),
    ]
    return Panel(title, "depth", "value", items, y_limits=(-0.4, 2.8))


def figure() -> Figure:
    """Return one panel a coupling."""
    caption = (
        "The shallow buoy reads nothing below 0.4. Under the paper's coupling it stays "
        "near zero there and drags the deep buoy down with it; under the exact "
        "coupling the deep buoy teaches it."
    )
    panels = [panel("coupling='paper'", "paper"), panel("coupling='exact'", "exact")]
    return Figure("couplings", caption, panels, columns=2)
