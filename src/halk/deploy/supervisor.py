"""Agents as child processes: started, watched, started again, stopped; no orphans.

Children hold the reading end of a pipe of which only this process has the other. When
it is gone, however it went, the pipe ends, and they stop by themselves. Through the
same pipe each is told, by one byte, when all are there: who begins to replay before the
others have started learns alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any

from halk.deploy.folder import Place

LONGEST_PAUSE = 30.0
"""Seconds before a child that has died is started again, at most."""

LONGEST_HOLD = 120.0
"""Seconds after which replays begin even if an agent is missing."""

HOPELESS = 3
"""Starts in a row without a sign of life after which a child is given up."""


class Child:
    """One agent and its process."""

    def __init__(self, place: Place, lifeline: int, options: Sequence[str]) -> None:
        self.place, self._lifeline, self._options = place, lifeline, options
        self.process: subprocess.Popen[bytes] | None = None
        self.state = "starting"
        """starting, up, down, done or failed."""
        self.n_starts = 0
        self.facts: dict[str, Any] = {}
        self._n_vain = 0
        self._start_at = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self.process is not None and self.process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether it has met all its neighbours, or never will."""
        near = self.facts.get("neighbours", {}).values()
        has_met = self.state == "up" and all(one["is_greeted"] for one in near)
        return has_met or self.state in ("done", "failed")

    def start(self) -> None:
        """Start the process; its log goes on where it was."""
        command = [sys.executable, "-m", "halk", "agent", "--config"]
        command += [str(self.place.config), "--lifeline", str(self._lifeline)]
        with self.place.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self._options], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, pass_fds=[self._lifeline], start_new_session=True,
            )  # fmt: skip
        self.n_starts += 1
        self.state = "starting"

    def check(self, now: float) -> None:
        """Notice an end, and start again when it is time."""
        if self.state in ("done", "failed") or self.is_running:
            return
        if self.state != "down" and self.process is not None:
            self._ended(self.process.returncode, now)
        elif now >= self._start_at:
            self.start()

    def _ended(self, code: int, now: float) -> None:
        if code == 0:
            self.state = "done"
            return
        self._n_vain = 0 if self.state == "up" else self._n_vain + 1
        self.state = "failed" if self._n_vain >= HOPELESS else "down"
        pause = 2.0 ** min(self.n_starts - 1, 10)
        self._start_at = now + min(pause, LONGEST_PAUSE)

    def look(self) -> None:
        """Ask the agent for its facts."""
        if not self.is_running:
            return
        connection = HTTPConnection("127.0.0.1", self.place.health, timeout=1.0)
        try:
            connection.request("GET", "/health")
            found = json.loads(connection.getresponse().read())
            if found.get("name") == self.place.name:
                self.facts, self.state = found, "up"
        except (OSError, HTTPException, ValueError):
            pass  # not there yet, or busy: the facts stay what they were
        finally:
            connection.close()

    def last_words(self) -> dict[str, Any]:
        """Return the facts, newer ones from the log if the agent has stopped."""
        for line in reversed(self._log_lines()):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if said.get("event") == "stopped":
                return self.facts | {k: said[k] for k in _FINAL if k in said}
            break
        return self.facts

    def complaint(self) -> str:
        """Return the last line of the log."""
        lines = [line for line in self._log_lines() if line.strip()]
        return lines[-1] if lines else "it said nothing"

    def _log_lines(self) -> list[str]:
        try:
            data = self.place.log.read_bytes()[-65536:]
        except OSError:
            return []
        return data.decode("utf-8", "replace").splitlines()


_FINAL = ("step", "readings", "rmse", "atoms", "bad_rows", "refused")


class Supervisor:
    """All agents of a network.

    Parameters
    ----------
    places : sequence of Place
    until_end : bool
        Whether agents stop by themselves when their readings are learned.
    """

    def __init__(self, places: Sequence[Place], until_end: bool) -> None:
        self._lifeline, self._held = os.pipe()
        options = ["--until-end"] if until_end else []
        self.children = [Child(place, self._lifeline, options) for place in places]
        self._threads = ThreadPoolExecutor(8, "look")
        self._has_begun = False
        self._begin_at = 0.0

    def start(self) -> None:
        """Start all agents."""
        self._begin_at = time.monotonic() + LONGEST_HOLD
        for child in self.children:
            child.start()

    def check(self) -> None:
        """See who has ended and start again who should run; ask all for their facts."""
        now = time.monotonic()
        for child in self.children:
            n_starts = child.n_starts
            child.check(now)
            if self._has_begun and child.n_starts > n_starts:
                os.write(self._held, b".")
        list(self._threads.map(Child.look, self.children))
        if not self._has_begun and (self._all_ready() or now >= self._begin_at):
            self._has_begun = True
            os.write(self._held, b"." * len(self.children))

    def _all_ready(self) -> bool:
        return all(child.is_ready for child in self.children)

    @property
    def is_over(self) -> bool:
        """Whether no agent runs or will run again."""
        return all(child.state in ("done", "failed") for child in self.children)

    @property
    def failed(self) -> list[Child]:
        """Agents that were given up."""
        return [child for child in self.children if child.state == "failed"]

    def stop(self, grace: float = 15.0) -> None:
        """Ask all to stop, and kill who has not after a while."""
        running = [c for c in self.children if c.is_running and c.process]
        for child in running:
            if child.process is not None:
                child.process.terminate()
        end = time.monotonic() + grace
        for child in running:
            if child.process is None:
                continue
            try:
                child.process.wait(max(end - time.monotonic(), 0.01))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()

    def close(self) -> None:
        """Stop what still runs, and let go of the lifeline."""
        self.stop()
        self._threads.shutdown()
        for end in (self._held, self._lifeline):
            os.close(end)
