"""Free running as processes and in the simulator: the same in distribution.

Several runs of real processes against many seeds of the simulator, which is told how
long messages took in those runs and nothing of what came out. The share of messages
that is lost is that of the links in both.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from halk.deploy import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.plan import read_plan
from halk.deploy.process import node_of
from halk.deploy.simulation import simulate_free
from halk.net import FreeNode, bring_back
from halk.net.faults.delays import Measured
from tests.deploy.agents import written

pytest.importorskip("zenoh", reason="needs the extra net")
if not hasattr(os, "fork"):
    pytest.skip("forks", allow_module_level=True)

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

N_AGENTS, N_READINGS = 5, 100
N_RUNS, N_SEEDS, N_WRONG = 8, 100, 25
DROP, DELAY = 0.1, 0.01
PATIENCE = 600.0
WHAT = ("error", "RMSE on the way", "order", "share of answers in time", "updates")
MODES = {"fast": "", "timed": "rate = 40.0\n"}
LEVEL = 0.001 / (len(WHAT) * (N_AGENTS + 1) * len(MODES))
"""A false alarm in any comparison is rarer than one in a thousand (Bonferroni)."""

NETWORK = """
[model]
inputs = ["x"]
kernel = { name = "gaussian", bandwidth = 0.15 }
step_size = 0.2
epsilon = 0.01

[readings]
path = "table.csv"
sensor = "name"
value = "y"
RATE
[network]
tolerance = 0.01
edges = "edges.csv"
wait = 0.02
retry = 0.3
"""


def _plan(folder, rate):
    rng = np.random.default_rng(0)
    rows = ["name,x,y"]
    for _ in range(N_READINGS):
        for i in range(N_AGENTS):
            x = rng.uniform()
            y = 3 + np.sin(6 * x) + 0.1 * i + 0.1 * rng.normal()
            rows.append(f"a{i},{x:.4f},{y:.4f}")
    written(folder, "\n".join([*rows, ""]), "table.csv")
    ring = "".join(f"a{i},a{(i + 1) % N_AGENTS}\n" for i in range(N_AGENTS))
    written(folder, f"from,to\n{ring}", "edges.csv")
    return written(folder, NETWORK.replace("RATE", rate), "network.toml")


def _learned(folder):
    """Return the nodes that the files of a run tell of."""
    nodes = []
    for i in range(N_AGENTS):
        config = read_config(folder / f"a{i}" / "agent.toml")
        feed = feed_of(config.readings, None)
        nodes.append(
            bring_back(config.checkpoint.read_bytes(), node_of(config, feed, 1))
        )
        feed.close()
    return nodes


def _errors(nodes):
    """Return the errors of what was learned in the end, agent by agent."""
    X = np.linspace(0.02, 0.98, 25)
    found = []
    for i, node in enumerate(nodes):
        truth = 3 + np.sin(6 * X) + 0.1 * i
        predicted = np.array([node.agent.predict([x]) for x in X])
        found.append(float(np.sqrt(np.mean((predicted - truth) ** 2))))
    return found


def _outcome(nodes, scores):
    """Return what came of a run: of every agent, and their means."""
    shares = [node.agent.asked.sum() / (2 * N_READINGS) for node in nodes]
    orders, updates = zip(*((n.agent.order, n.step) for n in nodes), strict=True)
    on_the_way = [score.rmse for score in scores]
    found = (_errors(nodes), on_the_way, orders, shares, updates)
    return np.array([[*values, np.mean(values)] for values in found])


def _simulated(plan, took, n_seeds, **conditions):
    """Return the outcomes of many seeds, each with the delays of one of the runs."""
    delays = [Measured(tuple(one)) for one in took]
    found = []
    for seed in range(n_seeds):
        given = {"drop": DROP, "think": 0.0, "delay": delays[seed % len(delays)]}
        world, _ = simulate_free(plan, seed=seed, **given | conditions)
        found.append(_outcome(world.living(), world.scores))
    return np.array(found)


def _unlikely(real, simulated):
    """Return which outcomes are not of one distribution, with their p-values."""
    found = {}
    for q, what in enumerate(WHAT):
        for i in range(N_AGENTS + 1):
            p = stats.ks_2samp(real[:, q, i], simulated[:, q, i]).pvalue
            if p < LEVEL:
                found[what, i] = float(p)
    return found


def _hasty(plan):
    return replace(plan, wait=plan.wait / 2)


def _late_too(node, peer, answer, now):
    """Use an answer to an earlier query as if it were to the one that is open."""
    if node.is_waiting and peer.name in node._asks:
        open_one = node._asks[peer.name]
        answer = answer._replace(
            incarnation=open_one.incarnation, sequence=open_one.sequence
        )
    return ANSWERED(node, peer, answer, now)


ANSWERED = FreeNode._answered
# Steps that are 10 % larger are noticed too, but not in every set of runs.
WRONG = {
    "half the deadline": (_hasty, {}, ANSWERED),
    "20 % more loss": (lambda plan: plan, {"drop": DROP + 0.2}, ANSWERED),
    "late answers used": (lambda plan: plan, {}, _late_too),
}


@pytest.mark.parametrize("mode", MODES)
def test_processes_and_simulator_agree(tmp_path, mode):
    """Nothing that agents end with tells the two apart, and wrong rules are told."""
    path = _plan(tmp_path, MODES[mode])
    numbers = map(str, (N_RUNS, DROP, DELAY))
    command = [sys.executable, "-m", "tests.deploy.forked", path, tmp_path, *numbers]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths}
    ran = subprocess.run(
        command, env=environment, capture_output=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    took = json.loads(ran.stdout)
    ended = [_learned(tmp_path / f"run{k}") for k in range(N_RUNS)]
    real = np.array([_outcome(nodes, [n.diary for n in nodes]) for nodes in ended])
    assert (real.std(axis=0)[0] > 0).all()  # there is a distribution
    plan = read_plan(path)
    assert _unlikely(real, _simulated(plan, took, N_SEEDS)) == {}
    for wrong, (change, conditions, answered) in WRONG.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FreeNode, "_answered", answered)
            found = _simulated(change(plan), took, N_WRONG, **conditions)
        assert _unlikely(real, found), f"{wrong} goes unnoticed"
