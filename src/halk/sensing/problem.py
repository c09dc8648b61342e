"""A table to learn, and how well choices learn it."""

from dataclasses import dataclass, replace

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.errors import DivergenceError
from halk.learners import HALK
from halk.sensing.choices import Choices, Graph, inputs_of, learner_of, network_of
from halk.sensing.course import course, taught, with_gaps
from halk.sensing.scales import Common, spread_of

TRIAL_STEPS = 10_000
"""Steps of a trial, rehearsals included, where readings are few."""

TRIAL_READINGS = 2_500
"""Readings that a trial learns at most."""

COARSER = 1.5
"""By how much the budget of a trial grows while models are too large."""

ATOMS = 60
"""Atoms of a sensor on average beyond which choices are not taken: models are small."""


class TooLargeError(Exception):
    """A model has more atoms than models are to have."""


class Size:
    """Looks after the size of models: the budget grows while they are too large.

    Parameters
    ----------
    learner : HALK
    agent : int array
        Whose readings they are: sensors without any do not count.
    most : float
        Atoms on average beyond which models are too large.
    factor : float
        By which the budget grows each time; infinite if it may not.
    """

    def __init__(
        self, learner: HALK, agent: Indices, most: float, factor: float
    ) -> None:
        self._learner, self._most, self._factor = learner, most, factor
        self._counts = np.bincount(agent, minlength=learner.network.n_agents) > 0
        self._last = 0.0

    def check(self, share: float) -> None:
        """Let the budget grow if models are too large and do not shrink already."""
        before, self._last = self._last, self._order()
        if self._last > self._most and self._last >= before:
            if np.isinf(self._factor):
                raise TooLargeError
            self._learner.set_epsilon(self._factor * self._learner.epsilon)

    def _order(self) -> float:
        return float(self._learner.model_order[self._counts].mean())


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

    def score(
        self, choices: Choices, may_grow: bool = True, seed: int = 0
    ) -> tuple[float, Choices]:
        """Return the error at new readings in the second half, in spreads of values.

        With it the choices, of which the budget grew while models were too large; if it
        may not grow, their error is infinite.
        """
        n = len(self.y)
        rng = np.random.default_rng([seed, 1])
        order = with_gaps(self.agent, self.x, rng)
        steps = course(n, rehearsals(n, TRIAL_STEPS), rng, arrival=order)
        late = order[n - n // 2 :]
        learner, Z = self.learner(choices), self.inputs(choices)
        common = Common(learner, choices.scaling)
        common.prepare(Z.shape[1])
        size = Size(learner, self.agent, ATOMS, COARSER if may_grow else np.inf)
        try:
            predictions = taught(common, steps, self.agent, Z, self.y, size.check)
        except (DivergenceError, TooLargeError):
            return float("inf"), choices
        misses = predictions[late] - self.y[late]
        error = float(np.sqrt(np.mean(misses**2))) / self.spread
        return error, replace(choices, budget=float(learner.epsilon))

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
            self.schema, self.sensors.subset(kept), graph, number[self.agent[rows]],
            self.x[rows], self.y[rows], self.unit,
        )  # fmt: skip

    def _around(self, middle: int) -> Indices:
        """Return the sensors from the nearest to a place to the farthest."""
        if self.sensors.positions is None:
            return np.roll(np.arange(len(self.sensors.names)), -middle)
        away = self.sensors.plane() - self.sensors.plane()[middle]
        return np.argsort((away**2).sum(axis=1), kind="stable")


def rehearsals(n: int, n_steps: int) -> int:
    """Return how many earlier readings to learn after each of ``n`` new ones."""
    return int(np.clip(n_steps // max(n, 1) - 1, 0, 200))
