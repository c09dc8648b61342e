"""Agents at work in one process: what they learn, keep, lose and say."""

import errno
import json
import os

import numpy as np
import pytest

from halk import HALK, CheckpointError, Network, NewtonHALK, kernels
from halk.deploy import keeper
from halk.net import Hub
from tests.deploy.agents import MADE, Agent, agent_text, csv_text, run, second, written
from tests.net.nodes import assert_same, stream

NAMES = ["north", "south", "west"]


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    """Close all files in the end; the disk is not waited for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    yield
    while MADE:
        MADE.pop().die()


def network(folder, n_steps=30, seed=0, **changes):
    """Write a path of three agents and their readings; return all readings."""
    X, Y = stream(n_steps, 3, seed=seed)
    for i, name in enumerate(NAMES):
        others = [NAMES[j] for j in (i - 1, i + 1) if 0 <= j < 3]
        written(folder, agent_text(name, others, **changes), f"{name}.toml")
        written(folder, csv_text(X[:, i], Y[:, i]), f"{name}.csv")
    return X, Y


def started(folder, hub, now=0.0, names=NAMES):
    return [Agent(folder / f"{name}.toml", hub, now) for name in names]


def finished(agents, now=0.0):
    for _ in range(400):
        now = run(agents, 1, now)
        if all(agent.runner.is_finished() for agent in agents):
            return now
    raise AssertionError([agent.runner.facts for agent in agents])


def simulated(X, Y):
    kernel = kernels.Gaussian(0.2)
    learner = HALK(Network.path(3, 0.01), kernel, step_size=0.3, epsilon=0.03)
    learner.learn_many(X, Y)
    return learner


LOCKSTEP = {"top": 'mode = "lockstep"'}


def test_lockstep_is_the_simulator(tmp_path):
    X, Y = network(tmp_path, **LOCKSTEP)
    agents = started(tmp_path, Hub())
    finished(agents)
    run(agents, 9)
    assert_same([agent.node for agent in agents], simulated(X, Y))
    assert [agent.diary.n_readings for agent in agents] == (~np.isnan(Y)).sum(
        axis=0
    ).tolist()
    assert [agent.diary.n_gaps for agent in agents] == np.isnan(Y).sum(axis=0).tolist()


def test_lockstep_with_rows_that_end_at_different_times(tmp_path):
    X, Y = network(tmp_path, **LOCKSTEP)
    text = (tmp_path / "west.csv").read_text().splitlines()
    written(tmp_path, "\n".join(text[:11]), "west.csv")  # ten rows, without an end
    Y[10:, 2] = np.nan
    agents = started(tmp_path, Hub())
    now = finished(agents)
    run(agents, 40, now)
    assert_same([agent.node for agent in agents], simulated(X, Y))


def lived_through_kills(folder, seed):
    """Return agents that were killed again and again, at the end of the readings."""
    hub, rng = Hub(), np.random.default_rng(seed)
    agents, now = started(folder, hub), 0.0
    for _ in range(12):
        now = run(agents, int(rng.integers(1, 6)), now, pause=0.4)
        for k in np.flatnonzero(rng.uniform(size=3) < 0.5):
            agents[k].die()
            agents[k] = Agent(folder / f"{NAMES[k]}.toml", hub, now)
            assert agents[k].is_resumed
    for _ in range(400):
        now = run(agents, 1, now, pause=0.4)
    assert all(agent.node.step >= 30 for agent in agents)
    return agents


@pytest.mark.parametrize("seed", range(3))
def test_lockstep_outlives_any_kill(tmp_path, seed):
    X, Y = network(tmp_path, seed=seed, **LOCKSTEP)
    agents = lived_through_kills(tmp_path, seed)
    assert_same([agent.node for agent in agents], simulated(X, Y))


@pytest.mark.parametrize("coupling", ["predictions", "readings"])
def test_lockstep_of_second_order_outlives_any_kill(tmp_path, coupling):
    X, Y = network(tmp_path, seed=1, **LOCKSTEP)
    for name in NAMES:
        text = (tmp_path / f"{name}.toml").read_text()
        more = f'exchange = "{coupling}"\nidentity = 0.1\n'
        written(tmp_path, second(text, more), f"{name}.toml")
    agents = lived_through_kills(tmp_path, seed=1)
    learner = NewtonHALK(
        Network.path(3, 0.01), length_scale=0.2, noise=0.02, exchange=coupling,
        identity=0.1,
    )  # fmt: skip
    learner.learn_many(X, Y)
    for i, agent in enumerate(agents):
        f, g = learner.function(i), agent.node.agent.function
        np.testing.assert_array_equal(g.atoms[:, :1], f.atoms[:, :1])
        np.testing.assert_array_equal(g.weights, f.weights)
        facts = agent.runner.facts
        assert (facts["coupling"], facts["length_scale_factor"]) == (coupling, 1.0)
        assert facts["suspects"] == learner.suspects[i]


def test_free_agents_learn_every_reading_once(tmp_path):
    _, Y = network(tmp_path)
    agents = started(tmp_path, Hub())
    finished(agents)
    for i, agent in enumerate(agents):
        assert agent.diary.n_readings == (~np.isnan(Y[:, i])).sum()
        assert agent.diary.n_gaps == np.isnan(Y[:, i]).sum()
        assert agent.node.agent.asked.min() > 0
        assert agent.diary.rmse < 1


def test_a_restart_loses_at_most_the_interval_and_reads_that_again(tmp_path):
    network(tmp_path, n_steps=200, readings="rate = 10.0")
    hub = Hub()
    agents = started(tmp_path, hub)
    now = run(agents, 150)  # 7.5 s; files are of 0.0, 5.0
    before = agents[0].diary.n_readings
    assert agents[0].keeper.n_saved == 2
    agents[0].die()
    agents[0] = Agent(tmp_path / "north.toml", hub, now)
    diary = agents[0].diary
    rows = diary.n_readings + diary.n_gaps
    assert agents[0].is_resumed
    assert 45 <= rows <= 55  # of 75
    assert diary.n_readings < before
    for _ in range(600):
        now = run(agents, 1, now)
    assert diary.n_readings + diary.n_gaps == 200
    assert diary.n_bad == 0


def test_a_clean_stop_loses_nothing(tmp_path):
    network(tmp_path, n_steps=100, readings="rate = 10.0")
    hub = Hub()
    agents = started(tmp_path, hub)
    now = run(agents, 63)
    before = agents[1].diary.n_readings
    assert agents[1].runner.keep(now)
    agents[1].die()
    again = Agent(tmp_path / "south.toml", hub, now)
    assert again.diary.n_readings == before
    assert again.diary.rmse == agents[1].diary.rmse


def test_a_full_disk_stops_nobody_who_runs_free(tmp_path, monkeypatch):
    network(tmp_path, n_steps=400, readings="rate = 10.0")
    agents = started(tmp_path, Hub())
    now = run(agents, 20)
    file = tmp_path / "north.halk"
    content, real = file.read_bytes(), keeper.save

    def full(node, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keeper, "save", full)
    now = run(agents, 200, now)
    facts = agents[0].runner.facts
    assert facts["checkpoint"]["failed"] >= 1
    assert facts["checkpoint"]["error"] == "No space left on device"
    assert facts["readings"] > 50
    assert file.read_bytes() == content
    assert '"event": "checkpoint failed"' in agents[0].said.getvalue()
    monkeypatch.setattr(keeper, "save", real)
    run(agents, 250, now)
    assert agents[0].runner.facts["checkpoint"]["error"] is None
    assert '"event": "checkpoint works again"' in agents[0].said.getvalue()
    assert file.read_bytes() != content


def test_a_full_disk_holds_lockstep_up_until_there_is_room(tmp_path, monkeypatch):
    X, Y = network(tmp_path, **LOCKSTEP)
    agents, real = started(tmp_path, Hub()), keeper.save
    now = run(agents, 3)

    def full(node, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keeper, "save", full)
    now = run(agents, 10, now)
    steps = [agent.node.step for agent in agents]
    now = run(agents, 3000, now)
    assert [agent.node.step for agent in agents] == steps
    assert agents[0].runner.facts["status"] == "stuck"
    monkeypatch.setattr(keeper, "save", real)
    for _ in range(3000):
        now = run(agents, 1, now)
    assert agents[0].runner.facts["status"] == "ok"
    assert_same([agent.node for agent in agents], simulated(X, Y))


def test_a_damaged_file_is_refused_and_left_alone(tmp_path):
    network(tmp_path)
    agents = started(tmp_path, Hub())
    run(agents, 9)
    file = tmp_path / "north.halk"
    damaged = file.read_bytes()[:-100]
    file.write_bytes(damaged)
    with pytest.raises(CheckpointError) as caught:
        Agent(tmp_path / "north.toml", Hub())
    assert str(caught.value).startswith(f"{file}: the node is damaged or cut short")
    assert str(caught.value).endswith(
        "; take an older copy, or learn again; or move the file away, and the agent "
        "begins untaught"
    )
    assert file.read_bytes() == damaged


def test_a_file_of_another_agent_is_refused(tmp_path):
    network(tmp_path)
    agents = started(tmp_path, Hub())
    run(agents, 9)
    (tmp_path / "west.halk").replace(tmp_path / "north.halk")
    with pytest.raises(CheckpointError, match="name must fit, got 'west'"):
        Agent(tmp_path / "north.toml", Hub())


def test_bad_rows_are_counted_and_said_but_not_without_end(tmp_path):
    network(tmp_path)
    rows = "".join(f"{k / 50},{k}\nx,{k}\n" for k in range(40))
    written(tmp_path, f"depth_m,t_C\n{rows}", "north.csv")
    agents = started(tmp_path, Hub())
    finished(agents)
    assert agents[0].diary.n_bad == 40
    assert agents[0].diary.n_readings == 40
    said = [json.loads(line) for line in agents[0].said.getvalue().splitlines()]
    bad = [one for one in said if one["event"] == "bad row"]
    assert len(bad) == 10
    assert bad[0]["row"] == 3
    assert bad[0]["wrong"] == "depth_m must be a finite number, got 'x'"


def test_a_replay_waits_for_its_neighbours(tmp_path):
    network(tmp_path)
    hub = Hub()
    north = started(tmp_path, hub, names=["north"])
    now = run(north, 100)
    assert north[0].diary.n_readings == 0
    run(north, 600, now)  # its patience is 30 s
    assert north[0].diary.n_readings > 0


def test_who_is_done_leaves_when_nobody_asks(tmp_path):
    network(tmp_path)
    agents = started(tmp_path, Hub())
    now = finished(agents)
    assert not agents[0].runner.may_leave(now)
    now = run(agents, 80, now)
    for agent in agents:
        agent.runner.may_leave(now)
    now = run(agents, 80, now)
    assert all(agent.runner.may_leave(now) for agent in agents)


def test_divergence_is_an_alarm_and_no_end(tmp_path):
    changes = {"model": 'step = "plain"'}
    network(tmp_path, **changes)
    text = (tmp_path / "north.toml").read_text().replace("size = 0.3", "size = 30.0")
    written(tmp_path, text, "north.toml")
    rows = "".join("0.5,1e9\n" for _ in range(300))
    written(tmp_path, f"depth_m,t_C\n{rows}", "north.csv")
    agents = started(tmp_path, Hub())
    run(agents, 330)
    assert agents[0].diary.n_diverged > 0
    assert agents[0].runner.facts["status"] == "diverged"
    assert np.isfinite(agents[0].node.agent.function.weights).all()
    assert agents[1].diary.n_diverged == 0
    assert agents[1].runner.facts["status"] == "ok"
