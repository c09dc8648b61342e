"""Networks of nodes in one process, for the tests of this folder."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halk import HALK, Network, NewtonHALK, kernels
from halk.net.free import FreeNode
from halk.net.limits import Limits
from halk.net.lockstep import LockstepNode
from halk.net.memory import Hub
from halk.net.node import Node
from halk.net.transport import post, serve

COUPLINGS = ("paper", "exact", "predictions", "readings")

OPEN = Limits(rate=np.inf, burst=np.inf)


def model(network: Network, coupling: str = "exact", **changes: Any) -> Any:
    """Return a learner of the order that a coupling is of."""
    if coupling in ("predictions", "readings"):
        newton: dict[str, Any] = {"length_scale": 0.2, "noise": 0.02}
        newton |= {"standardize": False, "exchange": coupling, "identity": 0.1}
        return NewtonHALK(network, **newton | changes)
    defaults: dict[str, Any] = {
        "kernel": kernels.Gaussian(0.2),
        "step_size": 0.3,
        "epsilon": 0.03,
    }
    return HALK(network, coupling=coupling, **defaults | changes)


def maker(
    learner: Any, kind: type[Node] = LockstepNode, n_features: int = 1, **options: Any
) -> Callable[[int], Any]:
    """Return what makes the node of an agent, again and again the same."""

    def make(i: int) -> Any:
        agent = learner.agent(i, n_features)
        neighbours = [f"n{j}" for j in agent.neighbours]
        return kind(agent, f"n{i}", neighbours, **{"limits": OPEN} | options)

    return make


def pair(kind: type[Node] = FreeNode, learner: Any = None, **options: Any):
    """Return two nodes that have greeted each other."""
    make = maker(learner or model(Network.path(2, 0.01)), kind, **options)
    a, b = make(0), make(1)
    settle(a, b)
    return a, b


def settle(*nodes: Any, now: float = 0.0, parcels: Any = None) -> None:
    """Carry messages between nodes until nobody has anything to say."""
    named = {node.name: node for node in nodes}
    queue = [(node.name, parcel) for node in nodes for parcel in node.wake(now)]
    queue += parcels or []
    while queue:
        sender, parcel = queue.pop(0)
        if parcel.receiver in named:
            for reply in named[parcel.receiver].receive(sender, parcel.data, now):
                queue.append((parcel.receiver, reply))


def run_lockstep(
    nodes: list[Any], X: Any, Y: Any, each: Any = None, within: bool = False
) -> list[Any]:
    """Drive nodes through a stream; ``each`` may replace a node between two steps.

    Or at any time, also within steps.
    """
    hub = Hub()
    ends = [hub.join(node.name) for node in nodes]
    now = 0.0
    for _ in range(3):  # hellos
        for node, end in zip(nodes, ends, strict=True):
            serve(node, end, now)
    for x, y in zip(X, Y, strict=True):
        for i, node in enumerate(nodes):
            assert node.is_idle
            turn = node.skip(now) if np.isnan(y[i]) else node.read(x[i], y[i], now)
            post(ends[i], turn)
        for _ in range(99):
            for node, end in zip(nodes, ends, strict=True):
                serve(node, end, now)
            now += 0.001 if each is None else 0.5
            if within:
                nodes = [each(node) for node in nodes]
            if all(node.is_idle for node in nodes):
                break
        if each is not None:
            nodes = [each(node) for node in nodes]
    return nodes


def stream(n_steps: int, n_agents: int, n_features: int = 1, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_steps, n_agents, n_features))
    Y = np.sin(6 * X[..., 0]) + 0.1 * rng.normal(size=X.shape[:2])
    Y[rng.uniform(size=Y.shape) < 0.3] = np.nan
    return X, Y


def assert_same(nodes: list[Any], learner: Any) -> None:
    """Require that nodes and learner hold the same, bit for bit."""
    for i, node in enumerate(nodes):
        f, g = learner.function(i), node.agent.function
        edges = slice(learner.network.indptr[i], learner.network.indptr[i + 1])
        np.testing.assert_array_equal(g.atoms, f.atoms)
        np.testing.assert_array_equal(g.weights, f.weights)
        np.testing.assert_array_equal(
            node.agent.multipliers, learner.multipliers[edges]
        )
        assert g.kernel == f.kernel
