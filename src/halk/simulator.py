"""All agents of a network in one process, run by the native core."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from halk import _core
from halk._validation import Indices, Matrix, Vector
from halk.agent import Components, NewtonSettings, Settings, native_settings
from halk.errors import DivergenceError, HalkError
from halk.function import Function
from halk.kernels import Kernel, rescale
from halk.losses import Loss
from halk.network import Network
from halk.state import (
    ADOPTED,
    ASKED,
    MULTIPLIER,
    OFFSET,
    READS,
    SCALE,
    STD,
    SUSPECTS,
    TARGET,
    TOLERANCE,
    VIOLATION,
    check_native_state,
    start_edges,
)

DOUBLE = 8
"""Bytes of one number in a message."""

WORTH_SHARING = 2_000
"""Readings of a step below which threads cost more than they bring."""


class Readings(NamedTuple):
    """A stream: step ``t`` has the readings ``start[t]`` up to ``start[t + 1]``."""

    start: Indices  # (T + 1,)
    agent: Indices  # (R,) ascending within a step
    x: Matrix  # (R, p)
    y: Vector  # (R,)


class Record(NamedTuple):
    """What observers want to know: predictions before learning, and disagreement."""

    prediction: Vector  # (R,)
    disagreement: Vector  # (T,) mean of h over the edges asked
    asked: Indices  # (T,)       number of edges asked
    variance: Vector = np.zeros(0)  # (R,) of the readings; empty in first order

    @classmethod
    def room_for(cls, readings: Readings) -> "Record":
        """Return a record to be filled in."""
        n_readings, n_steps = len(readings.y), len(readings.start) - 1
        asked = np.zeros(n_steps, np.int64)
        return cls(np.zeros(n_readings), np.zeros(n_steps), asked)


def divergence(agent: int, n_steps: int, step_size: float) -> DivergenceError:
    """Return the error that says where learning diverged."""
    error = DivergenceError(
        f"learning diverged: a prediction passed 1e50 (agent {agent}, step "
        f"{n_steps} of this call); use step='normalized', or a step size "
        f"below {step_size:g}. The model keeps its last finite state"
    )
    error.n_steps = n_steps
    return error


class CoreSimulator:
    """Runs all agents of a network in one process: what both orders have alike."""

    _core: _core.Network | _core.NewtonNetwork
    _is_second: ClassVar[bool]

    def __init__(
        self, network: Network, paces: Matrix, n_features: int, n_threads: int
    ) -> None:
        self.network, self.paces = network, np.array(paces)
        self.n_features, self.n_threads = n_features, n_threads
        self.steps_made = 0  # of the last stream

    # learning

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way.

        Raises
        ------
        DivergenceError
            If a prediction leaves the finite numbers; the state is then that of the
            last finite step.
        """
        self.steps_made = 0
        if self._core.is_torn:
            raise HalkError(
                "this model stopped in the middle of a step for lack of memory; load "
                "its last checkpoint"
            )
        most = int(np.diff(readings.start).max(initial=0))
        n_threads = self.n_threads if most >= WORTH_SHARING else 1
        try:
            agent, *_ = seen = self._core.run(*readings, n_threads)
        finally:
            self.steps_made = self._core.steps_made
        if agent >= 0:
            raise divergence(agent, self.steps_made, float(self.paces[agent, 0]))
        return Record(*seen[1:])

    def learn_one(self, x: Any, y: Any, takes_labels: bool) -> bool:
        """Make one step if ``x`` and ``y`` are arrays as they should be, fast.

        False, with nothing changed, for all others and on divergence: :meth:`run`
        explains what is wrong.
        """
        return not self._core.is_torn and self._core.learn_one(x, y, takes_labels)

    def set_tolerance(self, tolerance: Vector) -> None:
        """Let other tolerances hold from the next step on, (E,)."""
        edges = self._core.edges
        edges[:, TOLERANCE] = tolerance
        self._core.edges = edges

    # looking inside

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        return self._core.predict(agents, X)

    @property
    def model_order(self) -> Indices:
        """Number of atoms per agent, (V,)."""
        return self._core.order.astype(np.int64)  # NumPy prints long long another way

    @property
    def n_atoms(self) -> int:
        """Number of atoms held in all."""
        return int(self._core.order.sum())

    @property
    def target(self) -> Matrix:
        """Running statistics of the agents' targets, (V, 6)."""
        return self._core.agents[:, TARGET].copy()

    @target.setter
    def target(self, target: Matrix) -> None:
        agents = self._core.agents
        agents[:, TARGET] = target
        self._core.agents = agents

    @property
    def multipliers(self) -> Vector:
        """Multiplier per tolerance, (E,)."""
        return self._core.edges[:, MULTIPLIER].copy()

    @property
    def asked(self) -> Indices:
        """How often every edge was asked, (E,)."""
        return self._core.edges[:, ASKED].astype(np.int64)

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge, (E,); 0 for one never asked."""
        edges = self._core.edges
        mean: Vector = edges[:, VIOLATION] / np.maximum(edges[:, ASKED], 1)
        return mean

    @property
    def counts(self) -> dict[str, int]:
        """How updates ended: weights moved only, atoms changed, inverse repaired."""
        counts = self._core.counts.sum(axis=0).astype(int).tolist()
        return dict(zip(("moved", "projected", "repaired"), counts, strict=True))

    # saving

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step needs to know of all agents, as arrays."""
        return self._core.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        Raises
        ------
        ValueError or TypeError
            That names what does not fit; the model is then as it was.
        """
        sizes = self.network.n_agents, self.network.n_edges, self.n_features
        self._core.restore(check_native_state(state, *sizes, self._is_second))

    __setstate__ = load_state_dict


class Simulator(CoreSimulator):
    """All agents of a network, by first-order steps.

    Parameters
    ----------
    network : Network
    components : Components
        Kernel, loss, proximity and adaptation.
    settings : Settings
        The numbers all agents share.
    paces : array (V, 3)
        Step size, dual step size and budget per agent.
    n_features : int
    fixed_multiplier : float, optional
        What all multipliers are from the start, for dual step sizes of zero. At zero
        agents have nothing to do with each other; their neighbours' predictions
        are still looked at, for the record.
    n_threads : int, default 1
        For steps of thousands of readings; the numbers are the same with any number.
    """

    _core: _core.Network
    _is_second = False

    def __init__(
        self,
        network: Network,
        components: Components,
        settings: Settings,
        paces: Matrix,
        n_features: int,
        fixed_multiplier: float | None = None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(network, paces, n_features, n_threads)
        self.components, self.settings = components, settings
        self.fixed_multiplier = fixed_multiplier
        self._core = _core.Network(
            native_settings(components, settings, n_features),
            network.indptr,
            network.neighbours,
            network.reverse,
            start_edges(network.tolerance, fixed_multiplier or 0.0),
            self.paces,
        )
        if fixed_multiplier == 0.0:  # nobody to adopt offset and std from
            target = self.target
            target[:, ADOPTED] = 1.0
            self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (
            self.network, self.components, self.settings, self.paces, self.n_features,
            self.fixed_multiplier, self.n_threads,
        )  # fmt: skip
        return Simulator, arguments, self.state_dict()

    def set_budget(self, budget: Vector) -> None:
        """Let other budgets of compression hold from the next step on, (V,)."""
        self.paces[:, 2] = budget
        self._core.set_paces(self.paces)

    def function(self, i: int) -> Function:
        """Return a copy of agent ``i``'s function."""
        kernel = rescale(self.components.kernel, float(self.scale[i]))
        return Function(kernel, *self._core.function(i))

    @property
    def scale(self) -> Vector:
        """What every agent multiplies the length scale of the kernel by, (V,)."""
        return self._core.agents[:, SCALE].copy()

    @property
    def bytes_sent(self) -> int:
        """Bytes of all queries and answers so far; headers do not count.

        A query holds the point; under the exact coupling the asking agent's multiplier,
        unless it is fixed; under it, or where targets are standardised, the asking
        agent's prediction; and its std if targets are scaled to it. An answer holds the
        neighbour's prediction, and the log of its scale if length scales adapt.
        Neighbours whose multipliers stay zero have nothing to say to each other.
        """
        fixed, settings = self.fixed_multiplier, self.settings
        if fixed == 0.0:
            return 0
        query = self.n_features + (settings.is_exact and fixed is None)
        query += (settings.is_exact or settings.standardizes) + settings.removes_std
        answer = 1 + hasattr(self.components.adaptation, "sharing")  # Fixed has none
        return DOUBLE * (query + answer) * int(self.asked.sum())


