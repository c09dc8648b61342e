"""Free running as processes and in the simulator: the same in distribution."""

import numpy as np
import pytest

from halk.deploy import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.plan import read_plan
from halk.deploy.process import node_of
from halk.deploy.simulation import simulate_free
from halk.net import bring_back
from tests.deploy.agents import written
from tests.deploy.test_processes import PATIENCE, start

__all__ = ["start"]

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

N_AGENTS, N_READINGS, N_SEEDS = 5, 150, 20

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


def _share(nodes):
    """Return the share of queries that had an answer in time."""
    asked = sum(int(node.agent.asked.sum()) for node in nodes)
    return asked / (N_AGENTS * 2 * N_READINGS)


def _errors(nodes):
    """Return the errors of what was learned in the end, agent by agent."""
    X = np.linspace(0.02, 0.98, 25)
    found = []
    for i, node in enumerate(nodes):
        truth = 3 + np.sin(6 * X) + 0.1 * i
        predicted = np.array([node.agent.predict([x]) for x in X])
        found.append(float(np.sqrt(np.mean((predicted - truth) ** 2))))
    return np.array(found)


@pytest.mark.parametrize("rate", ["", "rate = 20.0\n"], ids=["fast", "timed"])
def test_processes_and_simulator_agree(tmp_path, start, rate):
    """The errors of processes could be those of one more seed.

    On a machine that is busy with something else answers come late; the simulator is
    then told to lose as many.
    """
    path, run = _plan(tmp_path, rate), tmp_path / "run"
    process = start("up", path, "--until-end", "--json", "-o", run)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log.decode()
    nodes = _learned(run)
    real, share = _errors(nodes), _share(nodes)
    assert share > 0.5
    drop = 1 - min(share, 1.0) ** 0.5  # a query or its answer
    plan, drawn, shares = read_plan(path), [], []
    for seed in range(N_SEEDS):
        world, _ = simulate_free(plan, drop=drop, delay=0.002, seed=seed)
        drawn.append(_errors(world.living()))
        shares.append(_share(world.living()))
    assert share == pytest.approx(np.mean(shares), abs=0.02)
    assert not np.allclose(drawn[0], drawn[1], rtol=1e-9)  # there is a distribution
    slack = 0.02 * np.mean(drawn)  # the simulator has no distribution of delays
    spread = np.std(np.mean(drawn, axis=1))
    assert abs(np.mean(real) - np.mean(drawn)) < 4 * spread + slack
    assert (
        abs(real - np.mean(drawn, axis=0)) < 5 * np.std(drawn, axis=0) + slack
    ).all()
