"""A network in one file: what it says, what is wrong with it, and the simulator."""

import json

import numpy as np
import pytest

from halk import HALK, HalkError, Network, NewtonHALK, kernels
from halk.cli import main
from halk.deploy import read_config
from halk.deploy.feeds import CsvFeed
from halk.deploy.folder import prepare, toml
from halk.deploy.keys import Keys
from halk.deploy.plan import read_plan
from halk.deploy.simulation import simulate_free, simulate_lockstep, stream_of
from tests.deploy.agents import csv_text, second, written
from tests.net.nodes import stream

NETWORK = """
mode = "lockstep"

[model]
inputs = ["depth_m"]
kernel = { name = "gaussian", length_scale = 0.2 }
step_size = 0.3
epsilon = 0.03

[readings]
path = "table.csv"
sensor = "buoy"
value = "t_C"

[network]
tolerance = 0.01

[[edges]]
between = ["a", "b"]

[[edges]]
between = ["c", "b"]
tolerance = 0.5
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a network of three, and the same with files of their own."""
    X, Y = stream(40, 3)
    cells = [csv_text(X[:, i], Y[:, i]).splitlines() for i in range(3)]
    rows = [f"{n},{cells[i][t + 1]}" for t in range(40) for i, n in enumerate("abc")]
    written(tmp_path, "\n".join(["buoy,depth_m,t_C", *rows, ""]), "table.csv")
    for i, name in enumerate("abc"):
        written(tmp_path, csv_text(X[:, i], Y[:, i]), f"{name}.csv")
    written(tmp_path, NETWORK, "network.toml")
    written(tmp_path, "sensor,x,y\na,0,0\nb,1,0\nc,2.5,0\n", "sensors.csv")
    written(tmp_path, "from,to,tolerance\na,b,0.01\nb,c,0.5\n", "edges.csv")
    return tmp_path, X, Y


def own_files():
    agents = "".join(
        f'[[agents]]\nname = "{n}"\npath = "{n}.csv"\nvalue = "t_C"\n' for n in "abc"
    )
    start, rest = NETWORK.split("[readings]")
    return f"{start}{agents}[network]{rest.split('[network]')[1]}"


@pytest.mark.parametrize("kind", ["table", "files", "edge list"])
def test_simulated_lockstep_is_learn_many(folder, kind):
    path, X, Y = folder
    text = own_files() if kind == "files" else NETWORK
    if kind == "edge list":
        text = text.split("[[edges]]")[0] + 'edges = "edges.csv"\n'
    plan = read_plan(written(path, text, "network.toml"))
    learner, outcomes = simulate_lockstep(plan)
    network = Network(3, [(0, 1), (1, 2)], [0.01, 0.5], names=list("abc"))
    other = HALK(network, kernels.Gaussian(0.2), step_size=0.3, epsilon=0.03)
    other.learn_many(X, Y)
    assert plan.network == network
    for i in range(3):
        f, g = learner.function(i), other.function(i)
        np.testing.assert_array_equal(f.atoms, g.atoms)
        np.testing.assert_array_equal(f.weights, g.weights)
    np.testing.assert_array_equal(learner.multipliers, other.multipliers)
    assert [one.readings for one in outcomes] == (~np.isnan(Y)).sum(axis=0).tolist()
    assert all(0 < one.rmse < 1 for one in outcomes)


@pytest.mark.parametrize("exchange", ["predictions", "readings"])
def test_second_order_with_noises_of_their_own(folder, exchange):
    path, X, Y = folder
    text = second(own_files(), f'exchange = "{exchange}"\n')
    text = text.replace('name = "b"', 'name = "b"\nnoise = 0.1')
    plan = read_plan(written(path, text, "network.toml"))
    assert not plan.remarks()
    learner, outcomes = simulate_lockstep(plan)
    other = NewtonHALK(
        Network(3, [(0, 1), (1, 2)], [0.01, 0.5]), length_scale=0.2,
        noise=[0.02, 0.1, 0.02], exchange=exchange,
    )  # fmt: skip
    other.learn_many(X, Y)
    np.testing.assert_array_equal(learner.predict_one(X[0]), other.predict_one(X[0]))
    assert all(0 < one.rmse < 1 for one in outcomes)
    places = prepare(plan, path / "run", tls=False, fresh=False)
    noises = [read_config(p.config).model.agent([]).noise for p in places]
    assert noises == [0.02, 0.1, 0.02]


