"""Length scales that begin ten times too narrow, under both rules of adaptation."""

import numpy as np

from halk import HALK, Network, bandwidth, kernels
from halk.evaluate import progressive
from halk.report import Figure, Line, Panel

rng = np.random.default_rng(4)
X = rng.uniform(size=(3000, 6, 1))
Y = np.sin(6 * X[..., 0]) + 0.1 * rng.normal(size=(3000, 6))
RULES = {
    "fixed": (None, "reference"),
    "LeaveOneOut": (bandwidth.LeaveOneOut(), "vermilion"),
    "LossFollowing": (bandwidth.LossFollowing(), "blue"),
}


def figure() -> Figure:
    """Return length scale, order, loss and disagreement over the steps."""
    lines: dict[str, list[Line]] = {"width": [], "order": [], "loss": [], "apart": []}
    for name, (rule, style) in RULES.items():
        model = HALK(
            Network.ring(6, tolerance=0.01), kernel=kernels.Gaussian(0.02),
            step_size=0.3, epsilon=0.05, adaptation=rule,
        )  # fmt: skip
        trace = progressive(model, X, Y, every=60)
        for key, column in (
            ("width", "length_scale_median"), ("order", "order_mean"), ("loss", "loss"),
            ("apart", "disagreement"),
        ):  # fmt: skip
            lines[key].append(Line(name, trace["step"], trace[column], style=style))
    caption = (
        "Six agents begin with a length scale of 0.02, far too narrow for a wave of "
        "length 1. Both rules widen it, with fewer atoms and no larger loss; the "
        "upper bound is ten times the start."
    )
    panels = [
        Panel(
            "median length scale", "step", "length scale", lines["width"], log_y=True
        ),
        Panel("atoms an agent", "step", "atoms", lines["order"]),
        Panel("loss before learning", "step", "loss", lines["loss"], log_y=True),
        Panel("disagreement", "step", "mean of h", lines["apart"], log_y=True),
    ]
    return Figure("length_scales", caption, panels, columns=2)
