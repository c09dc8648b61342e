"""``halk fit`` and its companions as people use them, from CSV to filled CSV."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import halk
from halk.cli import main
from halk.sensing import learning
from tests.sensing.network import made

pytest.importorskip("cyclopts")
pytest.importorskip("rich")

COMMANDS = ("doctor", "fit", "fill", "predict", "update", "inspect")


def write(path, columns):
    """Write columns as CSV; None is an empty cell."""
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with readings, some of them missing, and sensors."""
    monkeypatch.chdir(tmp_path)
    readings, sensors, _ = made(n_sensors=6, n_each=40)
    readings["t_C"] = [
        None if k % 10 == 0 else f"{value:.4f}"
        for k, value in enumerate(readings["t_C"])
    ]
    write("readings.csv", readings)
    write("sensors.csv", sensors)
    return tmp_path


@pytest.fixture
def model(folder, capsys):
    """Return a model that was fitted by the command."""
    assert (
        main(["fit", "readings.csv", "--sensors", "sensors.csv", "--quick", "-q"]) == 0
    )
    assert capsys.readouterr().out == ""
    return Path("model.halk")


def run(capsys, *arguments, code=0):
    """Run a command; return what it printed."""
    assert main([str(argument) for argument in arguments]) == code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    return shown


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_tells_what_it_chose_and_learned(folder, capsys):
    shown = run(
        capsys, "fit", "readings.csv", "--sensors", "sensors.csv", "-o", "m.halk"
    )
    for words in (
        "What was chosen, and why", "width of depth_m", "tolerance", "216 readings",
        "Error at readings not seen", "90% intervals covered", "eighbours",
        "Saved: m.halk",
    ):  # fmt: skip
        assert words in shown.out
    assert "\x1b[" not in shown.out  # no colours in a pipe
    assert Path("m.halk").exists()


def test_fit_for_machines(folder, capsys):
    shown = run(capsys, "fit", "readings.csv", "--sensors", "sensors.csv", "--quick",
                "--json")  # fmt: skip
    told = json.loads(shown.out)
    assert told["readings"] == 216
    assert {row["name"] for row in told["sensors"]} == {f"s{i}" for i in range(6)}
    assert told["unit"] == "°C"
    assert set(told["choices"][0]) == {"name", "value", "because"}
    assert told["model"] == "model.halk"


