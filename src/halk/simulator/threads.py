"""Steps of a large network shared by threads, to the same bits as without.

Agents do not depend on each other within a pass, and sums over agents are taken in one
order afterwards, so it does not matter who runs whom.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from halk._validation import Indices
from halk.simulator.arrays import DIVERGED, FINISHED, NEEDS_ROOM, Readings, Record
from halk.simulator.passes import (
    answer_some,
    begin_step,
    finish_step,
    settle_some,
    update_late,
    update_some,
)

WORTH_SHARING = 2000
"""Readings in a step below which waiting for each other costs more than it saves."""


class Crew:
    """Makes the steps of one simulator with several threads.

    Parameters
    ----------
    posts : callable
        Returns the posts, one a thread.
    make_room : callable
        Takes a status of the compiled passes and makes the room it asks for.
    n_agents : int
    is_exact : bool
        Whether those who are asked move their functions too.
    n_threads : int
    """

    def __init__(
        self,
        posts: Callable[[], list[Any]],
        make_room: Callable[[int], None],
        n_agents: int,
        is_exact: bool,
        n_threads: int,
    ) -> None:
        self._posts = posts
        self._make_room = make_room
        self._late = np.zeros(n_agents, dtype=np.int64)
        self._is_exact = is_exact
        self._n_threads = n_threads

    def run(self, readings: Readings, record: Record, cursor: Indices) -> int:
        """Make the steps from where the cursor stands; return a status.

        An interrupt is heard between steps: a step, once begun, is finished.
        """
        with (
            ThreadPoolExecutor(self._n_threads) as threads,
            ThreadPoolExecutor(1) as conductor,
        ):
            while cursor[0] < len(readings.start) - 1:
                step = conductor.submit(self._step, threads, readings, record, cursor)
                try:
                    status = step.result()
                except KeyboardInterrupt:
                    step.result()
                    raise
                if status != FINISHED:
                    return status
        return FINISHED

    def _step(
        self, threads: ThreadPoolExecutor, readings: Readings, record: Record,
        cursor: Indices,
    ) -> int:  # fmt: skip
        if begin_step(self._posts()[0], readings, record) != FINISHED:
            return DIVERGED
        t, n_touched = int(cursor[0]), int(cursor[3])
        n_asking = int(readings.start[t + 1] - readings.start[t])
        status = self._answers(threads, readings, record, n_touched)
        if status != FINISHED:
            return status
        n_moving = n_touched if self._is_exact else n_asking
        self._share(threads, n_moving, update_some, (readings,), (self._late,))
        cursor[2] = 0
        self._wait_for_late(readings)
        self._share(threads, n_asking, settle_some, (), ())
        finish_step(self._posts()[0], readings, record)
        return FINISHED

    def _answers(
        self, threads: ThreadPoolExecutor, readings: Readings, record: Record, n: int
    ) -> int:
        while True:
            found = self._share(threads, n, answer_some, (readings, record), (n,))
            if DIVERGED in found:
                return DIVERGED
            if NEEDS_ROOM not in found:
                return FINISHED
            self._make_room(NEEDS_ROOM)

    def _wait_for_late(self, readings: Readings) -> None:
        while True:
            status = update_late(self._posts()[0], readings, self._late)
            if status == FINISHED:
                return
            self._make_room(int(status))

    def _share(
        self, threads: ThreadPoolExecutor, n: int, work: Any, before: Any, after: Any
    ) -> list[Any]:
        """Run a pass over ``n`` agents, in as many ranges as there are threads."""
        posts = self._posts()
        bounds = np.linspace(0, n, len(posts) + 1).astype(int).tolist()
        jobs = [
            threads.submit(work, *(post, *before, first, last, *after))
            for post, first, last in zip(posts, bounds, bounds[1:], strict=False)
        ]
        return [job.result() for job in jobs]
