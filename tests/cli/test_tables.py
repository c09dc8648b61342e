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
from halk.data import times as times_module
from tests.sensors.network import as_long, as_wide, clocked, profiles

pytest.importorskip("cyclopts")
pytest.importorskip("rich")

COMMANDS = ("doctor", "fit", "fill", "forecast", "predict", "update", "inspect", "demo")
HALF = slice(0, 200)


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
    y, hours, sensors = clocked()
    names = sensors["sensor"]
    write("readings.csv", as_long(y, hours, names, HALF))
    write("wide.csv", as_wide(y, hours, names, HALF))
    write("more.csv", as_long(y, hours, names, slice(200, 240)))
    write("sensors.csv", sensors)
    return tmp_path


@pytest.fixture
def model(folder, capsys):
    """Return a model that was fitted by the command."""
    arguments = "fit readings.csv --sensors sensors.csv --method linear --quick -q"
    assert main(arguments.split()) == 0
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


def n_readings(path="readings.csv"):
    return sum(row["t_C"] != "" for row in rows(Path(path).read_text()))


def test_fit_shows_methods_side_by_side_and_sensors_by_error(folder, capsys):
    shown = run(
        capsys, "fit", "readings.csv", "--sensors", "sensors.csv", "-o", "m.halk"
    )
    model = halk.SensorModel.load("m.halk")
    for words in (
        f"{n_readings():,} readings of 6 sensors: t_C, °C", "points", "blocks",
        "past only",
        "Sensors, those that are predicted worst first", "Saved: m.halk",
        f"* {model.comparison.chosen}", "sensor mean", "kriging", "field, together",
    ):  # fmt: skip
        assert words in shown.out
    assert "\x1b[" not in shown.out  # no colours in a pipe
    assert "nan" not in shown.out


def test_fit_for_machines(folder, capsys):
    shown = run(capsys, "fit", "readings.csv", "--sensors", "sensors.csv", "--quick",
                "--json", "--seed", "3")  # fmt: skip
    told = json.loads(shown.out)
    assert told["readings"] == n_readings()
    assert {row["name"] for row in told["sensors"]} == {f"s{i}" for i in range(6)}
    assert (told["unit"], told["seed"], told["model"]) == ("°C", 3, "model.halk")
    assert told["method"] == told["comparison"]["chosen"]


