"""Agents as processes: killed, resumed, stopped, and never left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halk import HalkError
from halk.checkpoint import unpack
from halk.cli import main
from halk.deploy import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.folder import free_ports
from halk.deploy.plan import read_plan
from halk.deploy.simulation import simulate_lockstep
from tests.deploy.agents import AGENT, csv_text, second, written
from tests.deploy.test_plan import own_files
from tests.net.nodes import stream

pytest.importorskip("zenoh", reason="needs the extra net")
pytest.importorskip("cyclopts")
pytest.importorskip("rich")
if not Path("/proc/self").exists():
    pytest.skip("looks into /proc", allow_module_level=True)

PATIENCE = 180.0


def until(condition, what):
    """Wait for a condition, for as long as a busy machine may need."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


@pytest.fixture
def start():
    """Return what starts a command; all that is started is gone after the test."""
    started = []

    def begin(*arguments, **options):
        command = [sys.executable, "-m", "halk", *map(str, arguments)]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = os.environ | {"PYTHONPATH": paths}
        process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            **options,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def events(data):
    lines = data.decode().splitlines()
    said = [json.loads(line) for line in lines if line.startswith("{")]
    return {one["event"]: one for one in said}


def lone_agent(folder, n_rows):
    port, health = free_ports(2)
    text = AGENT.split("[[neighbours]]")[0].replace("7447", str(port))
    text = text.replace('value = "t_C"', 'value = "t_C"\nrate = 100.0\nfollow = true')
    text += '[checkpoint]\npath = "north.halk"\nevery = 0.2\n'
    text += f'[health]\nlisten = "127.0.0.1:{health}"\n'
    X, Y = stream(n_rows, 1)
    written(folder, csv_text(X[:, 0], Y[:, 0]), "north.csv")
    return written(folder, text)


def test_killed_and_resumed_it_reads_every_row_once(tmp_path, start):
    path, file = lone_agent(tmp_path, 300), tmp_path / "north.halk"
    first = start("agent", "--config", path)
    until(file.exists, "a checkpoint")
    content = file.read_bytes()
    until(lambda: file.read_bytes() != content, "another checkpoint")
    first.kill()
    first.wait()
    second = start("agent", "--config", path)
    until(lambda: _is_settled(file), "an agent that has read all")
    second.send_signal(signal.SIGTERM)
    _, log = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, log.decode()
    said = events(log)
    assert said["resumed"]["lost_before_that_file"] == "at most 0.2 s"
    assert said["stopped"]["why"] == "SIGTERM"
    Y = stream(300, 1)[1]
    assert said["stopped"]["readings"] == (Y == Y).sum()
    assert said["stopped"]["step"] == (Y == Y).sum()
    third = start("agent", "--config", path)
    until(lambda: _line(third, "started"), "a third start")
    third.send_signal(signal.SIGINT)
    _, log = third.communicate(timeout=PATIENCE)
    assert third.returncode == 0
    assert events(log)["stopped"]["readings"] == (Y == Y).sum()


def _is_settled(file):
    """Return whether the notes in a file say that all rows were taken."""
    notes = unpack(file.read_bytes())[0]["node"]["diary"]
    return notes["n_readings"] + notes["n_gaps"] == 300


def _line(process, event):
    line = process.stderr.readline().decode()
    return f'"event": "{event}"' in line


def test_a_mistake_is_one_line(tmp_path, capsys):
    path = written(tmp_path, AGENT.replace("gaussian", "gaussia"))
    assert main(["agent", "--config", str(path)]) == 1
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "did you mean 'gaussian'?" in shown
    good = written(tmp_path)
    assert main(["agent", "--config", str(good), "--check"]) == 0
    assert main(["agent", "--config", str(good)]) == 1  # there are no readings
    assert "north.csv must exist" in capsys.readouterr().err
    follows = AGENT.replace('value = "t_C"', 'value = "t_C"\nfollow = true')
    assert main(["agent", "-c", str(written(tmp_path, follows)), "--until-end"]) == 1
    assert "readings must have an end to go with --until" in capsys.readouterr().err


def test_readings_without_the_columns_are_no_crash(tmp_path, start):
    path = lone_agent(tmp_path, 3)
    (tmp_path / "north.csv").write_text("nothing,of,use\n1,2,3\n")
    agent = start("agent", "--config", path)
    _, log = agent.communicate(timeout=PATIENCE)
    assert agent.returncode == 1
    assert b"Traceback" not in log
    wrong = events(log)["cannot go on"]["wrong"]
    assert "north.csv: there is no column 'depth_m'; its first line is" in wrong