def test_agents_may_have_paces_of_their_own(folder):
    path, X, Y = folder
    text = own_files().replace('name = "b"', 'name = "b"\nstep_size = 0.1\nalpha = 0.2')
    text = text.replace("alpha = 0.2", "alpha = 0.2\ndual_step_size = 0.05")
    learner, _ = simulate_lockstep(read_plan(written(path, text, "network.toml")))
    other = HALK(
        Network(3, [(0, 1), (1, 2)], [0.01, 0.5]), kernels.Gaussian(0.2),
        step_size=[0.3, 0.1, 0.3], epsilon=[0.03, 0.02, 0.03],
        dual_step_size=[0.3, 0.05, 0.3],
    )  # fmt: skip
    other.learn_many(X, Y)
    np.testing.assert_array_equal(learner.predict_one(X[0]), other.predict_one(X[0]))


def test_bad_rows_are_gaps_that_are_counted(folder):
    path, _, Y = folder
    table = (path / "table.csv").read_text().splitlines()
    table[1] = "a,deep,1.0"
    written(path, "\n".join(table), "table.csv")
    plan = read_plan(path / "network.toml")
    _, Z, bad = stream_of(plan)
    assert bad == [1, 0, 0]
    assert np.isnan(Z[0, 0])
    np.testing.assert_array_equal(Z[1:], Y[1:])
    places = prepare(plan, path / "run", tls=False, fresh=False)
    written_rows = read_config(places[0].config).readings.path.read_text().splitlines()
    assert written_rows[1] == "?,"
    assert len(written_rows) == 41


def test_distances(folder):
    path, _, _ = folder
    text = NETWORK.split("[[edges]]")[0] + 'sensors = "sensors.csv"\n'
    near = read_plan(written(path, text + "radius = 1.2\n", "network.toml"))
    assert near.network.edges.tolist() == [[0, 1], [1, 0]]
    nearest = read_plan(written(path, text + "nearest = 1\n", "network.toml"))
    assert nearest.network.n_edges == 4


def test_what_may_not_be_meant_is_remarked_upon(folder, capsys):
    path = folder[0] / "network.toml"
    assert not read_plan(path).remarks()
    text = NETWORK.replace('kernel = { name = "gaussian", length_scale = 0.2 }\n', "")
    cut = text.index("[[edges]]", text.index("[[edges]]") + 1)
    written(folder[0], text[:cut], "network.toml")
    alone, kernel = read_plan(path).remarks()
    assert alone.startswith("1 of 3 agents have no neighbour and learn alone: c;")
    assert "Gaussian(length_scale=1.0), in the unit of depth_m" in kernel
    main(["simulate", str(path)])
    said = capsys.readouterr().err
    assert alone in said
    assert kernel in said


@pytest.mark.parametrize("change", [str, second])
def test_free_running_is_the_same_for_the_same_seed(folder, change):
    path, _, Y = folder
    text = change(NETWORK.replace("lockstep", "free"))
    plan = read_plan(written(path, text, "network.toml"))
    faults = {"drop": 0.1, "delay": 0.02, "rate_spread": 1.0}
    one, found = simulate_free(plan, seed=3, **faults)
    other, again = simulate_free(plan, seed=3, **faults)
    assert one.log == other.log
    assert found == again
    assert simulate_free(plan, seed=4, **faults)[0].log != one.log
    assert [o.readings for o in found] == (~np.isnan(Y)).sum(axis=0).tolist()


