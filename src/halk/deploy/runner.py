"""The loop of an agent: hear, read, learn, keep; nothing of it waits.

:meth:`Runner.turn` does what is due at a time that it is told, so that tests have the
clock in hand. Around it, :mod:`halk.deploy.process` waits for messages and signals.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from halk.data.lines import Row
from halk.deploy.around import Around
from halk.deploy.clocks import Clock
from halk.deploy.diary import Diary
from halk.deploy.facts import facts_of
from halk.deploy.keeper import Keeper
from halk.deploy.logs import Log
from halk.deploy.settings import AgentConfig
from halk.errors import DivergenceError
from halk.net import Parcel, Transport, post

PULSE = 0.25
"""Longest time between two turns, in seconds."""

_FACTS_EVERY = 0.5


def pulse(wait: float) -> float:
    """Return the longest time between two turns of who waits so long for answers."""
    return min(PULSE, max(wait / 2, 0.01))


def next_turn(wait: float, clock: Clock, due: float | None, now: float) -> float:
    """Return when the next turn is, of one who has nothing to do before."""
    latest = now + pulse(wait)
    if due is not None and due > now:
        return min(latest, due)
    is_late = due is not None and not clock.waits  # the row is not there yet
    return min(latest, now + 0.001) if is_late else latest


def due_after(clock: Clock, due: float | None, now: float) -> float:
    """Return when the next reading is due, after one that was taken now.

    Who is late goes on from its schedule, but what it missed it does not make up for.
    """
    return max(clock.next(now if due is None else due), now)


class Runner:
    """One agent at work.

    Parameters
    ----------
    config : AgentConfig
    node : FieldNode or StepNode
    transport : Transport
        May have ``alive()`` and counters, as Zenoh's has.
    keeper : Keeper
    log : Log
    now : float
        The time, by a clock that only goes forward.
    may_begin : callable
        Whether a replay may begin, as far as others know who see the whole network.
    """

    def __init__(
        self,
        config: AgentConfig,
        node: Any,
        transport: Transport,
        keeper: Keeper,
        log: Log,
        now: float,
        may_begin: Callable[[], bool] = lambda: True,
    ) -> None:
        self.config, self.node, self.transport = config, node, transport
        self.keeper, self.log, self._may_begin = keeper, log, may_begin
        self.around = Around(node, transport, log, now)
        self.diary: Diary = node.diary
        self.began = self.stepped_at = self._heard_at = now
        self._step = node.step
        self._heard: Any = None
        self._is_diverged = False
        self._clock = _clock_of(config, node.incarnation)
        self._due: float | None = None
        """When the next reading is to be taken; None before the first may be."""
        self._has_read = False
        self._facts_at = now
        self.facts = facts_of(self, now)

    # -------------------------------------------------------------------- turns

    def turn(self, now: float) -> float:
        """Do what is due; return the seconds until there may be more to do."""
        for sender, data in self.transport.poll():
            self._did(self.node.receive(sender, data, now), now)
        self._did(self.node.wake(now), now)
        self.around.look(now)
        is_busy = self._read(now)
        if self.keeper.is_due(now):
            self.keep(now)
        if now >= self._facts_at:
            self.renew(now)
        return 0.0 if is_busy else self._pause(now)

    def renew(self, now: float) -> None:
        """Make the facts those of this moment."""
        self._facts_at = now + _FACTS_EVERY
        self.facts = facts_of(self, now) | {"at": now}

    def _pause(self, now: float) -> float:
        due = None if self.diary.feed.is_over else self._due
        return next_turn(self.config.wait, self._clock, due, now) - now

    def _did(self, parcels: list[Parcel], now: float) -> None:
        """Note a step, in lockstep keep it first; then send what is to be said."""
        if self.node.step != self._step:
            self._step, self.stepped_at = self.node.step, now
            if self.config.is_lockstep:
                self.keep(now)
        post(self.transport, parcels)

    def keep(self, now: float) -> bool:
        """Write the checkpoint, or say why not."""
        had_failed, is_kept = bool(self.keeper.error), self.keeper.keep(now)
        if not is_kept:
            goes_on = "waits" if self.config.is_lockstep else "goes on learning"
            self.log.say(
                "error", "checkpoint failed", now, path=str(self.keeper.path),
                error=self.keeper.error, agent_then=goes_on,
            )  # fmt: skip
        elif had_failed:
            self.log.say("info", "checkpoint works again", now)
        return is_kept

    # ----------------------------------------------------------------- readings

    def _read(self, now: float) -> bool:
        """Take the next row if it is time; return whether there was one."""
        if self.config.is_lockstep:
            if not self.node.is_idle or not self._may_step(now):
                return False
        elif self._clock.waits and self.node.is_waiting:
            return False
        if not self._is_time(now):
            return False
        row = None if self._has_all_steps() else self.diary.feed.row()
        for what in self.diary.feed.happened():
            self.log.say("warning", "readings file", now, was=what)
        if row is None:
            return self._without_row(now)
        self._did(self._taken(row, now), now)
        self._due = due_after(self._clock, self._due, now)
        return True

    def _is_time(self, now: float) -> bool:
        """Return whether a reading is due; the clock starts when the first may be."""
        if self._due is None and self._is_ready(now):
            self._due = self._clock.start(now)
        if self._due is None or now < self._due:
            return False
        opens = self._clock.open(now)
        self._due = opens if opens > now else self._due
        return opens <= now

    def _may_step(self, now: float) -> bool:
        """Return whether the last step is in the file: the next must wait for it."""
        if not self.keeper.is_current and self.keeper.is_due(now):
            self.keep(now)
        return self.keeper.is_current

    def _has_all_steps(self) -> bool:
        steps = self.config.steps
        return steps is not None and self.node.step >= steps

    def _is_ready(self, now: float) -> bool:
        """Return whether a replay may begin: its neighbours should be there."""
        source = self.config.readings
        is_replay = source.source == "csv" and not source.follow
        if not is_replay or self.config.is_lockstep or self._has_read:
            return True
        all_there = all(peer.is_greeted for peer in self.node.peers.values())
        is_patient = now - self.began < self.config.patience
        return self._may_begin() and (all_there or not is_patient)

    def _without_row(self, now: float) -> bool:
        """Pass in lockstep, if there is nothing to read any more but others go on."""
        if not self.config.is_lockstep or not self.diary.feed.is_over:
            return False
        is_wanted = self.config.steps is not None or self.node.is_awaited
        if self._has_all_steps() or not is_wanted:
            return False
        self._did(self.node.skip(now), now)
        return True

    def _taken(self, row: Row, now: float) -> list[Parcel]:
        """Learn a row; return what is to be said about it."""
        self._has_read = True
        if row.wrong:
            self.diary.n_bad += 1
            self.log.say("warning", "bad row", now, row=row.number, wrong=row.wrong)
        elif row.y is None:
            self.diary.n_gaps += 1
        else:
            parcels = self._learned(row, now)
            if parcels is not None:
                return parcels
        return list(self.node.skip(now)) if self.config.is_lockstep else []

    def _learned(self, row: Row, now: float) -> list[Parcel] | None:
        """Learn a reading; None if that cannot be."""
        try:
            prediction = self.node.agent.predict(row.x)
            parcels: list[Parcel] = self.node.read(row.x, row.y, now)
        except DivergenceError as error:
            self.diary.n_diverged += 1
            self._is_diverged = True
            self.log.say("error", "diverged", now, row=row.number, wrong=str(error))
            return None
        except ValueError as error:  # a label that is none, a value too large
            self.diary.n_bad += 1
            self.log.say("warning", "bad row", now, row=row.number, wrong=str(error))
            return None
        self._is_diverged = False
        self.diary.add(prediction, float(row.y or 0.0))
        return parcels

    # ------------------------------------------------------------------- status

    def status(self, now: float) -> str:
        """Return ok, or what is wrong: diverged, stuck."""
        if self._is_diverged:
            return "diverged"
        if self.config.is_lockstep and now - self.stepped_at > self.config.stuck:
            is_waiting = not self.node.is_idle or not self.keeper.is_current
            return "stuck" if is_waiting else "ok"
        return "ok"

    def is_finished(self) -> bool:
        """Return whether all readings are learned."""
        if self.config.is_lockstep:
            if self.config.steps is not None:
                return self._has_all_steps()
            return self.diary.feed.is_over and bool(self.node.is_idle)
        return self.diary.feed.is_over and not self.node.is_waiting

    def may_leave(self, now: float) -> bool:
        """Return whether it is done and no neighbour has needed it for a while.

        Who lacks an answer asks again, so silence means that nobody does. Hellos do
        not count.
        """
        said = {
            name: (peer.incarnation, [peer.last.get(k) for k in ("Query", "Pass")])
            for name, peer in self.node.peers.items()
        }
        if said != self._heard or not self.is_finished():
            self._heard, self._heard_at = said, now
        return now - self._heard_at >= max(2.0, 3 * self.config.retry)


def _clock_of(config: AgentConfig, incarnation: int) -> Clock:
    """Return the clock of an agent, another one after every start."""
    source = config.readings
    pause = None if source.rate is None else 1 / source.rate
    rng = Random(f"{config.name} {incarnation}")
    return source.activation.clocks([pause], [rng])[0]
