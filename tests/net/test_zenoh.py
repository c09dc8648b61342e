"""Agents on Zenoh hear their neighbours, whoever comes and goes, and nobody else."""

import itertools
import json
import signal
import sys
from functools import partial
from threading import Thread
from time import monotonic, sleep

import pytest

from halk.net import Reason, TransportError
from halk.net.protocol import MAX_LENGTH
from halk.net.zenoh import ZenohTransport
from halk.net.zenoh.config import configuration
from tests.net.links import (
    PATIENCE,
    all_alive,
    blocking,
    child,
    free_port,
    identifier,
    peers,
    places,
    received,
    until,
    zenoh,
)

PATH = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}


@pytest.mark.parametrize("order", [*itertools.permutations("abc")], ids="".join)
def test_neighbours_hear_each_other_in_whatever_order_they_start(order):
    with places() as here:
        ends = {name: here.open(name, *PATH[name]) for name in order}
        until(lambda: all_alive(*ends.values()))
        for name, neighbours in PATH.items():
            for other in neighbours:
                ends[name].send(other, f"{name} to {other}".encode())
        for name, neighbours in PATH.items():
            heard = received(ends[name], len(neighbours))
            expected = [(other, f"{other} to {name}".encode()) for other in neighbours]
            assert sorted(heard) == expected
        sleep(0.3)  # in which gossip would have made a link
        known = {name: identifier(end) for name, end in ends.items()}
        for name, neighbours in PATH.items():
            assert peers(ends[name]) == {known[other] for other in neighbours}
            assert ends[name].poll() == []
            assert not ends[name].dropped


def test_one_of_two_may_do_the_connecting():
    with places() as here:
        a = here.open("a", "b")
        b = ZenohTransport("b", here.at("b"), {"a": []})
        try:
            until(lambda: all_alive(a, b))
            b.send("a", b"hello")
            assert received(a, 1) == [("b", b"hello")]
            # who listens on nothing can still connect
            c = ZenohTransport("a", [], {"b": here.at("b")}, network="other")
            c.close()
        finally:
            b.close()


def test_starting_alone_does_not_wait_for_anybody():
    with places() as here:
        unknown = {"b": ["tcp/localhost:1"], "c": here.at("c")}
        began = monotonic()
        alone = ZenohTransport("a", here.at("a"), unknown)
        alone.send("b", b"anybody there?")
        assert not alone.wait(0.01)
        assert alone.poll() == []
        assert alone.alive() == {"b": False, "c": False}
        alone.close()
        assert monotonic() - began < PATIENCE


def test_who_returns_is_found_again():
    with places() as here:
        a, b = here.open("a", "b"), here.open("b", "a")
        for k in range(3):
            until(partial(all_alive, a, b))
            b.send("a", b"%d" % k)
            a.send("b", b"%d" % k)
            assert received(a, 1) == [("b", b"%d" % k)]
            assert received(b, 1) == [("a", b"%d" % k)]
            b.close()
            until(lambda: not all_alive(a))
            a.send("b", b"lost")
            b = here.open("b", "a")
        until(lambda: all_alive(a, b))
        assert b.poll() == []


def test_two_networks_do_not_mix():
    with places() as here:
        a, b = here.open("a", "b"), here.open("b", "a", network="other")
        until(lambda: a.n_links() == b.n_links() == 1)
        for _ in range(20):
            a.send("b", b"hello")
            sleep(0.01)
        assert b.poll() == []
        assert not all_alive(a)
        assert not all_alive(b)


def test_what_is_no_message_is_dropped_and_counted():
    with places() as here:
        b = here.open("b", "a")
        session = here.rogue("a", "b")
        say = blocking(session)
        until(lambda: b.n_links() == 1)
        # what is declared takes a moment to be known at the other end
        until(lambda: say("halk/b/a", b"first") or b.poll())
        sleep(0.1)
        b.poll()
        before = b.n_received
        say("halk/b/a", bytes(MAX_LENGTH + 1))
        say("halk/b/a", bytes(10 * MAX_LENGTH))
        say("halk/b/a", bytes(10_000_000))  # not even put together
        say("halk/b/stranger", b"hello")
        say("halk/b/*", b"hello")
        say("halk/**", b"hello")
        session.delete("halk/b/a")
        say("halk/b/a", bytes(MAX_LENGTH))
        assert received(b, 1) == [("a", bytes(MAX_LENGTH))]
        assert b.dropped == {"too long": 2, "deletion": 1}
        assert b.refused == {Reason.STRANGER: 3}
        assert {one.who for one in b.news()} == {"stranger", "*", ""}
        assert (b.n_received - before, b.poll()) == (1, [])