class NewtonSimulator(CoreSimulator):
    """All agents of a network, by second-order steps.

    Parameters
    ----------
    network : Network
    kernel, loss : Kernel, Loss
    settings : NewtonSettings
        The numbers all agents share.
    noise : array (V,)
        Variance of a reading per agent, relative to that of the prior.
    n_features : int
    n_threads : int, default 1
    """

    _core: _core.NewtonNetwork
    _is_second = True

    def __init__(
        self,
        network: Network,
        kernel: Kernel,
        loss: Loss,
        settings: NewtonSettings,
        noise: Vector,
        n_features: int,
        n_threads: int = 1,
    ) -> None:
        super().__init__(network, noise[:, None], n_features, n_threads)
        self.kernel, self.loss, self.settings = kernel, loss, settings
        self._core = _core.NewtonNetwork(
            settings.native(kernel, loss, n_features),
            network.indptr,
            network.neighbours,
            network.reverse,
            settings.start_edges(network.tolerance, noise[network.edges[:, 0]]),
            self.paces,
        )
        target = self.target
        target[:, [OFFSET, STD]] = settings.unit
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (
            self.network, self.kernel, self.loss, self.settings, self.paces[:, 0],
            self.n_features, self.n_threads,
        )  # fmt: skip
        return NewtonSimulator, arguments, self.state_dict()

    def function(self, i: int) -> Function:
        """Return a copy of agent ``i``'s function."""
        return Function(self.kernel, *self._core.function(i))

    def variances(self, agents: Indices, X: Matrix) -> Vector:
        """Return the variance of the field of ``agents[r]`` at ``X[r]``."""
        return self._core.variance(agents, X)

    @property
    def suspects(self) -> Indices:
        """How many readings of each agent lost weight, (V,)."""
        return self._core.agents[:, SUSPECTS].astype(np.int64)

    @property
    def bytes_sent(self) -> int:
        """Bytes of all queries and answers so far; headers do not count.

        A query holds the point, the asking agent's prediction and multiplier, and its
        std if targets are scaled to it; an answer a prediction and its variance. Where
        readings are exchanged a query holds the point, the reading and the std, and
        there is no answer.
        """
        settings, asked = self.settings, float(self.asked.sum())
        numbers = self.n_features + 1 + settings.removes_std
        if settings.exchanges_readings:
            asked = float(self._core.agents[:, READS] @ self.network.degree)
        else:
            numbers += 1 + 2
        return DOUBLE * numbers * int(asked)
