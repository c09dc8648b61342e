"""``halk reproduce`` as people use it: what it prints, refuses, and leaves behind."""

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from halk.cli import main
from halk.experiments import EXPERIMENTS
from halk.experiments.fill_in import FillIn
from halk.experiments.runs import Options, Run
from tests.experiments.toys import kept, settle, toy, tree

GULF = Path(__file__).parents[2] / "src/halk/data/bundle/gulf_levitus_50nodes.csv"
HEADER = "node,lat,lon,depth_m,temperature_annual_C,salinity_annual"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work where no data lie beside."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def kind(monkeypatch):
    """In place of the theory a toy, which is over at once."""
    made = toy("theory")
    settle(monkeypatch, made)
    return made


def refused(capsys, *arguments, code=1):
    """Assert that a command fails with a message; return it."""
    assert main(["reproduce", *map(str, arguments)]) == code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    assert shown.out == ""
    assert shown.err.startswith("halk: ") or code == 2
    assert all(line.startswith("  ") for line in shown.err.splitlines()[1:])
    assert " --" not in shown.err.partition("->")[2]  # of other commands
    return shown.err


# the list, and options


def test_the_list_names_all_experiments(capsys):
    assert main(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out
    for name in (*EXPERIMENTS, "all"):
        assert name in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert os.listdir() == []


def test_the_program_runs_as_a_module(elsewhere):
    done = subprocess.run(
        [sys.executable, "-m", "halk", "reproduce", "--list"],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "random-field" in done.stdout


def test_an_experiment_must_be_named(capsys):
    assert "name an experiment, or all; see --list" in refused(capsys, code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], ["nosuch", "random-field", "theory", "all"]),
        (["theory", "--scale", "tiny"], ["tiny", "--scale", "smoke", "full"]),
        (["theory", "--seeds", "two"], ["two", "--seeds"]),
        (["theory", "--seeds", "1.9"], ["1.9", "whole number"]),
        (["temperature", "--sensors", "4.5"], ["4.5", "whole number"]),
        (["theory", "--nosuch"], ["--nosuch"]),
        (["theory", "--out"], ["--out"]),
    ],
)
def test_a_mistyped_command_is_explained(capsys, kind, arguments, message):
    assert main(["reproduce", *arguments]) != 0
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert len(shown.err.splitlines()) <= 5
    for part in message:
        assert part in shown.err
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", 0], "--seeds must be at least 1, got 0"),
        (["--seeds", -3], "--seeds must be at least 1, got -3"),
        (["--radius", -1], "--radius must be positive, got -1.0"),
        (["--radius", 0], "--radius must be positive, got 0.0"),
        (["--radius", "nan"], "--radius must be finite, got nan"),
        (["--radius", "inf"], "--radius must be finite, got inf"),
        (["--sensors", 1], "--sensors must be at least 2, got 1"),
        (["--jobs", 0], "--jobs must be at least 1, got 0"),
        (["--season", "monsoon"], "--season must be one of 'annual'"),
        (["--radius", 0.001], "--radius must be so large that some of the 50 sensors"),
        (["--sensors", 51], "--sensors must be at most 50, the sensors there are, g"),
    ],
)
def test_options_out_of_range_are_refused(capsys, arguments, message):
    assert message in refused(capsys, "temperature", *arguments)
    assert os.listdir() == []


def test_a_season_without_salinity_is_refused_before_anything_is_run(capsys):
    for name in ("salinity", "fill-in", "all"):
        found = refused(capsys, name, "--season", "winter")
        assert "--season must be 'annual' for salinity, got 'winter'" in found
    assert os.listdir() == []


# data


def csv(*lines, header=HEADER):
    return "\n".join([header, *lines]) + "\n"


