"""One tolerance from very tight to very loose: errors, disagreement, price."""

import numpy as np

from halk import HALK, Network, kernels
from halk.report import Figure, Line, Panel

rng = np.random.default_rng(6)
X = rng.uniform(size=(6000, 2, 1))
Y = np.sin(6 * X[..., 0]) + [1.5, 2.0] + 0.1 * rng.normal(size=(6000, 2))
Y[X[:, 1, 0] > 0.5, 1] = np.nan  # the second sensor reads nothing above 0.5
GRID = np.linspace(0, 1, 400)
TRUTH = np.sin(6 * GRID) + np.array([[1.5], [2.0]])
APART = np.geomspace(0.01, 3.0, 14)


def learned(apart: float) -> tuple[float, ...]:
    """Return errors, disagreement and price for a difference that is allowed."""
    network = Network.path(2, tolerance=0.5 * apart**2)
    model = HALK(
        network, kernel=kernels.Gaussian(0.12), step_size=0.3, dual_step_size=0.1,
        epsilon=0.02,
    )  # fmt: skip
    model.learn_many(X, Y)
    a, b = (model.predict(i, GRID[:, None]) for i in range(2))
    (first, second), read = [a, b] - TRUTH, GRID <= 0.5
    parts = (second[read], second[~read], first, a - b)
    rms = [np.sqrt(np.mean(np.square(part))) for part in parts]
    return (*map(float, rms), float(model.multipliers.max()))


def figure() -> Figure:
    """Return four panels over the difference that is allowed."""
    read, unread, other, differ, price = np.transpose(
        [learned(apart) for apart in APART]
    )
    label = "difference allowed"
    own = Line("where B reads", APART, read, style="vermilion")
    filled = Line("where B reads nothing", APART, unread, style="blue")
    allowed = Line("as much as allowed", APART, APART, style="reference")
    differs = Line("A and B", APART, differ, style="green")
    panels = [
        Panel("error of B", label, "error", [own, filled], log_x=True),
        Panel(
            "error of A, which reads all", label, "error",
            [Line("", APART, other, style="black")], log_x=True,
        ),
        Panel(
            "how far A and B differ", label, "difference", [differs, allowed],
            log_x=True, y_limits=(0.0, 1.2),
        ),
        Panel(
            "larger multiplier", label, "price",
            [Line("", APART, price, style="black")], log_x=True,
        ),
    ]  # fmt: skip
    caption = (
        "Two neighbours whose fields differ by 0.5; B reads one half only. Allowed to "
        "differ by much less than 0.5, both are pulled off their own readings; by "
        "more, B learns nothing where it has none. The useful range lies just below "
        "the true difference, where the price is above zero and small."
    )
    return Figure("tolerances", caption, panels, columns=2)
