"""Processes apart, for what one process cannot measure of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter
from typing import Any, NamedTuple

__all__ = ["Start", "run_child", "timed_start"]


def _environment(**changes: str) -> dict[str, str]:
    """Return our own environment, so that the child imports what we import."""
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    return os.environ | {"PYTHONPATH": path} | changes


def run_child(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module in a new process and return the JSON object that it prints.

    Raises
    ------
    RuntimeError
        If it fails; the last line of its complaint is in the message.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{module} ended with {done.returncode}: {last}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


class Start(NamedTuple):
    """Seconds until a program said that it was done, and all that it said."""

    seconds: float
    said: str


def timed_start(program: str, cache: str) -> Start:
    """Start Python with a program and wait for its line "done".

    Parameters
    ----------
    program : str
        Source, which prints "done" when the clock is to stop.
    cache : str
        Folder of Numba's cache.
    """
    began = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=_environment(NUMBA_CACHE_DIR=cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        lines = [] if child.stdout is None else _until_done(child.stdout)
        seconds = perf_counter() - began
        rest, complaints = child.communicate()
    if not lines or lines[-1] != "done":
        last = (complaints.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"a new process did not finish its first step: {last}")
    return Start(seconds, "\n".join([*lines[:-1], rest, complaints]).strip())


def _until_done(lines: Any) -> list[str]:
    seen = []
    for line in lines:
        seen.append(line.strip())
        if seen[-1] == "done":
            break
    return seen
