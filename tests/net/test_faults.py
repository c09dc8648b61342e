"""Whatever goes wrong, the laws hold; and what went wrong can be seen again."""

from random import Random
from typing import Any

import numpy as np
import pytest

from halk import Network
from halk.net.faults import World, faults_of
from halk.net.free import FreeNode
from halk.net.limits import Limits
from halk.net.lockstep import LockstepNode
from tests.net.nodes import assert_same, maker, model

NETWORKS = (Network.path(3, 0.01), Network.ring(4, 0.02), Network.star(4, 0.01))
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"coupling": "paper"},
    {"standardize": True},
)
UNTIL = 4.0
N_READINGS = 20


def reading(i: int, n: int):
    """Return the reading of an agent, or None; the same whenever it is asked for."""
    rng = np.random.default_rng([i, n])
    if rng.uniform() < 0.3:
        return None
    x = rng.uniform(size=1)
    return x, float(np.sin(6 * x[0]) + 0.1 * rng.normal())


def free_world(seed: int, **options: Any) -> World:
    rng = Random(f"world {seed}")
    learner = model(rng.choice(NETWORKS), **rng.choice(CHANGES))
    limits = rng.choice((Limits(), Limits(spreads=5.0, multiplier=10.0, atoms=12)))
    make = maker(learner, FreeNode, wait=0.1, limits=limits)
    faults = faults_of(rng, UNTIL)
    n_agents = learner.network.n_agents
    options = {"faults": faults} | options
    return World(make, n_agents, reading, N_READINGS, seed, **options)


def check_free(seed: int) -> World:
    world = free_world(seed)
    world.run(UNTIL + 2.0)
    nodes = world.living()
    assert all(peer.is_greeted for node in nodes for peer in node.peers.values())
    return world


def lockstep_world(seed: int):
    rng = Random(f"lockstep {seed}")
    learner = model(rng.choice(NETWORKS), **rng.choice(CHANGES))
    faults = faults_of(rng, UNTIL, save_every=0.0, lies=False)
    make = maker(learner, LockstepNode, retry=0.2)
    n_agents = learner.network.n_agents
    world = World(make, n_agents, reading, N_READINGS, seed, faults, pause=0.05)
    return world, learner


def check_lockstep(seed: int) -> World:
    world, learner = lockstep_world(seed)
    world.run(UNTIL + 20.0)
    nodes = world.living()
    assert [node.step for node in nodes] == [N_READINGS] * len(nodes), f"seed {seed}"
    for n in range(N_READINGS):
        drawn = [reading(i, n) for i in range(len(nodes))]
        X = [[0.0] if r is None else r[0] for r in drawn]
        learner.learn_one(X, [np.nan if r is None else r[1] for r in drawn])
    assert_same(nodes, learner)
    return world


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_the_laws_hold_under_faults(first):
    for seed in range(first, first + 20):
        check_free(seed)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_in_lockstep_faults_change_no_bit(first):
    for seed in range(first, first + 10):
        check_lockstep(seed)


@pytest.mark.slow
def test_the_laws_hold_under_many_faults():
    for seed in range(10_000):
        check_free(seed)


@pytest.mark.slow
def test_in_lockstep_many_faults_change_no_bit():
    for seed in range(1000):
        check_lockstep(seed)


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_replays_exactly(seed):
    first, second, other = check_free(seed), check_free(seed), check_free(seed + 1)
    assert (first.log, first.n_events) == (second.log, second.n_events)
    assert first.log != other.log


def test_all_kinds_of_faults_happen():
    worlds = [check_free(seed) for seed in range(30)]
    refused = {r.name for w in worlds for node in w.living() for r in node.refused}
    assert refused >= {
        "CHECKSUM", "LENGTH", "MAGIC", "STRANGER", "IMPOSTOR", "UNGREETED", "MISFIT",
        "OLD_INCARNATION", "REPEATED", "LATE", "VALUE", "INPUT", "SPREAD",
        "MULTIPLIER",
    }  # fmt: skip
    assert max(node.incarnation for w in worlds for node in w.living()) > 2
