"""The command ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter
from typing import Any

from benchmarks.benches import BENCHES, chosen
from benchmarks.machine import machine
from benchmarks.output import show, write
from benchmarks.runner import FAILED, measured

__all__ = ["main"]

_OUT = Path("halk-bench")
_WIDTH = 120


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure halk against the floor of this machine and against peers.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes, in under two minutes"
    )
    parser.add_argument(
        "--out", type=Path, default=_OUT, help="folder for bench.json and the figure"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help=f"some of {', '.join(BENCHES)}"
    )
    return parser.parse_args(given)


def _writable(folder: Path) -> Path:
    """Return the folder, made if need be, after trying whether it can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(
            f"--out must be a folder to write in, got {folder}: {reason}"
        ) from None


def _console() -> Any:
    """Return where to print; into a file or a pipe the tables go wide."""
    console = import_module("rich.console").Console()
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console


def main(given: Sequence[str] | None = None) -> int:
    """Measure, show and write; return 1 if something broke, 2 if asked wrongly."""
    arguments = _arguments(given)
    try:
        benches = chosen(arguments.only)
        folder = _writable(arguments.out)
    except ValueError as error:
        sys.stderr.write(f"benchmarks: {error}\n")
        return 2
    console = _console()
    about = {"is_quick": arguments.quick, "machine": machine()}
    began = perf_counter()
    try:
        results = measured(benches, arguments.quick, console)
    except KeyboardInterrupt:
        sys.stderr.write("benchmarks: interrupted, nothing was written\n")
        return 130
    seconds = perf_counter() - began
    show(results, console)
    paths = write(results, about | {"seconds": round(seconds, 1)}, folder)
    files = ", ".join(map(str, paths))
    console.print(f"{seconds:.0f} s. Written: {files}", soft_wrap=True, markup=False)
    return int(any(row.missing.startswith(FAILED) for row in results.rows))


if __name__ == "__main__":
    sys.exit(main())
