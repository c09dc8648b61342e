"""The simulator of one model in the middle, which everybody sends readings to."""

from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.errors import DivergenceError
from halk.expansion import Expansion
from halk.formulas import Rules
from halk.network import Network
from halk.simulator.arrays import Readings, Record, State
from halk.simulator.executor import Simulator
from halk.simulator.traffic import DOUBLE, divergence
from halk.step import Settings


class Pooled:
    """Runs one function on the readings of all agents, one after the other.

    Within a step readings count in the order of agents, each predicted with all before
    it learned. Parameters as for :class:`Simulator`, ``paces`` with one row.
    """

    def __init__(
        self,
        network: Network,
        rules: Rules,
        settings: Settings,
        paces: Matrix,
        n_features: int,
    ) -> None:
        self.n_features = n_features
        self.steps_made = 0
        self._network = network
        self._one = Simulator(Network(1), rules, settings, paces, n_features)
        self._readings = np.zeros(network.n_agents, dtype=np.int64)

    def run(self, readings: Readings, record: Record | None = None) -> Record:
        """Learn from a stream; return what was seen on the way.

        A step that is interrupted is finished first. One that diverges keeps the
        readings before the one that did.
        """
        self.steps_made = 0
        pooled = _one_by_one(readings)
        try:
            prediction = self._one.run(pooled).prediction
        except KeyboardInterrupt:
            made = self._one.steps_made
            last = int(readings.start[np.searchsorted(readings.start, made)])
            self._one.run(_one_by_one(readings, made, last))
            self._count(readings, last)
            raise
        except DivergenceError:
            r = self._one.steps_made
            self._count(readings, r)
            agent, eta = int(readings.agent[r]), float(self._one.paces[0, 0])
            raise divergence(agent, self.steps_made, eta) from None
        self._count(readings, len(readings.y))
        asked = self._asked(readings)
        return Record(prediction, np.zeros(len(asked)), asked)

    def _count(self, readings: Readings, n_made: int) -> None:
        V = self._network.n_agents
        self._readings += np.bincount(readings.agent[:n_made], minlength=V)
        self.steps_made = int(np.searchsorted(readings.start[1:], n_made, "right"))

    def _asked(self, readings: Readings) -> Indices:
        """Return how many edges a step had something to say about, (T,)."""
        degree = self._network.degree[readings.agent]
        total = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
        return np.diff(total[readings.start])

    @property
    def state(self) -> State:
        """What the next step needs to know, with the readings of every agent."""
        return self._one.state._replace(readings=self._readings)

    @state.setter
    def state(self, state: State) -> None:
        self._readings = state.readings
        self._one.state = state._replace(readings=state.readings.sum(keepdims=True))

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction at every point, the same for all agents."""
        return self._one.values(np.zeros_like(agents), X)

    def function(self, i: int) -> Expansion:
        """Return a copy of the one function."""
        return self._one.function(0)

    @property
    def model_order(self) -> Indices:
        """Atoms that each agent needs to predict: all of them, (V,)."""
        return np.full(self._network.n_agents, self.n_atoms)

    @property
    def n_atoms(self) -> int:
        """Number of atoms of the one function."""
        return self._one.n_atoms

    @property
    def multipliers(self) -> Vector:
        """No prices, (E,)."""
        return np.zeros(self._network.n_edges)

    @property
    def violations(self) -> Vector:
        """``0 - tolerance`` for the edges asked, (E,): all agents predict the same."""
        asked = np.repeat(self._readings, self._network.degree) > 0
        return np.where(asked, -self._network.tolerance, 0.0)

    @property
    def bytes_sent(self) -> int:
        """Bytes of all readings sent to the middle so far."""
        return DOUBLE * (self.n_features + 1) * int(self._readings.sum())


def _one_by_one(
    readings: Readings, first: int = 0, last: int | None = None
) -> Readings:
    """Return some readings as those of one agent, each a step of its own."""
    x: Any = readings.x[first:last]
    n = len(x)
    agent = np.zeros(n, dtype=np.int64)
    return Readings(np.arange(n + 1), agent, x, readings.y[first:last])
