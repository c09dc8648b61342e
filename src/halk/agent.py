"""One agent as a state machine without I/O: ask, answer, update.

No clock, no randomness, no socket: whoever runs the agent carries its queries and
answers. The arithmetic is the simulator's, the same functions of the native core on the
same numbers in the same order, so both give the same trajectory bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from halk import _core
from halk._validation import (
    Indices,
    Matrix,
    Vector,
    array,
    finite_array,
    integer,
    nonnegative,
    positive,
    real,
    require,
)
from halk.bandwidth import Adaptation
from halk.errors import DivergenceError
from halk.function import Function
from halk.kernels import Kernel, rescale
from halk.losses import Loss
from halk.proximity import Proximity
from halk.state import (
    ADAPTATION,
    ASKED,
    MULTIPLIER,
    OFFSET,
    SCALE,
    STD,
    SUSPECTS,
    TARGET,
    TOLERANCE,
    VIOLATION,
    check_native_state,
    start_edges,
)

LARGEST = 1e50
"""Values beyond this are divergence; squares and products below it stay finite."""

WARM_UP = 10
"""Readings before offset and std are known well enough for multipliers to move."""

CONSTANT = 1e-9
"""Std, as a share of the mean, below which a target counts as constant."""


class Components(NamedTuple):
    """The formulas that make a learner."""

    kernel: Kernel
    loss: Loss
    proximity: Proximity
    adaptation: Adaptation


class Settings(NamedTuple):
    """The numbers of a learner that all its agents share."""

    regularization: float  # lambda
    dual_regularization: float  # delta
    tightening: float  # nu
    norm_bound: float  # R, infinite for none
    is_exact: bool  # coupling: S5 as written, or the paper's
    is_normalized: bool  # step: S9, or plain
    removes_offset: bool  # of the target
    removes_std: bool

    @property
    def standardizes(self) -> bool:
        """Whether targets are standardised."""
        return self.removes_offset or self.removes_std


class NewtonSettings(NamedTuple):
    """The numbers of a second-order learner that all its agents share."""

    forgetting: float  # beta
    regularization: float  # lambda
    robust: float  # phi, 0 for none
    novelty: float
    max_atoms: int
    budget: float  # epsilon, of a compression
    dual_gain: float  # kappa
    warm_up: float  # t0
    largest_multiplier: float  # mu_max
    tightening: float  # nu
    exchanges_readings: bool  # instead of predictions
    removes_offset: bool  # of the target
    removes_std: bool
    first_multiplier: float  # mu_0
    unit: tuple[float, float]  # mean and std of targets that all count in

    def start_edges(self, tolerance: Vector, noise: Any) -> Matrix:
        """Return the numbers of edges before the first step; noise is their agents'.

        What a neighbour predicts is a reading of the own field with twice the tolerance
        as extra noise, and counts no more than that. Not if agents measure their unit:
        nobody knows yet what the tolerance is in it.
        """
        start = np.full(len(tolerance), self.first_multiplier)
        if self.exchanges_readings:
            start[:] = 0.0
        elif not self.removes_std:
            variance = noise * self.unit[1] ** 2
            start = np.minimum(start, variance / (variance + 2.0 * tolerance))
        return start_edges(tolerance, start, is_second=True)

    def native(
        self, kernel: Kernel, loss: Loss, n_features: int
    ) -> _core.NewtonSettings:
        """Return the settings for the core."""
        numbers: Any = self[:-2]
        return _core.NewtonSettings(kernel.native(n_features), loss.native(), *numbers)


class Pace(NamedTuple):
    """The numbers that may differ between agents."""

    step_size: float  # eta
    dual_step_size: float
    budget: float  # epsilon


class Query(NamedTuple):
    """What an agent asks a neighbour: the neighbour's prediction at a point.

    With the paper's coupling only ``x`` is used.
    """

    x: Vector
    value: float
    """The asking agent's own prediction there."""
    multiplier: float
    """The asking agent's multiplier for this neighbour."""
    std: float = 1.0
    """The unit in which the asking agent measures disagreement."""


