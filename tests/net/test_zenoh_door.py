"""Who is no neighbour is counted, and told by name: in mutual TLS by its link."""

import pytest

from halk.net import Reason
from halk.net.certs import make_authority, make_certificate
from halk.net.zenoh import ZenohTransport
from halk.net.zenoh.door import MOST_NAMES, Door
from tests.net.links import all_alive, blocking, places, received, until


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates")
    make_authority(path)
    for name in ("a", "b", "c", "x", "sensor"):
        make_certificate(path, name)
    return path


def told(transport):
    return [(one.reason, one.who) for one in transport.news()]


@pytest.mark.parametrize("mode", ["peer", "client", "router"])
def test_every_link_of_a_non_neighbour_is_counted(folder, mode):
    with places(folder) as here:
        b = here.open("b", "a")
        for n in (1, 2, 3):
            rogue = here.rogue("x", "b", change=lambda config: config.update(mode=mode))
            until(lambda n=n: b.refused[Reason.STRANGER] == n, "it is counted")
            say = blocking(rogue)
            for key in ("halk/b/x", "halk/b/a", "halk/**"):
                say(key, b"forged")
            rogue.close()
            until(lambda: b.n_links() == 0, "it is gone")
        assert b.refused == {Reason.STRANGER: 3}
        (news,) = b.news()
        assert news[:2] == (Reason.STRANGER, "x")
        assert news.where.startswith("tls/127.0.0.1:")
        assert b.news() == []
        assert (b.poll(), b.n_received) == ([], 0)


def test_neighbours_and_listed_sensors_are_not_counted(folder):
    with places(folder) as here:
        b = here.open("b", "a", "c", topics={"sensors/b": ["sensor"]})
        topic = b.topic("sensors/b")
        say = blocking(here.rogue("sensor", "b"))
        for _ in range(3):
            a, c = here.open("a", "b"), here.open("c", "b")
            until(lambda a=a, c=c: all_alive(a, b, c))
            a.send("b", b"hello")
            received(b, 1)
            for end in (a, c):
                end.close()
            until(lambda: not any(b.alive().values()))
        until(lambda: say("sensors/b", b"1") or topic.poll(), "the sensor is heard")
        assert not b.refused
        here.rogue("x", "b")
        until(lambda: b.refused, "one who is counted")
        assert b.refused == {Reason.STRANGER: 1}


def test_who_listens_at_a_neighbours_place_is_counted(folder):
    with places(folder) as here:
        places_of_a = here.at("a")
        here._ports["x"] = here._ports["a"]
        here.rogue("x", listens=True)
        b = ZenohTransport("b", [], {"a": places_of_a}, here.identity("b"))
        try:
            until(lambda: b.refused, "it is counted")
            assert told(b) == [(Reason.STRANGER, "x")]
        finally:
            b.close()


def test_a_copy_of_the_own_certificate_is_a_strangers(folder):
    with places(folder) as here:
        b = here.open("b", "a")
        here.rogue("b", "b")
        until(lambda: b.refused, "it is counted")
        assert told(b) == [(Reason.STRANGER, "b")]


def test_any_number_of_strangers_needs_little_room():
    door = Door(["a"])
    for k in range(10 * MOST_NAMES):
        door.refuse(Reason.STRANGER, f"{k}\n\x1b[31m" + "x" * 10_000)
    for _ in range(10 * MOST_NAMES):  # and they keep no others from being named
        door.refuse(Reason.HANDSHAKE, "always the same")
    assert door.refused == dict.fromkeys(door.refused, 10 * MOST_NAMES)
    news = door.news()
    assert len(news) == len(set(news)) == MOST_NAMES + 1
    assert news[-1] == (Reason.HANDSHAKE, "always the same", "")
    assert all(one.who.isprintable() and len(one.who) < 200 for one in news)
    assert door.news() == []
