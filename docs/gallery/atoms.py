"""One agent learns a function; its atoms are the few points that it keeps."""

from typing import Any

import numpy as np

from halk import HALK, Network, kernels
from halk.report import Figure, Line, Panel, Points


def truth(x: Any) -> Any:
    """Return the function to learn."""
    return np.sin(2 * np.pi * x) + 0.5 * np.sin(6 * np.pi * x)


rng = np.random.default_rng(0)
X = rng.uniform(size=(600, 1, 1))  # steps, agents, features
Y = truth(X[..., 0]) + 0.2 * rng.normal(size=(600, 1))
GRID = np.linspace(0, 1, 300)


def panel(epsilon: float) -> Panel:
    """Return what is learned with a compression budget."""
    model = HALK(
        Network(1), kernel=kernels.Gaussian(0.08), step_size=0.3, epsilon=epsilon
    )
    model.learn_many(X, Y)
    f = model.functions[0]
    items = [
        Points("some readings", X[:90, 0, 0], Y[:90, 0], style="grey"),
        Line("truth", GRID, truth(GRID), style="reference"),
        Line("learned", GRID, f(GRID[:, None]), style="blue"),
        Points("atoms", f.atoms[:, 0], f(f.atoms), style="vermilion"),
    ]
    title = f"budget {epsilon:g}: {f.order} atoms of 600 readings"
    return Panel(title, "input", "value", items)


def figure() -> Figure:
    """Return two panels: a small budget and a large one."""
    caption = (
        "What one agent has learned after 600 noisy readings, and the atoms that it "
        "keeps. A larger budget keeps fewer atoms and follows less closely."
    )
    return Figure("atoms", caption, [panel(0.02), panel(0.3)], columns=2)