TABLES = {
    "missing columns": (
        csv("a,25,0,20", "b,26,1,21", header="node,lat,depth_m,temperature_annual_C"),
        "lat and lon",
    ),
    "no such variable": (
        csv("a,25,-90,0,3", header="node,lat,lon,depth_m,oxygen"),
        "temperature",
    ),
    "text for a number": (
        csv("a,25,-90,0,20,35", "b,26,-90,0,warm,35"),
        "line 3, sensor 'b': temperature_annual_C is 'warm'\n  -> correct the file",
    ),
    "text for a depth": (
        csv("a,25,-90,deep,20,35", "b,26,-90,0,19,35", "b,26,-90,5,18,35"),
        "line 2, sensor 'a': depth_m is 'deep'",
    ),
    "no rows": (csv(), "rows"),
    "nothing": ("", "must"),
    "one sensor": (
        csv("a,25,-90,0,20,35", "a,25,-90,5,19,35"), "at least two sensors, got one",
    ),
    "no reading": (csv("a,25,-90,0,,35", "b,26,-90,0,,35"), "holds no readings"),
    "a sensor that moves": (
        csv("a,25,-90,0,20,35", "a,26,-90,5,20,35", "b,27,-90,0,20,35"),
        "sensors move",
    ),
    "a place off the Earth": (
        csv("a,125,-90,0,20,35", "b,26,-90,0,20,35"), "lat",
    ),
    "too far apart": (
        csv("a,25,-90,0,20,35", "b,-60,10,5,21,35"), "--radius must be so large",
    ),
    "one depth": (
        csv("a,25,-90,0,20,35", "b,26,-90,0,21,35"), "two depths at least, got one",
    ),
    "a depth above the water": (
        csv("a,25,-90,-5,20,35", "b,26,-90,0,21,35"), "-5 at sensor a",
    ),
    "no change": (
        csv("a,25,-90,5,20,35", "b,26,-90,0,20,35"), "temperature must vary, got 20",
    ),
    "a code for a missing value": (
        csv("a,25,-90,0,20,35", "b,26,-90,5,-9999,35"),
        "temperature_annual_C is -9999 in 1 row, far from all other values",
    ),
    "time for depth": (
        csv("a,25,-90,0,20", "b,26,-90,5,21", header="node,lat,lon,time,temperature"),
        "the input must be a depth",
    ),
    "places on a plane": (
        csv("a,25,-90,0,20", "b,26,-90,5,21", header="node,x,y,depth,temperature"),
        "latitude and longitude",
    ),
    "binary": ("\x00\x01\x02" * 50, "must"),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_cannot_be_used_is_refused(capsys, tmp_path, table):
    content, message = TABLES[table]
    path = tmp_path / "readings.csv"
    path.write_text(content)
    command = ("temperature", "--scale", "smoke", "--data", path, "--out", "out")
    found = refused(capsys, *command)
    assert message in found
    assert path.name in found or message.startswith("--")
    assert os.listdir() == []


def write_without_salinity(folder):
    path = folder / "readings.csv"
    rows = [
        f"{name},{lat},-90,{depth},{20 - depth}"
        for name, lat in (("a", 25), ("b", 26))
        for depth in range(5)
    ]
    path.write_text(csv(*rows, header=HEADER.removesuffix(",salinity_annual")))
    return path


@pytest.mark.parametrize("name", ["salinity", "all"])
def test_a_table_without_salinity_is_refused_before_anything_is_run(
    capsys, tmp_path, name
):
    path = write_without_salinity(tmp_path)
    found = refused(capsys, name, "--scale", "smoke", "--data", path)
    assert "a column of annual salinity" in found
    assert "target=" not in found
    assert os.listdir() == []


def test_fill_in_takes_the_fields_that_are_there(tmp_path):
    path = write_without_salinity(tmp_path)
    experiment = FillIn(Options(scale="smoke", seeds=1, data=path))
    assert experiment.variables == ("temperature",)
    assert {run.settings["variable"] for run in experiment.runs()} == {"temperature"}
    assert experiment.fields("temperature").unit == "°C"


def test_options_without_use_are_refused(capsys, tmp_path):
    path = write_without_salinity(tmp_path)
    found = refused(capsys, "random-field", "--data", path)
    assert "random-field makes its own readings" in found
    text = path.read_text().replace("temperature_annual_C", "temperature")
    path.write_text(text)
    found = refused(capsys, "temperature", "--data", path, "--season", "summer")
    assert "--season must name a season" in found
    assert os.listdir() == []


def test_missing_data_are_named(capsys, tmp_path):
    path = tmp_path / "none.csv"
    assert f"{path} must exist" in refused(capsys, "temperature", "--data", path)
    empty = tmp_path / "atlas"
    empty.mkdir()
    found = refused(capsys, "temperature", "--data", empty)
    assert f"{empty} must hold an atlas file of temperature" in found
    (empty / "notes.txt").write_text("nothing of use")
    assert "atlas" in refused(capsys, "salinity", "--data", empty)
    assert os.listdir() == []


def test_bad_data_leave_earlier_results_alone(capsys, tmp_path, kind, monkeypatch):
    out = tmp_path / "out"
    assert main(["reproduce", "theory", "--scale", "smoke", "--out", str(out)]) == 0
    capsys.readouterr()
    before = tree(out)
    monkeypatch.undo()
    bad = tmp_path / "bad.csv"
    bad.write_text(csv())
    refused(capsys, "temperature", "--data", bad, "--out", out)
    assert tree(out) == before


# results


def test_what_is_printed_and_left_behind(capsys, tmp_path, kind, monkeypatch):
    out = tmp_path / "a [folder]"
    command = ["reproduce", "theory", "--scale", "smoke", "--seeds", "2"]
    command += ["--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/halk", *command])
    assert main(command) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for n, name in enumerate(kind.executed, 1):
        assert f"[{n}/4] theory {name} (0.1 s)" in shown.out
    assert "reproduced" in shown.out
    assert "(2 of 2 seeds)" in shown.out
    assert f"Report: {out / 'report.html'}\n" in shown.out
    manifest = json.loads((out / "manifest.json").read_text())
    asked = manifest["experiments"]["theory"]["command"]
    assert asked.startswith("halk reproduce theory --scale smoke")
    assert asked.endswith(f"--out '{out}'")
    assert main(command) == 0
    assert "4 of 4 runs were finished before" in capsys.readouterr().out
    assert len(kind.executed) == 4
    assert main([*command, "--again"]) == 0
    assert len(kind.executed) == 8


