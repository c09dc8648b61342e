"""In lockstep the network learns what the simulator learns, bit for bit."""

from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halk import Network, bandwidth, losses
from halk.checks import check_executor
from halk.net.lockstep import LockstepNode
from halk.net.messages import Reason
from halk.net.state import bring_back, dump
from halk.state import ADOPTED
from tests.net.nodes import (
    COUPLINGS,
    assert_same,
    maker,
    model,
    pair,
    run_lockstep,
    settle,
    stream,
)

NETWORKS = {
    "path": Network.path(3, 0.01),
    "ring": Network.ring(5, 0.02),
    "star": Network.star(4, 0.01),
    "complete": Network.complete(4, 0.05),
    "two parts": Network(5, [(0, 1), (2, 3)], tolerance=0.01),
    "one": Network(1),
}


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_lockstep_is_the_simulator(network, coupling):
    learner = model(network, coupling=coupling)
    X, Y = stream(60, network.n_agents)
    learner.learn_many(X, Y)
    make = maker(learner)
    nodes = run_lockstep([make(i) for i in range(network.n_agents)], X, Y)
    assert_same(nodes, learner)
    assert all(node.step == 60 for node in nodes)
    assert not any(node.refused for node in nodes)


@pytest.mark.parametrize(
    "changes",
    [
        {"standardize": True},
        {"standardize": "offset", "coupling": "paper"},
        {"adaptation": bandwidth.LossFollowing()},
        {"norm_bound": 1.0, "step": "plain", "step_size": 0.05},
        {"coupling": "predictions", "standardize": True},
        {"coupling": "predictions", "standardize": "offset", "epsilon": 0.1},
        {"coupling": "predictions", "loss": losses.Quantile(0.3), "forgetting": 0.99},
        {"coupling": "readings", "standardize": True, "max_atoms": 8},
    ],
)
def test_also_with_scales_and_adaptation(changes):
    network = NETWORKS["ring"]
    learner = model(network, **changes)
    X, Y = stream(60, network.n_agents, n_features=2)
    learner.learn_many(X, Y)
    make = maker(learner, n_features=2)
    nodes = run_lockstep([make(i) for i in range(network.n_agents)], X, Y)
    assert_same(nodes, learner)


@settings(max_examples=10)
@given(
    st.integers(2, 5), st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))),
    st.integers(0, 99), st.sampled_from(COUPLINGS),
)  # fmt: skip
def test_on_any_network(n_agents, pairs, seed, coupling):
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < n_agents}
    network = Network(n_agents, sorted(edges), tolerance=0.01)
    learner = model(network, coupling=coupling)
    X, Y = stream(20, n_agents, seed=seed)
    learner.learn_many(X, Y)
    make = maker(learner)
    assert_same(run_lockstep([make(i) for i in range(n_agents)], X, Y), learner)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_the_law_of_executors_holds(coupling):
    def execute(agents, X, Y):
        names = [f"n{i}" for i in range(len(agents))]
        nodes = [
            LockstepNode(agent, names[i], [names[j] for j in agent.neighbours])
            for i, agent in enumerate(agents)
        ]
        return [node.agent for node in run_lockstep(nodes, X, Y)]

    check_executor(partial(model, coupling=coupling), execute)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"standardize": True},
        {"adaptation": bandwidth.LossFollowing(warm_up=5)},
        {"coupling": "predictions", "standardize": True},
        {"coupling": "readings"},
    ],
)
def test_a_restored_node_goes_on_as_if_it_had_not_stopped(changes):
    network = NETWORKS["ring"]
    learner = model(network, **changes)
    X, Y = stream(40, network.n_agents)
    learner.learn_many(X, Y)
    make = maker(learner)

    def restarted(node):
        if (node.step + int(node.name[1:])) % 3:
            return node
        return bring_back(dump(node), make(int(node.name[1:])))

    fresh = [make(i) for i in range(network.n_agents)]
    nodes = run_lockstep(fresh, X, Y, each=restarted)
    assert_same(nodes, learner)
    assert all(node.incarnation > 10 for node in nodes)
    violations = np.concatenate([node.agent.violation for node in nodes])
    asked = np.concatenate([node.agent.asked for node in nodes])
    mean = violations / np.maximum(asked, 1)
    assert np.isfinite(mean).all()


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_node_goes_on_in_the_middle_of_a_step(coupling):
    network = Network.path(3, 0.01)
    learner = model(network, coupling, standardize=coupling == "predictions")
    X, Y = stream(15, network.n_agents)
    learner.learn_many(X, Y)
    make, rng, stopped = maker(learner, retry=0.4), Random(0), []

    def restarted(node):
        if rng.random() < 0.7:
            return node
        stopped.append(node.is_idle)
        return bring_back(dump(node), make(int(node.name[1:])))

    fresh = [make(i) for i in range(network.n_agents)]
    assert_same(run_lockstep(fresh, X, Y, restarted, within=True), learner)
    assert stopped.count(False) > 10


