"""What an agent needs is compiled before it runs, not while neighbours wait for it."""

import subprocess
import sys

import pytest

ALONE = """
from importlib import import_module
import numpy as np
from numba.core.dispatcher import Dispatcher
from halk.agent import Query
from halk.deploy.model import Model

compress = import_module("halk.compression.compress")
model = Model(["x"], {"epsilon": 0.01})
model.warm_up()
late, compile = [], Dispatcher.compile
Dispatcher.compile = lambda self, sig: (late.append(self), compile(self, sig))[1]
loaded = compress._procedures.cache_info().misses
agent, rng = model.agent([0.0]), np.random.default_rng(0)
for _ in range(60):
    x = rng.uniform(size=1)
    agent.predict(90 * x)
    agent.ask(90 * x, float(x[0]))
    agent.answer(1, Query(x, 0.5, 1.0))
    agent.update()
assert agent.order > 20, agent.order  # has outgrown its first room
for flags in ((False, True), (True, False), (True, True)):
    compress.procedures(*flags, can_project=False)
assert not late, late
assert compress._procedures.cache_info().misses == loaded
"""


@pytest.mark.compiled
def test_nothing_is_compiled_in_the_middle_of_a_run():
    command = [sys.executable, "-c", ALONE]
    ran = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
