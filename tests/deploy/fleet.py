"""Five agents as processes, each on its own host, and what they have learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.switch import Switch
from halk import HALK, Network, kernels
from halk.deploy.config import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.process import node_of
from halk.net import bring_back

N_AGENTS = 5
N_READINGS = 1000
RATE = 40.0
"""Readings a second, of every agent."""
WAIT = 0.03
PATIENCE = 120.0
GRID = np.linspace(0.02, 0.98, 60)

_AGENT = """
name = "a{i}"

[model]
inputs = ["x"]
kernel = {{ name = "gaussian", length_scale = 0.15 }}
step_size = 0.1
dual_step_size = 1.0
epsilon = 0.005

[readings]
path = "a{i}.csv"
value = "y"
rate = {rate}

[network]
listen = ["{here}:7447"]
wait = {wait}
retry = 0.5

{neighbours}
[checkpoint]
path = "{checkpoint}"
every = 0.5

[security]
plain = true
"""

_NEIGHBOUR = """
[[neighbours]]
name = "a{j}"
endpoints = ["{there}:7447"]
tolerance = 0.0005
"""

_SKEWED = """
import time
wall, steady = time.time, time.monotonic
time.time = lambda: wall() + {skew}
time.monotonic = lambda: steady() + {skew}
from halk.cli import main
main({arguments!r})
"""

_OTHER_VERSION = """
from halk.net import protocol
protocol.VERSION = {version}
from halk.cli import main
main({arguments!r})
"""


def truth(i: int, x: Any) -> Any:
    """Return the field of an agent; neighbours differ a little."""
    return np.sin(6 * np.asarray(x)) + 0.03 * np.sin(2 * np.pi * i / N_AGENTS)


def readings(i: int) -> tuple[Any, Any]:
    """Return the readings of an agent: a fifth of the range is its neighbours' only."""
    rng = np.random.default_rng(i)
    X = 0.8 * rng.uniform(size=N_READINGS)
    X = np.where(0.1 + 0.15 * i > X, X, X + 0.2)
    return X, truth(i, X) + 0.05 * rng.normal(size=N_READINGS)


def error_alone() -> float:
    """Return the error of agents that do not talk."""
    kernel = kernels.Gaussian(0.15)
    model = HALK(Network(N_AGENTS), kernel, step_size=0.1, epsilon=0.005)
    X, Y = np.array([readings(i) for i in range(N_AGENTS)]).transpose(1, 2, 0)
    model.learn_many(X[..., None], Y)
    misses = [model.predict(i, GRID[:, None]) - truth(i, GRID) for i in range(N_AGENTS)]
    return float(np.sqrt(np.mean(np.square(misses))))


class Fleet:
    """A ring of agents on the hosts of a switch; a context manager."""

    def __init__(self, folder: Path, switch: Switch) -> None:
        self.folder, self.switch = folder, switch
        self.checkpoints = {i: folder / f"a{i}.halk" for i in range(N_AGENTS)}
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Fleet:
        for i in range(N_AGENTS):
            X, Y = readings(i)
            rows = [f"{x!r},{y!r}" for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
            (self.folder / f"a{i}.csv").write_text("\n".join(["x,y", *rows, ""]))
            self._configure(i)
        return self

    def __exit__(self, *error: Any) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def _configure(self, i: int) -> None:
        ring = [(i - 1) % N_AGENTS, (i + 1) % N_AGENTS]
        text = _AGENT.format(
            i=i, rate=RATE, wait=WAIT, here=self.switch.address(i),
            checkpoint=self.checkpoints[i],
            neighbours="".join(
                _NEIGHBOUR.format(j=j, there=self.switch.address(j)) for j in ring
            ),
        )  # fmt: skip
        (self.folder / f"a{i}.toml").write_text(text)

    def put_file(self, i: int, path: Path) -> None:
        """Let an agent keep its checkpoint elsewhere."""
        self.checkpoints[i] = path
        self._configure(i)

    # processes

    def start(self, *agents: int, skew: float = 0.0, version: int | None = None):
        """Start agents, all at once."""
        for i in agents:
            arguments = ["agent", "--config", str(self.folder / f"a{i}.toml")]
            command = [sys.executable, "-m", "halk", *arguments]
            if skew:
                code = _SKEWED.format(skew=skew, arguments=arguments)
                command = [sys.executable, "-c", code]
            if version is not None:
                code = _OTHER_VERSION.format(version=version, arguments=arguments)
                command = [sys.executable, "-c", code]
            paths = os.pathsep.join(path for path in sys.path if path)
            with (self.folder / f"a{i}.log").open("ab") as log:
                self.processes[i] = subprocess.Popen(
                    self.switch.inside(i, command), stderr=log, cwd=self.folder,
                    env=os.environ | {"PYTHONPATH": paths}, stdin=subprocess.DEVNULL,
                )  # fmt: skip

    def kill(self, *agents: int) -> None:
        """Kill agents as a power cut does."""
        for i in agents:
            self.processes[i].kill()
        for i in agents:
            self.processes[i].wait()

    def wait_for(self, n_readings: int, *agents: int) -> None:
        """Wait until agents have learned so many readings, by what their files say."""
        chosen = agents or range(N_AGENTS)
        self.wait_until(
            lambda: all(self.n_readings(i) >= n_readings for i in chosen),
            f"{n_readings} readings of {chosen}",
        )

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for a condition, for as long as a busy machine may need."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}: {self.logs()}")
            time.sleep(0.1)

    def finish(self) -> None:
        """Wait until all have read everything, and stop them cleanly."""
        self.wait_for(N_READINGS)
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for i, process in self.processes.items():
            assert process.wait(PATIENCE) == 0, self.logs()[i]

    def logs(self) -> dict[int, str]:
        """Return what agents said."""
        found = {i: self.folder / f"a{i}.log" for i in range(N_AGENTS)}
        return {i: p.read_text() if p.exists() else "" for i, p in found.items()}

    def events(self, i: int) -> list[dict[str, Any]]:
        """Return what an agent said, line by line."""
        lines = self.logs()[i].splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    # what they know

    def node(self, i: int) -> Any:
        """Return an agent as its file has it; a torn file is an error."""
        config = read_config(self.folder / f"a{i}.toml")
        feed = feed_of(config.readings, None)
        node = node_of(config, feed, 1)
        try:
            return bring_back(self.checkpoints[i].read_bytes(), node)
        finally:
            feed.close()

    def n_readings(self, i: int) -> int:
        """Return how many readings an agent's file knows of."""
        return int(self.node(i).diary.n_readings) if self.has_file(i) else 0

    def has_file(self, i: int) -> bool:
        """Return whether an agent has kept anything yet."""
        return self.checkpoints[i].exists()

    def error(self, *agents: int) -> float:
        """Return the error against the true fields; all numbers must be finite."""
        x, misses = GRID, []
        for i in agents or range(N_AGENTS):
            agent = self.node(i).agent
            assert np.isfinite(agent.multipliers).all()
            assert (agent.multipliers >= 0).all()
            values = np.array([agent.predict([point]) for point in x])
            misses.append(values - truth(i, x))
        error = float(np.sqrt(np.mean(np.square(misses))))
        assert np.isfinite(error)
        return error
