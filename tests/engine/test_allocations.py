"""Memory in the steady state: the compiled loop asks for none."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys  # noqa: TID251

from halk import HALK, Network, bandwidth, kernels

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def _with_statistics() -> Iterator[None]:
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


def readings(n_steps: int, V: int = 12) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_steps)
    X = rng.uniform(size=(n_steps, V, 1))
    return X, np.sin(6.0 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, V))


CASES: dict[str, dict[str, Any]] = {
    "exact": {},
    "paper": {"coupling": "paper"},
    "standardized": {"standardize": True},
    "adaptive": {"bandwidth": bandwidth.LeaveOneOut(warm_up=5)},
    "bounded": {"norm_bound": 1.0},
    "product": {"kernel": 2.0 * kernels.Gaussian(0.1)},
    "custom": {"kernel": kernels.Custom.examples()[0]},
}


def steady(**changes: Any) -> HALK:
    settings = {"kernel": kernels.Gaussian(0.1), "epsilon": 0.01} | changes
    learner = HALK(Network.ring(12, tolerance=0.01), **settings)
    learner.learn_many(*readings(2000))
    return learner


def asked_for(work: Callable[[], None]) -> tuple[int, int]:
    """Return how often compiled code asked for memory, and what it did not return."""
    gc.collect()
    before = rtsys.get_allocation_stats()
    work()
    gc.collect()
    after = rtsys.get_allocation_stats()
    asked = after.alloc - before.alloc
    return asked, asked - (after.free - before.free)


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_loop_asks_for_no_memory(name: str) -> None:
    """A call may, to take its arguments; a step may not."""
    learner = steady(**CASES[name])
    few, many = readings(30), readings(600)
    short, _ = asked_for(lambda: learner.learn_many(*few))
    long, kept = asked_for(lambda: learner.learn_many(*many))
    assert kept <= 0
    assert short < 30
    assert abs(long - short) < 5


def kept(learn: Callable[[int], None], n_steps: int) -> int:
    """Return the bytes that Python still holds after some steps."""
    tracemalloc.start()
    try:
        learn(600)  # Python keeps some memory by itself, once
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        learn(n_steps)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


@pytest.mark.parametrize("n_readings", [1, 12])
def test_single_steps_keep_no_memory(n_readings: int) -> None:
    learner = steady()
    X, Y = readings(2500)
    Y[:, n_readings:] = np.nan
    steps = iter(zip(X, Y, strict=True))

    def learn(n_steps: int) -> None:
        for _ in range(n_steps):
            learner.learn_one(*next(steps))

    learn(200)
    assert asked_for(lambda: learn(200))[1] == 0
    assert kept(learn, 1500) < 16 * 1500  # less than the smallest object a step


def test_agents_keep_no_memory() -> None:
    agent = steady().agent(0, n_features=1)
    X, Y = readings(3300)
    steps = iter(zip(X[:, 0], Y[:, 0].tolist(), strict=True))

    def learn(n_steps: int) -> None:
        for _ in range(n_steps):
            agent.ask(*next(steps))
            agent.update()

    learn(1000)
    assert asked_for(lambda: learn(200))[1] == 0
    assert kept(learn, 1500) < 16 * 1500
