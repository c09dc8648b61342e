"""An agent as a process: signals, transport, checkpoint, health, and the loop."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from halk.deploy.diary import Diary, FieldNode, StepNode
from halk.deploy.feeds import Feed, feed_of
from halk.deploy.health import Health
from halk.deploy.keeper import Keeper
from halk.deploy.keys import ConfigError
from halk.deploy.link import check_link, connect_zenoh, watched_port
from halk.deploy.logs import Log
from halk.deploy.runner import Runner
from halk.deploy.settings import AgentConfig
from halk.errors import HalkError

GRACE = 20.0
"""Seconds that an agent without a parent may take to stop by itself."""

Connect = Callable[[AgentConfig], Any]


@dataclass
class Stop:
    """Whether and why to stop; set by signals and by a parent that ends."""

    why: str = ""
    event: threading.Event = field(default_factory=threading.Event)
    is_held: bool = False
    """Whether a parent will say when a replay may begin, and has not yet."""

    def __call__(self, why: str) -> None:
        """Ask to stop."""
        self.why = self.why or why
        self.event.set()

    def on_signals(self) -> None:
        """Stop at SIGTERM and SIGINT; a second one is not waited for."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: Any) -> None:
        self(signal.Signals(number).name)
        signal.signal(number, signal.SIG_DFL)

    def on_end_of(self, lifeline: int) -> None:
        """Stop when a pipe is closed, as it is when who holds the other end is gone.

        Before that, one byte in it says that a replay may begin. All agents read the
        same pipe: none must take a second one.
        """
        self.is_held = True

        def watch() -> None:
            if os.read(lifeline, 1):
                self.is_held = False
                end = select.poll()
                end.register(lifeline, 0)
                end.poll()
            self("the parent is gone")
            time.sleep(GRACE)
            os._exit(1)  # whatever it hangs in

        threading.Thread(target=watch, name="lifeline", daemon=True).start()


def node_of(config: AgentConfig, feed: Feed, incarnation: int) -> Any:
    """Return the node of an agent, untaught."""
    options: dict[str, Any] = {"unit": config.unit, "limits": config.limits}
    options |= {"retry": config.retry, "incarnation": incarnation, "diary": Diary(feed)}
    names = [one.name for one in config.neighbours]
    agent = config.model.agent([one.tolerance for one in config.neighbours])
    if config.is_lockstep:
        return StepNode(agent, config.name, names, **options)
    return FieldNode(agent, config.name, names, wait=config.wait, **options)


def brought_back(config: AgentConfig, node: Any, log: Log, wall: float) -> Keeper:
    """Return what keeps a node, which goes on from its file if there is one."""
    keeper = Keeper(node, config.checkpoint, config.every)
    if keeper.brought_back():
        then = datetime.fromtimestamp(node.diary.saved_at, UTC)
        lost = "nothing" if config.is_lockstep else f"at most {config.every:g} s"
        log.say(
            "info", "resumed", path=str(config.checkpoint), step=node.step,
            readings=node.diary.n_readings, saved=then.isoformat(timespec="seconds"),
            seconds_ago=round(wall - node.diary.saved_at), lost_before_that_file=lost,
        )  # fmt: skip
    elif config.checkpoint is None:
        log.say("warning", "no checkpoint: a restart begins untaught")
    else:
        folder = config.checkpoint.resolve().parent
        if not folder.is_dir():
            raise ConfigError(
                f"{config.file}: checkpoint.path must be in a folder that exists, got "
                f"{config.checkpoint}"
            )
        log.say("info", "begins untaught", path=str(config.checkpoint))
    return keeper


def run_agent(
    config: AgentConfig,
    until_end: bool = False,
    stop: Stop | None = None,
    connect: Connect = connect_zenoh,
    owns_process: bool = False,
) -> int:
    """Run an agent until it is told to stop; return the exit code.

    Parameters
    ----------
    config : AgentConfig
    until_end : bool
        Stop by itself when all readings are learned and no neighbour asks any more.
    stop : Stop, optional
    connect : callable
        Returns the transport.
    owns_process : bool
        Whether nothing else uses standard output, so that Zenoh's log can be read there
        for strangers who fail to make a link.
    """
    stop = stop or Stop()
    log = Log(config.name, config.level, config.format == "json")
    if until_end and (config.readings.follow or config.readings.source == "topic"):
        raise ConfigError(
            f"{config.file}: readings must have an end to go with --until-end; leave "
            "one of them out"
        )
    check_link(config)
    transport = connect(config)
    port = watched_port(config, transport, log) if owns_process else nullcontext()
    with port, closing(transport):
        feed = feed_of(config.readings, transport)
        node = node_of(config, feed, int(time.time()))
        keeper = brought_back(config, node, log, time.time())
        clock = time.monotonic
        runner = Runner(
            config, node, transport, keeper, log, clock(), lambda: not stop.is_held
        )
        log.say(
            "info", "started", mode=config.mode, incarnation=node.incarnation,
            neighbours=[one.name for one in config.neighbours],
            listen=list(config.listen), process=os.getpid(),
        )  # fmt: skip
        health = None
        if config.health is not None:
            health = Health(config.health, lambda: _aged(runner.facts))
        try:
            return _loop(runner, stop, until_end, clock)
        finally:
            feed.close()
            if health is not None:
                health.close()


def _aged(facts: dict[str, Any]) -> dict[str, Any]:
    at = facts.get("at")
    age = 0.0 if at is None else time.monotonic() - at
    return {k: v for k, v in facts.items() if k != "at"} | {"age_seconds": age}


def _loop(
    runner: Runner, stop: Stop, until_end: bool, clock: Callable[[], float]
) -> int:
    wait = getattr(runner.transport, "wait", stop.event.wait)
    try:
        while not stop.event.is_set():
            pause = runner.turn(clock())
            if until_end and runner.may_leave(clock()):
                stop("the end of the readings")
            elif pause > 0:
                wait(pause)
    except HalkError as error:  # such as readings without the columns
        runner.log.say("error", "cannot go on", clock(), wrong=str(error))
        return 1
    except Exception:
        # what is in memory may be torn: the last file is what to go on from
        runner.log.failed("crashed")
        return 1
    now = clock()
    runner.renew(now)
    is_kept = runner.keep(now)
    facts = runner.facts
    runner.log.say(
        "info", "stopped", why=stop.why, step=facts["step"], readings=facts["readings"],
        rmse=facts["rmse"], atoms=facts["atoms"], bad_rows=facts["bad_rows"],
        refused=facts["refused"], kept=is_kept,
        round_trip_seconds=_medians(facts["round_trip_seconds"]),
    )  # fmt: skip
    return 0 if is_kept else 1


def _medians(times: dict[str, Any] | None) -> dict[str, Any] | None:
    return times and {key: times[key] for key in ("count", "median", "p99")}
