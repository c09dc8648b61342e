"""Attackers on real links in mutual TLS: refused, counted, and the model unharmed.

What is said by who is no neighbour, and in another's name, is in
``test_zenoh_security``; here the attacker has a neighbour's certificate.
"""

from math import inf, nan
from struct import pack
from time import monotonic
from zlib import crc32

import numpy as np
import pytest

from halk import Network
from halk.net import FreeNode, Limits, serve
from halk.net.certs import make_authority, make_certificate
from halk.net.messages import Answer, Hello, Message, Query, Reason, Stamp
from halk.net.protocol import encode
from tests.net.links import blocking, places, until
from tests.net.nodes import maker, model

KEY = "halk/n0/n1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates")
    make_authority(path)
    for name in ("n0", "n1", "x"):
        make_certificate(path, name)
    return path


class Attacked:
    """An agent that has learned something, and a session that says what it wants."""

    def __init__(self, here, **limits):
        learner = model(Network.path(2, 0.01))
        options = {"limits": Limits(**{"rate": 1e6, "burst": 1e6} | limits)}
        self.node = maker(learner, FreeNode, **options)(0)
        self.transport = here.open("n0", "n1")
        self.say = blocking(here.rogue("n1", "n0"))
        self._sequence = 0
        rng = np.random.default_rng(0)
        for x in rng.uniform(size=30):
            self.node.read([x], float(np.sin(6 * x)), monotonic())
        hello = Hello(1, "exact", False, "", wants_reply=False)
        hello = hello._replace(coupling=self.node.agent.coupling)
        peer = self.node.peers["n1"]
        until(lambda: self.tell(hello) or self.served() or peer.is_greeted, "a hello")
        self.served()
        self.node.refused.clear()

    def message(self, body, **changes):
        self._sequence += 1
        stamp = Stamp(7, self._sequence)
        return encode(Message("n1", stamp, body)._replace(**changes), "n0")

    def tell(self, body):
        self.say(KEY, self.message(body))

    def served(self):
        self.transport.wait(0.02)
        serve(self.node, self.transport, monotonic())

    def has_refused(self, reason, n=1):
        self.served()
        return self.node.refused[reason] >= n

    def function(self):
        f = self.node.agent.function
        return f.atoms.tobytes(), f.weights.tobytes(), self.node.agent.multipliers


QUERY = Query(step=0, x=(0.5,), value=1.0, multiplier=1.0, std=1.0)


def _with(data, number):
    """Return a query with a number that the encoder would not take, checksum right."""
    at = data.index(pack("<d", 1.0))
    content = data[:at] + pack("<d", number) + data[at + 8 : -4]
    return content + pack("<I", crc32(content, crc32(b"n0")))


WRONG = {
    "not a number": (lambda a: _with(a.message(QUERY), nan), Reason.NUMBER),
    "infinity": (lambda a: _with(a.message(QUERY), inf), Reason.NUMBER),
    "a wrong dimension": (
        lambda a: a.message(QUERY._replace(x=(0.5, 0.5))),
        Reason.DIMENSION,
    ),
    "a huge value": (lambda a: a.message(QUERY._replace(value=1e300)), Reason.VALUE),
    "a value far away": (lambda a: a.message(QUERY._replace(value=40.0)), Reason.VALUE),
    "a point far away": (lambda a: a.message(QUERY._replace(x=(1e300,))), Reason.INPUT),
    "another's name": (lambda a: a.message(QUERY, sender="x"), Reason.IMPOSTOR),
    "an answer to nothing": (
        lambda a: a.message(Answer(1, 10**6, 1.0, 0.0)),
        Reason.UNASKED,
    ),
    "noise": (lambda a: bytes(range(90)), Reason.MAGIC),
}


