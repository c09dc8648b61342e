"""From a wish to a folder of results: runs, claims, figures, one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from halk.experiments import EXPERIMENTS
from halk.experiments.data import source
from halk.experiments.experiment import Experiment
from halk.experiments.folder import Finished, entry, write_all, written_before
from halk.experiments.runner import Watch, carry_out
from halk.experiments.runs import Options, Results
from halk.experiments.store import Store, code_digest, explained


def reproduce(
    names: Sequence[str],
    options: Options,
    folder: Path,
    watch: Watch,
    command: str = "",
    again: bool = False,
    jobs: int = 1,
) -> list[Finished]:
    """Run experiments and write everything about them into a folder.

    What other experiments left in the folder stays, and stays in the report.

    Parameters
    ----------
    names : sequence of keys of ``EXPERIMENTS``
    options : Options
    folder : path
    watch : Watch
        Is told how the work goes on.
    command : str
        How it was asked for, for the manifest.
    again : bool
        Whether to make finished runs anew.
    jobs : int
        How many processes work at the same time.

    Raises
    ------
    OutputError
        If the folder cannot be written; finished runs are kept.
    DataError
        If the readings cannot be used; before anything is run.
    """
    code_digest()  # of the code as it is now, whatever happens to it meanwhile
    data = source(options.data)
    options = replace(options, data=None if data is None else data.resolve())
    experiments = [experiment(name, options) for name in names]
    for one in experiments:
        one.facts()  # reads the data: what is wrong with them is said now
        one.runs()  # reads those of the other variables
    store = Store(folder)
    entries = written_before(store)
    finished: list[Finished] = []
    for one in experiments:
        results = carry_out(one, store, watch, again, jobs)
        finished.append(Finished(one, results, one.claims(results)))
        entries[one.name] = entry(finished[-1], command)
        try:
            write_all(store, _with_earlier(store, finished, entries), entries)
        except OSError as error:
            raise explained(error, folder) from None
    return finished


def experiment(name: str, options: Options) -> Experiment:
    """Return an experiment by name."""
    module, kind = EXPERIMENTS[name].split(":")
    made: Experiment = getattr(import_module(module), kind)(options)
    return made


def _with_earlier(
    store: Store, finished: list[Finished], entries: dict[str, Any]
) -> list[Finished]:
    """Add the experiments that the folder holds from earlier commands."""
    present = {one.experiment.name: one for one in finished}
    for name, about in entries.items():
        earlier = None if name in present else _earlier(store, name, about)
        if earlier is not None:
            present[name] = earlier
    return [present[name] for name in EXPERIMENTS if name in present]


def _earlier(store: Store, name: str, about: dict[str, Any]) -> Finished | None:
    """Return an experiment that was finished before, if it still can be read."""
    try:
        one = experiment(name, Options.from_json(about["options"]))
        one.facts()
        found = [
            store.load(run, about["runs"][run.name]["digest"]) for run in one.runs()
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    results = Results(result for result in found if result is not None)
    if len(results) < len(found):
        return None
    return Finished(one, results, one.claims(results))
