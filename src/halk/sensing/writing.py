"""Filled tables in files: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from halk._atomic import replacing
from halk.errors import HalkError
from halk.sensing.filling import Filled

DIGITS = 6
"""Significant digits of predictions in text."""

FORMATS = (".csv", ".csv.gz", ".parquet")


def write(made: Filled, target: str, path: Path) -> None:
    """Write a filled table in the format that the name of the file asks for."""
    name = path.name.casefold()
    if not name.endswith(FORMATS):
        known = ", ".join(FORMATS)
        raise HalkError(f"--out must end in one of {known}, got {path.name}")
    with replacing(path) as file:
        if name.endswith(".parquet"):
            _write_parquet(made, target, file)
        elif name.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                _write_bytes(made, target, packed)
        else:
            _write_bytes(made, target, file)


def _write_bytes(made: Filled, target: str, file: Any) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    write_csv(made, target, text)
    text.flush()
    text.detach()


def write_csv(made: Filled, target: str, file: TextIO) -> None:
    """Write a filled table as CSV, all its columns as they were."""
    writer = csv.writer(file, lineterminator="\n")
    added = made.columns(target)
    writer.writerow([*made.table.header, *added])
    old = [_texts(made.table.cells(name)) for name in made.table.header]
    new = [_numbers(values) for values in added.values()]
    writer.writerows(zip(*old, *new, strict=True))


def _texts(cells: Any) -> Iterator[str]:
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        return ("" if cell != cell else f"{cell:.12g}" for cell in cells.tolist())
    if isinstance(cells, np.ndarray):
        return ("" if np.isnat(cell) else str(cell) for cell in cells)
    return (str(cell) for cell in cells)


def _numbers(values: Any) -> Iterator[str]:
    return ("" if v != v else f"{v:.{DIGITS}g}" for v in values.tolist())


def _write_parquet(made: Filled, target: str, file: BinaryIO) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'halk[io]'") from None
    columns = {
        name: arrow.array(_arrow_cells(made.table.cells(name)))
        for name in made.table.header
    }
    for name, values in made.columns(target).items():
        columns[name] = arrow.array(values, from_pandas=True)
    parquet.write_table(arrow.table(columns), file)


def _arrow_cells(cells: Any) -> Any:
    if isinstance(cells, np.ndarray):
        return cells
    known = [None if isinstance(cell, str) and cell == "" else cell for cell in cells]
    if any(isinstance(cell, str) for cell in known):
        return [None if cell is None else str(cell) for cell in known]
    return known