def test_what_is_wrong_is_refused_and_changes_nothing(folder):
    with places(folder) as here:
        agent = Attacked(here, stds=20.0)
        before = agent.function()
        for name, (make, reason) in WRONG.items():
            n = agent.node.refused[reason] + 1
            agent.say(KEY, make(agent))
            until(lambda r=reason, n=n: agent.has_refused(r, n), f"{name} is refused")
        after = agent.function()
        assert before[:2] == after[:2]
        np.testing.assert_array_equal(before[2], after[2])
        assert sum(agent.node.refused.values()) == len(WRONG)


def test_what_was_recorded_is_heard_once(folder):
    with places(folder) as here:
        agent = Attacked(here)
        told = []
        agent.node.observe = told.append
        recorded = agent.message(QUERY)
        agent.say(KEY, recorded)
        until(lambda: agent.served() or told, "it has pulled")
        before = agent.function()[1]
        for _ in range(50):
            agent.say(KEY, recorded)
        until(lambda: agent.has_refused(Reason.REPEATED, 50), "all are refused")
        node = agent.node
        node.wake(monotonic() + 10)  # whatever waits for its time
        assert len(told) == 1
        assert agent.function()[1] == before


def test_a_flood_is_cut_to_the_rate_and_readings_go_on(folder):
    with places(folder) as here:
        agent = Attacked(here, rate=50.0, burst=100.0, atoms=50)
        began, pulls, n_before = monotonic(), [], agent.transport.n_received
        agent.node.observe = lambda update: pulls.extend(update.pulls.values())
        rng = np.random.default_rng(1)
        for k in range(3000):
            wild = QUERY._replace(x=(float(rng.uniform()),), value=1e3, multiplier=1e9)
            agent.tell(wild)
            if k % 100 == 0:
                agent.served()
                agent.node.read([0.5], 0.0, monotonic())
        n_all = n_before + 3000
        until(lambda: agent.served() or agent.transport.n_received == n_all, "its end")
        agent.served()
        node, most = agent.node, 100 + 50 * (monotonic() - began) + 1
        lost = node.refused[Reason.RATE] + agent.transport.dropped["flood"]
        assert 3000 - most <= lost < 3000
        assert 0 < len(pulls) <= most
        assert 0 < node.refused[Reason.MULTIPLIER] <= most
        assert node.agent.order <= 50 + 2
        assert np.isfinite(node.agent.function.weights).all()


def test_a_liar_pulls_no_further_than_the_largest_value(folder):
    with places(folder) as here:
        agent = Attacked(here, value=5.0)
        most, node = [], agent.node
        for _ in range(60):
            n = agent.transport.n_received + 1
            agent.tell(QUERY._replace(value=5.0, multiplier=1e300))
            until(lambda n=n: agent.transport.n_received == n, "it has arrived")
            agent.served()
            node.read([0.9], 0.0, monotonic())
            most.append(node.agent.predict([0.5]))
        assert node.refused[Reason.MULTIPLIER] > 0
        assert max(most) <= 5.0 + 0.1  # and what compression may add
        assert max(most) > 2.0  # that a liar can do: it is trusted with this much


def test_a_non_neighbour_changes_not_one_bit(folder):
    with places(folder) as here:
        agent = Attacked(here)
        before = agent.function()
        stranger = blocking(here.rogue("x", "n0"))
        until(lambda: agent.transport.n_links() == 2, "it has a link")
        for _ in range(20):
            for key in (KEY, "halk/n0/x", "halk/n0/*", "**"):
                stranger(key, agent.message(QUERY))
        recorded = agent.message(QUERY._replace(x=(0.1, 0.2)))
        agent.say(KEY, recorded)
        until(lambda: agent.has_refused(Reason.DIMENSION), "the neighbour is heard")
        assert sum(agent.node.refused.values()) == 1
        # Zenoh tells of links in a thread of its own, after they are there
        until(lambda: agent.transport.refused.total() > 0, "the stranger is counted")
        assert agent.transport.refused == {Reason.STRANGER: 1}
        assert [one.who for one in agent.transport.news()] == ["x"]
        after = agent.function()
        assert before[:2] == after[:2]
        np.testing.assert_array_equal(before[2], after[2])
