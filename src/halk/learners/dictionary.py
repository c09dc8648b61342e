"""Learners whose agents hold a kernel dictionary: the settings of their engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from halk import proximity as proximities
from halk._validation import Matrix, Vector, array, integer
from halk.agent import Agent, Pace
from halk.bandwidth import Adaptation
from halk.function import Function
from halk.kernels import Kernel
from halk.learners.base import Learner
from halk.learners.executor import Executor
from halk.learners.settings import make_components, make_paces, make_settings
from halk.simulator import Simulator
from halk.state import ADOPTED


class Functions(Sequence[Function]):
    """The agents' functions, made when they are asked for."""

    def __init__(self, learner: KernelLearner) -> None:
        self._learner = learner

    def __len__(self) -> int:
        return self._learner.network.n_agents

    def __getitem__(self, agent: Any) -> Any:
        """Return the function of one agent, by index or name, or of a slice."""
        if isinstance(agent, slice):
            return [self[i] for i in range(*agent.indices(len(self)))]
        if isinstance(agent, int | np.integer):
            if not -len(self) <= agent < len(self):
                raise IndexError(f"agent must be below {len(self)}, got {agent}")
            agent = int(agent) % len(self)
        return self._learner.function(agent)


class KernelLearner(Learner):
    """A learner whose agents hold a kernel dictionary each."""

    @property
    def functions(self) -> Functions:
        """The agents' functions, in units of the target less offset, over std."""
        return Functions(self)

    def function(self, agent: int | str) -> Function:
        """Return a copy of one agent's function."""
        i = self.network.index(agent)
        if self._executor is None:
            raise ValueError("functions must be learned first: call learn_one")
        executor: Any = self._executor
        function: Function = executor.function(i)
        return function

    @property
    def target(self) -> Matrix:
        """Running statistics of the agents' targets, (n_agents, 6); see `halk.agent`.

        Setting them changes no weight.
        """
        if self._executor is None:
            raise ValueError("target must be learned first: call learn_one or prepare")
        executor: Any = self._executor
        target: Matrix = executor.target
        return target

    @target.setter
    def target(self, target: Matrix) -> None:
        executor: Any = self._executor
        executor.target = array("target", target, self.target.shape)

    def _agent_of(self, agent: int | str, n_features: int | None) -> tuple[int, int]:
        """Return index and length of the inputs of an agent to be made."""
        n_features = self.n_features if n_features is None else n_features
        if n_features is None:
            raise ValueError("n_features must be given before the first reading")
        return self.network.index(agent), n_features


class DictionaryLearner(KernelLearner):
    """A learner on the engine of HALK; what it leaves out has the values below.

    Multipliers move by S6 from zero; with ``fixed_multiplier`` they are that number and
    stay. At zero agents learn alone: the neighbours' terms would only be zeros, and
    offset and length scale would travel with them.
    """

    kernel: Kernel
    proximity: proximities.Proximity = proximities.Squared()
    step_size: Any
    dual_step_size: Any = None
    regularization: float
    dual_regularization: float = 0.0
    tightening: float = 0.0
    epsilon: Any
    parsimony: Any
    alpha: Any
    coupling: str = "paper"
    step: str
    norm_bound: float | None
    adaptation: Adaptation | None
    standardize: bool | str
    n_jobs: int | None = None

    _tolerance: ClassVar[float | None] = None
    """The tolerance of every edge inside the engine, if not the network's."""

    def __init__(
        self,
        arguments: dict[str, Any],
        fixed_multiplier: float | None = None,
        n_models: int = 0,
    ) -> None:
        super().__init__(arguments)
        if self.n_jobs is not None:
            integer("n_jobs", self.n_jobs, minimum=1)
        self._paces = make_paces(self, n_models or self.network.n_agents)
        self._settings = make_settings(self, self._paces)
        self._components = make_components(self)
        self._fixed_multiplier = fixed_multiplier
        self._freeze_multipliers()

    def _freeze_multipliers(self) -> None:
        if self._fixed_multiplier is not None:
            self._paces[:, 1] = 0.0
        if self._fixed_multiplier == 0.0:
            self._settings = self._settings._replace(is_exact=False)
            rule: Any = self._components.adaptation
            if hasattr(rule, "sharing"):
                alone = replace(rule, sharing=0.0)
                self._components = self._components._replace(adaptation=alone)

    def _make_executor(self, n_features: int) -> Executor:
        self._components.kernel.check_features(n_features)
        network = self.network
        if self._tolerance is not None:
            same = np.full(network.n_edges, self._tolerance)
            network = replace(network, tolerance=same)
        return Simulator(
            network, self._components, self._settings, self._paces, n_features,
            self._fixed_multiplier, self.n_jobs or 1,
        )  # fmt: skip

    @property
    def multipliers(self) -> Vector:
        """Multiplier of every tolerance, in the order of ``network.edges``."""
        if self._executor is None:
            return np.full(self.network.n_edges, self._fixed_multiplier or 0.0)
        return self._executor.multipliers

    def agent(self, agent: int | str, n_features: int | None = None) -> Agent:
        """Return one agent by itself, untaught, with the settings it has here.

        Agents talk by messages that somebody carries; they follow the trajectory of
        this learner bit for bit. ``n_features`` is needed before the first reading.
        """
        i, n_features = self._agent_of(agent, n_features)
        edges = slice(self.network.indptr[i], self.network.indptr[i + 1])
        tolerance = self.network.tolerance[edges].copy()
        if self._tolerance is not None:
            tolerance[:] = self._tolerance
        pace = Pace(*(float(number) for number in self._paces[i]))
        neighbours = self.network.neighbours[edges].tolist()
        made = Agent(
            self._components, self._settings, pace, neighbours, tolerance, n_features
        )
        made.multipliers = np.full(len(neighbours), self._fixed_multiplier or 0.0)
        target = made.target
        target[ADOPTED] = float(self._fixed_multiplier == 0.0)
        made.target = target
        return made

    @property
    def length_scales(self) -> Matrix | None:
        """Length scale of every agent's kernel; None for kernels without one.

        (n_agents,), or (n_agents, n_features) for one per feature.
        """
        length_scale = getattr(self.kernel, "length_scale", None)
        if length_scale is None:
            return None
        scale = np.ones(self.network.n_agents)
        if self._executor is not None:
            executor: Any = self._executor
            scale = scale * executor.scale
        if np.ndim(length_scale) == 0:
            return scale * float(length_scale)
        return np.outer(scale, length_scale)