def test_a_full_box_loses_its_oldest_and_no_other_box():
    with places() as here:
        b = here.open("b", "a", "c", room=5)
        a, c = here.open("a", "b"), here.open("c", "b")
        until(lambda: all_alive(a, b, c))
        c.send("b", b"from c")
        until(lambda: b.n_received == 1)
        for k in range(12):
            a.send("b", b"%d" % k)
        until(lambda: b.n_received == 13)
        assert b.dropped == {"flood": 7}
        assert b.poll() == [*(("a", b"%d" % k) for k in range(7, 12)), ("c", b"from c")]
        assert (a.n_sent, a.bytes_sent) == (12, 14)
        assert b.bytes_received == 20


FLOOD = """
import sys, zenoh
session = zenoh.open(zenoh.Config.from_json5(sys.argv[1]))
key, data, block = "halk/b/a", bytes(80), zenoh.CongestionControl.BLOCK
while not session.info.peers_zid():
    pass
for _ in range(200_000):
    session.put(key, data, congestion_control=block)
session.close()
"""

FLOOD_CONFIG = """{mode: "client", connect: {endpoints: ["%s"]},
    scouting: {multicast: {enabled: false}}}"""


def test_a_flood_fills_no_memory_and_others_are_heard():
    psutil = pytest.importorskip("psutil", reason="measures memory with psutil")
    with places() as here:
        b, c = here.open("b", "a", "c"), here.open("c", "b")
        until(lambda: all_alive(c) and b.alive()["c"])
        memory = psutil.Process().memory_info
        before, most, n, heard, n_polled = memory().rss, 0, 0, set(), 0
        with child(FLOOD, FLOOD_CONFIG % here.at("b")[0]) as flooder:
            end = monotonic() + PATIENCE
            while flooder.poll() is None or n < 50:
                assert monotonic() < end
                c.send("b", b"%d" % n)
                n += 1
                b.wait(0.02)
                found = b.poll()
                n_polled += len(found)
                assert len(found) <= 2 * 256
                heard |= {data for sender, data in found if sender == "c"}
                most = max(most, memory().rss)
                sleep(0.01)
            assert flooder.returncode == 0
        until(
            lambda: heard.update(d for s, d in b.poll() if s == "c") or len(heard) == n
        )
        assert most - before < 50e6
        assert b.dropped["flood"] > 0
        assert b.dropped["flood"] + n_polled >= 100_000


def test_waiting_ends_with_what_arrives():
    with places() as here:
        a, b = here.open("a", "b"), here.open("b", "a")
        until(lambda: all_alive(a, b))
        assert not b.wait(0.0)
        sender = Thread(target=lambda: sleep(0.1) or a.send("b", b"hello"))
        sender.start()
        assert b.wait(PATIENCE)
        assert b.wait(PATIENCE)  # it still lies there
        sender.join()
        assert b.poll() == [("a", b"hello")]
        assert not b.wait(0.0)


def test_closing_is_for_good_and_may_be_done_twice():
    with places() as here:
        a, b = here.open("a", "b"), here.open("b", "a")
        until(lambda: all_alive(a, b))
        waiter = Thread(target=b.wait, args=(PATIENCE,))
        waiter.start()
        b.close()
        b.close()
        waiter.join(PATIENCE)
        assert not waiter.is_alive()
        b.send("a", b"too late")
        assert b.dropped == {"unsent": 1}
        assert (b.poll(), b.n_links(), b.n_sent) == ([], 0, 0)


END = """
import sys
from halk.net.zenoh import ZenohTransport
transport = ZenohTransport("a", [sys.argv[1]], {"b": [sys.argv[2]]})
while not transport.alive()["b"]:
    transport.wait(0.01)
transport.send("b", b"hello")
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [("transport.close()", 0), ("", 0), ("raise KeyError", 1), ("sys.exit(3)", 3)],
)
def test_a_process_ends_when_its_program_does(end, code):
    with places() as here:
        b = here.open("b", "a")
        with child(END + end, *here.at("a"), *here.at("b")) as process:
            _, complaint = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, complaint
        until(lambda: not b.alive()["a"])


def test_an_endpoint_that_is_taken_is_named():
    with places() as here:
        here.open("a", "b")
        with pytest.raises(TransportError, match=here.at("a")[0]) as error:
            ZenohTransport("b", here.at("a"), {"a": []})
        assert "already in use" in str(error.value)


RUN = """
import sys, time
from halk.net.zenoh import ZenohTransport
transport = ZenohTransport("a", [sys.argv[1]], {"b": [sys.argv[2]]})
while True:
    time.sleep(1)
