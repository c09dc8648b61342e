"""The demo as people see it: progress, a short table, and where the report is."""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from halk.demo.learn import LABELS, Learned, learned, task
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
        f"{n_train} are seen, about {n_train / job.field.n_agents:.0f} per sensor, "
        f"each once; the rest are to be filled in.\n"
    )
    methods = _all_learned(job, console)
    console.print(_table(methods))
    together, alone, pooled = methods[:3]
    ratio = alone.error / together.error
    console.print(
        f"\nTalking to neighbours makes the error [bold]{ratio:.1f} times "
        f"smaller[/bold]. They tell each other predictions at single points; readings "
        f"and models stay where they are. Where all readings may be sent to one place, "
        f"one pooled model comes to {pooled.error:.2f} °C on this smooth sea, with "
        f"fewer messages.\n"
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
        progress.TextColumn("{task.description:<32}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    found: list[Learned] = []
    with bars:
        for key in LABELS:
            bar = bars.add_task(LABELS[key], total=1.0)
            tell = partial(_told, bars, bar)
            scales = found[2].model if key == "gp" else None
            found.append(learned(key, job, tell, scales))
            if not console.is_terminal:
                console.print(f"{LABELS[key]}: learned", highlight=False)
    return found


def _told(bars: Any, bar: Any, share: float) -> None:
    bars.update(bar, completed=share)


def _table(methods: list[Learned]) -> Any:
    title = "Error on withheld readings, after one pass"
    caption = "root mean square; messages: between sensors, or to one place"
    table = _rich("table").Table(title=title, caption=caption)
    table.add_column("method")
    for name in ("error, °C", "atoms per model", "messages"):
        table.add_column(name, justify="right")
    for one in methods:
        cells = f"{one.error:.2f}", f"{one.size:.0f}", f"{one.n_messages:,}"
        table.add_row(one.label, *cells, style="bold" if one is methods[0] else "")
    return table
