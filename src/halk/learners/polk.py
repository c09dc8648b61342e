"""POLK: one model in the middle, which everybody sends readings to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halk import kernels, losses
from halk._validation import Indices, Matrix, Vector
from halk.agent import Agent
from halk.bandwidth import Adaptation
from halk.errors import DivergenceError
from halk.function import Function
from halk.learners.dictionary import DictionaryLearner
from halk.learners.executor import Executor
from halk.learners.settings import KERNEL, LOSS
from halk.network import Network
from halk.simulator import DOUBLE, Readings, Record, Simulator, divergence
from halk.state import check_counts


class Pooled:
    """Runs one function on the readings of all agents, one after the other.

    Within a step readings count in the order of agents, each predicted with all before
    it learned.

    Parameters
    ----------
    network : Network
    one : Simulator
        Of a network of one agent, which holds the function.
    """

    def __init__(self, network: Network, one: Simulator) -> None:
        self.n_features = one.n_features
        self.steps_made = 0
        self._network, self._one = network, one
        self._readings = np.zeros(network.n_agents, dtype=np.int64)

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way.

        A step that diverges keeps the readings before the one that did.
        """
        self.steps_made = 0
        n = len(readings.y)
        pooled = readings._replace(start=np.arange(n + 1), agent=np.zeros(n, np.int64))
        try:
            prediction = self._one.run(pooled).prediction
        except KeyboardInterrupt:
            self._count(readings, self._one.steps_made)
            raise
        except DivergenceError:
            r = self._one.steps_made
            self._count(readings, r)
            agent, eta = int(readings.agent[r]), float(self._one.paces[0, 0])
            raise divergence(agent, self.steps_made, eta) from None
        self._count(readings, n)
        degree = self._network.degree[readings.agent]
        asked = np.diff(np.concatenate([[0], np.cumsum(degree)])[readings.start])
        return Record(prediction, np.zeros(len(asked)), asked)

    def _count(self, readings: Readings, n_made: int) -> None:
        V = self._network.n_agents
        self._readings += np.bincount(readings.agent[:n_made], minlength=V)
        self.steps_made = int(np.searchsorted(readings.start[1:], n_made, "right"))

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction at every point, the same for all agents."""
        return self._one.values(np.zeros_like(agents), X)

    def function(self, i: int) -> Function:
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
    def scale(self) -> Vector:
        """What every agent multiplies the length scale of the kernel by, (V,)."""
        return np.full(self._network.n_agents, self._one.scale[0])

    @property
    def multipliers(self) -> Vector:
        """No multipliers, (E,)."""
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

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step needs to know, with the readings of every agent."""
        return self._one.state_dict() | {"readings": self._readings.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises ``ValueError`` if it does not fit."""
        readings = check_counts(state, "readings", self._network.n_agents)
        self._one.load_state_dict(state)
        self._readings = readings


class POLK(DictionaryLearner):
    """Online kernel learning of one function from everybody's readings, pooled.

    Within a step the readings count one after another, in the order of agents, each
    predicted before it is learned. All agents predict with the same function, so they
    never disagree; each needs the whole of it, so ``model_order`` is its order for
    every agent, and ``n_atoms`` its order once. A reading sent costs ``8 (p + 1)``
    bytes.

    Parameters
    ----------
    step_size, epsilon, parsimony, alpha : float
        One number: there is one model.

    The others as for :class:`HALK`.

    References
    ----------
    A. Koppel, G. Warnell, E. Stump, A. Ribeiro, "Parsimonious online learning with
    kernels via sparse projections in function space", Journal of Machine Learning
    Research, 2019.

    Examples
    --------
    >>> from halk import Network
    >>> model = POLK(Network.path(3))
    >>> model.learn_one([[0.0], [0.0], [2.0]], [1.0, 1.0, -1.0])
    >>> model.model_order, model.n_atoms, model.bytes_sent
    (array([2, 2, 2]), 2, 48)
    """

    def __init__(
        self,
        network: Network,
        kernel: kernels.Kernel = KERNEL,
        loss: losses.Loss = LOSS,
        step_size: float = 0.1,
        regularization: float = 1e-5,
        epsilon: float | None = None,
        parsimony: float | None = None,
        alpha: float | None = None,
        step: str = "normalized",
        norm_bound: float | None = None,
        adaptation: Adaptation | None = None,
        standardize: bool | str = False,
    ) -> None:
        super().__init__(locals(), n_models=1)

    def _make_executor(self, n_features: int) -> Executor:
        self._components.kernel.check_features(n_features)
        shared = self._components, self._settings, self._paces, n_features
        return Pooled(self.network, Simulator(Network(1), *shared))

    def agent(self, agent: int | str, n_features: int | None = None) -> Agent:
        """Refuse: there is one model, and no agent has one of its own."""
        raise TypeError("POLK must be run as a whole: its agents hold no models")
