"""What a run leaves: tables in the terminal, a JSON file and a figure."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import halk
from benchmarks.engine import GROWTHS, Growth
from benchmarks.results import Point, Result, Row, Score
from halk import _core
from halk.report import Figure, Line, Panel, Points, draw, number

_COMPONENTS = ("kernel-", "own-kernel", "loss-", "adaptive-")
_WHOLE = ("measured", "ratio", "holds", "us per sample", "RMSE", "weights", "samples")
"""Columns that are never broken into lines."""

_COLOURS = {True: "green", False: "bold red", None: "dim"}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "river", "padasip", "matplotlib")


def describe_machine() -> dict[str, Any]:
    """Return the machine and the versions that numbers belong to; no names or paths."""

    def find_version(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    return {
        "cpu": _find_cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "halk": halk.__version__,
        "core": _core.build_info(),
        "revision": _find_revision(),
        "packages": {name: find_version(name) for name in _PACKAGES},
    }


def _find_cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or "unknown"


def _find_revision() -> str | None:
    """Return the commit of the sources, with a plus if they were changed since."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + "+" * bool(
            git("status", "--porcelain")
        )
    except (OSError, subprocess.CalledProcessError):
        return None


def show(results: Sequence[Result], console: Any) -> None:
    """Print the tables: what must hold, what may have no cliff, and the peers."""
    rows = [item for item in results if isinstance(item, Row)]
    scores = [item for item in results if isinstance(item, Score)]
    parts = [row for row in rows if row.name.startswith(_COMPONENTS)]
    main = [row for row in rows if row not in parts]
    if main:
        console.print(_tabulate("What must hold", main))
    if parts:
        console.print(_tabulate("Other kernels, losses and adaptations", parts))
    if scores:
        console.print(_tabulate_peers(scores))
    judged = [row.holds for row in rows if row.holds is not None]
    if judged:
        console.print(f"{sum(judged)} of {len(judged)} rows that can be judged hold.")


def _table(title: str, columns: Sequence[str], right: Sequence[str]) -> Any:
    table = import_module("rich.table").Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=import_module("rich.box").SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in columns:
        side = "right" if column in right else "left"
        table.add_column(column, justify=side, no_wrap=column in _WHOLE)
    return table


def _tabulate(title: str, rows: Sequence[Row]) -> Any:
    right = ("measured", "against", "ratio", "holds")
    table = _table(title, ("workload", *right[:3], "target", right[3]), right)
    for row in rows:
        unit = row.unit.split(" ")[0]  # the rest stands below the workload
        further = row.unit if " " in row.unit else ""
        below = "; ".join(filter(None, (row.missing, further, row.note)))
        workload = import_module("rich.text").Text(row.what)
        table.add_row(
            workload.append(f"\n{below}", style="dim") if below else workload,
            "" if row.measured is None else f"{number(row.measured)} {unit}",
            "" if row.base is None else f"{number(row.base)} {row.against}",
            "" if row.ratio is None else number(row.ratio),
            "" if row.target is None else str(row.target),
            f"[{_COLOURS[row.holds]}]{row.verdict}[/]",
        )
    return table


def _tabulate_peers(scores: Sequence[Score]) -> Any:
    title = "Peers: predict, then learn; settings chosen on another stream"
    right = ("us per sample", "RMSE", "weights", "samples")
    table = _table(title, ("stream", "learner", *right, "note"), right)
    for n, score in enumerate(scores):
        is_first = n == 0 or scores[n - 1].stream != score.stream
        numbers = (score.microseconds, score.error, score.size, score.n_samples)
        table.add_row(
            score.stream if is_first else "",
            score.peer,
            *map(number, numbers),
            score.missing or score.note,
            end_section=n + 1 == len(scores) or scores[n + 1].stream != score.stream,
        )
    return table


def as_text(content: Any) -> str:
    """Return JSON that every reader takes: what is no finite number becomes null."""

    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): finite(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [finite(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(finite(content), indent=2, allow_nan=False) + "\n"


def write(results: Sequence[Result], about: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``bench.json`` and, if there are points, the figure; return the paths."""
    points = [item for item in results if isinstance(item, Point)]
    lists = {
        "rows": [item.as_json() for item in results if isinstance(item, Row)],
        "peers": [asdict(item) for item in results if isinstance(item, Score)],
        "scaling": [asdict(item) for item in points],
    }
    paths = [folder / "bench.json"]
    paths[0].write_text(as_text(about | lists), encoding="utf-8")
    return [*paths, *(draw(make_figure(points), folder) if points else [])]


def make_figure(points: Sequence[Point]) -> Figure:
    """Return how cost grows, engine and floor in one panel for all that was varied."""
    panels = [
        _panel(growth, own)
        for growth in GROWTHS
        if (own := [point for point in points if point.panel == growth.title])
    ]
    caption = (
        "Time per agent and step against its floor: the kernel terms and the product "
        "of a matrix and a vector that no step can do without, measured in the same "
        "run."
    )
    return Figure("bench", caption, panels, columns=2)


def _panel(growth: Growth, points: Sequence[Point]) -> Panel:
    items: list[Line | Points] = []
    exact = [point for point in points if point.coupling == "exact"]
    paper = [point for point in points if point.coupling == "paper"]
    for label, style, own, quantity in (
        ("engine, exact coupling", "blue", exact, "engine"),
        ("engine, paper coupling", "vermilion", paper, "engine"),
        ("floor", "black", paper, "floor"),
    ):
        x, y = [point.x for point in own], [getattr(point, quantity) for point in own]
        items += [Line(label, x, y, style=style), Points("", x, y, style=style)]
    label = "ns per agent and step"
    return Panel(
        growth.title, growth.label, label, items,
        log_x=True, log_y=True, note=growth.note,
    )  # fmt: skip