def test_a_real_experiment_from_the_command_line(capsys, tmp_path):
    out = tmp_path / "out"
    command = ["reproduce", "theory", "--scale", "smoke", "--seeds", "1"]
    assert main([*command, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    claims = json.loads((out / "claims.json").read_text())
    assert [claim["name"] for claim in claims] == [
        "theory/gap-rate", "theory/violation", "theory/order", "theory/newton-rate",
        "theory/newton-multipliers",
    ]  # fmt: skip
    verdicts = [v["verdict"] for c in claims for v in c["verdicts"].values()]
    assert len(verdicts) == 6
    assert shown.count("not reproduced") == verdicts.count("not reproduced")
    assert shown.count("reproduced") == 6
    assert "[10/10] theory" in shown
    assert (out / "figures" / "theory.png").exists()


def test_on_a_terminal_there_are_bars(capsys, tmp_path, kind, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    command = ["reproduce", "theory", "--scale", "smoke", "--out", str(tmp_path / "o")]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "6/6" in shown
    assert "[1/6]" not in shown


# where results cannot be written


@pytest.mark.parametrize(
    "out", ["file", "file/below", "/proc/halk-results", "/dev/null", "loop", "x" * 300]
)
def test_a_folder_that_cannot_be_made_is_refused(capsys, elsewhere, kind, out):
    (elsewhere / "file").write_text("mine")
    (elsewhere / "loop").symlink_to("loop")
    found = refused(capsys, "theory", "--scale", "smoke", "--out", out)
    assert f"--out must be a folder that can be written, got {out}" in found
    assert "name another one with --out" in found
    assert kind.executed == ()
    assert sorted(os.listdir()) == ["file", "loop"]
    assert (elsewhere / "file").read_text() == "mine"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_folder_that_is_read_only_is_refused(
    capsys, elsewhere, kind, monkeypatch, number
):
    for name in ("runs", "figures"):
        (elsewhere / "out" / name).mkdir(parents=True)
    (elsewhere / "out" / "claims.json").write_text("[]")
    before, opened = tree(elsewhere), Path.open

    def read_only(path, mode="r", *more, **named):
        if "x" in mode or "w" in mode:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, mode, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", read_only)
        found = refused(capsys, "theory", "--scale", "smoke", "--out", "out")
    assert f"got out: {os.strerror(number)}" in found
    assert kind.executed == ()
    assert tree(elsewhere) == before


def test_a_disk_that_fills_up_says_so_and_the_command_goes_on(
    capsys, elsewhere, kind, monkeypatch
):
    command = ("theory", "--scale", "smoke", "--out", "out")
    n_saved, fsync = 0, os.fsync

    def full(descriptor):
        nonlocal n_saved
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            n_saved += 1
            if n_saved >= 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert main(["reproduce", *command]) == 1
    found = capsys.readouterr().err
    assert found == (
        "halk: writing to out failed: No space left on device; finished runs are kept: "
        "make room, and give the same command again to go on\n"
    )
    assert kept(elsewhere / "out") == ["first-0", "second-0"]
    assert len(tree(elsewhere)) == 2
    assert main(["reproduce", *command]) == 0
    assert "2 of 6 runs were finished before" in capsys.readouterr().out
    assert len(kind.executed) == 3 + 4  # the one that was not saved is made again


def test_an_interrupt_is_a_sentence(capsys, elsewhere, kind, monkeypatch):
    command = ["reproduce", "theory", "--scale", "smoke", "--out", "out"]
    execute, n_runs = kind.execute, 0

    def interrupted(self, run: Run, earlier, tell):
        nonlocal n_runs
        n_runs += 1
        if n_runs == 3:
            raise KeyboardInterrupt
        return execute(self, run, earlier, tell)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "execute", interrupted)
        assert main(command) == 130
    found = capsys.readouterr().err
    assert found == "halk: interrupted; give the same command again\n"
    assert len(tree(elsewhere)) == 2
    assert main(command) == 0
    assert "2 of 6 runs were finished before" in capsys.readouterr().out


# what is not installed


def test_a_missing_parser_is_named(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "halk.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    assert main(["reproduce", "--list"]) == 1
    found = capsys.readouterr().err
    assert (
        found == "halk: the command halk needs cyclopts: pip install 'halk[tables]'\n"
    )


def test_a_missing_package_is_named(capsys, monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    found = refused(capsys, "theory")
    assert "rich" in found
    assert "pip install 'halk[experiments]'" in found
