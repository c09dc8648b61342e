"""Health and metrics: what Prometheus and scripts read."""

import http.client
import json
import re

import pytest

from halk.deploy import metrics
from halk.deploy.health import Health
from halk.errors import HalkError
from halk.net import Hub
from tests.deploy.agents import MADE, Agent, agent_text, csv_text, run, written
from tests.net.nodes import stream

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (\S+)")


def parsed(text):
    """Return samples by metric, having checked every line as the format has it."""
    assert text.endswith("\n")
    kinds, found, current = {}, {}, ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ", 3)[2]
            assert current not in kinds, "a metric is there twice"
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            assert kind in ("counter", "gauge")
            kinds[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == current
            assert match[1].endswith("_total") == (kinds[current] == "counter")
            labels = {
                word: value.replace(r"\"", '"').replace(r"\n", "\n")
                for word, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2])
            }
            found.setdefault(current, []).append((labels, float(match[5])))
    return found


@pytest.fixture
def agents(tmp_path):
    X, Y = stream(40, 2)
    for i, (name, other) in enumerate((("north", "south"), ("south", "north"))):
        written(tmp_path, agent_text(name, [other]), f"{name}.toml")
        written(tmp_path, csv_text(X[:, i], Y[:, i]), f"{name}.csv")
    hub = Hub()
    found = [Agent(tmp_path / f"{name}.toml", hub) for name in ("north", "south")]
    now = run(found, 80)
    found[0].node.receive("stranger", b"?", now)
    run(found, 30, now)
    yield found
    while MADE:
        MADE.pop().die()


def ask(port, path, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path)
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read().decode()
    finally:
        connection.close()


@pytest.fixture
def served(agents):
    facts = dict(agents[0].runner.facts) | {"age_seconds": 0.0}
    health = Health(("127.0.0.1", 0), lambda: facts)
    yield health.port, facts
    health.close()


def test_metrics_are_what_prometheus_reads(served, agents):
    status, headers, text = ask(served[0], "/metrics")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    found, facts = parsed(text), agents[0].runner.facts
    north = {"agent": "north"}
    assert found["halk_readings_total"] == [(north, facts["readings"])]
    assert found["halk_rmse"] == [(north, facts["rmse"])]
    assert found["halk_multiplier"][0][0] == {"agent": "north", "neighbour": "south"}
    reasons = {labels["reason"]: n for labels, n in found["halk_refused_total"]}
    assert reasons["stranger"] == 1
    assert found["halk_healthy"] == [(north, 1.0)]


def test_any_name_and_unit_can_be_a_label(agents):
    facts = agents[0].runner.facts | {"unit": 'a "b" \\ \n c'}
    found = parsed(metrics.text(metrics.metrics(facts)))
    assert found["halk_agent_info"][0][0]["unit"].replace("\\\\", "\\") == facts["unit"]


def test_health_is_json_with_everything(served):
    status, headers, text = ask(served[0], "/health?x=1")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    found = json.loads(text)
    for key in (
        "neighbours", "step", "atoms", "readings", "last_error", "rmse", "refused",
        "complaints", "checkpoint", "dropped", "bytes_sent", "status", "incarnation",
    ):  # fmt: skip
        assert key in found
    assert set(found["neighbours"]["south"]) >= {"is_alive", "multiplier", "violation"}


@pytest.mark.parametrize("status", ["stuck", "diverged"])
def test_who_is_not_well_says_so_by_the_code(served, status):
    port, facts = served
    facts["status"] = status
    assert ask(port, "/health")[0] == 503
    assert ask(port, "/metrics")[0] == 200
    assert parsed(ask(port, "/metrics")[2])["halk_healthy"][0][1] == 0.0


def test_a_loop_that_hangs_is_noticed(served):
    port, facts = served
    facts["age_seconds"] = 60.0
    code, _, text = ask(port, "/health")
    assert (code, json.loads(text)["status"]) == (503, "hangs")


def test_there_is_nothing_else(served):
    assert ask(served[0], "/")[0] == 404
    assert ask(served[0], "/metrics/..")[0] == 404
    assert ask(served[0], "/health", "POST")[0] == 501
    code, headers, text = ask(served[0], "/health", "HEAD")
    assert (code, text) == (200, "")
    assert int(headers["Content-Length"]) > 100


def test_a_port_that_is_taken_is_said(served):
    with pytest.raises(HalkError, match=r"health.listen must be free, got 127.0.0.1:"):
        Health(("127.0.0.1", served[0]), dict)
