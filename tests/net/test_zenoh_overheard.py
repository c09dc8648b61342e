"""Strangers who fail to make a link: counted by what Zenoh says of them in its log."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest

from halk.net import Reason
from halk.net.certs import make_authority, make_certificate
from halk.net.zenoh.overheard import heard, overhearing
from tests.net.links import all_alive, child, places, until
from tests.net.test_zenoh_attacks import QUERY, Attacked
from tests.net.test_zenoh_security import _credulous, _plain, _without_certificate


def _made(folder):
    make_authority(folder)
    for name in ("n0", "n1", "x"):
        make_certificate(folder, name)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return _made(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    return _made(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(autouse=True)
def _nobody_reads_the_log(monkeypatch):
    monkeypatch.delenv("RUST_LOG", raising=False)


def _port(here):
    return int(here.at("n0")[0].rpartition(":")[2])


def _says(here, data):
    with socket.create_connection(("127.0.0.1", _port(here))) as stranger:
        stranger.sendall(data)
        stranger.settimeout(60.0)
        if data:
            stranger.recv(100)  # an alert


STRANGERS = {
    "no certificate": lambda here, _: here.rogue(
        "n1", "n0", change=_without_certificate
    ),
    "no TLS": lambda here, _: here.rogue("n1", "n0", change=_plain),
    "another authority": lambda here, other: here.rogue("n1", "n0", folder=other),
    "another authority, and trusts this one": lambda here, other: here.rogue(
        "n1", "n0", folder=other, change=_credulous(here.folder)
    ),
    "a browser": lambda here, _: _says(here, b"GET / HTTP/1.1\r\n\r\n"),
    "a look at the port": lambda here, _: _says(here, b""),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_who_gets_no_link_is_counted_and_changes_nothing(folder, foreign, stranger):
    with places(folder) as here:
        agent = Attacked(here)
        before, end = agent.function(), agent.transport
        n_received, n_links = end.n_received, end.n_links()

        def tell(wrong):
            end.turn_away(Reason.HANDSHAKE, wrong)

        with overhearing(tell) as can_hear:
            assert can_hear
            rogue = STRANGERS[stranger](here, foreign)
            if rogue is not None:
                rogue.put("halk/n0/n1", agent.message(QUERY))
            until(lambda: end.refused[Reason.HANDSHAKE], "it is counted")
            agent.served()
            if rogue is not None:
                rogue.close()
        assert set(end.refused) == {Reason.HANDSHAKE}
        (news, *_) = end.news()
        assert news.reason is Reason.HANDSHAKE
        assert news.who
        assert "Hint" not in news.who
        assert (end.n_received, end.n_links()) == (n_received, n_links)
        assert not agent.node.refused
        after = agent.function()
        assert before[:2] == after[:2]
        np.testing.assert_array_equal(before[2], after[2])


def test_neighbours_and_non_neighbours_fail_at_no_handshake(folder):
    told = []
    with places(folder) as here, overhearing(told.append):
        a = here.open("n0", "n1")
        for _ in range(5):
            b = here.open("n1", "n0")
            until(lambda b=b: all_alive(a, b))
            b.close()
            until(lambda: not all_alive(a))
        here.rogue("x", "n0")
        until(lambda: a.refused, "a link")
        assert told == []
        _says(here, b"nonsense")
        until(lambda: told, "one who is counted")


COLOURED = (
    b"\x1b[2m2026-01-02T03:04:05.0Z\x1b[0m \x1b[33m WARN\x1b[0m acc-0 ThreadId(05) "
    b"\x1b[2mzenoh_link_tls::unicast\x1b[0m\x1b[2m:\x1b[0m peer sent no certificates. "
    b"Hint: increase the system open file limit.\n"
)
PLAIN = b"2026-01-02T03:04:05Z  WARN acc-0 zenoh_link_tls::unicast: tls handshake eof\n"


def test_a_line_of_the_log_is_known_by_where_it_is_from():
    assert heard(COLOURED) == "peer sent no certificates"
    assert heard(PLAIN) == "tls handshake eof"
    expired = b"invalid peer certificate: certificate expired: verification time 179"
    line = PLAIN.replace(b"tls handshake eof", expired)
    assert heard(line) == "invalid peer certificate: certificate expired"  # every time
    for other in (
        b"", b"\n", b"\xff\xfe", b"some output\n", PLAIN.replace(b"WARN", b"INFO"),
        PLAIN.replace(b"_tls", b"_tcp"), b"the word " + PLAIN,
    ):  # fmt: skip
        assert heard(other) is None


PROGRAM = """
import os, sys
from halk.net.zenoh.overheard import overhearing
told = []
print("before")
with overhearing(told.append) as can_hear:
    print("during", can_hear)
    os.write(1, sys.argv[1].encode() + b"\\n")
    os.write(1, b"no end of line")
print()
print("after", told)
"""


@pytest.mark.parametrize("is_wanted", [False, True], ids=["read", "left alone"])
def test_all_other_output_is_passed_on_in_order(monkeypatch, is_wanted):
    if is_wanted:
        monkeypatch.setenv("RUST_LOG", "error")
    line = PLAIN.decode().strip()
    with child(PROGRAM, line) as process:
        out, wrong = process.communicate(timeout=120)
    assert process.returncode == 0, wrong
    lines = out.splitlines()
    if is_wanted:
        assert line in lines
        assert lines[-1] == "after []"
    else:
        assert lines == [
            "before", "during True", "no end of line", "after ['tls handshake eof']",
        ]  # fmt: skip


def test_without_standard_output_nothing_is_heard():
    program = """
import os, sys
os.close(1)
from halk.net.zenoh.overheard import overhearing
with overhearing(print) as can_hear:
    sys.exit(3 if can_hear else 0)
"""
    with child(program) as process:
        _, wrong = process.communicate(timeout=120)
    assert process.returncode == 0, wrong


def test_a_file_in_the_place_of_standard_output_is_left_alone():
    program = """
import os, sys
other = os.open(os.devnull, os.O_RDONLY)
assert other == 1
from halk.net.zenoh.overheard import overhearing
with overhearing(print) as can_hear:
    is_same = os.path.sameopenfile(other, os.open(os.devnull, os.O_RDONLY))
    sys.exit(0 if is_same and not can_hear else 3)
"""
    command = ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, program]
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_the_output_is_given_back():
    before = os.fstat(1)
    n_files = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    for _ in range(3):
        with overhearing(lambda _: None):
            assert os.fstat(1).st_ino != before.st_ino
    after = os.fstat(1)
    assert (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino)
    if n_files:
        assert len(os.listdir("/proc/self/fd")) == n_files
