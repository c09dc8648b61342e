"""Two neighbours under four tolerances."""

import numpy as np

from halk import HALK, Network, kernels
from halk.report import Figure, Line, Panel, Points

rng = np.random.default_rng(1)
X = rng.uniform(size=(3000, 2, 1))
Y = np.sin(6 * X[..., 0]) + [0.0, 0.5] + 0.1 * rng.normal(size=(3000, 2))
Y[X[:, 1, 0] > 0.5, 1] = np.nan  # the second sensor reads nothing above 0.5
GRID = np.linspace(0, 1, 200)


def panel(title: str, tolerance: float) -> Panel:
    """Return what both have learned."""
    model = HALK(
        Network.path(2, tolerance=tolerance), kernel=kernels.Gaussian(0.12),
        step_size=0.3, dual_step_size=0.1, epsilon=0.02,
    )  # fmt: skip
    model.learn_many(X, Y)
    some = slice(0, 150)
    items = [
        Points("readings of A", X[some, 0, 0], Y[some, 0], style="blue"),
        Points("readings of B", X[some, 1, 0], Y[some, 1], style="vermilion"),
        Line("A has learned", GRID, model.predict(0, GRID[:, None]), style="blue"),
        Line("B has learned", GRID, model.predict(1, GRID[:, None]), style="vermilion"),
    ]
    price = model.multipliers.mean()
    note = f"tolerance {tolerance:g}, price {price:.2f}"
    return Panel(title, "input", "value", items, note=note, y_limits=(-1.6, 2.0))


def figure() -> Figure:
    """Return one panel a tolerance."""
    caption = (
        "Two neighbours whose fields differ by 0.5; B reads nothing above 0.5. Apart, "
        "B falls to zero where it has no readings. With a tolerance that lets them "
        "differ by about as much as they do, A teaches B the shape and B keeps its own "
        "level. The tighter it is, the more both are forced onto one curve, which is "
        "wrong for each."
    )
    named = {"apart": 100.0, "close": 0.1, "tight": 0.02, "too tight": 1e-4}
    panels = [panel(title, tolerance) for title, tolerance in named.items()]
    return Figure("neighbours", caption, panels, columns=2)
