"""Strangers at an agent in mutual TLS: the operator sees them, the model does not."""

import http.client
import json
import signal
import socket
from contextlib import contextmanager

import numpy as np
import pytest

from halk.deploy import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.folder import free_ports
from halk.deploy.process import node_of
from halk.net import bring_back
from halk.net.certs import make_authority, make_certificate
from tests.deploy.agents import AGENT, csv_text, written
from tests.deploy.test_health import parsed
from tests.deploy.test_processes import PATIENCE, start, until
from tests.deploy.test_topic import CERTIFIED
from tests.net.links import places
from tests.net.nodes import stream
from tests.net.test_zenoh_security import _credulous, _without_certificate

__all__ = ["start"]

N_ROWS = 40


@pytest.fixture
def config(tmp_path):
    make_authority(tmp_path)
    for name in ("north", "south", "stranger"):
        make_certificate(tmp_path, name)
    port, other, health = free_ports(3)
    text = AGENT.replace("7447", str(port)).replace("7448", str(other))
    text = text.replace('value = "t_C"', 'value = "t_C"\nfollow = true')
    text = text.replace("every = 5.0", "every = 0.2")
    text += f'[health]\nlisten = "127.0.0.1:{health}"\n{CERTIFIED}'
    X, Y = stream(N_ROWS, 1)
    written(tmp_path, csv_text(X[:, 0], Y[:, 0]), "north.csv")
    return read_config(written(tmp_path, text))


def asked(config, path):
    connection = http.client.HTTPConnection(*config.health, timeout=20)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        connection.close()


def health(config):
    # a busy agent may not answer in time
    return json.loads(until(lambda: asked(config, "/health"), "an answer"))


def wait_for_file(config):
    n = health(config)["checkpoint"]["saved"]
    until(lambda: health(config)["checkpoint"]["saved"] > n + 1, "a new file")


def refused(config, reason):
    return health(config)["refused"].get(reason, 0)


def learned(config):
    """Return what an agent's file has of its model."""
    feed = feed_of(config.readings, None)
    try:
        data = config.checkpoint.read_bytes()
        agent = bring_back(data, node_of(config, feed, 1)).agent
    finally:
        feed.close()
    f = agent.function
    return f.atoms.tobytes(), f.weights.tobytes(), agent.multipliers.tobytes()


@contextmanager
def around(config, foreign):
    """Yield places in which an agent listens, with its neighbour there."""
    folder = config.file.parent
    make_authority(foreign)
    make_certificate(foreign, "south")
    with places(folder) as here:
        here._ports["north"] = int(config.listen[0].rpartition(":")[2])
        here._ports["south"] = int(config.neighbours[0].endpoints[0].rpartition(":")[2])
        here.open("south", "north")
        yield here


def test_they_are_counted_told_and_change_nothing(config, start, tmp_path):
    process = start("agent", "--config", config.file)
    foreign = tmp_path / "foreign"
    with around(config, foreign) as here:
        until(lambda: health(config).get("readings"), "an agent that reads")
        is_there = lambda: health(config)["neighbours"]["south"]["is_alive"]  # noqa: E731
        until(is_there, "its neighbour")
        n_read = int(np.isfinite(stream(N_ROWS, 1)[1]).sum())
        until(lambda: health(config)["readings"] == n_read, "all readings")
        wait_for_file(config)
        before = learned(config)
        assert health(config)["refused"] == {}
        n = 0
        for change, of in (
            (_without_certificate, None),
            (None, foreign),
            (_credulous(config.file.parent), foreign),
        ):
            rogue = here.rogue("south", "north", change=change, folder=of)
            until(lambda n=n: refused(config, "handshake") > n, change)
            rogue.put("halk/north/south", b"forged")
            rogue.close()
            n = health(config)["refused"]["handshake"]
        assert set(health(config)["refused"]) == {"handshake"}
        for n in (1, 2):
            rogue = here.rogue("stranger", "north")
            until(lambda n=n: refused(config, "stranger") == n, "a stranger")
            for key in ("halk/north/south", "halk/north/stranger", "**"):
                rogue.put(key, b"forged")
            rogue.close()
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", here._ports["north"])) as other:
                other.sendall(b"GET / HTTP/1.1\r\n\r\n")
        until(lambda: refused(config, "handshake") >= 23, "a scan of the port")
        found = parsed(asked(config, "/metrics"))["halk_refused_total"]
        counts = {labels["reason"]: n for labels, n in found}
        assert counts["stranger"] == 2
        assert counts["handshake"] >= 23
        assert is_there()
        wait_for_file(config)
        process.send_signal(signal.SIGTERM)
        out, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log.decode()
    assert out == b""  # what was overheard is not passed on
    assert learned(config) == before
    said = [json.loads(line) for line in log.decode().splitlines() if line[0] == "{"]
    away = [one for one in said if one["event"] == "turned away"]
    assert len(away) == len({(one["reason"], one["who"]) for one in away}) <= 10
    (stranger,) = (one for one in away if one["reason"] == "stranger")
    assert stranger["who"] == "stranger"
    assert stranger["at"].startswith("tls/127.0.0.1:")
    assert any("no certificates" in one["who"] for one in away)
    (stopped,) = (one for one in said if one["event"] == "stopped")
    assert stopped["refused"]["stranger"] == 2


def test_who_reads_zenohs_log_is_told_what_is_not_counted(config, start, monkeypatch):
    monkeypatch.setenv("RUST_LOG", "off")
    process = start("agent", "--config", config.file)
    until(lambda: health(config).get("readings"), "an agent that reads")
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b'"event": "failed handshakes are not counted"' in log
