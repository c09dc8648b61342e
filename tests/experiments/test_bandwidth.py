import json
from pathlib import Path

import numpy as np
import pytest

from halk.experiments import bandwidth
from halk.experiments.bandwidth import Numbers, Result

HEADER = "node,lat,lon,depth_m,temperature_annual_C,salinity_annual"


@pytest.fixture
def table(tmp_path):
    """Five buoys, two degrees apart, warm above and cold below."""
    lines = [HEADER]
    for node in range(5):
        for depth in range(0, 500, 50):
            warm = 5 + 20 * np.exp(-depth / 150) + 0.2 * node
            salty = "" if depth == 450 else f"{36 - depth / 1000:.3f}"
            lines.append(f"b{node},{20 + 2 * node},-90,{depth},{warm:.3f},{salty}")
    return write(tmp_path, lines)


def write(folder, lines):
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_read(table):
    temperature, salinity = bandwidth.read(table)
    assert temperature.name == "temperature"
    assert temperature.agents == ("b0", "b1", "b2", "b3", "b4")
    assert temperature.positions[1].tolist() == [22.0, -90.0]
    assert [len(d) for d in temperature.readings] == [10] * 5
    assert [len(d) for d in salinity.readings] == [9] * 5
    assert salinity.readings[0][1].tolist() == [50.0, 35.95]


def test_a_node_without_readings_is_left_out_of_the_field(tmp_path):
    path = write(tmp_path, [HEADER, "a,0,0,5,20,35", "b,1,1,5,,35", "c,2,2,5,21,35"])
    temperature, salinity = bandwidth.read(path)
    assert temperature.agents == ("a", "c")
    assert salinity.agents == ("a", "b", "c")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["node,lat,depth_m,temperature_annual"],
            r"hold lon, salinity_annual\*, got n",
        ),
        ([HEADER], "table must have rows"),
        ([], "header must hold node, lat"),
        ([HEADER, "0,1,1,0,20,35", "0,1,1,5,warm,35"], "line 3: temperature_annual_C"),
        ([HEADER, "0,1,x,0,20,35"], "line 2: lon must be a finite number, got 'x'"),
        ([HEADER, "0,1,1,nan,20,35"], "line 2: depth_m must be a finite number"),
        ([HEADER, "0,1,1,0,20"], "line 2: salinity_annual must be .* got None"),
        ([HEADER, "0,1,1,0,20,35", "0,2,1,5,20,35"], "line 3: node 0 must stay at"),
        ([HEADER, "0,1,1,0,20,"], "salinity_annual must hold readings"),
    ],
)
def test_bad_tables_are_refused_with_file_and_line(tmp_path, lines, message):
    path = write(tmp_path, lines)
    with pytest.raises(ValueError, match=message) as caught:
        bandwidth.read(path)
    assert str(path) in str(caught.value)


def test_the_program_names_a_missing_file(tmp_path, capsys):
    with pytest.raises(SystemExit):
        bandwidth.main([str(tmp_path / "none.csv")])
    assert "none.csv" in capsys.readouterr().err


def test_stream_draws_from_the_agents_own_readings(table):
    field = bandwidth.read(table)[0]
    X, Y = bandwidth.stream(field, 30, seed=1)
    assert X.shape == (30, 5, 1)
    for i, readings in enumerate(field.readings):
        drawn = np.column_stack([X[:, i, 0], Y[:, i]]).tolist()
        assert all(pair in readings.tolist() for pair in drawn)


def test_the_program_compares_all_rules(table, tmp_path, capsys):
    out = tmp_path / "out.json"
    bandwidth.main([str(table), "--seeds", "2", "--steps", "60", "--json", str(out)])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("leave-one-out") == shown.count("loss-following") == 4
    found = json.loads(out.read_text())
    assert len(found) == 2 * 2 * 3 * 2
    fixed = [row for row in found if row["rule"] == "fixed"]
    assert {row["bandwidth"] for row in fixed} == {50.0}
    assert all(row["loss"] > 0 and row["n_steps"] == 60 for row in found)


def result(rule, seed, numbers, n_steps=100):
    return Result("salinity", "paper", "plain", rule, seed, n_steps, numbers, 1.0)


def test_better_means_lower_loss_and_fewer_atoms_for_every_seed():
    fixed = [result("fixed", s, Numbers(2.0, 20.0, 50.0, 1.0)) for s in range(2)]
    both = [result("both", s, Numbers(1.0, 10.0, 90.0, 1.0)) for s in range(2)]
    once = [both[0], result("once", 1, Numbers(1.0, 20.0, 90.0, 1.0))]
    rows = bandwidth.summarize([fixed, both, once])
    assert [row.n_better for row in rows] == [0, 2, 1]
    assert [row.is_better for row in rows] == [False, True, False]
    assert bandwidth.text(rows).splitlines()[-1].endswith("no, 1/2")


def test_divergence_is_reported_in_its_row():
    fixed = [result("fixed", s, Numbers(2.0, 20.0, 50.0, 1.0)) for s in range(2)]
    rule = [
        result("rule", 0, Numbers(1.0, 10.0, 90.0, 1.0)),
        result("rule", 1, None, 77),
    ]
    rows = bandwidth.summarize([fixed, rule])
    assert "diverged: 1 of 2, first at step 77" in bandwidth.text(rows)
    assert rows[1].n_better == 1
    assert bandwidth.summarize([rule, fixed])[1].n_better == 1
    assert "loss" not in rule[1].as_json()


WORLD_OCEAN_ATLAS = Path(__file__).parents[3] / "shared/data/gulf_woa18_50nodes.csv"


@pytest.mark.slow
@pytest.mark.skipif(not WORLD_OCEAN_ATLAS.exists(), reason="the table is not here")
def test_adaptation_beats_the_fixed_bandwidth_on_the_ocean():
    for rows in bandwidth.compare(bandwidth.read(WORLD_OCEAN_ATLAS), n_seeds=1):
        _, leave_one_out, loss_following = rows
        assert leave_one_out.is_better
        assert loss_following.is_better