class Answer(NamedTuple):
    """What a neighbour answers: its prediction; with adaptation, the log of its scale.

    In second order also the variance of its field there.
    """

    value: float
    log_scale: float = 0.0
    variance: float = 0.0


def native_settings(
    components: Components, settings: Settings, n_features: int
) -> _core.Settings:
    """Return components and settings as the native core takes them."""
    return _core.Settings(
        components.kernel.native(n_features),
        components.loss.native(),
        components.proximity.native(),
        components.adaptation.native(),
        *settings,
    )


class CoreAgent(ABC):
    """One agent as a state machine without I/O: what both orders have alike.

    A step is ``ask`` (if there is a reading), then ``answer`` for every query that came
    in, then ``update`` with the answers that came back.
    """

    kernel: Kernel
    loss: Loss
    settings: Settings | NewtonSettings
    _core: _core.Network | _core.NewtonNetwork
    _n_core_features: int
    """Of points with their label, if they have one."""
    _is_second: ClassVar[bool]
    _advice: str
    """What helps against divergence."""

    def __init__(self, neighbours: Sequence[int], n_features: int) -> None:
        self.neighbours = [int(j) for j in neighbours]
        ordered = self.neighbours == sorted(set(self.neighbours))
        require(ordered, "neighbours", "be ascending and distinct", neighbours)
        self.n_features = integer("n_features", n_features, minimum=1)
        self._n_core_features = self.n_features
        self._reading: tuple[Vector, float, float] | None = None
        self._queries: dict[int, Query] = {}

    def _graph(self) -> tuple[Indices, Indices, Indices]:
        """Return the graph of one agent; its neighbours are elsewhere."""
        nobody = np.zeros(len(self.neighbours), np.int64)
        return np.array([0, len(nobody)]), nobody, nobody

    # looking inside

    @property
    def order(self) -> int:
        """Number of atoms."""
        return int(self._core.order[0])

    @property
    @abstractmethod
    def coupling(self) -> str:
        """How neighbours bind: by what they tell each other, and what is made of it."""

    @property
    def scale(self) -> float:
        """What it multiplies the length scale of the kernel by."""
        return 1.0

    @property
    def suspects(self) -> int:
        """How many of its readings lost weight, for being far from all expected."""
        return 0

    @property
    def target(self) -> Vector:
        """Running statistics of its target, (6,)."""
        return self._core.agents[0, TARGET]

    @target.setter
    def target(self, target: Vector) -> None:
        agents = self._core.agents
        agents[0, TARGET] = target
        self._core.agents = agents

    @property
    def tolerance(self) -> Vector:
        """How far the neighbours may be, (n_neighbours,)."""
        return self._core.edges[:, TOLERANCE].copy()

    @property
    def multipliers(self) -> Vector:
        """Multiplier per tolerance, (n_neighbours,)."""
        return self._core.edges[:, MULTIPLIER].copy()

    @multipliers.setter
    def multipliers(self, multipliers: Vector) -> None:
        edges = self._core.edges
        edges[:, MULTIPLIER] = array("multipliers", multipliers, (len(edges),))
        self._core.edges = edges

    @property
    def violation(self) -> Vector:
        """Sum of ``h - tolerance`` over the steps that asked, (n_neighbours,)."""
        return self._core.edges[:, VIOLATION].copy()

    @property
    def asked(self) -> Indices:
        """Number of those steps, (n_neighbours,)."""
        return self._core.edges[:, ASKED].astype(np.int64)

    @property
    def has_reading(self) -> bool:
        """Whether a reading waits for answers."""
        return self._reading is not None

    @property
    def queries(self) -> dict[int, Query]:
        """The neighbours' queries that will pull in the next update."""
        return dict(self._queries)

    # a step

    def predict(self, x: Any) -> float:
        """Return the prediction at one point, in the unit of the target."""
        return self._core.predict_one(self._labelled(self._point(x)))

    def _point(self, x: Any) -> Vector:
        return finite_array("x", x, (self.n_features,))

    def _labelled(self, x: Vector, neighbour: int | None = None) -> Vector:
        """Return a point of its own or a neighbour's as the core takes it."""
        return x

    def _predict_finite(self, x: Vector, neighbour: int | None = None) -> None:
        value = self._core.predict_one(self._labelled(x, neighbour))
        if not abs(value) <= LARGEST:
            raise DivergenceError(
                f"learning diverged: the prediction is {value:g}; {self._advice}"
            )

    def _check_reading(self, x: Any, y: Any) -> tuple[Vector, float]:
        point, y = self._point(x).copy(), real("y", y)
        require(abs(y) < LARGEST, "y", f"be below {LARGEST:g} in size", y)
        labels = self.loss.takes_labels
        require(not labels or abs(y) == 1, "y", "be -1 or +1", y)
        return point, y

    def _make_queries(self, point: Vector, own: float) -> dict[int, Query]:
        std = float(self.target[STD])
        return {
            j: Query(point, own, float(mu), std)
            for j, mu in zip(self.neighbours, self.multipliers, strict=True)
        }

    def _check_query(self, neighbour: int, query: Query) -> Query:
        """Return a neighbour's query if it is sound, with a point of its own."""
        if neighbour not in self.neighbours:
            known = ", ".join(map(str, self.neighbours)) or "none"
            raise ValueError(f"neighbour must be one of {known}, got {neighbour!r}")
        value, std = real("value", query.value), positive("std", query.std)
        within = 1 / LARGEST < std < LARGEST
        require(within, "std", f"be between {1 / LARGEST:g} and {LARGEST:g}", std)
        require(abs(value) < LARGEST, "value", f"be below {LARGEST:g} in size", value)
        multiplier = nonnegative("multiplier", query.multiplier)
        return Query(self._point(query.x).copy(), value, multiplier, std)

    def _edge(self, neighbour: int) -> int:
        return self.neighbours.index(neighbour)

    def _finish(self, answers: Matrix, around: float) -> None:
        """Let the core make the rest of the step; (n_neighbours, ...) answers."""
        asked = sorted(self._queries.items())
        rows = [self._labelled(query.x, j) for j, query in asked]
        points = np.array(rows).reshape(-1, self._n_core_features)
        edges = np.array([self._edge(j) for j, _ in asked], np.int32)
        multipliers = np.array([query.multiplier for _, query in asked], float)
        carried = np.array([(q.value, q.std) for _, q in asked], float).reshape(-1, 2)
        point, y, _ = self._reading or (None, 0.0, 0.0)
        x = None if point is None else self._labelled(point)
        queries = points, edges, multipliers, carried
        self._core.update(x, y, answers, around, *queries)
        self._reading, self._queries = None, {}

    # saving

    def state_dict(self) -> dict[str, Any]:
        """Return what the agent needs to go on, as arrays.

        With a step in progress ``reading`` (point, target, own prediction) and
        ``queries`` (neighbour, point, value, multiplier, std per row) are among them.
        """
        state: dict[str, Any] = self._core.state()
        if self._reading is not None:
            x, y, own = self._reading
            state["reading"] = np.array([*x, y, own])
        if self._queries:
            rows = [[j, *q.x, *q[1:]] for j, q in sorted(self._queries.items())]
            state["queries"] = np.array(rows, float)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from the state of an agent that had the same settings, bit for bit.

        Raises
        ------
        ValueError or TypeError
            That names what does not fit; the agent is then as it was.
        """
        p, n_neighbours = self.n_features, len(self.neighbours)
        n_core = self._n_core_features
        arrays = check_native_state(state, 1, n_neighbours, n_core, self._is_second)
        reading, queries = None, {}
        if "reading" in state:
            row = finite_array("reading", state["reading"], (p + 2,))
            reading = row[:p].copy(), float(row[p]), float(row[p + 1])
        rows = state.get("queries", np.zeros((0, p + 4)))
        for row in finite_array("queries", rows, (None, p + 4)):
            j, query = int(row[0]), Query(row[1 : p + 1], *row[p + 1 :].tolist())
            require(j in self.neighbours, "queries", "be of neighbours", j)
            queries[j] = self._check_query(j, query)
        self._core.restore(arrays)
        self._reading, self._queries = reading, queries

    __setstate__ = load_state_dict


class Agent(CoreAgent):
    """One agent by first-order steps: its function, multipliers, the step it is in.

    Parameters
    ----------
    components, settings, pace : Components, Settings, Pace
        Formulas and numbers; ``HALK.agent`` hands out agents that are set up.
    neighbours : sequence of int
        Identities of the neighbours, ascending.
    tolerance : array (n_neighbours,)
    n_features : int
    """

    settings: Settings
    _core: _core.Network
    _is_second = False

    def __init__(
        self,
        components: Components,
        settings: Settings,
        pace: Pace,
        neighbours: Sequence[int],
        tolerance: Any,
        n_features: int,
    ) -> None:
        super().__init__(neighbours, n_features)
        self.components, self.settings, self.pace = components, settings, pace
        self.kernel, self.loss = components.kernel, components.loss
        tolerance = array("tolerance", tolerance, (len(self.neighbours),))
        self._advice = f"use step='normalized', or a step size below {pace.step_size:g}"
        native = native_settings(components, settings, n_features)
        edges, paces = start_edges(tolerance), np.array([pace])
        self._core = _core.Network(native, *self._graph(), edges, paces)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (
            self.components, self.settings, self.pace, self.neighbours, self.tolerance,
            self.n_features,
        )  # fmt: skip
        return Agent, arguments, self.state_dict()

    @property
    def coupling(self) -> str:
        """``"exact"``, or ``"paper"``."""
        return "exact" if self.settings.is_exact else "paper"

    @property
    def scale(self) -> float:
        """What it multiplies the length scale of the kernel by."""
        return float(self._core.agents[0, SCALE])

    @property
    def function(self) -> Function:
        """A copy of the agent's function."""
        kernel = rescale(self.components.kernel, self.scale)
        return Function(kernel, *self._core.function(0))

    @property
    def adaptation(self) -> Vector:
        """What the adaptation remembers; the log of the proposed scale first."""
        return self._core.agents[0, ADAPTATION]

    def ask(self, x: Any, y: float) -> dict[int, Query]:
        """Take in a reading; return the query to send to each neighbour.

        Moves the running statistics of the target, if those are removed, and changes
        nothing else of the model.

        Raises
        ------
        DivergenceError
            If the prediction at ``x`` has left the finite numbers; nothing is changed.
        """
        point, y = self._check_reading(x, y)
        self._predict_finite(point)
        if self.settings.standardizes:
            self._core.observe(y)
        own = self._core.predict_one(point)
        self._reading = (point, y, own)
        return self._make_queries(point, own)

    def answer(self, neighbour: int, query: Query) -> Answer:
        """Return the prediction at a neighbour's point, and remember to be taught.

        Under the exact coupling ``update`` uses the query. An agent that has read
        nothing takes offset and std over from its first query, if those are removed.
        """
        query = self._check_query(neighbour, query)
        self._predict_finite(query.x)
        self._queries.pop(neighbour, None)  # an earlier one is out of date
        if self.settings.is_exact and query.multiplier > 0:
            self._queries[neighbour] = query
        self._core.adopt(query.value, query.std)
        return Answer(self._core.predict_one(query.x), float(self.adaptation[0]))

    def update(self, answers: Mapping[int, Answer] | None = None) -> None:
        """Finish the step with the answers that came; missing ones may be left out."""
        answers = answers or {}
        for j, answer in answers.items():
            value = real(f"answer of {j}", answer.value)
            require(abs(value) < LARGEST, f"answer of {j}", "be finite", answer)
            real(f"log scale of {j}", answer.log_scale)
        came = [answers.get(j) for j in self.neighbours]
        values = np.array([[np.nan if a is None else a.value] for a in came])
        logs = [answer.log_scale for answer in came if answer is not None]
        around = sum(logs) / len(logs) if logs else np.nan
        self._finish(values.reshape(-1, 1), around)


