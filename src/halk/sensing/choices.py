"""Everything about a model that could be chosen otherwise."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix
from halk.data.sensors import Sensors
from halk.learners import HALK
from halk.learners.newton import FAMILIES
from halk.network import Network
from halk.sensing.encoding import Encoder, Part
from halk.sensing.scales import STANDARDIZE


@dataclass(frozen=True)
class Choices:
    """The parameters of a model.

    Parameters
    ----------
    parts : tuple of Part
        The inputs, with their widths.
    kernel : {"gaussian", "laplacian", "matern32", "matern52"}
    scaling : {"common", "offset", "own"}
        What is removed from values; see :data:`halk.sensing.scales.SCALINGS`.
    neighbours : int
        Nearest sensors that each talks to.
    radius : float, optional
        Instead: sensors at this distance or less talk to each other.
    tolerance : float
        How far neighbours may differ, in spreads of the values (each sensor's own with
        scaling "own"); infinite if they learn apart.
    step_size : float
        Of functions.
    dual : float
        Steps of multipliers, in those of functions.
    budget : float
        What compression may lose in a step.
    """

    parts: tuple[Part, ...]
    kernel: str = "gaussian"
    scaling: str = "common"
    neighbours: int = 6
    radius: float | None = None
    tolerance: float = 0.1
    step_size: float = 1.0
    dual: float = 0.01
    budget: float = 0.01

    @property
    def encoder(self) -> Encoder:
        """What makes inputs of readings."""
        return Encoder(self.parts)

    def with_part(self, part: Part) -> "Choices":
        """Return the choices with another form of one part, or with one more."""
        names = [one.name for one in self.parts]
        if part.name not in names:
            return replace(self, parts=(*self.parts, part))
        parts = [part if one.name == part.name else one for one in self.parts]
        return replace(self, parts=tuple(parts))

    def without_part(self, name: str) -> "Choices":
        """Return the choices without one part."""
        return replace(self, parts=tuple(one for one in self.parts if one.name != name))


@dataclass(frozen=True)
class Graph:
    """Pairs of neighbours that were given, with their own tolerances if they have any.

    In spreads of the values, as all tolerances of users.
    """

    pairs: Indices  # (P, 2)
    tolerance: Any  # (P,), NaN where it is the common one

    def among(self, number: Indices) -> "Graph":
        """Return the graph of some sensors, by their new numbers; others are -1."""
        pairs = number[self.pairs]
        kept = (pairs >= 0).all(axis=1)
        return Graph(pairs[kept], self.tolerance[kept])


def network_of(
    choices: Choices, sensors: Sensors, graph: Graph | None, spread: float
) -> Network:
    """Return who talks to whom: the graph that was given, or the nearest.

    Tolerances count in the unit of the values, given the ``spread`` they are told in;
    with scaling "own" in each sensor's.
    """
    unit = 1.0 if choices.scaling == "own" else spread
    V, names = len(sensors.names), sensors.names
    if not np.isfinite(choices.tolerance) or V == 1:
        return Network(V, names=names, positions=sensors.positions)
    square = (choices.tolerance * unit) ** 2 / 2  # the proximity is half a square
    if graph is not None:
        own = np.where(np.isnan(graph.tolerance), choices.tolerance, graph.tolerance)
        return Network(
            V,
            graph.pairs,
            (own * unit) ** 2 / 2,
            names=names,
            positions=sensors.positions,
        )
    if sensors.positions is None:
        return Network(V, names=names)
    metric = "haversine" if sensors.is_geographic else "euclidean"
    k = choices.neighbours if choices.radius is None else None
    return Network.from_positions(
        sensors.positions, choices.radius, k=k, metric=metric, tolerance=square,
        names=names,
    )  # fmt: skip


def learner_of(choices: Choices, network: Network) -> HALK:
    """Return a learner that has learned nothing yet."""
    return HALK(
        network,
        FAMILIES[choices.kernel](1.0),
        step_size=choices.step_size,
        dual_step_size=choices.dual * choices.step_size,
        epsilon=choices.budget,
        standardize=STANDARDIZE[choices.scaling],
    )


def inputs_of(
    choices: Choices, x: Matrix, agent: Indices, schema: Any, sensors: Sensors
) -> Matrix:
    """Return what the kernel compares."""
    return choices.encoder.encoded(x, agent, schema, sensors)
