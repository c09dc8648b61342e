"""Health and metrics: what Prometheus and scripts read."""

import http.client
import json
import re

import numpy as np
import pytest

from halk.deploy import metrics
from halk.deploy.health import Health
from halk.deploy.times import Times
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
            assert kind in ("counter", "gauge", "histogram")
            kinds[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name = match[1]
            if kinds[current] == "histogram":
                name = re.sub("_(bucket|sum|count)$", "", name)
            assert name == current
            assert match[1].endswith("_total") == (kinds[current] == "counter")
            labels = {
                word: value.replace(r"\"", '"').replace(r"\n", "\n")
                for word, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2])
            }
            found.setdefault(match[1], []).append((labels, float(match[5])))
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


def test_how_long_answers_take(served, agents):
    """Of every query that was answered, in time or late; buckets are cumulative."""
    facts = agents[0].runner.facts["round_trip_seconds"]
    assert facts["count"] == agents[0].node.agent.asked.sum() > 20
    assert 0 <= facts["median"] <= 0.1  # a turn of the other
    assert facts["sum"] == pytest.approx(0.05 * facts["count"])  # all took one turn
    found = parsed(ask(served[0], "/metrics")[2])
    assert found["halk_round_trip_seconds_count"][0][1] == facts["count"]
    assert found["halk_round_trip_seconds_sum"][0][1] == facts["sum"]
    buckets = found["halk_round_trip_seconds_bucket"]
    assert [n for _, n in buckets] == sorted(n for _, n in buckets)
    assert buckets[-1] == ({"agent": "north", "le": "+Inf"}, facts["count"])


def test_quantiles_of_times():
    times, rng = Times(), np.random.default_rng(0)
    assert times.quantile(0.5) is None
    drawn = rng.exponential(0.02, 5000)
    for one in drawn:
        times.add(one)
    for share in (0.01, 0.1, 0.5, 0.9, 0.99):
        wanted = np.quantile(drawn, share)
        assert wanted / 1.3 < times.quantile(share) < wanted * 1.3
    assert times.quantile(0.0) <= times.quantile(1.0)
    times.add(1e9)
    assert times.quantile(1.0) == 50.0
    with pytest.raises(ValueError, match=r"share must be from 0 to 1, got 2"):
        times.quantile(2)


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