def test_fit_from_standard_input(folder, capsys, monkeypatch):
    data = Path("readings.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    run(capsys, "fit", "-", "--quick", "-q")
    assert halk.SensorModel.load("model.halk").learned.n_readings == 216


def test_flags_go_before_the_file(folder, capsys):
    Path("options.toml").write_text("neighbours = 2\nbudget = 0.05\n")
    shown = run(
        capsys, "fit", "readings.csv", "--sensors", "sensors.csv", "--quick", "--json",
        "--config", "options.toml", "--budget", "0.02", "--tolerance", "0.5",
        "--width", "depth_m=0.4", "--use", "depth_m,place",
    )  # fmt: skip
    told = {one["name"]: one["value"] for one in json.loads(shown.out)["choices"]}
    assert told["neighbours"] == "the 2 nearest"
    assert told["budget"] == "0.02"
    assert told["tolerance"] == "0.5 °C"
    assert told["width of depth_m"] == "0.4 m"
    assert told["inputs"] == "depth_m, place"


def test_fill_gives_the_table_back(model, capsys):
    shown = run(capsys, "fill", model, "readings.csv")
    before, after = rows(Path("readings.csv").read_text()), rows(shown.out)
    assert len(after) == len(before) == 240
    for old, new in zip(before, after, strict=True):
        assert old.items() <= new.items()
        assert (old["t_C"] == "") == (new["t_C_predicted"] != "")
        if old["t_C"] == "":
            low, value, high = (
                float(new[f"t_C_{n}"]) for n in ("low", "predicted", "high")
            )
            assert low < value < high


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_fill_separates_cells_as_the_table_did(model, capsys, delimiter):
    text = Path("readings.csv").read_text().replace(",", delimiter)
    Path("other.csv").write_text(f"# buoys\n{text}")
    plain = run(capsys, "fill", model, "readings.csv").out
    other = run(capsys, "fill", model, "other.csv").out
    assert other == plain.replace(",", delimiter)


def test_one_reading_is_told_of_without_shares(model, capsys):
    write("one.csv", {"sensor": ["s0"], "depth_m": [0.5], "t_C": [11.0]})
    shown = run(capsys, "update", model, "one.csv", "-o", "newer.halk")
    assert "1 new reading learned" in shown.out
    assert "nan" not in shown.out.replace("\n", " ")
    write("wrong.csv", {"sensor": ["s0"], "depth_m": [0.6], "t_C": [1e6]})
    shown = run(capsys, "update", model, "wrong.csv", "-o", "newer.halk")
    assert "far from the others" in shown.err.replace("\n", " ")


def test_fill_into_files(model, capsys):
    pandas = pytest.importorskip("pandas")
    shown = run(capsys, "fill", model, "readings.csv", "-o", "filled.csv")
    assert shown.out == ""
    assert "24 of 24 gaps filled" in shown.err
    run(capsys, "fill", model, "readings.csv", "-o", "filled.csv.gz", "-q")
    run(capsys, "fill", model, "readings.csv", "-o", "filled.parquet", "-q")
    plain = pandas.read_csv("filled.csv")
    packed = pandas.read_csv("filled.csv.gz")
    pandas.testing.assert_frame_equal(plain, packed)
    values = pandas.read_parquet("filled.parquet")["t_C_predicted"]
    np.testing.assert_allclose(values, plain["t_C_predicted"], rtol=1e-5)
    told = run(capsys, "fill", model, "readings.csv", "-o", "filled.csv", "--json")
    assert json.loads(told.out)["filled"] == 24


def test_fill_at_points_that_were_asked_for(model, capsys):
    write("points.csv", {"sensor": ["s0", "s1"], "depth_m": [0.5, 99.0]})
    shown = rows(run(capsys, "fill", model, "points.csv").out)
    assert shown[0]["t_C_low"] != ""
    assert shown[1]["t_C_predicted"] != ""
    assert shown[1]["t_C_low"] == ""  # nothing near was learned


def test_predict(model, capsys):
    shown = run(capsys, "predict", model, "--sensor", "s1", "--at", "depth_m=0.5,1")
    assert "Sensor s1, with 90% intervals" in shown.out
    told = run(capsys, "predict", model, "--sensor", "s1", "--at", "depth_m=0.5,1",
               "--json")  # fmt: skip
    found = json.loads(told.out)["predictions"]
    assert [one["depth_m"] for one in found] == ["0.5", "1"]
    assert all(one["low"] < one["value"] < one["high"] for one in found)


def test_update(model, capsys):
    more, _, _ = made(n_sensors=6, n_each=5, seed=3)
    write("more.csv", more)
    shown = run(capsys, "update", model, "more.csv")
    assert "30 new readings learned." in shown.out
    again = run(capsys, "update", model, "more.csv", "--json")
    assert json.loads(again.out)["known_before"] == 30
    assert halk.SensorModel.load(model).learned.n_readings == 246


def test_inspect(model, capsys):
    shown = run(capsys, "inspect", model)
    page = Path("model-report.html").read_text()
    assert "model-report.html" in shown.out
    for words in ("Who talks to whom", "What they learned", "Who disagrees", "<img"):
        assert words in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    told = json.loads(run(capsys, "inspect", model, "--json").out)
    assert told["readings"] == 216


def test_doctor(folder, capsys):
    shown = run(capsys, "doctor", "readings.csv", "--sensors", "sensors.csv")
    assert "216 readings of 6 sensors: t_C in °C, by depth_m (number)" in shown.out
    assert "24 rows without a value" in shown.out
    Path("bad.csv").write_text("station,time,t_C\na,2024-01-01,warm\nb,2024-01-02,3\n")
    shown = run(capsys, "doctor", "bad.csv", "--target", "t_C", code=1)
    assert "bad.csv, line 2, sensor 'a': t_C is 'warm'" in shown.out
    told = run(capsys, "doctor", "bad.csv", "--target", "t_C", "--json", code=1)
    assert json.loads(told.out)["is_usable"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "none.csv"], "none.csv must exist, got no such file"),
        (["fit", "readings.csv", "-o", "no/m.halk"], "must be in a folder that exists"),
        (["fit", "readings.csv", "-o", "."], "--out must be a file, got the folder"),
        (["fit", "readings.csv", "--kernel", "round"], "kernel must be"),
        (
            ["fit", "readings.csv", "--tolerance", "far"],
            "tolerance must be a number or",
        ),
        (["fit", "readings.csv", "--width", "50"], "width must be NAME=LENGTH"),
        (["fit", "readings.csv", "--time", "minute"], "time must be"),
        (
            ["fit", "readings.csv", "--coverage", "1.5"],
            "coverage must be between 0 and 1",
        ),
        (
            ["fit", "readings.csv", "--config", "none.toml"],
            "none.toml must be readable",
        ),
        (["fit", "readings.csv", "--neighbours", "3"], "need places of sensors"),
        (["fit", "readings.csv", "--graph", "none.csv"], "none.csv must exist"),
        (["fill", "none.halk", "readings.csv"], "none.halk does not exist"),
        (["fill", "readings.csv", "readings.csv"], "is not a halk checkpoint"),
        (["update", "none.halk", "readings.csv"], "none.halk does not exist"),
        (["inspect", "none.halk"], "none.halk does not exist"),
        (["predict", "none.halk", "--sensor", "a", "--at", "b=1"], "does not exist"),
    ],
)
def test_mistakes_get_a_clear_line(folder, capsys, arguments, words):
    shown = run(capsys, *arguments, code=1)
    assert shown.out == ""
    assert shown.err.startswith("halk: ")
    assert words in shown.err
    assert sorted(os.listdir()) == ["readings.csv", "sensors.csv"]