CASES = {
    "no such column": (
        ('sensor = "buoy"', 'sensor = "boy"'),
        "readings.sensor must be a column of table.csv, got 'boy', did you mean "
        "'buoy'?; it has buoy, depth_m, t_C",
    ),
    "no such agent": (
        ('["c", "b"]', '["d", "b"]'),
        "edges[2].between must name agents that are there, got 'd'",
    ),
    "no tolerance": (
        ("tolerance = 0.01", ""),
        "network.tolerance is missing, and so is that of a and b",
    ),
    "two ways": (
        ("tolerance = 0.01", "tolerance = 0.01\nnearest = 2"),
        "network.nearest must not go with [[edges]]: give one of them",
    ),
    "a near miss": (
        ("[readings]", "[reading]"),
        "readings is missing, perhaps it is 'reading'?; such as [readings] path",
    ),
    "a table that is followed": (
        ('value = "t_C"', 'value = "t_C"\nfollow = true'),
        "readings.follow must go with a file an agent, got True",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refusals(folder, name, monkeypatch):
    monkeypatch.chdir(folder[0])
    (old, new), words = CASES[name]
    assert old in NETWORK
    written(folder[0], NETWORK.replace(old, new, 1), "network.toml")
    with pytest.raises(HalkError) as caught:
        read_plan("network.toml")
    assert str(caught.value) == f"network.toml: {words}"


@pytest.mark.parametrize("change", [str, second])
def test_what_is_written_for_agents_is_what_they_read(folder, change):
    path, _, _ = folder
    plan = read_plan(written(path, change(NETWORK), "network.toml"))
    places = prepare(plan, path / "run", tls=False, fresh=False)
    for i, place in enumerate(places):
        config = read_config(place.config)
        edges = slice(plan.network.indptr[i], plan.network.indptr[i + 1])
        names = [plan.names[j] for j in plan.network.neighbours[edges]]
        assert [one.name for one in config.neighbours] == names
        tolerances = [one.tolerance for one in config.neighbours]
        assert tolerances == plan.network.tolerance[edges].tolist()
        assert config.model == plan.model
        assert config.limits == plan.limits
        assert config.steps == 40
        feed = CsvFeed(config.readings)
        rows = [feed.row() for _ in range(40)]
        assert rows == plan.rows(i)  # bit for bit
        feed.close()
        assert config.health == ("127.0.0.1", place.health)
    ports = {end for place in places for end in read_config(place.config).listen}
    assert len(ports) == 3


def test_toml_comes_back(tmp_path):
    content = {
        "text": 'a "b" \\ é\n', "number": 1e-05, "large": float("inf"), "whole": 3,
        "flag": True, "table": {"list": ["x", "y"], "inline": {"z": 1.5}},
        "tables": [{"k": 1}, {"k": 2}], "none": [],
    }  # fmt: skip
    back = Keys.of(written(tmp_path, toml(content))).found
    assert back == {key: value for key, value in content.items() if key != "none"}


def test_the_command(folder, capsys):
    path = folder[0] / "network.toml"
    assert main(["simulate", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in found["agents"]] == ["a", "b", "c"]
    assert main(["simulate", str(path)]) == 0
    assert "RMSE" in capsys.readouterr().out
    assert main(["simulate", str(path), "--drop", "0.1"]) == 1
    assert "must go with mode = 'free'" in capsys.readouterr().err
    written(folder[0], NETWORK.replace("lockstep", "free"), "network.toml")
    assert main(["simulate", str(path), "--drop", "2"]) == 1
    assert "halk: drop must be a share below 1, got 2.0" in capsys.readouterr().err
    for wrong in ("-1", "nan", "inf"):
        assert main(["simulate", str(path), "--delay", wrong]) == 1
        assert "halk: delay must" in capsys.readouterr().err
    assert main(["up", str(path), "--for", "-1"]) == 1
    assert "halk: --for must be positive, got -1" in capsys.readouterr().err
