"""Carry out the runs of an experiment that are not yet finished."""

from __future__ import annotations

import signal
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from importlib import import_module
from multiprocessing import active_children, get_context
from typing import Protocol

from halk.experiments.experiment import Experiment
from halk.experiments.runs import Result, Results, Run
from halk.experiments.store import Store, code_digest, explained


class Watch(Protocol):
    """Who wants to see the work go on."""

    def begin(self, experiment: Experiment, n_runs: int, n_finished: int) -> None:
        """Be told what is to be done, and how much of it was done before."""

    def start(self, run: Run) -> None:
        """Be told that a run starts."""

    def tell(self, share: float) -> None:
        """Be told which share of the run is done."""

    def finish(self, result: Result) -> None:
        """Be told that a run is finished."""


def carry_out(
    experiment: Experiment, store: Store, watch: Watch, again: bool, jobs: int = 1
) -> Results:
    """Return all results, made now or found in the store.

    Every finished run is saved at once, so an interrupt loses only what is under way.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    watch : Watch
    again : bool
        Whether to make finished runs anew.
    jobs : int
        How many processes work at the same time.
    """
    runs = experiment.runs()
    found = {} if again else _found(store, runs)
    watch.begin(experiment, len(runs), len(found))
    todo = [run for run in runs if run.name not in found]
    work = _here if jobs == 1 else _in_processes
    with closing(work(experiment, todo, found, watch, jobs)) as results:
        for result in results:
            found[result.run.name] = result
            try:
                store.save(result, result.run.digest(code_digest()))
            except OSError as error:
                raise explained(error, store.folder) from None
            watch.finish(result)
    return Results(found[run.name] for run in runs)


def _found(store: Store, runs: Sequence[Run]) -> dict[str, Result]:
    results = (store.load(run, run.digest(code_digest())) for run in runs)
    return {result.run.name: result for result in results if result is not None}


def _here(
    experiment: Experiment,
    todo: Sequence[Run],
    found: dict[str, Result],
    watch: Watch,
    jobs: int,
) -> Generator[Result]:
    for run in todo:
        watch.start(run)
        earlier = None if run.after is None else found[run.after]
        yield experiment.execute(run, earlier, watch.tell)


def _in_processes(
    experiment: Experiment,
    todo: Sequence[Run],
    found: dict[str, Result],
    watch: Watch,
    jobs: int,
) -> Generator[Result]:
    """Yield results as they come; a run waits for the one it needs."""
    waiting, under_way = list(todo), set[Future[Result]]()
    # spawn: a forked child of a process with threads may hang
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_leave_interrupts) as pool:
        try:
            while waiting or under_way:
                ready = [r for r in waiting if r.after is None or r.after in found]
                waiting = [run for run in waiting if run not in ready]
                for run in ready:
                    watch.start(run)
                    earlier = None if run.after is None else found[run.after]
                    kind = f"{type(experiment).__module__}:{type(experiment).__name__}"
                    job = pool.submit(_work, kind, experiment.options, run, earlier)
                    under_way.add(job)
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():  # they may be at it for minutes
                child.terminate()
            raise


def _leave_interrupts() -> None:
    """Leave an interrupt to the parent process, which ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(kind: str, options: object, run: Run, earlier: Result | None) -> Result:
    """Carry out a run in a process of its own."""
    module, name = kind.split(":")
    experiment: Experiment = getattr(import_module(module), name)(options)
    return experiment.execute(run, earlier, lambda share: None)
