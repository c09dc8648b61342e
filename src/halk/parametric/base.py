"""The executor of agents that hold weights on fixed features, and talk to nobody.

The others are built on it. A step is computed whole before anything is stored, as a
list of assignments; if storing is interrupted, the list is gone through again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.features import FeatureMap
from halk.losses import Loss
from halk.network import Network
from halk.parametric.exchange import Exchange, Formulas, exchange, steps
from halk.parametric.products import add_rows, dots, squares
from halk.proximity import Proximity
from halk.simulator import Readings, Record, divergence
from halk.step import LARGEST, Settings

_NOTHING = 1e-12
"""Keeps a step finite at features of zero, which it does not move along anyway."""

Writes = list[tuple[Any, Any, Any]]
"""Arrays, where in them, and what to store there."""


class Setup(NamedTuple):
    """What makes a learner with fixed features."""

    network: Network
    features: FeatureMap
    loss: Loss
    proximity: Proximity
    settings: Settings
    paces: Matrix  # (V, 3) step size, dual step size, and a budget that is not used


class Weights(NamedTuple):
    """What the next step needs to know of agents that hold weights."""

    weights: Matrix  # (V, D)
    violation: Vector  # (E,)  sum of h - gamma over the steps that asked
    asked: Indices  # (E,)     number of those steps


class Independent:
    """Runs agents by themselves; who disagrees is measured all the same.

    ``w_i <- (1 - eta lambda) w_i - eta loss' phi(x_i)``, with the step of S9.
    """

    state: Any

    def __init__(self, setup: Setup, n_features: int) -> None:
        setup.features.check_features(n_features)
        self.setup = setup
        self.n_features = n_features
        self.size = setup.features.size(n_features)
        self.state = self._fresh()
        self._formulas = Formulas(setup.loss, setup.proximity)
        self._cursor = np.zeros(1, dtype=np.int64)
        self._writes: Writes = []

    def _fresh(self) -> Any:
        V, E = self.setup.network.n_agents, self.setup.network.n_edges
        asked = np.zeros(E, dtype=np.int64)
        return Weights(np.zeros((V, self.size)), np.zeros(E), asked)

    # running

    @property
    def steps_made(self) -> int:
        """How many steps of the last stream were made."""
        return int(self._cursor[0])

    def run(self, readings: Readings, record: Record | None = None) -> Record:
        """Learn from a stream; return what was seen on the way.

        Raises
        ------
        DivergenceError
            If a prediction leaves the finite numbers; the state is then that of the
            last finite step.
        """
        self._cursor[0] = 0
        T, R = len(readings.start) - 1, len(readings.y)
        if record is None:
            record = Record(np.zeros(R), np.zeros(T), np.zeros(T, dtype=np.int64))
        try:
            for t, agents, phi, y in steps(self.setup.features, readings):
                self._make_step(t, int(readings.start[t]), agents, phi, y, record)
        except KeyboardInterrupt:
            self._store()
            raise
        return record

    def _make_step(
        self, t: int, r: int, agents: Indices, phi: Matrix, y: Vector, record: Record
    ) -> None:
        network, formulas = self.setup.network, self._formulas
        seen = exchange(network, formulas, self.state.weights, agents, phi, y)
        self._check_finite(seen)
        h = seen.h
        record.prediction[r : r + len(y)] = seen.own
        record.asked[t] = len(h)
        record.disagreement[t] = h.mean() if len(h) else 0.0
        sums = self.state.violation[seen.edges] + h - network.tolerance[seen.edges]
        self._writes = [
            *self._moves(seen),
            (self.state.violation, seen.edges, sums),
            (self.state.asked, seen.edges, self.state.asked[seen.edges] + 1),
            (self._cursor, 0, t + 1),
        ]
        self._store()

    def _store(self) -> None:
        for array, place, value in self._writes:
            array[place] = value
        self._writes = []

    def _check_finite(self, seen: Exchange) -> None:
        who = np.concatenate([seen.agents, seen.neighbour])
        wild = ~(np.abs(np.concatenate([seen.own, seen.answer])) <= LARGEST)
        if wild.any():
            agent = int(who[np.argmax(wild)])
            raise divergence(agent, self.steps_made, float(self.setup.paces[agent, 0]))

    # one step

    def _moves(self, seen: Exchange) -> Writes:
        """Return what a step stores."""
        return [(self.state.weights, seen.agents, self._adapted(seen))]

    def _adapted(self, seen: Exchange) -> Matrix:
        """Return the weights of those with a reading after a step by themselves."""
        curvature = self.setup.loss.curvature * squares(seen.phi)
        eta = self._step_sizes(seen.agents, curvature)
        rows = np.arange(len(eta))
        moved = self.state.weights[seen.agents]
        moved *= (1.0 - eta * self.setup.settings.regularization)[:, None]
        add_rows(moved, rows, -eta * seen.slope, seen.phi, rows)
        return self._into_ball(moved)

    def _step_sizes(self, agents: Indices, curvature: Vector) -> Vector:
        """Return ``eta`` of some agents, S9; ``curvature`` has kappa in it."""
        eta: Vector = self.setup.paces[agents, 0]
        if self.setup.settings.is_normalized:
            eta = eta / (1.0 + eta * curvature)
        return eta

    def _into_ball(self, rows: Matrix) -> Matrix:
        """Return weights scaled so that their norm is at most R, S8."""
        bound = self.setup.settings.norm_bound
        if bound > LARGEST:
            return rows
        norm = np.sqrt(squares(rows))
        factor = np.where(norm > bound, bound / np.maximum(norm, bound), 1.0)
        return rows * factor[:, None]

    # looking inside

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        phi = self.setup.features.matrix(X)
        return dots(self.state.weights, agents, phi, np.arange(len(agents)))

    @property
    def model_order(self) -> Indices:
        """Number of features of every agent, (V,)."""
        return np.full(self.setup.network.n_agents, self.size)

    @property
    def n_atoms(self) -> int:
        """Number of weights held in all."""
        return self.size * self.setup.network.n_agents

    @property
    def multipliers(self) -> Vector:
        """No prices, (E,)."""
        return np.zeros(self.setup.network.n_edges)

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` an edge, (E,); 0 for one never asked."""
        mean: Vector = self.state.violation / np.maximum(self.state.asked, 1)
        return mean

    @property
    def bytes_sent(self) -> int:
        """Nothing is sent."""
        return 0


class Relative(Independent):
    """Runs agents by themselves with steps ``eta / |phi(x)|^2``, for squared loss."""

    def _step_sizes(self, agents: Indices, curvature: Vector) -> Vector:
        eta: Vector = self.setup.paces[agents, 0] / (_NOTHING + curvature)
        return eta