"""


def test_a_killed_neighbour_is_missed_and_found_again():
    with places() as here:
        b = here.open("b", "a", "c")
        for _ in range(2):
            with child(RUN, *here.at("a"), *here.at("b")) as process:
                until(lambda: b.alive() == {"a": True, "c": False})
                process.kill()  # without a word
            until(lambda: b.alive() == {"a": False, "c": False})


def test_a_neighbour_that_stopped_reading_holds_nobody_up():
    with places() as here:
        b, c = here.open("b", "a", "c"), here.open("c", "b")
        with child(RUN, *here.at("a"), *here.at("b")) as process:
            until(lambda: all_alive(b, c))
            process.send_signal(signal.SIGSTOP)
            for _ in range(20_000):
                b.send("a", bytes(MAX_LENGTH))  # more than its connection takes
            for k in range(20):
                b.send("c", b"%d" % k)
                assert received(c, 1) == [("b", b"%d" % k)]


@pytest.mark.slow
def test_a_second_life_is_not_taken_for_dead_with_the_first():
    """Power is lost, and is back before the neighbours miss the agent."""
    with places() as here:
        b = here.open("b", "a")
        with child(RUN, *here.at("a"), *here.at("b")) as first:
            until(lambda: all_alive(b))
            first.send_signal(signal.SIGSTOP)
            with child(RUN, *here.at("elsewhere"), *here.at("b")):
                until(lambda: b.n_links() == 2)
                until(lambda: b.n_links() == 1)
                sleep(0.2)
                assert all_alive(b)


def test_readings_come_in_over_a_topic():
    with places() as here:
        agent = here.open("b", "a", room=3)
        readings = agent.topic("sensors/north")
        say = blocking(here.rogue("sensor", "b"))
        until(lambda: say("sensors/north", b"0") or readings.poll())
        sleep(0.1)
        readings.poll()
        for k in range(5):
            say("sensors/north", b"%d" % k)
        say("sensors/north", bytes(100_000))
        say("sensors/south", b"another")
        until(lambda: agent.dropped["topic"] == 2)
        assert agent.wait(PATIENCE)
        assert agent.poll() == []
        assert readings.poll() == [b"2", b"3", b"4"]


@pytest.mark.parametrize(
    "key", ["", "a//b", "a/*", "**", "halk/b/a", "halk", "a$*", "/a"]
)
def test_topics_are_plain_and_not_where_agents_talk(key):
    with places() as here:
        agent = here.open("b", "a")
        with pytest.raises(ValueError, match="topic must"):
            agent.topic(key)


@pytest.mark.parametrize(
    ("listen", "known", "message"),
    [
        (["tcp/0.0.0.0:7447"], {}, "on this machine unless plain text is allowed"),
        ([], {"b": ["tcp/192.0.2.1:7447"]}, "endpoint of b must be on this machine"),
        ([], {"b": ["tcp/example.org:7447"]}, "speak in their names"),
        ([], {"b": ["tls/127.0.0.1:7447"]}, "come with a certificate"),
        ([], {"b": ["udp/127.0.0.1:7447"]}, "be like tls/host:7447"),
        ([], {"b": ["tcp/127.0.0.1"]}, "be like"),
        ([], {"b": ["tcp/127.0.0.1:7447#so_sndbuf=1"]}, "be like"),
        ([], {"b": ["tcp/127.0.0.1?prio=1:7447"]}, "be like"),
        ([], {"b": ["tcp/::1:7447"]}, "brackets"),
        ([], {"b": ["tcp/127.0.0.1:0"]}, "port"),
        ([], {"b": ["tcp/127.0.0.1:65536"]}, "port"),
        ([], {"b": "tcp/127.0.0.1:7447"}, "list"),
        ("tcp/127.0.0.1:7447", {}, "list"),
        ([], {"a": []}, "neighbours must be others"),
        ([], {"b/c": []}, "letters, digits"),
        ([], {"*": []}, "letters, digits"),
        ([], {"@b": []}, "letters, digits"),
        ([], {"b" * 65: []}, "64 bytes"),
    ],
)
def test_wrong_places_and_names_are_refused(listen, known, message):
    with pytest.raises(ValueError, match=message):
        ZenohTransport("a", listen, known)


def test_plain_text_between_machines_must_be_asked_for():
    place = [f"tcp/0.0.0.0:{free_port()}"]
    with pytest.raises(ValueError, match="must be on this machine"):
        ZenohTransport("a", place, {})
    ZenohTransport("a", place, {}, allow_plain=True).close()


def test_loopback_has_many_names():
    ends = ["tcp/127.0.0.1:9", "tcp/127.3.2.1:9", "tcp/localhost:9", "tcp/[::1]:9"]
    ZenohTransport("a", [], {"b": ends}).close()


def test_only_neighbours_can_be_sent_to():
    transport = ZenohTransport("a", [], {"b": []})
    with pytest.raises(ValueError, match="receiver must be a neighbour, got 'c'"):
        transport.send("c", b"hello")
    transport.close()


def test_without_zenoh_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zenoh", None)
    with pytest.raises(ImportError, match=r"pip install 'halk\[net\]'"):
        ZenohTransport("a", [], {})


def test_zenoh_has_the_settings_that_are_used():
    config = configuration("a", [], {"b": []}, None, "halk", {})
    known = json.loads(str(zenoh.Config.from_json5(json.dumps(config))))
    assert _common(known, config) == config


def _common(known, asked):
    if not isinstance(asked, dict):
        return known
    return {key: _common(known[key], value) for key, value in asked.items()}
