"""The public face that every learner shares: learn, predict, look inside."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np

from halk import checkpoint
from halk._validation import Indices, Matrix, Vector, array, finite_array, integer
from halk.learners.executor import Executor
from halk.learners.readings import check_readings, list_single, list_step, split_stream
from halk.losses import Loss, as_loss
from halk.network import Network
from halk.simulator import Readings, Record


class Learner(ABC):
    """A network of agents that learns online.

    A subclass lists its arguments in its constructor, hands ``locals()`` up, and says
    who runs its agents; it adds no loop. Arguments are kept under their own names,
    arrays as copies: changed later, they would not be what was used.
    """

    network: Network
    loss: Loss

    def __init__(self, arguments: dict[str, Any]) -> None:
        for name, value in arguments.items():
            if name not in ("self", "__class__"):
                own = value.copy() if isinstance(value, np.ndarray) else value
                setattr(self, name, own)
        if not isinstance(self.network, Network):
            raise TypeError(f"network must be a Network, got {self.network!r}")
        self.n_steps = 0
        self._executor: Executor | None = None
        self._is_fast = False
        self._takes_labels = as_loss(self.loss).takes_labels

    @abstractmethod
    def _make_executor(self, n_features: int) -> Executor:
        """Return who runs the agents, for inputs of this length."""

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters
        given = {name: getattr(self, name) for name in parameters}
        changed = [
            f"{name}={value!r}"
            for name, value in given.items()
            if name != "network" and repr(value) != repr(parameters[name].default)
        ]
        listed = ", ".join([repr(self.network), *changed])
        return f"{type(self).__name__}({listed}, n_steps={self.n_steps})"

    # learning

    def learn_one(self, x: Any, y: Any) -> None:
        """Make one step of the whole network.

        Parameters
        ----------
        x : array (n_agents, n_features)
        y : array (n_agents,)
            NaN where an agent has no reading; its row of ``x`` may then be NaN too.
        """
        executor: Any = self._executor
        if self._is_fast and executor.learn_one(x, y, self._takes_labels):
            self.n_steps += 1
            return
        V = self.network.n_agents
        X, Y = array("x", x, (V, self.n_features)), array("y", y, (V,))
        is_new = self._is_fast and (X is not x or Y is not y)  # lists, for example
        if is_new and executor.learn_one(X, Y, self._takes_labels):
            self.n_steps += 1
        else:
            self._learn(list_step(X, Y, self.loss))

    def learn_many(self, X: Any, Y: Any) -> None:
        """Make many steps in one native call; the same as ``learn_one`` in a loop.

        Parameters
        ----------
        X : array (n_steps, n_agents, n_features)
        Y : array (n_steps, n_agents)
            NaN where an agent has no reading.
        """
        for part in self.dense_pieces(X, Y):
            self._learn(part)

    def learn_readings(self, agents: Any, X: Any, Y: Any) -> None:
        """Learn single readings in the order they came, each in a step of its own.

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
        self._learn(list_single(index, X, Y, self.loss))

    def dense_pieces(self, X: Any, Y: Any, n_steps: int = 0) -> Iterator[Readings]:
        """Yield a dense stream in pieces of ``n_steps`` (default: sensible ones)."""
        V = self.network.n_agents
        X = array("X", X, (None, V, self.n_features))
        Y = array("Y", Y, (len(X), V))
        check_readings("X Y", X, Y, self.loss)
        return split_stream(X, Y, n_steps)

    def observe(self, readings: Readings) -> Record:
        """Learn from a prepared stream; return predictions made before learning."""
        start, agent = (np.asarray(part, np.int64) for part in readings[:2])
        x = array("x", readings.x, (None, self.n_features))
        y = finite_array("y", readings.y, (len(x),))
        check_readings("x y", x, y, self.loss, has_agents=False)
        return self._learn(Readings(start, agent, x, y))

    def _learn(self, readings: Readings) -> Record:
        executor = self._executor or self._keep(self._executor_for(readings.x.shape[1]))
        try:
            return executor.run(readings)
        finally:  # an interrupt loses no step that was made
            self.n_steps += executor.steps_made

    def prepare(self, n_features: int) -> None:
        """Be ready for inputs of this length, before the first reading.

        Raises
        ------
        ValueError
            If inputs have had another length before.
        """
        self._keep(self._executor_for(n_features))

    def _executor_for(self, n_features: int) -> Executor:
        n_features = integer("n_features", n_features, minimum=1)
        if self._executor is None:
            return self._make_executor(n_features)
        known = self._executor.n_features
        if n_features != known:
            raise ValueError(
                f"n_features must be {known}, as before, got {n_features}; make "
                f"another model for other inputs"
            )
        return self._executor

    def _keep(self, executor: Executor) -> Executor:
        self._executor = executor
        self._is_fast = hasattr(executor, "learn_one")
        return executor

    # predicting

    def predict_one(self, x: Any) -> Vector:
        """Return every agent's prediction at its own point.

        Parameters
        ----------
        x : array (n_agents, n_features)
        """
        V = self.network.n_agents
        X = finite_array("x", x, (V, self.n_features))
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
        X = finite_array("X", X, (None, self.n_features))
        return self._values(np.full(len(X), i), X)

    def predict_readings(self, agents: Any, X: Any) -> Vector:
        """Return predictions of many agents, agent ``agents[r]`` at point ``X[r]``.

        Parameters
        ----------
        agents : sequence of int or str, length n
        X : array (n, n_features)
        """
        index = self._indices(agents)
        X = finite_array("X", X, (len(index), self.n_features))
        return self._values(index, X)

    def _indices(self, agents: Any) -> Indices:
        if isinstance(agents, int | str | np.integer):
            agents = [agents]
        return np.array([self.network.index(agent) for agent in agents], np.int64)

    def _values(self, agents: Indices, X: Matrix) -> Vector:
        if self._executor is None:
            return np.zeros(len(agents))
        return self._executor.values(agents, X)

    # saving

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model to a file, whole or not at all; see :mod:`halk.checkpoint`."""
        checkpoint.save(self, path)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        kernel: Any = None,
        loss: Any = None,
        proximity: Any = None,
    ) -> Self:
        """Return the model of a file; learning goes on as if it had never stopped.

        Components of your own are not in the file: they are taken from modules that are
        already imported, or from here.
        """
        return checkpoint.load(path, cls, kernel=kernel, loss=loss, proximity=proximity)

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step needs, as arrays; none before the first reading."""
        return {} if self._executor is None else self._executor.state_dict()

    def load_state_dict(
        self, n_steps: int, n_features: int, state: Mapping[str, Any]
    ) -> None:
        """Go on after ``n_steps`` from a state of a learner of the same settings.

        Raises
        ------
        ValueError or TypeError
            That names what does not fit; the learner is then as it was.
        """
        n_steps = integer("n_steps", n_steps)
        executor = self._executor_for(n_features)
        executor.load_state_dict(state)
        self._keep(executor)
        self.n_steps = n_steps

    # looking inside

    @property
    def n_features(self) -> int | None:
        """Length of the inputs; None before the first reading."""
        return None if self._executor is None else self._executor.n_features

    @property
    def model_order(self) -> Indices:
        """Number of atoms, or features, that every agent predicts with, (n_agents,)."""
        if self._executor is None:
            return np.zeros(self.network.n_agents, dtype=np.int64)
        return self._executor.model_order

    @property
    def n_atoms(self) -> int:
        """Number of atoms, or features, held in the whole network."""
        return 0 if self._executor is None else self._executor.n_atoms

    @property
    def multipliers(self) -> Vector:
        """Multiplier per edge, in the order of ``network.edges``."""
        if self._executor is None:
            return np.zeros(self.network.n_edges)
        return self._executor.multipliers

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge; 0 for an edge never asked."""
        if self._executor is None:
            return np.zeros(self.network.n_edges)
        return self._executor.violations

    @property
    def length_scales(self) -> Matrix | None:
        """Length scale that every agent predicts with; None where there is none.

        (n_agents,), or (n_agents, n_features) for one per feature.
        """
        return None

    @property
    def bytes_sent(self) -> int:
        """Bytes of all messages between agents so far; headers do not count."""
        return 0 if self._executor is None else self._executor.bytes_sent