class NewtonAgent(CoreAgent):
    """One agent by second-order steps: it adapts to its reading, then talks.

    Parameters
    ----------
    kernel, loss : Kernel, Loss
    settings : NewtonSettings
    noise : float
        ``NewtonHALK.agent`` hands out agents that are set up.
    neighbours : sequence of int
        Identities of the neighbours, ascending.
    tolerance : array (n_neighbours,)
    n_features : int
    index : int
        Its own identity; where readings are exchanged, the label of its points.
    """

    settings: NewtonSettings
    _core: _core.NewtonNetwork
    _is_second = True
    _advice = "give length scales and noise in the unit of the readings"

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss,
        settings: NewtonSettings,
        noise: float,
        neighbours: Sequence[int],
        tolerance: Any,
        n_features: int,
        index: int,
    ) -> None:
        super().__init__(neighbours, n_features)
        self.kernel, self.loss, self.settings = kernel, loss, settings
        self.noise, self.index = positive("noise", noise), index
        self._n_core_features += settings.exchanges_readings
        tolerance = array("tolerance", tolerance, (len(self.neighbours),))
        edges = settings.start_edges(tolerance, self.noise)
        native = settings.native(kernel, loss, self._n_core_features)
        paces = np.array([[self.noise]])
        self._core = _core.NewtonNetwork(native, *self._graph(), edges, paces)
        target = self.target
        target[[OFFSET, STD]] = settings.unit
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (
            self.kernel, self.loss, self.settings, self.noise, self.neighbours,
            self.tolerance, self.n_features, self.index,
        )  # fmt: skip
        return NewtonAgent, arguments, self.state_dict()

    @property
    def function(self) -> Function:
        """A copy of the agent's function."""
        return Function(self.kernel, *self._core.function(0))

    @property
    def coupling(self) -> str:
        """``"predictions"`` or ``"readings"``, which is what neighbours exchange."""
        return "readings" if self.settings.exchanges_readings else "predictions"

    @property
    def suspects(self) -> int:
        """How many of its readings lost weight, for being far from all expected."""
        return int(self._core.agents[0, SUSPECTS])

    def _labelled(self, x: Vector, neighbour: int | None = None) -> Vector:
        if not self.settings.exchanges_readings:
            return x
        return np.append(x, self.index if neighbour is None else neighbour)

    def ask(self, x: Any, y: float) -> dict[int, Query]:
        """Learn a reading; return the query to send to each neighbour.

        A second reading in the same step is learned too; the first one's queries are
        out of date then.

        Raises
        ------
        DivergenceError
            If the prediction at ``x`` has left the finite numbers; nothing is changed.
        """
        point, y = self._check_reading(x, y)
        self._predict_finite(point)
        own = self._core.adapt(self._labelled(point), y)
        self._reading = (point, y, own)
        return self._make_queries(point, own)

    def answer(self, neighbour: int, query: Query) -> Answer:
        """Return prediction and variance at a neighbour's point, to be taught later.

        The prediction is NaN while the agent does not know its own scale: there is
        nothing to be sent then. Where readings are exchanged nobody waits for it.
        """
        query = self._check_query(neighbour, query)
        self._predict_finite(query.x, neighbour)
        self._queries.pop(neighbour, None)  # an earlier one is out of date
        if self.settings.exchanges_readings or query.multiplier > 0:
            self._queries[neighbour] = query
        edge = np.array([self._edge(neighbour)], np.int32)
        point = self._labelled(query.x, neighbour)[None]
        multiplier = np.array([query.multiplier])
        value, variance = self._core.answer(point, edge, multiplier)[0]
        return Answer(float(value), variance=float(variance))

    def update(self, answers: Mapping[int, Answer] | None = None) -> None:
        """Finish the step with the answers that came; missing ones may be left out."""
        given = np.full((len(self.neighbours), 2), np.nan)
        for j, answer in (answers or {}).items():
            value = real(f"answer of {j}", answer.value)
            require(abs(value) < LARGEST, f"answer of {j}", "be finite", answer)
            variance = nonnegative(f"variance of {j}", answer.variance)
            given[self._edge(j)] = value, variance
        self._finish(given, np.nan)
