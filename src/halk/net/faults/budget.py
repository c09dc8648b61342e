"""The law of compression: what an update leaves out is within the budget."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from halk.agent import Agent, Answer, NewtonAgent
from halk.function import Function
from halk.net.faults.laws import law

_ROUNDING = 1e-6
"""Of a distance of two functions, relative to their norms: it is a difference."""


class CheckedAgent:
    """An agent whose updates are now and then made a second time, with budget zero.

    The two functions must not be further apart than the budget. Everything else is the
    agent's own.

    Parameters
    ----------
    agent : Agent or NewtonAgent
    every : int
        Of so many updates one is checked; a check costs as much as many updates.
    """

    def __init__(self, agent: Agent | NewtonAgent, every: int) -> None:
        self._agent, self._every, self._n_updates = agent, every, 0
        self._budget = _budget(agent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def update(self, answers: Mapping[int, Answer] | None = None) -> None:
        """Update, and check it if it is its turn."""
        self._n_updates += 1
        if self._n_updates % self._every:
            self._agent.update(answers)
            return
        whole = _twin(self._agent)
        self._agent.update(answers)
        whole.update(answers)
        if whole.scale != self._agent.scale:
            return  # kernels of two length scales are not compared
        away, size = _distance(self._agent.function, whole.function)
        most = self._budget + _ROUNDING * (1.0 + size)
        law(away <= most, f"an update left out {away:g}, more than {self._budget:g}")


def _budget(agent: Agent | NewtonAgent) -> float:
    numbers = agent.settings if isinstance(agent, NewtonAgent) else agent.pace
    return numbers.budget


def _twin(agent: Agent | NewtonAgent) -> Agent | NewtonAgent:
    """Return an agent in the same state that leaves nothing out."""
    make: Any
    make, arguments, state = agent.__reduce__()
    twin: Agent | NewtonAgent = make(
        *(
            one._replace(budget=0.0) if hasattr(one, "budget") else one
            for one in arguments
        )
    )
    twin.load_state_dict(state)
    return twin


def _distance(f: Function, g: Function) -> tuple[float, float]:
    """Return the distance of two functions in the Hilbert space, and the norm of one.

    Densely, with no help from the engine's matrices.
    """
    atoms = np.concatenate([f.atoms, g.atoms])
    weights = np.concatenate([f.weights, -g.weights])
    K = f.kernel(atoms)
    n = len(f.weights)
    square = float(weights @ K @ weights)
    size = float(f.weights @ K[:n, :n] @ f.weights)
    return max(square, 0.0) ** 0.5, max(size, 0.0) ** 0.5
