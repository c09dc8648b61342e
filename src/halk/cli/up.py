"""The work of ``halk up``: watch the agents, show them, stop them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halk.cli.live import agents_table, line_of, summary_of, summary_table
from halk.cli.talk import console, put_json, rich, say
from halk.deploy.folder import prepare
from halk.deploy.plan import read_plan
from halk.deploy.process import Stop
from halk.deploy.simulation import Outcome
from halk.deploy.supervisor import Supervisor
from halk.errors import HalkError

_EVERY = 1.0
"""Seconds between two looks at the agents."""

_LINE_EVERY = 5.0


def run_up(
    network: Path,
    folder: Path | None,
    tls: bool,
    fresh: bool,
    seconds: float | None,
    until_end: bool,
    json: bool,
) -> None:
    """Run a network until it ends, its time is over, or somebody stops it."""
    if seconds is not None and not seconds > 0:
        raise HalkError(f"--for must be positive, got {seconds:g}")
    plan = read_plan(network)
    if until_end and any(source.follow for source in plan.sources):
        raise HalkError(f"{network}: --until-end must not go with follow = true")
    if not json:
        for remark in plan.remarks():
            say(f"{network}: {remark}")
    folder = folder or network.with_name(f"{network.stem}-run")
    stop = Stop()
    stop.on_signals()
    places = prepare(plan, folder, tls, fresh)
    resumed = sum(place.checkpoint.exists() for place in places)
    if resumed and not json:
        say(f"{resumed} agents go on from their checkpoints; --fresh begins anew")
    supervisor = Supervisor(places, until_end)
    title = f"{network.name}: {plan.mode}, logs in {folder}"
    try:
        supervisor.start()
        with _screen(supervisor, title, quiet=json) as show:
            _watch(supervisor, stop, seconds, show)
    finally:
        supervisor.close()
    _tell(supervisor, title, json)


def _watch(
    supervisor: Supervisor, stop: Stop, seconds: float | None, show: Callable[[], None]
) -> None:
    end = float("inf") if seconds is None else time.monotonic() + seconds
    while not stop.event.is_set() and time.monotonic() < end:
        supervisor.check()
        show()
        if supervisor.is_over or supervisor.failed:
            return
        stop.event.wait(min(_EVERY, max(end - time.monotonic(), 0.01)))
    supervisor.check()


@contextmanager
def _screen(
    supervisor: Supervisor, title: str, quiet: bool
) -> Iterator[Callable[[], None]]:
    """Give what shows the agents: a live table, or a line now and then."""
    if quiet:
        yield lambda: None
    elif sys.stdout.isatty():
        with rich("live").Live(console=console(), transient=True) as live:
            yield lambda: live.update(agents_table(supervisor.children, title))
    else:
        began = last = time.monotonic()

        def line() -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _LINE_EVERY:
                last = now
                say(line_of(supervisor.children, now - began))

        yield line


def _tell(supervisor: Supervisor, title: str, json: bool) -> None:
    found = [_outcome(child) for child in supervisor.children]
    if json:
        put_json(summary_of(found))
    else:
        console().print(summary_table(found, title))
    if supervisor.failed:
        child = supervisor.failed[0]
        raise HalkError(
            f"{child.place.name} does not start; its log {child.place.log} ends in: "
            f"{child.complaint()}"
        )


def _outcome(child: Any) -> Outcome:
    facts = child.last_words()
    rmse, recent = facts.get("rmse"), facts.get("recent_rmse")
    nan = float("nan")
    return Outcome(
        child.place.name, facts.get("readings", 0), facts.get("bad_rows", 0),
        facts.get("atoms", 0), nan if rmse is None else rmse,
        nan if recent is None else recent, sum(facts.get("refused", {}).values()),
        facts.get("step", 0),
    )  # fmt: skip
