"""With certificates, a name is who it says it is; strangers hear and say nothing."""

from datetime import UTC, datetime, timedelta
from time import sleep

import pytest

from halk.net import pem
from halk.net.certs import make_authority, make_certificate
from halk.net.identity import Identity
from halk.net.transport import TransportError
from halk.net.zenoh import ZenohTransport
from halk.net.zenoh.access import access_control
from tests.net.links import (
    all_alive,
    blocking,
    identifier,
    peers,
    places,
    received,
    until,
)

NAMES = ["a", "b", "c", "d", "x", "buoy.ü-7", "sensor"]

KEYS = [
    "halk/b/a", "halk/b/c", "halk/b/x", "halk/b/*", "halk/*/a", "halk/**", "**",
    "halk/c/b", "halk/c/a", "halk/a/b",
]  # fmt: skip
"""What somebody might put to be heard, or to be heard as somebody else."""

WIRETAPS = ["halk/c/*", "halk/c/b", "halk/a/*", "halk/*/b", "halk/**", "**"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates")
    make_authority(path)
    for name in NAMES:
        make_certificate(path, name)
    return path


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """Return certificates of the same names by another authority."""
    path = tmp_path_factory.mktemp("foreign")
    make_authority(path)
    for name in NAMES:
        make_certificate(path, name)
    return path


def test_neighbours_on_a_path_hear_each_other(folder):
    with places(folder) as here:
        a, b, c = here.open("a", "b"), here.open("b", "a", "c"), here.open("c", "b")
        until(lambda: all_alive(a, b, c))
        for sender, receiver in ((a, "b"), (b, "a"), (b, "c"), (c, "b")):
            sender.send(receiver, f"{sender.name} to {receiver}".encode())
        assert received(a, 1) == [("b", b"b to a")]
        assert received(c, 1) == [("b", b"b to c")]
        assert sorted(received(b, 2)) == [("a", b"a to b"), ("c", b"c to b")]
        sleep(0.3)
        assert peers(a) == peers(c) == {identifier(b)}


def test_what_passes_is_what_is_documented():
    control = access_control("net", "me", ["x", "y"], {"readings/1": ["s"]})
    assert control["default_permission"] == "deny"
    names = {s["id"]: s["cert_common_names"] for s in control["subjects"]}
    rules = {rule["id"]: rule for rule in control["rules"]}
    passes = {
        (*names[subject], flow, message, key)
        for policy in control["policies"]
        for subject in policy["subjects"]
        for rule in (rules[name] for name in policy["rules"])
        for flow in rule["flows"]
        for message in rule["messages"]
        for key in rule["key_exprs"]
    }
    expected = {
        ("s", "ingress", "put", "readings/1"),
        ("s", "egress", "declare_subscriber", "readings/1"),
    }
    for x in ("x", "y"):
        for flow, speaker, hearer in (("ingress", x, "me"), ("egress", "me", x)):
            expected |= {
                (x, flow, "put", f"net/{hearer}/{speaker}"),
                (x, flow, "declare_subscriber", f"net/{speaker}/*"),
                (x, flow, "liveliness_token", f"net/{speaker}"),
                (x, flow, "declare_liveliness_subscriber", f"net/{hearer}"),
                (x, flow, "liveliness_query", f"net/{hearer}"),
            }
    assert passes == expected


def test_names_may_have_letters_of_any_language(folder):
    with places(folder) as here:
        a, b = here.open("a", "buoy.ü-7"), here.open("buoy.ü-7", "a")
        until(lambda: all_alive(a, b))
        b.send("a", b"hello")
        assert received(a, 1) == [("buoy.ü-7", b"hello")]


def _tap(session):
    heard = []
    for key in WIRETAPS:
        session.declare_subscriber(key, lambda s: heard.append(bytes(s.payload)))
    return heard


def test_a_neighbour_speaks_and_listens_for_itself_only(folder):
    with places(folder) as here:
        b, c = here.open("b", "a", "c"), here.open("c", "b")
        rogue = here.rogue("a", "b")
        token = rogue.liveliness().declare_token("halk/c")
        taps, say = _tap(rogue), blocking(rogue)
        until(lambda: b.n_links() == 2 and all_alive(c))
        until(lambda: say("halk/b/a", b"first") or b.poll())
        sleep(0.1)
        b.poll()
        for key in KEYS:
            say(key, b"forged")
        say("halk/b/a", b"last")
        b.send("c", b"secret")
        b.send("a", b"for a")
        heard = received(b, 2)
        assert heard == [("a", b"forged"), ("a", b"last")]  # the first is in its name
        assert received(c, 1) == [("b", b"secret")]
        until(lambda: b"for a" in taps)
        assert b"secret" not in taps
        assert not b.dropped
        c.close()
        until(lambda: not b.alive()["c"])  # whatever tokens others have
        token.undeclare()


@pytest.mark.parametrize("mode", ["peer", "client", "router"])
def test_a_stranger_with_a_certificate_gets_a_link_and_no_more(folder, mode):
    def change(config):
        config["mode"] = mode

    with places(folder) as here:
        a, b = here.open("a", "b"), here.open("b", "a")
        host = here.open("d", "x")  # shows that what it does would be heard
        first = here.rogue("x", "b", change=change)
        second = here.rogue("x", "d")
        tokens = [first.liveliness().declare_token(f"halk/{n}") for n in ("x", "a")]
        taps = _tap(first)
        until(lambda: b.n_links() == 2 and host.n_links() == 1 and all_alive(a, b))
        speak, control = blocking(first), blocking(second)
        n = 0
        while n < 10:
            for key in KEYS:
                speak(key, b"forged")
            b.send("a", b"secret")
            until(lambda: control("halk/d/x", b"heard") or host.poll())
            n += 1
        assert set(received(a, 10)) == {("b", b"secret")}
        assert b.poll() == []
        assert b"secret" not in taps
        a.close()
        until(lambda: not b.alive()["a"])  # though x has a token of that name
        assert len(tokens) == 2


def _without_certificate(config):
    tls = config["transport"]["link"]["tls"]
    tls |= {"connect_certificate": None, "connect_private_key": None}
    tls["enable_mtls"] = False


def _credulous(folder):
    def change(config):
        authority = str(folder / "authority.pem")
        config["transport"]["link"]["tls"]["root_ca_certificate"] = authority

    return change


def _plain(config):
    config["transport"]["link"]["protocols"] = ["tcp"]
    ends = config["connect"]["endpoints"]
    config["connect"]["endpoints"] = [end.replace("tls/", "tcp/") for end in ends]


def test_others_get_no_link(folder, foreign):
    with places(folder) as here:
        b = here.open("b", "a")
        rogues = [
            here.rogue("a", "b", change=_without_certificate),
            here.rogue("a", "b", change=_plain),
            here.rogue("c", "b", folder=foreign),
            here.rogue("d", "b", folder=foreign, change=_credulous(folder)),
        ]
        for _ in range(10):
            for rogue in rogues:
                rogue.put("halk/b/a", b"forged")
            sleep(0.1)
        assert not any(rogue.info.peers_zid() for rogue in rogues)
        assert (b.n_links(), b.poll()) == (0, [])
        a = here.open("a", "b")  # and nobody is kept out by them
        until(lambda: all_alive(a, b))


def test_who_listens_at_a_neighbours_place_is_not_the_neighbour(folder):
    with places(folder) as here:
        places_of_a = here.at("a")
        here._ports["x"] = here._ports["a"]
        imposter = here.rogue("x", listens=True)
        taps = _tap(imposter)
        b = ZenohTransport("b", [], {"a": places_of_a}, here.identity("b"))
        try:
            until(lambda: b.n_links() == 1)
            say = blocking(imposter)
            for _ in range(20):
                say("halk/b/a", b"forged")
                b.send("a", b"secret")
                sleep(0.02)
            assert b.poll() == []
            assert b"secret" not in taps
            assert not all_alive(b)
            imposter.close()
            a = here.open("a", "b")
            until(lambda: all_alive(b))
            a.close()
        finally:
            b.close()


def test_the_name_of_the_host_is_looked_at(folder, tmp_path):
    make_authority(tmp_path)
    make_certificate(tmp_path, "a", hosts=["elsewhere.example"])
    make_certificate(tmp_path, "b")
    make_certificate(tmp_path, "c")
    with places(tmp_path) as here:
        here.rogue(
            "a", listens=True
        )  # listens under a name that it has no certificate for
        c = here.open("c", "b")
        known = {"a": here.at("a"), "c": here.at("c")}
        b = ZenohTransport("b", here.at("b"), known, here.identity("b"))
        try:
            until(lambda: b.alive()["c"] and all_alive(c))
            sleep(0.5)
            assert b.n_links() == 1
        finally:
            b.close()


def test_topics_are_open_to_who_is_listed(folder):
    topics = {"sensors/north": ["sensor"], "sensors/south": []}
    with places(folder) as here:
        agent = here.open("b", "a", topics=topics)
        north, south = agent.topic("sensors/north"), agent.topic("sensors/south")
        with pytest.raises(ValueError, match="must be listed in topics"):
            agent.topic("sensors/east")
        sensor, stranger = here.rogue("sensor", "b"), here.rogue("x", "b")
        neighbour = here.open("a", "b")
        until(lambda: agent.n_links() == 3 and all_alive(neighbour))
        say, forge = blocking(sensor), blocking(stranger)
        for _ in range(10):
            forge("sensors/north", b"forged")
            say("sensors/south", b"forged")
            say("halk/b/a", b"forged")
            until(
                lambda: say("sensors/north", b"20.5") or set(north.poll()) == {b"20.5"}
            )
        assert (south.poll(), agent.poll()) == ([], [])


@pytest.mark.parametrize("wrong", ["listen", "neighbour"])
def test_with_a_certificate_everything_is_encrypted(folder, wrong):
    identity = Identity(folder / "a.pem", folder / "a.key", folder / "authority.pem")
    listen = ["tcp/127.0.0.1:7447"] if wrong == "listen" else []
    known = {"b": ["tcp/127.0.0.1:7448"] if wrong == "neighbour" else []}
    for allow_plain in (False, True):
        with pytest.raises(ValueError, match="must be tls/ with a certificate"):
            ZenohTransport("a", listen, known, identity, allow_plain=allow_plain)


def _opened(name, identity):
    return ZenohTransport(name, [], {"b": []}, identity)


@pytest.mark.parametrize("part", ["certificate", "key", "authority"])
@pytest.mark.parametrize("content", [None, b"", b"\0\xff nonsense"])
def test_files_that_do_not_hold_are_named(folder, tmp_path, part, content):
    files = {
        "certificate": folder / "a.pem",
        "key": folder / "a.key",
        "authority": folder / "authority.pem",
    }
    files[part] = tmp_path / "file"
    if content is not None:
        files[part].write_bytes(content)
    with pytest.raises(TransportError, match=str(tmp_path / "file")):
        _opened("a", Identity(**files))


def test_files_that_do_not_fit_are_refused(folder, foreign):
    good = Identity(folder / "a.pem", folder / "a.key", folder / "authority.pem")
    _opened("a", good).close()
    with pytest.raises(TransportError, match="must have the common name 'c', got 'a'"):
        _opened("c", good)
    other = Identity(good.certificate, folder / "b.key", good.authority)
    with pytest.raises(TransportError, match="must be the key of"):
        _opened("a", other)
    other = Identity(good.certificate, good.key, foreign / "authority.pem")
    with pytest.raises(TransportError, match="is not from the authority"):
        _opened("a", other)


@pytest.mark.slow
def test_a_certificate_that_expires_ends_the_link(tmp_path, monkeypatch):
    make_authority(tmp_path)
    make_certificate(tmp_path, "b")
    monkeypatch.setattr(pem, "timedelta", lambda **_: timedelta(seconds=10))
    make_certificate(tmp_path, "a")
    with places(tmp_path) as here:
        a, b = here.open("a", "b"), here.open("b", "a")
        until(lambda: all_alive(a, b))
        until(lambda: not b.alive()["a"])
        sleep(3.0)  # in which it goes on trying
        assert b.n_links() == 0


def test_old_certificates_are_refused(tmp_path, monkeypatch):
    make_authority(tmp_path)
    past = datetime.now(UTC) - timedelta(days=10)

    class Clock:
        now = staticmethod(lambda _: past)

    monkeypatch.setattr(pem, "datetime", Clock)
    identity = make_certificate(tmp_path, "a", days=3)
    with pytest.raises(TransportError, match=r"a\.pem is valid from .* only"):
        _opened("a", identity)
