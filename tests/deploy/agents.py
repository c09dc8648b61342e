"""Configurations and running agents in one process, for the tests of this folder."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from halk.deploy.config import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.keeper import Keeper
from halk.deploy.logs import Log
from halk.deploy.process import node_of
from halk.deploy.runner import Runner
from halk.net import Hub

AGENT = """
name = "north"

[model]
inputs = ["depth_m"]
kernel = { name = "gaussian", length_scale = 0.2 }
step_size = 0.3
epsilon = 0.03

[readings]
path = "north.csv"
value = "t_C"

[network]
listen = ["127.0.0.1:7447"]

[[neighbours]]
name = "south"
endpoints = ["127.0.0.1:7448"]
tolerance = 0.01

[checkpoint]
path = "north.halk"
every = 5.0

[limits]
rate = 1e6
burst = 1e6
"""


FIRST = """kernel = { name = "gaussian", length_scale = 0.2 }
step_size = 0.3
epsilon = 0.03
"""
SECOND = """length_scale = 0.2
noise = 0.02
"""


def second(text: str, more: str = "") -> str:
    """Return a configuration of second order instead; ``more`` are lines to add."""
    assert FIRST in text
    return text.replace(FIRST, SECOND + more)


def written(folder: Path, text: str = AGENT, name: str = "agent.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def agent_text(name: str, others: list[str], tolerance: float = 0.01, **changes: str):
    """Return a configuration of one of some agents; ``changes`` are lines to add."""
    text = AGENT.split("[[neighbours]]")[0].replace("north", name)
    for other in others:
        text += f'[[neighbours]]\nname = "{other}"\ntolerance = {tolerance!r}\n'
    text += "[checkpoint]" + AGENT.split("[checkpoint]")[1].replace("north", name)
    for table, line in changes.items():
        if table == "top":
            text = f"{line}\n{text}"
        else:
            text = text.replace(f"[{table}]\n", f"[{table}]\n{line}\n")
    return text


def csv_text(X: Any, Y: Any) -> str:
    """Return readings as CSV; NaN is an empty cell."""
    rows = [
        f"{float(x)!r},{'' if math.isnan(y) else repr(float(y))}"
        for x, y in zip(np.ravel(X), Y, strict=True)
    ]
    return "\n".join(["depth_m,t_C", *rows, ""])


MADE: list["Agent"] = []
"""All agents of a test, whose files must be closed after it."""


class Agent:
    """A runner with a hub, a clock that tests move, and a log that they read."""

    def __init__(self, path: Path, hub: Hub, now: float = 0.0) -> None:
        self.config = read_config(path)
        self.end = hub.join(self.config.name)
        self.feed = feed = feed_of(self.config.readings, self.end)
        MADE.append(self)
        node = node_of(self.config, feed, incarnation=1)
        self.keeper = Keeper(node, self.config.checkpoint, self.config.every)
        self.is_resumed = self.keeper.brought_back()
        self.said = io.StringIO()
        log = Log(self.config.name, stream=self.said)
        self.runner = Runner(self.config, node, self.end, self.keeper, log, now)
        self.node, self.diary = node, node.diary

    def die(self) -> None:
        """Be gone without a word, as after kill -9."""
        self.end.close()
        self.feed.close()


def run(agents: list[Agent], n_turns: int, now: float = 0.0, pause: float = 0.05):
    """Let agents make turns; return the time after it."""
    for _ in range(n_turns):
        for agent in agents:
            agent.runner.turn(now)
        now += pause
    return now
