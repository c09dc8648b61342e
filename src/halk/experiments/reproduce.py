"""From a wish to a folder of results: runs, claims, figures, one report."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from halk._atomic import replacing
from halk._version import __version__
from halk.experiments import EXPERIMENTS
from halk.experiments.claims import Claim
from halk.experiments.experiment import Experiment, combined
from halk.experiments.runner import Watch, carry_out
from halk.experiments.runs import Options, Results
from halk.experiments.store import Store, code_digest, explained
from halk.report import Page, Section, Table, write

_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "matplotlib",
    "pyarrow",
    "scikit-learn",
    "cvxpy",
)


class Finished(NamedTuple):
    """An experiment with all its results, and what they say."""

    experiment: Experiment
    results: Results
    claims: list[Claim]


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
    experiments = [experiment(name, options) for name in names]
    for one in experiments:
        one.facts()  # reads the data: what is wrong with them is said now
        one.runs()  # reads those of the other variables
    store = Store(folder)
    finished = []
    for one in experiments:
        results = carry_out(one, store, watch, again, jobs)
        finished.append(Finished(one, results, one.claims(results)))
    try:
        _write(store, _with_earlier(store, finished), command)
    except OSError as error:
        raise explained(error, folder) from None
    return finished


def experiment(name: str, options: Options) -> Experiment:
    """Return an experiment by name."""
    module, kind = EXPERIMENTS[name].split(":")
    made: Experiment = getattr(import_module(module), kind)(options)
    return made


def _with_earlier(store: Store, finished: list[Finished]) -> list[Finished]:
    """Add the experiments that the folder holds from earlier commands."""
    present = {one.experiment.name: one for one in finished}
    manifest = store.read_json("manifest.json") or {"experiments": {}}
    for name, about in manifest["experiments"].items():
        if name in EXPERIMENTS and name not in present:
            earlier = _earlier(store, name, about)
            if earlier is not None:
                present[name] = earlier
    return [present[name] for name in EXPERIMENTS if name in present]


def _earlier(store: Store, name: str, about: dict[str, Any]) -> Finished | None:
    """Return an experiment that was finished before, if it still can be read."""
    try:
        one = experiment(name, Options.from_json(about["options"]))
        found = [store.load(run) for run in one.runs()]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    results = [result for result in found if result is not None]
    if len(results) < len(found):
        return None
    return Finished(one, Results(results), one.claims(Results(results)))


def _write(store: Store, finished: Sequence[Finished], command: str) -> None:
    """Write trace, claims, figures, report and manifest."""
    table = combined([result for one in finished for result in one.results])
    parquet = import_module("pyarrow.parquet")
    with replacing(store.folder / "trace.parquet") as file:
        parquet.write_table(table, file)
    claims = [claim.as_json() for one in finished for claim in one.claims]
    store.write_json("claims.json", claims)
    manifest = _manifest(finished, command)
    page = Page(
        "What the paper says, and what was seen",
        "HALK, its baselines and its theory, run again",
        _facts(manifest),
        [_overview(finished), *(_section(one) for one in finished)],
        _headline(finished),
    )
    write(page, store.folder / "report.html", store.folder / "figures")
    store.write_json("manifest.json", manifest)


def _section(one: Finished) -> Section:
    return one.experiment.section(one.results, one.claims)


def _headline(finished: Sequence[Finished]) -> list[tuple[str, str, str]]:
    """Return how many claims hold, for each coupling."""
    found = []
    names = {"paper": "with the paper's coupling", "exact": "with the exact coupling"}
    for coupling, label in names.items():
        verdicts = [
            claim.verdicts[coupling].holds
            for one in finished
            for claim in one.claims
            if coupling in claim.verdicts
        ]
        if verdicts:
            n = sum(bool(holds) for holds in verdicts)
            found.append((label, f"{n} of {len(verdicts)}", "claims reproduced"))
    return found


def _overview(finished: Sequence[Finished]) -> Section:
    rows = []
    for one in finished:
        row: list[Any] = [one.experiment.title]
        for coupling in ("paper", "exact"):
            verdicts = [
                c.verdicts[coupling] for c in one.claims if coupling in c.verdicts
            ]
            n = sum(bool(verdict.holds) for verdict in verdicts)
            row.append(f"{n} of {len(verdicts)}" if verdicts else None)
        seconds = sum(result.seconds for result in one.results)
        rows.append([*row, len(one.results), round(seconds)])
    columns = ["experiment", "paper's coupling", "exact coupling", "runs", "seconds"]
    table = Table("Claims that hold for every seed", columns, rows)
    text = (
        "Every sentence that the paper states about a figure is computed from the runs "
        "below, for the update that the paper prints (its coupling leaves out a part "
        "of the gradient) and for the exact one. Nothing was tuned until a claim held."
    )
    return Section("Overview", "overview", [text, table])


def _manifest(finished: Sequence[Finished], command: str) -> dict[str, Any]:
    return {
        "halk": __version__,
        "code": code_digest(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "command": command,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "experiments": {
            one.experiment.name: {
                "options": one.experiment.options.as_json(),
                "data": one.experiment.facts(),
                "runs": {
                    result.run.name: {
                        "settings": result.settings,
                        "digest": result.digest or result.run.digest(code_digest()),
                        "seconds": round(result.seconds, 3),
                    }
                    for result in one.results
                },
            }
            for one in finished
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _facts(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    packages = {k: v for k, v in manifest["packages"].items() if v is not None}
    facts = [
        ("command", manifest["command"]),
        ("halk", f"{manifest['halk']}, code {manifest['code']}"),
        ("Python", f"{manifest['python']} on {manifest['platform']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in packages.items())),
        ("written", manifest["written"]),
    ]
    for name, about in manifest["experiments"].items():
        options = about["options"]
        facts.append((name, f"{options['scale']} scale, {options['seeds']} seeds"))
        if about["data"]:
            source = f"{about['data']['data']}, SHA-256 {about['data']['sha256'][:16]}"
            facts.append((f"{name}: data", source))
    return facts