def test_a_closed_standard_input_is_said(tmp_path, monkeypatch):
    source = AGENT.replace('path = "north.csv"', 'source = "stdin"')
    config = read_config(written(tmp_path, source))
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(HalkError, match="standard input must be open"):
        feed_of(config.readings, None)


def test_check_looks_at_certificates_and_topics(tmp_path, capsys):
    folder = str(tmp_path)
    assert main(["certs", folder, "north", "east"]) == 0
    files = '[security]\ncertificate = "{0}.pem"\nkey = "{0}.key"\n'
    files += 'authority = "authority.pem"\n'
    good = str(written(tmp_path, AGENT + files.format("north")))
    assert main(["agent", "--config", good, "--check"]) == 0
    bad = str(written(tmp_path, AGENT + files.format("east")))
    assert main(["agent", "--config", bad, "--check"]) == 1
    shown = capsys.readouterr().err
    assert "east.pem must have the common name 'north', got 'east'" in shown
    source = 'source = "topic"\nkey = "halk/x"'
    bad = str(written(tmp_path, AGENT.replace('path = "north.csv"', source)))
    assert main(["agent", "--config", bad, "--check"]) == 1
    assert "topic must not be within halk/" in capsys.readouterr().err


@pytest.fixture
def network(tmp_path):
    X, Y = stream(60, 3)
    for i, name in enumerate("abc"):
        written(tmp_path, csv_text(X[:, i], Y[:, i]), f"{name}.csv")
    return written(tmp_path, own_files(), "network.toml")


def children_of(folder):
    """Return the processes that were started with a file of a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command and "\0agent\0" in command:
                found.append(int(entry.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("change", [str, second])
def test_up_in_lockstep_is_the_simulator(network, start, change):
    """With certificates, since these must do no harm."""
    network.write_text(change(network.read_text()))
    run = network.parent / "run"
    process = start("up", network, "--until-end", "--json", "-o", run, "--tls")
    out, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log.decode()
    found = json.loads(out)["agents"]
    _, wanted = simulate_lockstep(read_plan(network))
    assert [one["steps"] for one in found] == [60, 60, 60]
    assert [one["readings"] for one in found] == [one.readings for one in wanted]
    assert [one["atoms"] for one in found] == [one.atoms for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one["rmse"] == pytest.approx(other.rmse, rel=1e-5)  # as logs round
    assert children_of(run) == []


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="interrupted", marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_up_leaves_nobody_behind(network, start, number):
    written(network.parent, own_files().replace("lockstep", "free"), "network.toml")
    process, run = start("up", network), network.parent / "network-run"
    logs = [run / name / "log.jsonl" for name in "abc"]
    until(lambda: all(_has_started(log) for log in logs), "three agents")
    assert len(children_of(run)) == 3
    victim = children_of(run)[0]
    os.kill(victim, signal.SIGKILL)
    if number is signal.SIGINT:  # it comes back
        until(lambda: sum(map(_n_starts, logs)) == 4, "a fourth start")
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    if number is signal.SIGINT:
        assert process.returncode == 0
        assert b"RMSE" in out
        assert children_of(run) == []
    until(lambda: not children_of(run), "the end of all agents")
    stopped = [log.read_text().count('"event": "stopped"') for log in logs]
    assert sum(stopped) == (3 if number is signal.SIGINT else 2)


def _n_starts(log):
    return log.read_text().count('"event": "started"') if log.exists() else 0


def _has_started(log):
    return _n_starts(log) > 0


@pytest.mark.slow
def test_up_says_why_an_agent_does_not_start(network, start):
    (network.parent / "b.csv").write_text("nothing,of,use\n1,2,3\n")
    text = own_files().replace("lockstep", "free")
    process = start("up", written(network.parent, text, "network.toml"))
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"b does not start; its log" in log
    assert b"there is no column 'depth_m'" in log
    assert children_of(network.parent) == []


def test_certs(tmp_path, capsys):
    folder = tmp_path / "keys"
    assert main(["certs", str(folder), "north", "south", "--hosts", "10.0.0.1"]) == 0
    capsys.readouterr()
    assert {path.name for path in folder.iterdir()} >= {
        "authority.pem", "north.pem", "north.key", "south.pem",
    }  # fmt: skip
    authority = (folder / "authority.pem").read_bytes()
    north = (folder / "north.pem").read_bytes()
    assert main(["certs", str(folder), "north"]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["certs", str(folder), "north", "--force"]) == 0
    assert (folder / "authority.pem").read_bytes() == authority
    assert (folder / "north.pem").read_bytes() != north
    assert main(["certs", str(folder), "no/rth"]) == 1
    assert "Traceback" not in capsys.readouterr().err
