"""What a run leaves: tables in the terminal, a JSON file and a figure."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.figure import figure
from benchmarks.results import Results, Row, Score
from halk.report import draw, number

__all__ = ["as_text", "show", "write"]

_COMPONENTS = ("kernel-", "loss-", "adaptive-")
_WHOLE = ("measured", "ratio", "holds", "us a sample", "RMSE", "weights", "samples")
"""Columns that are never broken into lines."""

_COLOURS = {True: "green", False: "bold red", None: "dim"}


def show(results: Results, console: Any) -> None:
    """Print the tables: what must hold, what may have no cliff, and the peers."""
    parts = [row for row in results.rows if row.name.startswith(_COMPONENTS)]
    main = [row for row in results.rows if row not in parts]
    if main:
        console.print(_rows("What must hold", main))
    if parts:
        console.print(_rows("Other kernels, losses and bandwidth rules", parts))
    if results.scores:
        console.print(_peers(results.scores))
    judged = [row.holds for row in results.rows if row.holds is not None]
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


def _rows(title: str, rows: Sequence[Row]) -> Any:
    right = ("measured", "against", "ratio", "holds")
    table = _table(title, ("workload", *right[:3], "target", right[3]), right)
    for row in rows:
        unit = row.unit.split(" ")[0]  # the rest stands below the workload
        table.add_row(
            _workload(row),
            "" if row.measured is None else f"{number(row.measured)} {unit}",
            "" if row.base is None else f"{number(row.base)} {row.against}",
            "" if row.ratio is None else number(row.ratio),
            "" if row.target is None else str(row.target),
            f"[{_COLOURS[row.holds]}]{row.verdict}[/]",
        )
    return table


def _workload(row: Row) -> Any:
    """Return the workload, and below it, fainter, what else is to be known."""
    text = import_module("rich.text").Text
    unit = row.unit if " " in row.unit else ""
    below = "; ".join(filter(None, (row.missing, unit, row.note)))
    cell = text(row.what)
    return cell.append(f"\n{below}", style="dim") if below else cell


def _peers(scores: Sequence[Score]) -> Any:
    title = "Peers: predict, then learn; settings chosen on another stream"
    right = ("us a sample", "RMSE", "weights", "samples")
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
    return json.dumps(_finite(content), indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(results: Results, about: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``bench.json`` and, if there are points, the figure; return the paths."""
    paths = [folder / "bench.json"]
    paths[0].write_text(as_text(about | results.as_json()), encoding="utf-8")
    if results.points:
        paths += draw(figure(results.points), folder)
    return paths
