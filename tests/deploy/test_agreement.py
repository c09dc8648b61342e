"""Free running as processes and in the simulator: the same in distribution.

Several runs of real processes against many seeds of the simulator, which is told how
long messages and the work of agents took in those runs and nothing of what came out.
The share of messages that is lost is that of the links in both.
"""

import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from typing import NamedTuple

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

pytestmark = pytest.mark.slow

N_AGENTS, N_READINGS = 5, 100
N_SEEDS, N_WRONG = 100, 40
PATIENCE = 600.0
WHAT = ("error", "RMSE on the way", "order", "share of answers in time", "updates")


class Case(NamedTuple):
    """How agents read, how long they wait, and what becomes of messages."""

    rate: str
    wait: float
    drop: float
    delay: float
    n_runs: int
    wrong: tuple[str, ...]
    """Rules that would be noticed."""


CASES = {
    "fast": Case("", 0.02, 0.1, 0.01, 10, ("deadline", "loss", "late")),
    "timed": Case("rate = 40.0\n", 0.02, 0.1, 0.01, 10, ("deadline", "late")),
    "fast, no faults": Case("", 0.02, 0.0, 0.0, 16, ("loss", "step")),
    "timed, no faults": Case("rate = 40.0\n", 0.02, 0.0, 0.0, 10, ("deadline", "step")),
    "fast, pressed": Case("", 0.001, 0.0, 0.0, 16, ("deadline", "late")),
}
"""Pressed is who waits about as long as an answer takes: half of them are late."""

LEVEL = 0.001 / (len(WHAT) * (N_AGENTS + 1) * len(CASES))
"""A false alarm in any comparison is rarer than one in a thousand (Bonferroni)."""

NETWORK = """
[model]
inputs = ["x"]
kernel = { name = "gaussian", length_scale = 0.15 }
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
wait = WAIT
retry = 0.3
"""


def _plan(folder, case):
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
    text = NETWORK.replace("RATE", case.rate).replace("WAIT", str(case.wait))
    return written(folder, text, "network.toml")


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


def _one(plan, took, conditions, seed):
    """Return the outcome of a seed, with the times of one of the runs."""
    times = took[seed % len(took)]
    given = {what: Measured(tuple(one)) for what, one in times.items()}
    world, _ = simulate_free(plan, seed=seed, think=0.0, **given | conditions)
    return _outcome(world.living(), world.scores)


def _simulated(plan, took, n_seeds, **conditions):
    """Return the outcomes of many seeds; by forks, which have the rules of now."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        one = partial(_one, plan, took, conditions)
        return np.array(pool.map(one, range(n_seeds), chunksize=5))


def _unlikely(real, simulated):
    """Return which outcomes are not of one distribution, with their p-values."""
    found = {}
    for q, what in enumerate(WHAT):
        for i in range(N_AGENTS + 1):
            p = stats.ks_2samp(real[:, q, i], simulated[:, q, i]).pvalue
            if p < LEVEL:
                found[what, i] = float(p)
    return found


def _late_too(node, peer, answer, now):
    """Use an answer to an earlier query as if it were to the one that is open."""
    if node.is_waiting and peer.name in node._asks:
        open_one = node._asks[peer.name]
        answer = answer._replace(
            incarnation=open_one.incarnation, sequence=open_one.sequence
        )
    return ANSWERED(node, peer, answer, now)


ANSWERED = FreeNode._answered


def _larger(plan):
    model = plan.model
    larger = {"step_size": 1.1 * model.arguments["step_size"]}
    return replace(plan, model=replace(model, arguments=model.arguments | larger))


WRONG = {
    "deadline": (lambda plan: replace(plan, wait=plan.wait / 2), 0.0, ANSWERED),
    "loss": (lambda plan: plan, 0.2, ANSWERED),
    "late": (lambda plan: plan, 0.0, _late_too),
    "step": (_larger, 0.0, ANSWERED),
}
"""Half the deadline, 20 % more loss, late answers used, steps 10 % larger."""


def _ran(case, path):
    """Return what took how long in runs of real processes, run by run."""
    numbers = map(str, (case.n_runs, case.drop, case.delay))
    command = [sys.executable, "-m", "tests.deploy.forked", path, path.parent, *numbers]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths}
    ran = subprocess.run(
        command, env=environment, capture_output=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", CASES)
def test_processes_and_simulator_agree(tmp_path, name):
    """Nothing that agents end with tells the two apart, and wrong rules are told."""
    case = CASES[name]
    path = _plan(tmp_path, case)
    took = _ran(case, path)
    ended = [_learned(tmp_path / f"run{k}") for k in range(case.n_runs)]
    real = np.array([_outcome(nodes, [n.diary for n in nodes]) for nodes in ended])
    assert (real.std(axis=0)[0] > 0).all()  # there is a distribution
    plan = read_plan(path)
    links = {"batches": not case.delay}  # else each message is delayed by itself
    found = _simulated(plan, took, N_SEEDS, drop=case.drop, **links)
    assert _unlikely(real, found) == {}
    for wrong in case.wrong:
        change, more_loss, answered = WRONG[wrong]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FreeNode, "_answered", answered)
            drop = case.drop + more_loss
            found = _simulated(change(plan), took, N_WRONG, drop=drop, **links)
        assert _unlikely(real, found), f"{wrong} goes unnoticed"