def test_fit_from_standard_input(folder, capsys, monkeypatch):
    data = Path("readings.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    run(capsys, "fit", "-", "--quick", "-q", "--method", "linear")
    assert len(halk.SensorModel.load("model.halk").readings.y) == n_readings()


def test_fill_gives_the_table_back(model, capsys):
    shown = run(capsys, "fill", model, "readings.csv")
    before, after = rows(Path("readings.csv").read_text()), rows(shown.out)
    assert len(after) == len(before) == 1200
    for old, new in zip(before, after, strict=True):
        assert old.items() <= new.items()
        assert (old["t_C"] == "") == (new["t_C_fqc"] != "0")
        if old["t_C"] == "":
            low, value, high = (
                float(new[f"t_C_{n}"]) for n in ("low", "filled", "high")
            )
            assert low < value < high
        else:
            assert float(new["t_C_filled"]) == pytest.approx(float(old["t_C"]))
            assert new["t_C_method"] == "reading"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_fill_separates_cells_as_the_table_did(model, capsys, delimiter):
    text = Path("readings.csv").read_text().replace(",", delimiter)
    Path("other.csv").write_text(f"# buoys\n{text}")
    plain = run(capsys, "fill", model, "readings.csv").out
    other = run(capsys, "fill", model, "other.csv").out
    assert other == plain.replace(",", delimiter)


def test_a_wide_table_comes_back_wide(folder, capsys):
    run(capsys, "fit", "wide.csv", "--sensors", "sensors.csv", "--method", "linear",
        "-q", "--quick")  # fmt: skip
    run(capsys, "fill", "model.halk", "wide.csv", "-o", "filled.csv", "-q")
    before = Path("wide.csv").read_text().splitlines()
    after = Path("filled.csv").read_text().splitlines()
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert other.startswith(one + ",")
    run(capsys, "fill", "model.halk", "filled.csv", "-o", "again.csv", "-q")
    assert Path("again.csv").read_bytes() == Path("filled.csv").read_bytes()


def test_fill_into_files(model, capsys):
    pandas = pytest.importorskip("pandas")
    shown = run(capsys, "fill", model, "readings.csv", "-o", "filled.csv")
    n = 1200 - n_readings()
    assert shown.out == ""
    assert f"{n} of {n} gaps filled, in 1,200 rows" in shown.err
    run(capsys, "fill", model, "readings.csv", "-o", "filled.csv.gz", "-q")
    run(capsys, "fill", model, "readings.csv", "-o", "filled.parquet", "-q")
    plain = pandas.read_csv("filled.csv")
    packed = pandas.read_csv("filled.csv.gz")
    pandas.testing.assert_frame_equal(plain, packed)
    values = pandas.read_parquet("filled.parquet")["t_C_filled"]
    np.testing.assert_allclose(values, plain["t_C_filled"], rtol=1e-5)
    told = run(capsys, "fill", model, "readings.csv", "-o", "filled.csv", "--json")
    assert json.loads(told.out)["filled"] == n


def test_fill_adds_absent_timestamps_and_leaves_long_gaps(model, capsys):
    kept = [row for k, row in enumerate(Path("readings.csv").read_text().splitlines())
            if not 61 <= k < 121]  # fmt: skip
    Path("short.csv").write_text("\n".join(kept) + "\n")
    told = run(capsys, "fill", model, "short.csv", "--every", "1h", "-o", "f.csv",
               "--json")  # fmt: skip
    assert json.loads(told.out)["added"] == 60
    assert len(rows(Path("f.csv").read_text())) == 1200
    told = run(capsys, "fill", model, "readings.csv", "--max-gap", "1h", "--causal",
               "-o", "f.csv", "--json")  # fmt: skip
    counts = json.loads(told.out)
    assert 0 < counts["filled"] < counts["gaps"]


def test_fill_at_a_station_that_is_not_there(model, capsys):
    shown = rows(run(capsys, "fill", model, "readings.csv", "--at", "26,-89").out)
    assert len(shown) == 200
    assert {row["sensor"] for row in shown} == {"at 26,-89"}
    assert all(row["t_C_filled"] for row in shown)


def test_forecast(model, capsys):
    shown = run(capsys, "forecast", model, "--ahead", "6h")
    found = rows(shown.out)
    assert len(found) == 36
    assert found[0]["time"].startswith("2024-03-09T08:00")
    for row in found:
        low, value, high = (float(row[f"t_C_{n}"]) for n in ("low", "forecast", "high"))
        assert low < value < high
        assert row[f"t_C_{row['t_C_method'].replace(' ', '_')}"] == row["t_C_forecast"]
    told = json.loads(run(capsys, "forecast", model, "--ahead", "6h", "--json").out)
    errors = told["backtest"]["errors"]
    assert list(errors)[1:] == ["persistence", "climatology"]
    assert len(told["forecasts"]) == 36
    shown = run(capsys, "forecast", model, "--ahead", "6h", "-o", "next.csv")
    assert "Errors so far ahead, °C" in shown.err
    assert rows(Path("next.csv").read_text()) == found


def test_predict(model, capsys):
    at = ["--at", "time=2024-03-02T12:00,2024-03-03"]
    shown = run(capsys, "predict", model, "--sensor", "s1", *at)
    assert "Sensor s1, with 90% intervals" in shown.out
    told = run(capsys, "predict", model, "--sensor", "s1", *at, "--json")
    found = json.loads(told.out)["predictions"]
    assert [one["time"] for one in found] == ["2024-03-02T12:00", "2024-03-03"]
    assert all(one["low"] < one["value"] < one["high"] for one in found)
    assert not any(one["is_extrapolated"] for one in found)
    shown = run(capsys, "predict", model, "--sensor", "s1", "--at", "time=2025-01-01")
    assert "outside all that was ever read" in shown.err


def test_update_and_undo(model, capsys):
    before = model.read_bytes()
    n = n_readings("more.csv")
    shown = run(capsys, "update", model, "more.csv")
    assert f"{n} new readings learned." in shown.out
    assert "Forecast before they were learned: error " in shown.out
    assert "--undo" in shown.err
    again = run(capsys, "update", model, "more.csv", "--json", "-o", "other.halk")
    assert json.loads(again.out)["known_before"] == n
    assert len(halk.SensorModel.load(model).readings.y) == n_readings() + n
    assert f"{n} readings undone" in run(capsys, "update", model, "--undo").out
    assert model.read_bytes() == before


def test_a_new_sensor_joins_by_an_update(model, capsys):
    Path("new.csv").write_text("sensor,lat,lon\nnew,26,-89\n")
    Path("more.csv").write_text("time,sensor,t_C\n2024-03-09T08:00,new,20\n")
    shown = run(capsys, "update", model, "more.csv", code=1)
    assert "1 sensor not among the known ones" in shown.err
    shown = run(capsys, "update", model, "more.csv", "--sensors", "new.csv")
    assert "1 new sensor: new" in shown.out
    assert halk.SensorModel.load(model).sensors.names[-1] == "new"


def test_inspect(model, capsys):
    shown = run(capsys, "inspect", model)
    for words in ("Linear interpolation was asked for;", "Sensors, those that are"):
        assert words in shown.out
    told = json.loads(run(capsys, "inspect", model, "--json").out)
    assert told["readings"] == n_readings()


def test_doctor(folder, capsys):
    shown = run(capsys, "doctor", "readings.csv", "--sensors", "sensors.csv")
    assert f"{n_readings():,} readings of 6 sensors: t_C in °C, by time" in shown.out
    assert "readings missing" in shown.out
    Path("bad.csv").write_text("station,time,t_C\na,2024-01-01,warm\nb,2024-01-02,3\n")
    shown = run(capsys, "doctor", "bad.csv", "--target", "t_C", code=1)
    assert "bad.csv, line 2, sensor 'a': t_C is 'warm'" in shown.out
    told = run(capsys, "doctor", "bad.csv", "--target", "t_C", "--json", code=1)
    assert json.loads(told.out)["is_usable"] is False


def test_doctor_judges_a_file_by_a_model(model, capsys):
    shown = run(capsys, "doctor", "readings.csv", "--model", model)
    assert "judged by the model, none of them far" in shown.out
    text = Path("readings.csv").read_text().splitlines()
    where = next(k for k, line in enumerate(text) if k > 400 and line[-1] != ",")
    stamp, sensor, _ = text[where].split(",")
    text[where] = f"{stamp},{sensor},9999.5"
    Path("bad.csv").write_text("\n".join(text) + "\n")
    shown = run(capsys, "doctor", "bad.csv", "--model", model)
    assert f"bad.csv, line {where + 1}, sensor {sensor!r}: 1e+04 °C" in shown.out
    assert "standard deviations above what its neighbours and its own" in shown.out
    Path("other.csv").write_text("time,t\n2024-01-01,1\n")
    shown = run(capsys, "doctor", "other.csv", "--model", model, code=1)
    assert "there is no column 'sensor'" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("fit none.csv", "none.csv must exist, got no such file"),
        ("fit readings.csv -o no/m.halk", "must be in a folder that exists"),
        ("fit readings.csv -o .", "--out must be a file, got the folder"),
        ("fit readings.csv --method magic", "method must be one that suits the table"),
        ("fit readings.csv --coverage 1.5", "coverage must be between 0 and 1"),
        ("fit readings.csv --seed -1", "seed must be at least 0"),
        ("fit readings.csv --neighbours 0", "neighbours must be at least 1"),
        ("fit readings.csv --graph none.csv", "none.csv must exist"),
        ("fill none.halk readings.csv", "none.halk does not exist"),
        ("fill readings.csv readings.csv", "is not a halk checkpoint"),
        ("forecast none.halk --ahead 1h", "none.halk does not exist"),
        ("update none.halk readings.csv", "none.halk does not exist"),
        ("update none.halk", "update needs a table of readings, or --undo"),
        ("update none.halk a.csv --undo", "update needs a table of readings, or --"),
        ("inspect none.halk", "none.halk does not exist"),
        ("doctor readings.csv --model none.halk", "none.halk does not exist"),
        ("predict none.halk --sensor a --at b=1", "does not exist"),
    ],
)
def test_mistakes_get_a_clear_line(folder, capsys, arguments, words):
    there = sorted(os.listdir())
    shown = run(capsys, *arguments.split(), code=1)
    assert shown.out == ""
    assert shown.err.startswith("halk: ")
    assert words in shown.err
    assert sorted(os.listdir()) == there


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("fill m readings.csv -o out.txt", "must end in one of .csv"),
        ("fill m readings.csv --every often", "every must be a length of time"),
        (
            "fill m readings.csv --at 25",
            "--at must be two numbers with a comma, got 25",
        ),
        ("fill m readings.csv --at -89,26.5,3", "--at must be two numbers"),
        ("fill m readings.csv --at 126,-89", "latitude, longitude, got 126, -89"),
        ("forecast m --ahead 1y", "ahead must be much shorter than the table"),
        ("predict m --sensor s9 --at time=2024-03-02", "1 sensor not among"),
        ("predict m --sensor s1 --at time", "INPUT=VALUE"),
        ("predict m --sensor s1 --at x=1", "at must give time"),
        ("predict m --sensor s1 --at time=1 --at time=2", "name each input once"),
        ("update m sensors.csv", "there is no column 'time'"),
        ("update m --undo", "there is no update to undo"),
    ],
)
def test_more_mistakes_with_a_model(model, capsys, arguments, words):
    there, before = sorted(os.listdir()), model.read_bytes()
    shown = run(capsys, *arguments.replace(" m", f" {model}", 1).split(), code=1)
    assert words in shown.err
    assert shown.err.startswith("halk: ")
    assert sorted(os.listdir()) == there
    assert model.read_bytes() == before


