"""A table to learn, and how well choices learn it."""

from dataclasses import dataclass

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.errors import DivergenceError
from halk.learners import HALK
from halk.sensing.choices import Choices, Graph, inputs_of, learner_of, network_of
from halk.sensing.course import course, taught, with_gaps
from halk.sensing.scales import Common, spread_of
from halk.tables.schema import Schema
from halk.tables.sensors import Sensors

TRIAL_STEPS = 10_000
"""Steps of a trial, rehearsals included, where readings are few."""

TRIAL_READINGS = 2_500
"""Readings that a trial learns at most."""


ATOMS = 60
"""Atoms of a sensor on average beyond which choices are not taken: models are small."""


class TooLargeError(Exception):
    """A model has more atoms than models are to have."""


def mean_order(learner: HALK, agent: Indices) -> float:
    """Return how many atoms sensors with readings have on average."""
    has = np.bincount(agent, minlength=learner.network.n_agents) > 0
    return float(learner.model_order[has].mean())


@dataclass(frozen=True)
class Problem:
    """Readings of a network of sensors, in the units of their table."""

    schema: Schema
    sensors: Sensors
    graph: Graph | None
    agent: Indices
    x: Matrix
    y: Vector
    told_in: float | None = None  # the spread in which tolerances are told, if another

    @property
    def spread(self) -> float:
        """Of all values."""
        return spread_of(self.y)

    @property
    def unit(self) -> float:
        """In which tolerances are told."""
        return self.told_in or self.spread

    def learner(self, choices: Choices) -> HALK:
        """Return a learner that has learned nothing yet."""
        network = network_of(choices, self.sensors, self.graph, self.unit)
        return learner_of(choices, network)

    def inputs(self, choices: Choices) -> Matrix:
        """Return what the kernel compares."""
        return inputs_of(choices, self.x, self.agent, self.schema, self.sensors)

    def score(self, choices: Choices, seed: int = 0) -> float:
        """Return the error at new readings in the second half, in spreads of values."""
        n = len(self.y)
        rng = np.random.default_rng([seed, 1])
        order = with_gaps(self.agent, self.x, rng)
        steps = course(n, rehearsals(n, TRIAL_STEPS), rng, arrival=order)
        late = order[n - n // 2 :]
        learner, Z = self.learner(choices), self.inputs(choices)
        common = Common(learner, choices.scaling)
        common.prepare(Z.shape[1])

        def check(share: float) -> None:
            if mean_order(learner, self.agent) > ATOMS:
                raise TooLargeError

        try:
            predictions = taught(common, steps, self.agent, Z, self.y, check)
        except (DivergenceError, TooLargeError):
            return float("inf")
        misses = predictions[late] - self.y[late]
        return float(np.sqrt(np.mean(misses**2))) / self.spread

    def sample(self, seed: int = 0) -> "Problem":
        """Return a part to try choices on: few sensors rather than few of each.

        A random sensor and those nearest in number of neighbours, with all they have.
        """
        if len(self.y) <= TRIAL_READINGS:
            return self
        rng = np.random.default_rng([seed, 2])
        counts = np.bincount(self.agent, minlength=len(self.sensors.names))
        order = self._around(int(rng.integers(len(counts))))
        total = np.cumsum(counts[order])
        n_kept = max(
            int(np.searchsorted(total, TRIAL_READINGS)) + 1, min(12, len(order))
        )
        kept = np.sort(order[:n_kept])
        rows = np.flatnonzero(np.isin(self.agent, kept))
        if len(rows) > TRIAL_READINGS:
            rows = np.sort(rng.permutation(rows)[:TRIAL_READINGS])
        number = np.full(len(counts), -1)
        number[kept] = np.arange(len(kept))
        graph = None if self.graph is None else self.graph.among(number)
        return Problem(
            self.schema, self.sensors.chosen(kept), graph, number[self.agent[rows]],
            self.x[rows], self.y[rows], self.unit,
        )  # fmt: skip

    def _around(self, middle: int) -> Indices:
        """Return the sensors from the nearest to a place to the farthest."""
        if self.sensors.positions is None:
            return np.roll(np.arange(len(self.sensors.names)), -middle)
        away = self.sensors.flat() - self.sensors.flat()[middle]
        return np.argsort((away**2).sum(axis=1), kind="stable")


def rehearsals(n: int, n_steps: int) -> int:
    """Return how many earlier readings to learn after each of ``n`` new ones."""
    return int(np.clip(n_steps // max(n, 1) - 1, 0, 200))
