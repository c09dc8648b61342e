"""Nodes over Zenoh: in lockstep they are the simulator, running free they learn."""

from time import monotonic

import numpy as np
import pytest

from halk import Network
from halk.net import FreeNode, post, serve
from halk.net.certs import make_authority, make_certificate
from tests.net.links import PATIENCE, all_alive, places, until
from tests.net.nodes import assert_same, maker, model, stream


def _joined(here, nodes):
    ends = [here.open(node.name, *node.peers) for node in nodes]
    until(lambda: all_alive(*ends))
    return ends


def _serve_until(nodes, ends, condition):
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end
        for node, transport in zip(nodes, ends, strict=True):
            transport.wait(0.001)
            serve(node, transport, monotonic())


@pytest.mark.parametrize(
    ("is_secure", "coupling"),
    [(False, "exact"), (True, "exact"), (False, "predictions")],
    ids=["tcp", "tls", "second order"],
)
def test_lockstep_is_the_simulator(is_secure, coupling, tmp_path):
    network = Network(4, [(0, 1), (1, 2), (2, 3), (3, 0)], tolerance=0.01)
    learner = model(network, coupling)
    X, Y = stream(30, network.n_agents)
    learner.learn_many(X, Y)
    if is_secure:
        make_authority(tmp_path)
        for i in range(network.n_agents):
            make_certificate(tmp_path, f"n{i}")
    make = maker(learner)
    nodes = [make(i) for i in range(network.n_agents)]
    with places(tmp_path if is_secure else None) as here:
        ends = _joined(here, nodes)
        for x, y in zip(X, Y, strict=True):
            for i, node in enumerate(nodes):
                now = monotonic()
                turn = node.skip(now) if np.isnan(y[i]) else node.read(x[i], y[i], now)
                post(ends[i], turn)
            _serve_until(nodes, ends, lambda: all(node.is_idle for node in nodes))
        assert not any(end.dropped for end in ends)
    assert_same(nodes, learner)


def test_free_nodes_learn_from_each_other():
    make = maker(model(Network.path(2, 0.001)), FreeNode, wait=0.5)
    nodes = [make(0), make(1)]
    updates = []
    nodes[0].observe = updates.append
    rng = np.random.default_rng(0)
    with places() as here:
        ends = _joined(here, nodes)
        greeted = [
            node.peers[other] for node, other in zip(nodes, ("n1", "n0"), strict=True)
        ]
        _serve_until(nodes, ends, lambda: all(peer.is_greeted for peer in greeted))
        for step in range(1, 31):
            for node, transport in zip(nodes, ends, strict=True):
                x = rng.uniform(size=1)
                post(transport, node.read(x, float(np.sin(6 * x[0])), monotonic()))
            _serve_until(nodes, ends, lambda: not any(n.is_waiting for n in nodes))
            assert min(node.step for node in nodes) >= step
    assert sum(len(update.answers) for update in updates) > 15
    assert sum(len(update.pulls) for update in updates) > 15
