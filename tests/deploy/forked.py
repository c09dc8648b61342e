"""Networks of real processes, one run after another, on links that lose and delay.

``python -m tests.deploy.forked NETWORK FOLDER RUNS DROP DELAY`` prints the seconds that
messages and agents took, run by run, as JSON. Agents are forked from a process that has
loaded everything: a run takes seconds. All else is as in ``halk up``: Zenoh, the loop,
the supervisor.
"""

import heapq
import json
import os
import signal
import struct
import sys
import time
from itertools import pairwise
from math import inf
from pathlib import Path
from random import Random

from halk.deploy import read_config, run_agent
from halk.deploy.diary import FieldNode
from halk.deploy.folder import prepare
from halk.deploy.link import connect_zenoh
from halk.deploy.plan import read_plan
from halk.deploy.process import Stop
from halk.deploy.supervisor import Child, Supervisor

LONGEST = 60.0
_STAMP, _HEAD, _STAMPED = map(struct.Struct, ("<d", "<dd", "<ddd"))
_KIND, _TALK = 5, (2, 4)  # the byte that says it: a query, an answer


class Lossy:
    """A transport that loses a share of messages, and delays them exponentially.

    It notes how long three things took. ``delay``: messages, until they were there, of
    those that found their receiver waiting. ``lag``: an agent that waited, to look at
    what was there. ``work``: its messages and readings, one by one from that look to
    the next wait.
    """

    def __init__(self, transport, drop, delay, rng):
        self._inner, self._drop, self._delay, self._rng = transport, drop, delay, rng
        self._held, self._n_held = [], 0
        self._wait, self._marks = None, []
        self._lag = self._looked = 0.0
        self.took = {"delay": [], "lag": [], "work": []}
        _stamp(transport._inbox)

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def send(self, receiver, data):
        if self._rng.random() < self._drop:
            return
        delay = self._rng.expovariate(1 / self._delay) if self._delay else 0.0
        now = time.monotonic()
        self._inner.send(receiver, _HEAD.pack(now, now + delay) + data)

    def marking(self, method):
        """Return a method of the node after which a piece of work is done."""

        def marked(*args):
            found = method(*args)
            self._marks.append(time.monotonic())
            return found

        return marked

    def poll(self):
        self._hold()
        now, found = time.monotonic(), []
        if self._wait:
            began, end = self._wait
            self._lag, self._looked = now - max(began, min(end, self._next())), now
        while self._is_there(now):
            there, _, sender, sent, data = heapq.heappop(self._held)
            if self._wait and there >= began and data[_KIND] in _TALK:
                self.took["delay"].append(there - sent)
            found.append((sender, data))
        self._wait = None
        return found

    def _hold(self):
        for sender, content in self._inner.poll():
            came, sent, until = _STAMPED.unpack_from(content)
            self._n_held += 1
            data = content[_STAMPED.size :]
            entry = (max(came, until), self._n_held, sender, sent, data)
            heapq.heappush(self._held, entry)

    def wait(self, seconds):
        self._hold()
        now = time.monotonic()
        self._wait = None if self._is_there(now) else (now, now + seconds)
        if self._wait:
            self._note(now)
            end = now + seconds
            while not self._is_there(now) and now < end:
                self._inner.wait(min(end, self._next()) - now)
                self._hold()
                now = time.monotonic()
        return self._is_there(now)

    def _note(self, now):
        """Note how long the work since the last wait took, if there was any."""
        if self._marks and self._looked:
            self.took["lag"].append(self._lag)
            times = [self._looked, *self._marks[:-1], now]
            self.took["work"] += [b - a for a, b in pairwise(times)]
        self._marks = []

    def _next(self):
        return self._held[0][0] if self._held else inf

    def _is_there(self, now):
        return self._next() <= now


def _stamp(inbox):
    """Let the box of a transport write before everything when it came."""
    put = inbox.put

    def stamped(name, payload, longest, full):
        came = _STAMP.pack(time.monotonic())
        put(name, came + bytes(payload), longest + _STAMPED.size, full)

    inbox.put = stamped


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
            FieldNode.receive = ends[0].marking(FieldNode.receive)
            FieldNode.read = ends[0].marking(FieldNode.read)
            return ends[0]

        code = run_agent(read_config(self.place.config), True, stop, connect)
        file = self.place.config.with_name("took.json")
        file.write_text(json.dumps(ends[0].took))
        return code


def one_run(plan, folder):
    """Let a network learn all its readings; return what took how long."""
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
    took = [json.loads(file.read_text()) for file in files]
    return {what: [one for own in took for one in own[what]] for what in took[0]}


def main():
    network, folder, n_runs, drop, delay = sys.argv[1:]
    plan = read_plan(network)
    ForkedChild.links = float(drop), float(delay)
    took = []
    for run in range(int(n_runs)):
        ForkedChild.run = run
        took.append(one_run(plan, Path(folder) / f"run{run}"))
    print(json.dumps(took))


if __name__ == "__main__":
    main()
