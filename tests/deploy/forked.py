"""Networks of real processes, one run after another, on links that lose and delay.

``python -m tests.deploy.forked NETWORK FOLDER RUNS DROP DELAY`` prints the seconds that
messages took, as JSON. Agents are forked from a process that has loaded everything: a
run takes seconds. All else is as in ``halk up``: Zenoh, the loop, the supervisor.
"""

import heapq
import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from random import Random

from halk.deploy import read_config, run_agent
from halk.deploy.folder import prepare
from halk.deploy.link import connect_zenoh
from halk.deploy.plan import read_plan
from halk.deploy.process import Stop
from halk.deploy.supervisor import Child, Supervisor

LONGEST = 60.0
_HEAD = struct.Struct("<dd")
_KIND, _TALK = 5, (2, 4)  # the byte that says it: a query, an answer


class Lossy:
    """A transport that loses a share of messages, and delays them exponentially.

    Beside a message it sends when the turn began in which it was said, by the clock of
    this machine, and how long it shall take; so it knows how long each took from turn
    to turn.
    """

    def __init__(self, transport, drop, delay, rng):
        self._inner, self._drop, self._delay, self._rng = transport, drop, delay, rng
        self._held, self._n_held, self._turn = [], 0, time.monotonic()
        self.took = []

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def send(self, receiver, data):
        if self._rng.random() < self._drop:
            return
        delay = self._rng.expovariate(1 / self._delay) if self._delay else 0.0
        self._inner.send(receiver, _HEAD.pack(self._turn, self._turn + delay) + data)

    def poll(self):
        self._hold()
        self._turn, found = time.monotonic(), []
        while self._held and self._held[0][0] <= self._turn:
            _, _, sender, sent, data = heapq.heappop(self._held)
            if data[_KIND] in _TALK:
                self.took.append(self._turn - sent)
            found.append((sender, data))
        return found

    def _hold(self):
        for sender, content in self._inner.poll():
            sent, until = _HEAD.unpack_from(content)
            self._n_held += 1
            entry = (until, self._n_held, sender, sent, content[_HEAD.size :])
            heapq.heappush(self._held, entry)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while True:
            self._hold()
            now = time.monotonic()
            until = min(end, self._held[0][0]) if self._held else end
            if until <= now:
                return bool(self._held) and self._held[0][0] <= now
            self._inner.wait(until - now)


class Forked:
    """A child of this process, as a ``Popen``."""

    def __init__(self, work):
        self.returncode = None
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                code = work()
            finally:
                os._exit(code)

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout=LONGEST):
        end = time.monotonic() + timeout
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.01)

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


class ForkedChild(Child):
    """An agent that is forked, with its links."""

    links: tuple[float, float]
    run = 0

    def start(self):
        self.n_starts += 1
        self.process = Forked(self._work)

    def _work(self):
        log = os.open(self.place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        stop = Stop()
        stop.on_signals()
        stop.on_end_of(self._lifeline)
        rng, ends = Random(f"{self.run} {self.place.name}"), []

        def connect(config):
            ends.append(Lossy(connect_zenoh(config), *self.links, rng))
            return ends[0]

        code = run_agent(read_config(self.place.config), True, stop, connect)
        file = self.place.config.with_name("took.json")
        file.write_text(json.dumps(ends[0].took))
        return code


def one_run(plan, folder):
    """Let a network learn all its readings; return how long messages took."""
    places = prepare(plan, folder, tls=False, fresh=True)
    supervisor = Supervisor(places, until_end=True)
    for k, child in enumerate(supervisor.children):
        supervisor.children[k] = ForkedChild(
            child.place, child._lifeline, child._options
        )
    end = time.monotonic() + LONGEST
    try:
        supervisor.start()
        while not supervisor.is_over and time.monotonic() < end:
            supervisor.check()
            time.sleep(0.1)
        assert supervisor.is_over, f"{folder} takes too long"
        assert not supervisor.failed
        assert all(child.n_starts == 1 for child in supervisor.children)
    finally:
        supervisor.close()
    files = [place.config.with_name("took.json") for place in places]
    return [one for file in files for one in json.loads(file.read_text())]


def main():
    network, folder, n_runs, drop, delay = sys.argv[1:]
    plan = read_plan(network)
    plan.model.warm_up()
    ForkedChild.links = float(drop), float(delay)
    took = []
    for run in range(int(n_runs)):
        ForkedChild.run = run
        took.append(one_run(plan, Path(folder) / f"run{run}"))
    print(json.dumps(took))


if __name__ == "__main__":
    main()