def test_wrong_usage_has_its_own_code(folder, capsys):
    for arguments in (["fit"], ["fit", "a", "--no-such-flag"], ["frobnicate"]):
        run(capsys, *arguments, code=2)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(capsys, command):
    shown = run(capsys, command, "--help")
    assert "For example" in shown.out
    assert f"halk {command}" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_the_version(capsys):
    assert run(capsys, "--version").out.strip() == halk.__version__


def arguments_of(command, model):
    """Return a command that writes a model."""
    return {
        "fit": ["fit", "readings.csv", "--method", "linear", "--quick"],
        "update": ["update", model, "more.csv"],
    }[command]


@pytest.mark.parametrize("command", ["fit", "update"])
def test_an_interrupt_leaves_the_old_model(model, capsys, monkeypatch, command):
    before = model.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(times_module, "seconds", interrupted)
    shown = run(capsys, *arguments_of(command, model), code=130)
    assert "interrupted" in shown.err
    assert model.read_bytes() == before
    assert not list(Path().glob(".halk*"))


@pytest.mark.parametrize("command", ["fit", "update"])
def test_a_full_disk_leaves_the_old_model(model, capsys, monkeypatch, command):
    before = model.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    shown = run(capsys, *arguments_of(command, model), code=1)
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


def test_profiles_need_no_clock(folder, capsys):
    readings, sensors = profiles(n_sensors=4, n_each=30)
    write("deep.csv", readings)
    write("buoys.csv", sensors)
    run(capsys, "fit", "deep.csv", "--sensors", "buoys.csv", "-q", "--quick")
    shown = run(capsys, "forecast", "model.halk", "--ahead", "24h", code=1)
    assert "a forecast needs a time as the only input, got depth_m" in shown.err
    shown = run(capsys, "fill", "model.halk", "deep.csv", "--every", "1h", code=1)
    assert "every needs an input that is a time" in shown.err
