"""Learners whose agents hold weights on fixed features, ``f_i(x) = w_i'phi(x)``.

`FeatureLearner` is what they share; `IndependentAgents`, and subclasses of it next to
each learner, run the agents in plain NumPy. Sums over features go row by row through
`halk._core`: a matrix product rounds differently for different numbers of rows, and an
agent's numbers must not depend on how many others there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from halk import losses
from halk import proximity as proximities
from halk._core import add_rows, dots
from halk._validation import Indices, Matrix, Vector, check_state, require
from halk.agent import LARGEST, Settings
from halk.component import Formula, check_result
from halk.features import FeatureMap
from halk.learners.base import Learner
from halk.learners.settings import make_paces, make_settings, require_component
from halk.network import Network
from halk.simulator import Readings, Record, divergence

_NUMBERS_PER_CALL = 1_000_000
"""Features are made for many steps at once, but not for a whole long stream."""

State = dict[str, Any]
Writes = list[tuple[Any, Any, Any]]
"""Arrays, where in them, and what to store there."""


class FeatureSetup(NamedTuple):
    """What makes a learner with fixed features."""

    network: Network
    features: FeatureMap
    loss: losses.Loss
    proximity: proximities.Proximity
    settings: Settings
    paces: Matrix  # (V, 3) step size, dual step size, and a budget that is not used


class RoundTrip(NamedTuple):
    """The R readings of a step, and what the neighbours of their agents predict."""

    agents: Indices  # (R,) who has a reading
    phi: Matrix  # (R, D) its features
    squared: Vector  # (R,) their squared norm
    own: Vector  # (R,) f_i(x_i)
    slope: Vector  # (R,) loss'(f_i(x_i), y_i)
    edges: Indices  # (A,) the edges (i, j) of those agents
    reader: Indices  # (A,) i, as a row of ``phi``
    neighbour: Indices  # (A,) j
    h: Vector  # (A,) h(f_i(x_i), f_j(x_i))
    d1h: Vector  # (A,)
    d2h: Vector  # (A,)


def squared_norms(rows: Matrix) -> Vector:
    """Return the squared norm of every row."""
    every = np.arange(len(rows))
    return dots(rows, every, rows, every)


def _evaluate(component: Formula, name: str, a: Vector, b: Vector) -> Vector:
    values: Vector = getattr(component, name)(a, b)
    # halk's own are right; checking them takes 10 % of a step
    is_own = component.native_name is not None
    return values if is_own else check_result(component, values, a.shape)


def find_edges(network: Network, agents: Indices) -> tuple[Indices, Indices]:
    """Return the edges from some agents, and for each the place of its agent."""
    if len(agents) == network.n_agents:
        return np.arange(network.n_edges), network.edges[:, 0]
    counts = network.degree[agents]
    place = np.repeat(np.arange(len(agents)), counts)
    before = network.indptr[agents] - (np.cumsum(counts) - counts)
    return before[place] + np.arange(len(place)), place


class IndependentAgents:
    """Runs agents that learn by themselves; disagreement is measured all the same.

    ``w_i <- (1 - eta lambda) w_i - eta loss' phi(x_i)``, with the step size of S9. A
    subclass changes ``_move``. A step is computed whole before anything is stored, as a
    list of assignments; if storing is interrupted, the list is gone through again.
    """

    def __init__(self, setup: FeatureSetup, n_features: int) -> None:
        setup.features.check_features(n_features)
        self.setup = setup
        self.n_features = n_features
        self.size = setup.features.size(n_features)
        V, E = setup.network.n_agents, setup.network.n_edges
        self.state: State = {
            "weights": np.zeros((V, self.size)),
            "violation": np.zeros(E),  # sum of h - tolerance over the steps that asked
            "asked": np.zeros(E, dtype=np.int64),  # number of those steps
        }
        self._cursor = np.zeros(1, dtype=np.int64)
        self._writes: Writes = []
        self._rows = np.arange(max(V, E))
        self._place = np.zeros(V, dtype=np.int64)  # what `_join` works in

    @property
    def weights(self) -> Matrix:
        """Weights of every agent, (V, D)."""
        weights: Matrix = self.state["weights"]
        return weights

    def state_dict(self) -> State:
        """Return copies of the arrays that the next step needs."""
        return {name: value.copy() for name, value in self.state.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from copies of what `state_dict` returned."""
        for name, own in self.state.items():
            given, rule = np.asarray(state.get(name)), f"be {own.dtype} {own.shape}"
            is_alike = given.shape == own.shape and given.dtype == own.dtype
            require(is_alike, f"state {name}", rule, f"{given.dtype} {given.shape}")
        check_state({name: np.asarray(state[name]) for name in self.state})
        self.state = {name: np.array(state[name]) for name in self.state}

    @property
    def steps_made(self) -> int:
        """How many steps of the last stream were made."""
        return int(self._cursor[0])

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way.

        Raises
        ------
        DivergenceError
            If a prediction leaves the finite numbers; the state is then that of the
            last finite step.
        """
        self._cursor[0] = 0
        record = Record.room_for(readings)
        try:
            for t, rows, phi, squared in self._map_features(readings):
                agents, y = readings.agent[rows], readings.y[rows]
                seen = self._exchange(agents, phi, squared, y)
                record.prediction[rows] = seen.own
                record.asked[t] = len(seen.h)
                record.disagreement[t] = seen.h.sum() / max(len(seen.h), 1)
                self._writes = [*self._move(seen), *self._count(seen, t)]
                self._store()
        except KeyboardInterrupt:
            self._store()
            raise
        return record

    def _map_features(
        self, readings: Readings
    ) -> Iterator[tuple[int, slice, Matrix, Vector]]:
        """Yield every step's number, its rows of the readings, features and norms."""
        phi, squared, first, last = np.zeros((0, self.size)), np.zeros(0), 0, 0
        for t, (begin, end) in enumerate(pairwise(readings.start.tolist())):
            if end > last:
                first, last = begin, max(end, begin + _NUMBERS_PER_CALL // self.size)
                phi = self.setup.features.matrix(readings.x[first:last])
                squared = squared_norms(phi)
            part = slice(begin - first, end - first)
            yield t, slice(begin, end), phi[part], squared[part]

    def _exchange(
        self, agents: Indices, phi: Matrix, squared: Vector, y: Vector
    ) -> RoundTrip:
        """Return what is known in a step, at the weights before it."""
        network, h, weights = self.setup.network, self.setup.proximity, self.weights
        edges, reader = find_edges(network, agents)
        neighbour = network.neighbours[edges]
        own = dots(weights, agents, phi, self._rows[: len(agents)])
        answer = dots(weights, neighbour, phi, reader)
        self._check_finite(agents, own)
        self._check_finite(neighbour, answer)
        a, b = own[reader], answer
        return RoundTrip(
            agents, phi, squared, own, _evaluate(self.setup.loss, "slope", own, y),
            edges, reader, neighbour, _evaluate(h, "value", a, b),
            _evaluate(h, "slope", a, b),
            _evaluate(h, "slope", b, a),  # d2h(a, b): h is symmetric
        )  # fmt: skip

    def _join(self, seen: RoundTrip) -> tuple[Indices, Indices, Indices]:
        """Return who takes part, and where in it are agents and neighbours."""
        n, place = len(seen.agents), self._place
        if n == len(place):
            return seen.agents, seen.agents, seen.neighbour
        who = np.concatenate([seen.agents, seen.neighbour])
        place[who] = rows = np.arange(len(who))
        active = np.sort(who[place[who] == rows])
        place[active] = rows[: len(active)]
        return active, place[seen.agents], place[seen.neighbour]

    def _check_finite(self, agents: Indices, predictions: Vector) -> None:
        diverged = ~(np.abs(predictions) <= LARGEST)
        if diverged.any():
            i = int(agents[np.argmax(diverged)])
            raise divergence(i, self.steps_made, float(self.setup.paces[i, 0]))

    def _count(self, seen: RoundTrip, t: int) -> Writes:
        """Return what every step stores: violations, and that it was made."""
        sums, times, edges = self.state["violation"], self.state["asked"], seen.edges
        excess = sums[edges] + seen.h - self.setup.network.tolerance[edges]
        return [
            (sums, edges, excess),
            (times, edges, times[edges] + 1),
            (self._cursor, 0, t + 1),
        ]

    def _store(self) -> None:
        for array, place, value in self._writes:
            array[place] = value
        self._writes = []

    def _move(self, seen: RoundTrip) -> Writes:
        """Return what a step stores."""
        return [(self.weights, seen.agents, self._adapt(seen))]

    def _adapt(self, seen: RoundTrip) -> Matrix:
        """Return the weights of those with a reading after a step by themselves."""
        curvature = self.setup.loss.curvature * seen.squared
        eta = self._step_sizes(seen.agents, curvature)
        rows = self._rows[: len(eta)]
        moved = self._shrink(self.weights[seen.agents], eta)
        add_rows(moved, rows, -eta * seen.slope, seen.phi, rows)
        return self._project(moved)

    def _step_sizes(self, agents: Indices, curvature: Vector) -> Vector:
        """Return ``eta`` of some agents, S9; ``curvature`` has kappa in it."""
        eta: Vector = self.setup.paces[agents, 0]
        if self.setup.settings.is_normalized:
            eta = eta / (1.0 + eta * curvature)
        return eta

    def _shrink(self, rows: Matrix, eta: Vector) -> Matrix:
        return rows * (1.0 - eta * self.setup.settings.regularization)[:, None]

    def _project(self, rows: Matrix) -> Matrix:
        """Return weights scaled so that their norm is at most R, S8."""
        bound = self.setup.settings.norm_bound
        if bound > LARGEST:
            return rows
        norm = np.sqrt(squared_norms(rows))
        factor = np.where(norm > bound, bound / np.maximum(norm, bound), 1.0)
        return rows * factor[:, None]

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        phi = self.setup.features.matrix(X)
        return dots(self.weights, agents, phi, np.arange(len(agents)))

    @property
    def model_order(self) -> Indices:
        """Number of features per agent, (V,)."""
        return np.full(self.setup.network.n_agents, self.size)

    @property
    def n_atoms(self) -> int:
        """Number of weights held in all."""
        return self.size * self.setup.network.n_agents

    @property
    def multipliers(self) -> Vector:
        """Multiplier per edge, (E,): zero, if there are none."""
        zeros = np.zeros(self.setup.network.n_edges)
        return np.array(self.state.get("multipliers", zeros))

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge, (E,); 0 for one never asked."""
        mean: Vector = self.state["violation"] / np.maximum(self.state["asked"], 1)
        return mean

    @property
    def bytes_sent(self) -> int:
        """Bytes of all messages so far; headers do not count."""
        return 0


class FeatureLearner(Learner):
    """A learner with fixed features; what it leaves out has the values below.

    ``model_order`` is the number of features, D for every agent.
    """

    executor: ClassVar[type[IndependentAgents]] = IndependentAgents
    """The class that runs the agents: how neighbours bind."""

    proximity: Any
    step_size: Any
    dual_step_size: Any = None
    regularization: float = 0.0
    dual_regularization: float = 0.0
    tightening: float = 0.0
    coupling: str = "paper"
    step: str = "normalized"
    norm_bound: float | None = None

    def __init__(self, arguments: dict[str, Any], features: FeatureMap) -> None:
        super().__init__(arguments)
        require_component("features", features, FeatureMap, "features.Monomials(2)")
        numbers = make_paces(self, self.network.n_agents)
        self._setup = FeatureSetup(
            self.network, features, losses.as_loss(self.loss),
            proximities.as_proximity(self.proximity), make_settings(self, numbers),
            numbers,
        )  # fmt: skip

    def _make_executor(self, n_features: int) -> IndependentAgents:
        return self.executor(self._setup, n_features)

    @property
    def feature_map(self) -> FeatureMap:
        """The map from inputs to features that all agents share."""
        return self._setup.features

    @property
    def weights(self) -> Matrix:
        """A copy of the weights of every agent, (n_agents, D)."""
        if self._executor is None:
            raise ValueError("weights must be learned first: call learn_one")
        weights: Matrix = self._executor.state_dict()["weights"]
        return weights

    @property
    def length_scales(self) -> Matrix | None:
        """Length scale of the features, for every agent; None where they have none.

        (n_agents,), or (n_agents, n_features) for one per feature.
        """
        scale = getattr(self.feature_map, "length_scale", None)
        if scale is None:
            return None
        V = self.network.n_agents
        return np.tile(np.asarray(scale, float), (V,) + (1,) * np.ndim(scale))
