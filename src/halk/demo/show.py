"""The demo as people see it: progress, a short table, and where the report is."""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from halk.demo.learn import CHOICES, LABELS, N_STEPS, Learned, learned, task
from halk.demo.page import page
from halk.report import write

REPORT = Path("halk-demo")


def main(out: Path = REPORT) -> int:
    """Run the demo; the report goes into the folder ``out``."""
    began = time.perf_counter()
    console = _rich("console").Console()
    out.mkdir(parents=True, exist_ok=True)
    job = task()
    n_train = int((~job.is_withheld).sum())
    console.print(
        f"\n[bold]{job.field.n_agents} sensors of the Gulf of Mexico[/bold] learn "
        f"temperature from depth, each its own. Of {job.field.n_readings} readings "
        f"{n_train} are seen, about {n_train / job.field.n_agents:.0f} a sensor; the "
        f"rest are to be filled in.\n"
    )
    methods = _all_learned(job, console)
    console.print(_table(methods))
    together, alone = methods[0], methods[1]
    ratio = alone.error / together.error
    console.print(
        f"\nTalking to neighbours makes the error [bold]{ratio:.1f} times "
        f"smaller[/bold]. They exchange predictions at single points; readings and "
        f"models stay where they are. One model for all does better still on this "
        f"smooth sea, where everything may be sent to one place.\n"
    )
    path = write(page(methods, time.perf_counter() - began), out / "report.html")
    console.print(f"Map, profiles and curves: [bold]{path}[/bold]", soft_wrap=True)
    return 0


def _rich(module: str) -> Any:
    return import_module(f"rich.{module}")


def _all_learned(job: Any, console: Any) -> list[Learned]:
    """Let every method learn, with a bar for each."""
    progress = _rich("progress")
    bars = progress.Progress(
        progress.TextColumn("{task.description:<24}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    found: list[Learned] = []
    with bars:
        for key in CHOICES:
            bar = bars.add_task(LABELS[key], total=1.0)
            tell = partial(_told, bars, bar)
            found.append(learned(key, job, tell))
            if not console.is_terminal:
                console.print(f"{LABELS[key]}: learned", highlight=False)
    return found


def _told(bars: Any, bar: Any, share: float) -> None:
    bars.update(bar, completed=share)


def _table(methods: list[Learned]) -> Any:
    title = f"Withheld readings, after one pass of {N_STEPS} steps"
    table = _rich("table").Table(title=title, caption="atoms and bytes: of one sensor")
    table.add_column("who")
    for name in ("error, °C", "atoms", "bytes a step"):
        table.add_column(name, justify="right")
    for one in methods:
        order, sent = one.trace["order_mean"][-1], one.trace["bytes"].mean()
        style = "bold" if one is methods[0] else ""
        table.add_row(
            one.label, f"{one.error:.2f}", f"{order:.1f}", f"{sent:,.0f}", style=style
        )
    return table
