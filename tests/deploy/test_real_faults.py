"""Faults for real: processes that are killed, hosts that are cut off, full disks.

After each: everybody has finite state, no file is torn, and the error is within a tenth
of that of an undisturbed run.
"""

import subprocess
import time

import pytest

pytest.importorskip("zenoh", reason="needs the extra net")
from benchmarks.switch import Switch, why_not
from halk.net import Reason
from tests.deploy.fleet import N_AGENTS, N_READINGS, RATE, Fleet, error_alone

WHY_NOT = why_not()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "can be run"),
]
ALL = range(N_AGENTS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return the error of a run in which nothing goes wrong."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with Switch(N_AGENTS) as switch, Fleet(folder, switch) as fleet:
        fleet.start(*ALL)
        fleet.finish()
        error = fleet.error()
    assert error < 0.7 * error_alone(), "what neighbours say matters"
    return error


@pytest.fixture
def switch():
    with Switch(N_AGENTS) as made:
        yield made


@pytest.fixture
def fleet(tmp_path, switch):
    with Fleet(tmp_path, switch) as made:
        yield made


def assert_recovered(fleet, undisturbed):
    error = fleet.error()
    print(f"error {error:.4f}, undisturbed {undisturbed:.4f}")
    assert error <= 1.1 * undisturbed


@pytest.mark.parametrize("victims", [(2,), (0, 1, 3), tuple(ALL)], ids=len)
def test_killed_and_started_again(fleet, undisturbed, victims):
    fleet.start(*ALL)
    fleet.wait_for(100)
    fleet.kill(*victims)
    before = {i: fleet.n_readings(i) for i in victims}
    time.sleep(1.0)
    fleet.start(*victims)
    fleet.finish()
    for i in victims:
        resumed = [e for e in fleet.events(i) if e["event"] == "resumed"]
        assert resumed[0]["readings"] == before[i], "goes on from its last file"
        assert fleet.n_readings(i) == N_READINGS, "reads every row once"
    assert_recovered(fleet, undisturbed)


def test_all_killed_one_after_the_other(fleet, undisturbed):
    fleet.start(*ALL)
    for i in ALL:
        fleet.wait_for(40 * (i + 1), i)
        fleet.kill(i)
        fleet.start(i)
    fleet.finish()
    assert_recovered(fleet, undisturbed)


def test_cut_in_two_and_healed(fleet, switch, undisturbed):
    fleet.start(*ALL)
    fleet.wait_for(80)
    switch.isolate(0, 1)
    time.sleep(4.0)
    assert switch.n_lost > 0
    switch.heal()
    fleet.finish()
    for i in ALL:
        assert all(peer.last.get("Answer", 0) for peer in fleet.node(i).peers.values())
    assert_recovered(fleet, undisturbed)


@pytest.mark.parametrize("loss", [0.05, 0.2])
def test_lost_packets(fleet, switch, undisturbed, loss):
    fleet.start(*ALL)
    fleet.wait_for(20)
    switch.loss = loss
    fleet.wait_for(600)
    assert switch.n_lost > 0.5 * loss * switch.n_carried
    switch.heal()
    fleet.finish()
    assert_recovered(fleet, undisturbed)


def test_delays_longer_than_the_step(fleet, switch, undisturbed):
    fleet.start(*ALL)
    fleet.wait_for(20)
    switch.delay = 4 / RATE
    fleet.wait_for(300)
    late = sum(fleet.node(i).refused.total() for i in ALL)
    assert late > 0, "answers come too late"
    switch.heal()
    fleet.finish()
    assert_recovered(fleet, undisturbed)


def test_clocks_that_differ(fleet, undisturbed):
    for i in ALL:
        fleet.start(i, skew=(i - 2) * 86_400.0 + 0.1)
    fleet.wait_for(100)
    fleet.kill(0, 4)
    fleet.start(0, skew=86_400.0)  # the clock was set while it was down,
    fleet.start(4, skew=-86_400.0)  # to earlier than before
    fleet.finish()
    for i in ALL:
        assert all(peer.last for peer in fleet.node(i).peers.values())
    assert_recovered(fleet, undisturbed)


def fill(path):
    with path.open("wb", buffering=0) as file:
        while file.write(bytes(512)):
            pass


def test_a_full_disk(fleet, tmp_path, undisturbed):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted")
    try:
        fleet.put_file(2, disk / "a2.halk")
        fleet.start(*ALL)
        fleet.wait_for(60)
        with pytest.raises(OSError, match="No space"):
            fill(disk / "filler")
        time.sleep(3.0)
        old = fleet.n_readings(2)  # the file is whole
        assert 60 <= old < N_READINGS
        (disk / "filler").unlink()
        fleet.finish()
        said = [event["event"] for event in fleet.events(2)]
        assert "checkpoint failed" in said
        assert "checkpoint works again" in said
        assert_recovered(fleet, undisturbed)
        assert sorted(path.name for path in disk.iterdir()) == ["a2.halk"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_neighbour_of_another_version(fleet, undisturbed):
    """It is refused, and stands alone; the others go on, and so do all once it fits."""
    fleet.start(*(i for i in ALL if i != 2))
    fleet.start(2, version=0)
    fleet.wait_until(lambda: all(map(fleet.has_file, ALL)), "files of all")
    fleet.wait_until(
        lambda: all(Reason.VERSION in fleet.node(i).refused for i in (1, 3)),
        "refusals of what the other version says",
    )
    fleet.kill(*ALL)
    for i in (1, 3):
        assert not fleet.node(i).peers["a2"].last
    fleet.start(*ALL)
    fleet.finish()
    assert_recovered(fleet, undisturbed)
