"""What is compiled when: one loop for all learners, and formulas by themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numba.core import event  # noqa: TID251

from halk import HALK, Network, kernels, learners, losses
from halk.losses import Loss, loss_slope, loss_value
from halk.simulator.loop import run

pytestmark = pytest.mark.compiled


class _Names(event.Listener):
    """Collects the names of the functions that something happens to."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def on_start(self, started: Any) -> None:
        data = started.data or {"module": started.kind, "qualname": ""}
        self.found.append(f"{data['module']}.{data['qualname']}")

    def on_end(self, ended: Any) -> None:
        pass


@contextmanager
def noting(kind: str) -> Iterator[list[str]]:
    """Note events of Numba's compiler.

    ``numba:compiler_lock`` is taken whenever something is compiled or fetched from the
    cache on disk; ``numba:run_pass`` names what is compiled.
    """
    names = _Names()
    event.register(kind, names)
    try:
        yield names.found
    finally:
        event.unregister(kind, names)


def teach(learner: Any, p: int = 1, n_steps: int = 60) -> None:
    rng, V = np.random.default_rng(0), learner.network.n_agents
    X = rng.uniform(size=(n_steps, V, p))
    Y = np.where(X[..., 0] > 0.5, 1.0, -1.0)
    learner.learn_one(X[0], Y[0])
    learner.learn_many(X, Y)
    learner.learn_readings([0], X[0, :1], Y[0, :1])
    learner.predict_one(X[0])
    learner.predict(0, X[0])


def usual(network: Network | None = None, **changes: Any) -> HALK:
    network = Network.ring(4, tolerance=0.01) if network is None else network
    settings = {"kernel": kernels.Gaussian(0.1), "epsilon": 0.01} | changes
    return HALK(network, **settings)


@pytest.fixture(scope="module", autouse=True)
def _a_first_learner() -> None:
    teach(usual())
    teach(usual(standardize=True), p=2)
    # near duplicates and a tiny budget: what is compiled only when needed, is now
    learner, rng = usual(kernel=kernels.Gaussian(0.5), epsilon=1e-7), np.random
    X = rng.default_rng(0).normal(size=(400, 4, 1)) * np.logspace(-9, 0, 4)[:, None]
    learner.learn_many(X, np.sin(6.0 * X[..., 0]))


SAME: dict[str, Any] = {
    "another bandwidth": lambda: usual(kernel=kernels.Gaussian(0.3)),
    "another network": lambda: usual(Network.star(7, tolerance=0.2)),
    "one agent": lambda: usual(Network(1)),
    "other numbers": lambda: usual(
        step_size=0.3, regularization=1e-3, tightening=0.1, norm_bound=2.0
    ),
    "numbers by agent": lambda: usual(step_size=[0.1, 0.2, 0.3, 0.4], epsilon=0.1),
    "paper": lambda: usual(coupling="paper", step="plain"),
    "standardized": lambda: usual(standardize=True),
    "penalty": lambda: learners.Penalty(
        Network.ring(4), kernel=kernels.Gaussian(0.1), penalty=0.3
    ),
    "alone": lambda: learners.Alone(Network(3), kernel=kernels.Gaussian(0.1)),
    "one model": lambda: learners.POLK(Network(3), kernel=kernels.Gaussian(0.1)),
}


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("name", SAME)
def test_a_second_learner_compiles_nothing(name: str, p: int) -> None:
    with noting("numba:compiler_lock") as found:
        teach(SAME[name](), p)
    assert not found


def test_a_second_agent_compiles_nothing() -> None:
    def talk(learner: HALK, p: int) -> None:
        agents = {i: learner.agent(i, n_features=p) for i in (0, 1)}
        for _ in range(3):
            query = agents[0].ask(np.full(p, 0.3), 1.0)[1]
            agents[0].update({1: agents[1].answer(0, query)})
            agents[1].update()

    talk(usual(), 1)
    with noting("numba:compiler_lock") as found:
        talk(usual(kernel=kernels.Gaussian(0.7), step_size=0.3), 3)
    assert not found


class _Cubic(Loss, losses._Empty):
    """A loss that nobody has compiled before."""


@loss_value.register
def _(loss: _Cubic, a: float, y: float) -> float:
    return abs(a - y) ** 3 / 3.0


@loss_slope.register
def _(loss: _Cubic, a: float, y: float) -> float:
    return (a - y) * abs(a - y)


def test_another_loss_compiles_its_formula_alone() -> None:
    n_loops = len(run.overloads)
    with noting("numba:run_pass") as found:
        teach(usual(loss=_Cubic()))
    assert set(found) == {"halk.formulas._slope.<locals>.slope", f"{__name__}._"}
    assert len(run.overloads) == n_loops


def bumpy(x: Any, y: Any) -> float:
    return 1.0 / (1.0 + 100.0 * (x[0] - y[0]) ** 2)


def test_another_kernel_compiles_its_loops_alone() -> None:
    teach(usual(loss=_Cubic()))
    n_loops, kernel = len(run.overloads), kernels.Custom(bumpy)
    with noting("numba:run_pass") as found:
        teach(usual(kernel=kernel, loss=_Cubic()))
    assert found
    ours = ("halk.compression.rows.", "halk.kernels.")
    assert not [name for name in found if not name.startswith(ours)]
    assert len(run.overloads) == n_loops
