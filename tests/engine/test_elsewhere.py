"""What another process compiles for this one, and that nothing depends on it."""

import os
import subprocess
import sys

import pytest

from halk._jit import IS_INTERPRETED, Helper, elsewhere
from halk.compression.greedy import project

needs_compiler = pytest.mark.skipif(IS_INTERPRETED, reason="nothing is compiled")

LEARN = """
import numpy as np
from halk import HALK, Network
model = HALK(Network(2, edges=[(0, 1)], tolerance=0.1), epsilon=0.01, step_size=0.5)
for t in range(3):
    model.learn_one(np.array([[0.1 * t], [1.0 - t]]), np.array([1.0, t]))
print(model.predict_one(np.array([[0.3], [0.3]])).tolist())
from halk.compression.compress import procedures
print(procedures(False, False, True).project.cache_hits)
"""


def learn(**environment: str) -> list[str]:
    """Return what a new process prints that learns a little."""
    run = subprocess.run(
        [sys.executable, "-c", LEARN],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split("\n")


@needs_compiler
@pytest.mark.slow
def test_a_first_start_loads_what_the_helper_compiled(tmp_path):
    cold, warm = (learn(NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert cold[0] == warm[0]
    assert int(warm[1]) == 1
    if elsewhere._cores() > 1:
        assert int(cold[1]) == 1


@needs_compiler
def test_no_help_where_it_is_in_the_cache(monkeypatch):
    monkeypatch.setattr(elsewhere, "_is_cached", lambda function: True)
    assert not Helper("halk", "anything").is_at_work(project)


def test_no_help_on_one_core(monkeypatch):
    monkeypatch.setattr(elsewhere, "_is_cached", lambda function: False)
    monkeypatch.setattr(elsewhere, "_cores", lambda: 1)
    assert not Helper("halk", "anything").is_at_work(project)


@pytest.fixture
def two_cores(monkeypatch):
    """Pretend that there is something to compile, and a core to do it."""
    monkeypatch.setattr(elsewhere, "_is_cached", lambda function: False)
    monkeypatch.setattr(elsewhere, "_cores", lambda: 2)
    monkeypatch.setattr(elsewhere, "IS_INTERPRETED", False)


def test_a_helper_that_fails_is_not_waited_for(two_cores):
    helper = Helper("no_such_module", "anything")
    assert helper.is_at_work(project)
    helper.wait_for("project")
    assert not helper.is_at_work(project)


def test_no_interpreter_means_no_help(two_cores, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/interpreter")
    assert not Helper("halk", "anything").is_at_work(project)


def test_whoever_waits_for_one_part_does_not_wait_for_all(two_cores, tmp_path):
    source = "import time\ndef parts():\n    yield 'one'\n    time.sleep(600)\n"
    (tmp_path / "slow_parts.py").write_text(source)
    sys.path.insert(0, str(tmp_path))
    try:
        helper = Helper("slow_parts", "parts")
    finally:
        sys.path.remove(str(tmp_path))
    assert helper.is_at_work(project)
    helper.wait_for("one")
    assert helper.is_at_work(project)
    process = helper._process
    helper.stop()
    assert process is not None
    assert process.poll() is not None