def test_who_does_not_know_its_scale_yet_says_so():
    learner = model(Network.path(2, 0.01), "predictions", standardize=True)
    a, b = pair(LockstepNode, learner)
    parcels = [("n0", p) for p in a.read([0.5], 7.0, 0.0)]
    settle(a, b, parcels=parcels + [("n1", p) for p in b.skip(0.0)])
    assert (a.step, b.step) == (1, 1)
    assert a.complaints == {Reason.UNTAUGHT: 1}
    assert not a.refused
    assert not b.refused
    assert b.agent.target[ADOPTED] == 1  # by now it has heard of a scale


def test_who_is_a_step_ahead_need_not_say_it_again():
    make = maker(model(NETWORKS["path"]), retry=1e9)
    first, middle, last = (make(i) for i in range(3))
    settle(first, middle, last)
    to_first, to_last = middle.skip(0.0)
    middle.receive("n0", first.skip(0.0)[0].data, 0.0)
    first.receive("n1", to_first.data, 0.0)
    assert (first.step, middle.step) == (1, 0)
    middle.receive("n0", first.skip(0.0)[0].data, 0.0)  # of step 1
    for _ in range(2):
        middle.receive("n2", last.skip(0.0)[0].data, 0.0)
        last.receive("n1", to_last.data, 0.0)
        if middle.is_idle and middle.step == 1:
            _, to_last = middle.skip(0.0)
    assert middle.step == 2
    assert not middle.refused


def test_a_step_begins_once():
    make = maker(model(NETWORKS["path"]))
    node = make(0)
    node.skip(0.0)
    with pytest.raises(ValueError, match="done before the next"):
        node.read([0.5], 1.0, 0.0)


def test_another_reading_for_the_same_step_is_refused():
    learner = model(Network.path(2, 0.01))
    make = maker(learner)
    a, b = make(0), make(1)
    for node, other in ((a, b), (b, a)):
        for parcel in node.wake(0.0):
            for reply in other.receive(node.name, parcel.data, 0.0):
                node.receive(other.name, reply.data, 0.0)
    first = a.read([0.5], 1.0, 0.0)
    file = dump(make(0))
    b.receive("n0", first[0].data, 0.0)
    other = bring_back(file, make(0))
    for parcel in other.wake(0.0):
        for reply in b.receive("n0", parcel.data, 0.0):
            other.receive("n1", reply.data, 0.0)
    for parcel in other.read([0.7], 1.0, 0.0):
        b.receive("n0", parcel.data, 0.0)
    assert b.refused[Reason.STEP] == 1


@pytest.mark.parametrize("has_reading", [True, False])
def test_a_repeat_of_a_step_that_is_done_ends_there(has_reading):
    a, b = pair(LockstepNode)
    turns = [n.read([0.5], 1.0, 0.0) if has_reading else n.skip(0.0) for n in (a, b)]
    again = a.wake(5.0)  # it has heard nothing and says it again
    assert again
    parcels = [("n0", p) for p in (*turns[0], *again)] + [("n1", p) for p in turns[1]]
    named, n_carried = {"n0": a, "n1": b}, 0
    while parcels:
        sender, parcel = parcels.pop(0)
        replies = named[parcel.receiver].receive(sender, parcel.data, 5.0)
        parcels += [(parcel.receiver, reply) for reply in replies]
        n_carried += 1
        assert n_carried < 50
    assert a.step == b.step == 1


def test_early_stds_of_any_size_do_not_part_it_from_the_simulator():
    """Of two readings that are almost alike, the std is no bound for anybody."""
    network = Network.path(3, 0.01)
    learner = model(network, "predictions", standardize=True)
    X, Y = stream(30, 3)
    Y[:2] = [[0.5, 0.1, 0.3], [0.5 + 1e-7, 0.9, 0.3 + 1e-5]]
    learner.learn_many(X, Y)
    make = maker(learner)
    nodes = run_lockstep([make(i) for i in range(3)], X, Y)
    assert_same(nodes, learner)
    assert not any(node.refused for node in nodes)
