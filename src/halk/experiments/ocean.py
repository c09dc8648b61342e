"""Ocean: the paper's second and third figure, temperature and salinity from depth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from halk.data import Field, draw_steps
from halk.experiments.claims import Statement
from halk.experiments.data import connected, ocean
from halk.experiments.methods import METHODS, Setup
from halk.experiments.ocean_claims import statements
from halk.experiments.runs import Result, Results
from halk.experiments.timeline import Timeline, curves, of
from halk.network import Network
from halk.report import Line, Panel

REACH = 1000.0  # km
METRES = 1000.0  # of an input unit: depths are given in km
BANDWIDTH, PARSIMONY = 50.0, 40.0
N_SHOWN = 5
"""Agents whose bandwidth is drawn."""


class Ocean(Timeline):
    """Fifty sensors learn a field from depth."""

    variable: ClassVar[str]
    figure: ClassVar[str]
    n_steps: ClassVar[int]
    paper_orders: ClassVar[dict[str, float]]
    methods = tuple(METHODS)
    choices = (
        "The paper's own files (winter, 1/4 degree, 102 depths) could not be had; the "
        "footer says which data were used.",
        "Edges: under 1000 km, great-circle; tolerance exp(-distance / 1000 km), as in "
        "the paper, so the tighter the farther.",
        "The loss is (f - y)^2 / 2; the test error is taken at all readings.",
        "Adaptive bandwidth: the paper's fixed point with guards (bounds from a tenth "
        "to ten times the start, warm-up, damping on the logarithm, shared with "
        "neighbours): as written it divides by zero, collapses or runs away. A rule "
        "that follows the loss is beside it.",
        "RBF network: as many centres as HALK (P = 40) ended with, drawn uniformly "
        "over the depths.",
        "POLK, P = 0.001: the paper does not say how many readings the pooled model "
        "gets a step. Given everybody's (50, one after another) it learns 50 times as "
        "fast as an agent; given one, drawn at random, it keeps an agent's pace. Both "
        "are shown.",
        "The paper's coupling runs with the plain step, the exact one with the "
        "normalized step. Random features: 100; ADMM is censored at 0.1 times 0.995 to "
        "the number of readings.",
        "Steady state: the last fifth of the steps; early: the first tenth. Settled: "
        "within 10 % of its mean over the last fifth, and not held at a bound. Near: "
        "within 20 %. A claim is reproduced if it holds for every seed.",
    )

    @cached_property
    def field(self) -> Field:
        """The readings; depths in metres."""
        field = ocean(self.options, self.variable)
        return (
            field.choose(range(min(10, field.n_agents)))
            if self.options.is_smoke
            else field
        )

    @cached_property
    def network(self) -> Network:
        """Agents within reach; the further, the tighter."""
        return connected(
            self.field, self.options.radius, lambda distance: np.exp(-distance / REACH)
        )

    @property
    def _steps(self) -> int:
        return 100 if self.options.is_smoke else self.n_steps

    def facts(self) -> dict[str, Any]:
        """Return where the readings come from."""
        field = self.field
        return {
            "data": field.source,
            "sha256": field.sha256,
            "sensors": field.n_agents,
            "readings": field.n_readings,
            "edges": self.network.n_edges,
        }

    def size(self) -> str:
        """Say how large it is."""
        field, edges = self.field, self.network.n_edges // 2
        return (
            f"{field.n_agents} sensors, {edges} pairs within {self.options.radius:g} km"
        )

    def settings(self) -> dict[str, Any]:
        """Return the numbers of the experiment."""
        return {
            "variable": self.variable,
            "data": self.field.sha256,
            "season": self.options.season or "annual",
            "n_agents": self.field.n_agents,
            "n_steps": self._steps,
            "radius_km": self.options.radius,
            "bandwidth_m": BANDWIDTH,
            "parsimony": PARSIMONY,
        }

    def setup(self, seed: int) -> Setup:
        """Return what all methods are given."""
        return Setup(
            network=self.network,
            bandwidth=BANDWIDTH / METRES,
            parsimony=PARSIMONY,
            low=float(self.field.x.min()) / METRES,
            high=float(self.field.x.max()) / METRES,
            seed=seed,
        )

    def stream(self, seed: int) -> tuple[Any, Any, Any]:
        """Return one reading of every agent a step; tested at all of them."""
        X, Y = draw_steps(self.field, self._steps, seed)
        test = (self.field.agent.tolist(), self.field.x / METRES, self.field.y)
        return X / METRES, Y, test

    def panels(self, results: Results, coupling: str) -> list[Panel]:
        """Return loss, disagreement and bandwidths, as in the paper."""
        bound = ("halk", "halk-fine", "halk-adaptive", "halk-following", "rbf")
        loss = curves(results, (*bound, "polk", "polk-one"), coupling, "loss")
        apart = curves(results, bound, coupling, "disagreement")
        unit = f"{self.field.unit}²"
        return [
            Panel("Global loss", "step", f"loss, {unit}", loss, log_y=True),
            Panel(
                "Network disagreement", "step", f"mean of h, {unit}", apart, log_y=True
            ),
            Panel(
                "Bandwidth, adaptive", "step", "bandwidth, m",
                _widths(of(results, "halk-adaptive", coupling)),
                note=f"{N_SHOWN} agents, first seed",
            ),
        ]  # fmt: skip

    def statements(self) -> Sequence[Statement]:
        """Return what the paper says of its figure."""
        return statements(self.figure, self.paper_orders)


class Temperature(Ocean):
    """Temperature."""

    name, variable, n_steps = "temperature", "temperature", 2430
    title, figure = "Ocean temperature (Fig. 2)", "Fig. 2"
    summary = (
        "Sensors at sea learn temperature from depth: HALK with fixed and adaptive "
        "bandwidth, an RBF network, and one pooled model."
    )
    paper_orders: ClassVar[dict[str, float]] = {"halk": 26.0}


class Salinity(Ocean):
    """Salinity."""

    name, variable, n_steps = "salinity", "salinity", 2500
    title, figure = "Ocean salinity (Fig. 3)", "Fig. 3"
    summary = (
        "The same network learns salinity from depth, with the same methods and two "
        "parsimony constants."
    )
    paper_orders: ClassVar[dict[str, float]] = {"halk": 31.0, "halk-fine": 39.0}


def _widths(results: list[Result]) -> list[Line]:
    """Return the bandwidths of a few agents in the first run, in metres."""
    if not results or "length_scale" not in results[0].trace.agents:
        return []
    trace = results[0].trace
    width = trace.agents["length_scale"] * METRES
    some = np.linspace(0, width.shape[1] - 1, min(N_SHOWN, width.shape[1])).astype(int)
    return [Line("", trace["step"], width[:, i], style="vermilion") for i in some]
