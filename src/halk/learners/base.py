"""The public face that every learner shares: learn, predict, look inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from halk import checkpoint
from halk._validation import Indices, Matrix, Vector, array, require, without_nan
from halk.agent import Agent
from halk.expansion import Expansion
from halk.learners.readings import checked, one_step, pieces, single
from halk.network import Network
from halk.simulator import Readings, Record, Simulator, State
from halk.step import Pace, Rules, Settings


class Functions(Sequence[Expansion]):
    """The agents' functions, made when they are asked for."""

    def __init__(self, learner: Learner) -> None:
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


class Learner:
    """A network of agents that learns online.

    Subclasses choose rules, settings and paces and pass them on; they add no loop.
    """

    network: Network

    def __init__(
        self, network: Network, rules: Rules, settings: Settings, paces: Matrix
    ) -> None:
        if not isinstance(network, Network):
            raise TypeError(f"network must be a Network, got {network!r}")
        self.network = network
        self.n_steps = 0
        self._rules = rules
        self._settings = settings
        self._paces = paces
        self._simulator: Simulator | None = None

    # learning

    def learn_one(self, x: Any, y: Any) -> None:
        """Make one step of the whole network.

        Parameters
        ----------
        x : array (n_agents, n_features)
        y : array (n_agents,)
            NaN where an agent has no reading; its row of ``x`` may then be NaN too.
        """
        V = self.network.n_agents
        X = array("x", x, (V, self.n_features))
        Y = array("y", y, (V,))
        self._learn(one_step(X, Y, self._rules.loss))

    def learn_many(self, X: Any, Y: Any) -> None:
        """Make many steps in one compiled call; the same as ``learn_one`` in a loop.

        Parameters
        ----------
        X : array (n_steps, n_agents, n_features)
        Y : array (n_steps, n_agents)
            NaN where an agent has no reading.
        """
        for part in self.dense_pieces(X, Y):
            self._learn(part)

    def learn_readings(self, agents: Any, X: Any, Y: Any) -> None:
        """Learn single readings in the order they came, each a step of its own.

        The cost is that of the agents concerned, whatever the size of the network. A
        NaN target is no reading, and no step.

        Parameters
        ----------
        agents : sequence of int or str, length n
            Whose readings they are, by index or name.
        X : array (n, n_features)
        Y : array (n,)
        """
        index = self._indices(agents)
        X = array("X", X, (len(index), self.n_features))
        Y = array("Y", Y, (len(index),))
        self._learn(single(index, X, Y, self._rules.loss))

    def dense_pieces(self, X: Any, Y: Any, n_steps: int = 0) -> Iterator[Readings]:
        """Yield a dense stream in pieces of ``n_steps`` (default: sensible ones)."""
        V = self.network.n_agents
        X = array("X", X, (None, V, self.n_features))
        Y = array("Y", Y, (len(X), V))
        checked("X Y", X, Y, self._rules.loss)
        return pieces(X, Y, n_steps)

    def observe(self, readings: Readings) -> Record:
        """Learn from a prepared stream; return predictions made before learning."""
        return self._learn(readings)

    def _learn(self, readings: Readings) -> Record:
        simulator = self._prepared(readings.x.shape[1])
        try:
            return simulator.run(readings)
        finally:  # an interrupt loses no step that was made
            self.n_steps += simulator.steps_made

    def _prepared(self, n_features: int) -> Simulator:
        if self._simulator is None:
            require(n_features > 0, "n_features", "be at least 1", n_features)
            self._rules.kernel.check_features(n_features)
            self._simulator = Simulator(
                self.network, self._rules, self._settings, self._paces, n_features
            )
        return self._simulator

    # predicting

    def predict_one(self, x: Any) -> Vector:
        """Return every agent's prediction at its own point.

        Parameters
        ----------
        x : array (n_agents, n_features)
        """
        V = self.network.n_agents
        X = without_nan("x", array("x", x, (V, self.n_features)))
        return self._values(np.arange(V), X)

    def predict(self, agent: int | str, X: Any) -> Vector:
        """Return one agent's predictions at many points.

        Parameters
        ----------
        agent : int or str
            Index or name.
        X : array (n, n_features)
        """
        i = self.network.index(agent)
        X = without_nan("X", array("X", X, (None, self.n_features)))
        return self._values(np.full(len(X), i), X)

    def predict_readings(self, agents: Any, X: Any) -> Vector:
        """Return predictions of many agents, agent ``agents[r]`` at point ``X[r]``.

        Parameters
        ----------
        agents : sequence of int or str, length n
        X : array (n, n_features)
        """
        index = self._indices(agents)
        X = without_nan("X", array("X", X, (len(index), self.n_features)))
        return self._values(index, X)

    def _indices(self, agents: Any) -> Indices:
        if isinstance(agents, int | str | np.integer):
            agents = [agents]
        return np.array([self.network.index(agent) for agent in agents], np.int64)

    def _values(self, agents: Indices, X: Matrix) -> Vector:
        if self._simulator is None:
            return np.zeros(len(agents))
        return self._simulator.values(agents, X)

    # saving

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model to a file, whole or not at all; see :mod:`halk.checkpoint`."""
        checkpoint.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], kernel: Any = None) -> Self:
        """Return the model of a file; learning goes on as if it had never stopped.

        ``kernel`` is needed if it holds a function, which no file does.
        """
        return checkpoint.load(path, cls, kernel)

    @property
    def state(self) -> State | None:
        """What the next step needs to know; None before the first reading."""
        return None if self._simulator is None else self._simulator.state

    def restore(
        self, n_steps: int, n_features: int, change: Callable[[State], State]
    ) -> None:
        """Go on after ``n_steps`` from what ``change`` makes of a fresh state."""
        simulator = self._prepared(n_features)
        simulator.state = change(simulator.state)
        self.n_steps = n_steps

    # looking inside

    @property
    def n_features(self) -> int | None:
        """Length of the inputs; None before the first reading."""
        return None if self._simulator is None else self._simulator.n_features

    @property
    def functions(self) -> Functions:
        """The agents' functions, in units of the target less offset, over spread."""
        return Functions(self)

    def agent(self, agent: int | str, n_features: int | None = None) -> Agent:
        """Return one agent by itself, untaught, with the settings it has here.

        Agents talk by messages that somebody carries; they follow the trajectory of
        this learner to the last bit. ``n_features`` is needed before the first reading.
        """
        i = self.network.index(agent)
        n_features = self.n_features if n_features is None else n_features
        if n_features is None:
            raise ValueError("n_features must be given before the first reading")
        edges = slice(self.network.indptr[i], self.network.indptr[i + 1])
        return Agent(
            self._rules,
            self._settings,
            Pace(*(float(number) for number in self._paces[i])),
            self.network.neighbours[edges].tolist(),
            self.network.tolerance[edges],
            n_features,
        )

    def function(self, agent: int | str) -> Expansion:
        """Return a copy of one agent's function."""
        i = self.network.index(agent)
        if self._simulator is None:
            raise ValueError("functions must be learned first: call learn_one")
        return self._simulator.function(i)

    @property
    def model_order(self) -> Indices:
        """Number of atoms of every agent, (n_agents,)."""
        if self._simulator is None:
            return np.zeros(self.network.n_agents, dtype=np.int64)
        return self._simulator.state.arena.order.copy()

    @property
    def multipliers(self) -> Vector:
        """Price of every tolerance, in the order of ``network.edges``."""
        if self._simulator is None:
            return np.zeros(self.network.n_edges)
        return self._simulator.state.multipliers.copy()

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` an edge; 0 for an edge never asked."""
        if self._simulator is None:
            return np.zeros(self.network.n_edges)
        state = self._simulator.state
        return state.violation / np.maximum(state.asked, 1)

    @property
    def bandwidths(self) -> Matrix | None:
        """Bandwidth of every agent's kernel; None for kernels without one.

        (n_agents,), or (n_agents, n_features) for one a feature.
        """
        bandwidth = getattr(self._rules.kernel, "bandwidth", None)
        if bandwidth is None:
            return None
        V = self.network.n_agents
        scale = np.ones(V) if self._simulator is None else self._simulator.state.scale
        if np.ndim(bandwidth) == 0:
            return scale * float(bandwidth)
        return np.outer(scale, bandwidth)
