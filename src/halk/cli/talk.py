"""How commands talk: results to standard output, everything else to standard error.

On a terminal there are bars and tables; in a pipe there is plain text, and no more
than was asked for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from halk.errors import HalkError

STDOUT = "-"


def rich(module: str) -> Any:
    """Return a module of rich, imported when it is needed."""
    return import_module(f"rich.{module}")


def console(is_error: bool = False) -> Any:
    """Return a console for text; for standard error if asked."""
    return rich("console").Console(stderr=is_error, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Tell a person something that is not the result."""
    sys.stderr.write(f"{text}\n")


def put_json(value: Any, to_error: bool = False) -> None:
    """Print a result for machines."""
    stream = sys.stderr if to_error else sys.stdout
    stream.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def known(value: float) -> float | None:
    """Return a number for JSON, None if it is not known."""
    return float(value) if value == value else None


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """Return a table; columns whose name begins with ">" stand right."""
    made = rich("table").Table(
        title=rich("text").Text(title),
        title_justify="left",
        box=rich("box").SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for k, name in enumerate(columns):
        side = "right" if name.startswith(">") else "left"
        label = rich("text").Text(name.lstrip(">"))
        made.add_column(label, justify=side, overflow="fold", no_wrap=k == 0)
    for row in rows:
        made.add_row(*(rich("text").Text(cell) for cell in row))
    return made


class Bars:
    """Progress on standard error, if that is a terminal and nobody asked for quiet."""

    def __init__(self, quiet: bool = False) -> None:
        progress = rich("progress")
        shown = console(is_error=True)
        self._bars = progress.Progress(
            progress.TextColumn("{task.description:<10}"), progress.BarColumn(),
            progress.TaskProgressColumn(), progress.TimeElapsedColumn(),
            console=shown, transient=True, disable=quiet or not shown.is_terminal,
        )  # fmt: skip
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def tell(self, what: str, share: float) -> None:
        """Show how far something is."""
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=1.0)
        self._bars.update(self._tasks[what], completed=share)


def writable(path: Path, option: str) -> None:
    """Refuse early what cannot be written in the end."""
    if path.is_dir():
        raise HalkError(f"{option} must be a file, got the folder {path}")
    if not path.resolve().parent.is_dir():
        raise HalkError(f"{option} must be in a folder that exists, got {path}")


def size_of(path: Path) -> str:
    """Return the size of a file as people read it."""
    size = float(path.stat().st_size)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
