"""How far a liar pulls agents of second order, and how far away one feels it."""

import numpy as np
import pytest

from halk import Network
from tests.net.nodes import maker, model, run_lockstep, stream

GRID = np.linspace(0, 1, 41)
N_STEPS, N_AGENTS = 300, 5
COUPLINGS = ("predictions", "readings")


class Liar:
    """The first agent of a path, which says other values and is sure of them."""

    def __init__(self, agent, lie: float, begins: int) -> None:
        self._agent, self._lie, self._begins = agent, lie, begins
        self._n_steps = 0

    def __getattr__(self, name):
        return getattr(self._agent, name)

    @property
    def lie(self) -> float:
        return self._lie * (self._n_steps >= self._begins)

    def ask(self, x, y):
        queries = self._agent.ask(x, y).items()
        lie = {"multiplier": 10.0} if self.lie else {}
        return {
            j: query._replace(value=query.value + self.lie, **lie)
            for j, query in queries
        }

    def answer(self, neighbour, query):
        answer = self._agent.answer(neighbour, query)
        lie = {"variance": 0.0} if self.lie else {}
        return answer._replace(value=answer.value + self.lie, **lie)

    def update(self, answers=None):
        self._n_steps += 1
        self._agent.update(answers)


def learned(coupling: str, lie: float, begins: int = 0):
    """Return what the agents of a path predict at the end, (n_agents, n_points)."""
    make = maker(model(Network.path(N_AGENTS, 0.01), coupling))
    nodes = [make(i) for i in range(N_AGENTS)]
    nodes[0].agent = Liar(nodes[0].agent, lie, begins)
    run_lockstep(nodes, *stream(N_STEPS, N_AGENTS))
    assert all(node.step == N_STEPS for node in nodes)
    return np.array([[node.agent.predict([x]) for x in GRID] for node in nodes])


@pytest.fixture(scope="module")
def honest():
    return {coupling: learned(coupling, 0.0) for coupling in COUPLINGS}


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize(
    ("lie", "begins"), [(10.0, 0), (1e6, 0), (10.0, 100), (-1e6, 100)]
)
def test_a_lie_that_is_no_observation_moves_nobody(honest, coupling, lie, begins):
    moved = np.abs(learned(coupling, lie, begins) - honest[coupling]).max(axis=1)
    assert moved[1] < 0.06
    assert (moved[2:] < 0.006).all()


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize(("lie", "begins"), [(1.0, 0), (-1.0, 0), (1.0, 100)])
def test_a_lie_that_could_be_true_moves_less_from_agent_to_agent(
    honest, coupling, lie, begins
):
    """It is a neighbour that differs, whom one is bound to: never beyond the lie."""
    moved = np.abs(learned(coupling, lie, begins) - honest[coupling]).max(axis=1)
    assert (moved[1:] <= 1.1 * abs(lie)).all()
    assert (np.diff(moved[1:]) <= 0).all()
    assert moved[-1] < 0.2
