"""Model order and error against the compression budget."""

from typing import Any

import numpy as np

from halk import HALK, Network, kernels
from halk.report import Figure, Line, Panel


def truth(x: Any) -> Any:
    """Return the surface to learn."""
    return np.sin(5 * x[..., 0]) * np.cos(3 * x[..., 1])


rng = np.random.default_rng(3)
X = rng.uniform(size=(2000, 5, 2))
Y = truth(X) + 0.1 * rng.normal(size=(2000, 5))
POINTS = rng.uniform(size=(500, 2))
BUDGETS = np.geomspace(0.003, 0.15, 10)


def learned(epsilon: float) -> tuple[float, float]:
    """Return the mean order and the root-mean-square error after 2000 steps."""
    model = HALK(
        Network.ring(5, tolerance=0.01), kernel=kernels.Gaussian(0.25),
        step_size=0.3, epsilon=epsilon,
    )  # fmt: skip
    model.learn_many(X, Y)
    misses = [model.predict(i, POINTS) - truth(POINTS) for i in range(5)]
    return float(model.model_order.mean()), float(np.sqrt(np.mean(np.square(misses))))


def figure() -> Figure:
    """Return order and error, side by side."""
    order, error = np.transpose([learned(epsilon) for epsilon in BUDGETS])
    caption = (
        "Five agents on a ring, 2000 readings each of a surface of two inputs, noise "
        "0.1. Up to a budget of about 0.03 atoms are saved, two thirds of them, at "
        "hardly any cost; then the error rises."
    )
    panels = [
        Panel(
            "atoms an agent", "budget epsilon", "atoms",
            [Line("HALK", BUDGETS, order, style="blue")], log_x=True, log_y=True,
        ),
        Panel(
            "error on the truth", "budget epsilon", "root-mean-square error",
            [Line("HALK", BUDGETS, error, style="blue")], log_x=True,
        ),
    ]  # fmt: skip
    return Figure("budget", caption, panels, columns=2)
