"""Readings over a Zenoh topic, from a sensor's own program to the model of an agent."""

import json
import re
import signal
from pathlib import Path

import pytest

from halk.checkpoint import unpack
from halk.deploy.folder import free_ports
from halk.net.certs import make_authority, make_certificate
from tests.deploy.agents import AGENT, written
from tests.deploy.test_processes import PATIENCE, events, start, until
from tests.net.links import zenoh

__all__ = ["start"]

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text("utf-8")
(SENSOR,) = re.findall(r"```python\n(import json.*?)```", PAGE, re.DOTALL)
CERTIFIED = """[security]
certificate = "north.pem"
key = "north.key"
authority = "authority.pem"
"""


def _sensor(folder, port, name, payload):
    """Run the program of the page, under a name; return its open session."""
    text = SENSOR.replace("10.0.0.11:7447", f"127.0.0.1:{port}")
    for file in ("authority.pem", "probe.pem", "probe.key"):
        path = folder / file.replace("probe", name)
        text = text.replace(f'"{file}"', repr(str(path)))
    if not (folder / "authority.pem").exists():
        text, n = re.subn(
            r'    "transport": \{\n.*?\n    \},\n', "", text, flags=re.DOTALL
        )
        assert n == 1
        text = text.replace("tls/", "tcp/")
    names = {"reading": payload}
    exec(re.sub(r"^reading = .*$", "", text, flags=re.MULTILINE), names)
    return names


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_an_agent_learns_what_a_sensor_puts(tmp_path, start, is_secure):
    (port,) = free_ports(1)
    text = AGENT.split("[[neighbours]]")[0].replace("7447", str(port))
    source = 'source = "topic"\nkey = "sensors/north"'
    if is_secure:
        make_authority(tmp_path)
        for name in ("north", "probe", "stranger"):
            make_certificate(tmp_path, name)
        source += '\nsenders = ["probe"]'
    text = text.replace('path = "north.csv"', source)
    text += '[checkpoint]\npath = "north.halk"\nevery = 0.2\n'
    path = written(tmp_path, text + (CERTIFIED if is_secure else ""))
    agent = start("agent", "--config", path)
    until(lambda: '"started"' in agent.stderr.readline().decode(), "an agent")
    sessions = []
    if is_secure:
        for _ in range(3):
            forged = {"depth_m": 0.5, "t_C": 1e6}
            sessions.append(_sensor(tmp_path, port, "stranger", forged)["session"])
    good = _sensor(tmp_path, port, "probe", {"depth_m": 0.5, "t_C": 20.0})
    session = good["session"]
    block = {"congestion_control": zenoh.CongestionControl.BLOCK}
    huge = b'{"depth_m": 1%s, "t_C": 2}' % (b"0" * 400)
    for bad in (b"no JSON", b'{"depth_m": NaN, "t_C": 1}', b'{"depth_m": 0.1}', huge):
        session.put("sensors/north", bad, **block)
    for k in range(20):
        reading = {"depth_m": k / 20, "t_C": 20.0}
        session.put("sensors/north", json.dumps(reading), **block)
    file = tmp_path / "north.halk"
    until(lambda: _notes(file).get("n_readings") == 21, "all readings")
    agent.send_signal(signal.SIGTERM)
    _, log = agent.communicate(timeout=PATIENCE)
    for one in (*sessions, session):
        one.close()
    assert agent.returncode == 0
    said = events(log)["stopped"]
    assert (said["readings"], said["bad_rows"]) == (21, 3)
    assert said["rmse"] < 20  # which a million would not be


def _notes(file):
    return unpack(file.read_bytes())[0]["node"]["diary"] if file.exists() else {}