def test_more_mistakes_with_a_model(model, capsys):
    for arguments, words in (
        (["fill", model, "readings.csv", "-o", "out.txt"], "must end in one of .csv"),
        (
            ["predict", model, "--sensor", "s9", "--at", "depth_m=1"],
            "1 sensor not among",
        ),
        (["predict", model, "--sensor", "s1", "--at", "depth_m"], "INPUT=VALUE"),
        (["predict", model, "--sensor", "s1", "--at", "x=1"], "at must give depth_m"),
        (["update", model, "sensors.csv"], "there is no column 'depth_m'"),
    ):
        assert words in run(capsys, *arguments, code=1).err


def test_wrong_usage_has_its_own_code(folder, capsys):
    for arguments in (["fit"], ["fit", "a", "--no-such-flag"], ["frobnicate"]):
        run(capsys, *arguments, code=2)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(capsys, command):
    shown = run(capsys, command, "--help")
    assert "For example" in shown.out
    assert f"halk {command} " in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_the_version(capsys):
    assert run(capsys, "--version").out.strip() == halk.__version__


@pytest.mark.parametrize("command", ["fit", "update"])
def test_an_interrupt_leaves_the_old_model(model, capsys, monkeypatch, command):
    before = model.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, "taught", interrupted)
    more, _, _ = made(n_sensors=6, n_each=5, seed=3)
    write("more.csv", more)
    arguments = {
        "fit": ["fit", "readings.csv", "--quick"],
        "update": ["update", model, "more.csv"],
    }[command]
    shown = run(capsys, *arguments, code=130)
    assert "interrupted" in shown.err
    assert model.read_bytes() == before
    assert not list(Path().glob(".halk*"))


@pytest.mark.parametrize("command", ["fit", "update"])
def test_a_full_disk_leaves_the_old_model(model, capsys, monkeypatch, command):
    before = model.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    more, _, _ = made(n_sensors=6, n_each=5, seed=3)
    write("more.csv", more)
    arguments = {
        "fit": ["fit", "readings.csv", "--quick"],
        "update": ["update", model, "more.csv"],
    }[command]
    shown = run(capsys, *arguments, code=1)
    assert "No space left on device" in shown.err
    assert model.read_bytes() == before
    assert not list(Path().glob(".halk*"))


@pytest.mark.slow
def test_a_killed_fit_leaves_the_old_model(model):
    before = model.read_bytes()
    command = [sys.executable, "-m", "halk", "fit", "readings.csv", "--sensors",
               "sensors.csv"]  # fmt: skip
    for seconds in (0.5, 1.5, 3.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        changed = model.read_bytes()
        assert changed == before or halk.SensorModel.load(model)
