"""``halk reproduce``: progress while it works, and the claims at the end."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from halk._validation import integer
from halk.errors import HalkError
from halk.experiments import EXPERIMENTS
from halk.experiments.claims import Verdict
from halk.experiments.experiment import Experiment
from halk.experiments.folder import SMOKE, Finished
from halk.experiments.reproduce import experiment, reproduce
from halk.experiments.runs import Options, Result, Run


def _rich(module: str) -> Any:
    return import_module(f"rich.{module}")


def listed() -> None:
    """Print what experiments there are."""
    table = _rich("table").Table("experiment", "what it does", "runs at full scale")
    for name in EXPERIMENTS:
        one = experiment(name, Options())
        table.add_row(name, one.summary, f"{len(one.runs())} (3 seeds)")
    table.add_row("all", "All of these, with one report.", "")
    _rich("console").Console().print(table)


def reproduced(
    name: str, asked: dict[str, Any], out: Path, command: str, again: bool, jobs: int
) -> None:
    """Run experiments, and print which claims hold and where the report is."""
    console = _rich("console").Console()
    try:
        options = Options(**asked)
        integer("jobs", jobs, minimum=1)
    except (TypeError, ValueError) as error:
        raise HalkError(f"--{error}") from None
    uses_data = name not in ("random-field", "theory")
    if not uses_data and (options.data or options.season or options.sensors):
        raise HalkError(
            f"--data, --season, --sensors are for temperature, salinity and fill-in; "
            f"{name} makes its own readings"
        )
    names = list(EXPERIMENTS) if name == "all" else [name]
    with _Watcher(console) as watch:
        finished = reproduce(names, options, out, watch, command, again, jobs)
    for one in finished:
        console.print(_claims(one))
    if options.is_smoke:
        console.print(SMOKE, style="yellow")
    console.print(f"Report: {out / 'report.html'}", markup=False, soft_wrap=True)


class _Watcher:
    """Bars on a terminal, a line for each finished run elsewhere."""

    def __init__(self, console: Any) -> None:
        progress = _rich("progress")
        self._console = console
        self._bars = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._all: Any = None
        self._one: Any = None
        self._count = (0, 0)

    def __enter__(self) -> _Watcher:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, experiment: Experiment, n_runs: int, n_finished: int) -> None:
        """Show how much there is to do."""
        if n_finished:
            kept = f"{n_finished} of {n_runs} runs were finished before (--again: anew)"
            self._console.print(f"{experiment.name}: {kept}")
        self._count = n_finished, n_runs
        name = f"{experiment.name}"
        self._all = self._bars.add_task(name, total=n_runs, completed=n_finished)
        if self._one is None:
            self._one = self._bars.add_task("", total=100)

    def start(self, run: Run) -> None:
        """Show which run is under way."""
        self._bars.update(self._one, description=f"  {run.name}", completed=0)

    def tell(self, share: float) -> None:
        """Show how far it is."""
        self._bars.update(self._one, completed=round(100 * share))

    def finish(self, result: Result) -> None:
        """Count the run."""
        self._count = self._count[0] + 1, self._count[1]
        self._bars.update(self._all, advance=1)
        if not self._console.is_terminal:
            done, n = self._count
            name, seconds = f"{result.run.experiment} {result.run.name}", result.seconds
            self._console.print(f"[{done}/{n}] {name} ({seconds:.1f} s)", markup=False)


def _claims(one: Finished) -> Any:
    """Return the claims of an experiment as a table for the terminal."""
    couplings = [
        c for c in ("paper", "exact") if any(c in k.verdicts for k in one.claims)
    ]
    heads = [
        {"paper": "paper's coupling", "exact": "exact coupling"}[c] for c in couplings
    ]
    table = _rich("table").Table(
        "claim", *heads, title=one.experiment.title, show_lines=True
    )
    for claim in one.claims:
        cells = [
            _cell(claim.verdicts[c]) if c in claim.verdicts else "" for c in couplings
        ]
        note = f"\n[dim]{claim.note}[/dim]" if claim.note else ""
        table.add_row(claim.sentence + note, *cells)
    return table


def _cell(verdict: Verdict) -> str:
    colour = {True: "green", False: "red", None: "yellow"}[verdict.holds]
    return f"[{colour}]{verdict.word}[/{colour}]\n{verdict.seen}"
