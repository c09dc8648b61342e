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
from halk.data.cells import numeric, timed
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
    """Write a filled table as CSV, all its columns as they were, and what separates."""
    writer = csv.writer(file, delimiter=made.table.delimiter, lineterminator="\n")
    added = made.columns(target)
    kept = [k for k, name in enumerate(made.table.header) if name not in added]
    writer.writerow([*(made.table.header[k] for k in kept), *added])
    old = [_texts(made.table.columns[k]) for k in kept]
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
        name or f"column_{k}": arrow.array(_arrow_cells(made, k))
        for k, name in enumerate(made.table.header)
    }
    for name, values in made.columns(target).items():
        columns[name] = arrow.array(values, from_pandas=True)
    parquet.write_table(arrow.table(columns), file)


def _arrow_cells(made: Filled, k: int) -> Any:
    """Return a column with its type: text from CSV becomes numbers and times again."""
    cells = made.table.columns[k]
    if isinstance(cells, np.ndarray):
        return cells
    name = made.table.header[k]
    known = [None if isinstance(cell, str) and cell == "" else cell for cell in cells]
    if not any(isinstance(cell, str) for cell in known):
        return known
    if name and name != made.sensor:
        times, numbers = timed(made.table, name), numeric(made.table, name)
        if not times.is_wrong.any() and not times.is_empty.all():
            micro = np.round(times.values * 1e6)
            stamps = np.where(times.is_empty, np.iinfo(np.int64).min, micro)
            return stamps.astype(np.int64).view("datetime64[us]")
        if not numbers.is_wrong.any() and not numbers.is_empty.all():
            return [None if v != v else v for v in numbers.values.tolist()]
    return [None if cell is None else str(cell) for cell in known]
