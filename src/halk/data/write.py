"""Tables with columns or rows added, in the layout in which they came."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from halk._atomic import replacing
from halk._validation import Vector
from halk.data.findings import Findings
from halk.data.grids import xarray_module
from halk.data.readings import timed
from halk.data.schema import TIME, Asked, Schema
from halk.data.sensors import Sensors
from halk.data.shape import shape
from halk.data.table import (
    COMMA,
    Cells,
    Table,
    Words,
    find_labels,
    is_empty_word,
    numeric,
    plain,
    to_words,
)
from halk.data.times import format_like, to_datetimes
from halk.errors import HalkError

DIGITS = 6
"""Significant digits of added numbers in text."""

FORMATS = (".csv", ".csv.gz", ".parquet", ".nc")

Added = Mapping[str, NDArray[Any]]
"""Columns to add, with an entry for each row of a table that has a row per reading."""

Attributes = Mapping[str, Mapping[str, Any]]
"""What NetCDF files say of columns: units, flag meanings."""


def write_table(
    table: Table,
    schema: Schema,
    added: Added,
    path: Path,
    sensors: Sensors | None = None,
    attributes: Attributes | None = None,
) -> None:
    """Write a table with columns added, in the format that the file's name asks for.

    A table that came with a column per sensor is written so: what is added is called
    after the sensor, ``north_std`` for ``{target}_std``. The file is replaced whole, or
    not at all.

    Parameters
    ----------
    table : Table
        As :func:`examine` or :func:`read_more` returned it.
    sensors, attributes : for NetCDF only
    """
    name = path.name.casefold()
    if not name.endswith(FORMATS):
        known = ", ".join(FORMATS)
        raise HalkError(f"--out must end in one of {known}, got {path.name}")
    with replacing(path) as file:
        if name.endswith(".parquet"):
            _write_parquet(table, schema, added, file)
        elif name.endswith(".nc"):
            file.write(_as_netcdf(table, schema, added, sensors, attributes or {}))
        elif name.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                _write_bytes(table, schema, added, packed)
        else:
            _write_bytes(table, schema, added, file)


def _write_bytes(table: Table, schema: Schema, added: Added, file: Any) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    write_csv(table, schema, added, text)
    text.flush()
    text.detach()


def write_csv(table: Table, schema: Schema, added: Added, file: TextIO) -> None:
    """Write a table as text: cells, what separates them, and decimals as they came."""
    came = table.origin or table
    pairs = with_added(table, schema, added)
    delimiter = came.delimiter if came.delimiter != " " else ","
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow([name for name, _ in pairs])
    if came.units and came.word != "cell":  # a row of units below the header
        writer.writerow([_unit(came, schema, name, cells) for name, cells in pairs])
    has_comma = schema.decimal == COMMA
    n_old = len(pairs) - len(added) * max(len(table.wide), 1)
    columns = [
        _texts(cells, has_comma, k < n_old) for k, (_, cells) in enumerate(pairs)
    ]
    writer.writerows(zip(*columns, strict=True))


def _unit(came: Table, schema: Schema, name: str, cells: Cells) -> str:
    is_new = name not in came.header and not isinstance(cells, Words)
    return came.units.get(name, schema.unit if is_new else "")


def with_added(table: Table, schema: Schema, added: Added) -> list[tuple[str, Cells]]:
    """Return the columns of a table as it came, and those that are added."""
    came, V = table.origin or table, len(table.wide)
    new: dict[str, Cells] = {}
    for name, values in added.items():
        if not table.wide:
            new[name] = _as_cells(values)
        for k, sensor in enumerate(table.wide):
            cells = _as_cells(values.reshape(-1, V)[:, k])
            new[f"{sensor}{name.removeprefix(schema.target)}"] = cells
    old = zip(came.header, came.columns, strict=True)
    return [*((name, cells) for name, cells in old if name not in new), *new.items()]


def _as_cells(values: NDArray[Any]) -> Cells:
    return values if values.dtype.kind in "fM" else to_words(values.tolist())


def _texts(column: Cells, has_comma: bool, is_old: bool) -> Iterator[str]:
    if isinstance(column, Words):
        return iter(plain(column).tolist())
    if column.dtype.kind == "M":
        whole = column.astype("datetime64[s]")
        cells = whole if (np.isnat(column) | (whole == column)).all() else column
        return ("" if np.isnat(cell) else str(cell) for cell in cells)
    digits = 12 if is_old else DIGITS
    made = ("" if v != v else f"{v:.{digits}g}" for v in column.tolist())
    return (text.replace(".", ",") for text in made) if has_comma else made


def _write_parquet(table: Table, schema: Schema, added: Added, file: BinaryIO) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'halk[io]'") from None
    pairs = with_added(table, schema, added)
    columns = {
        name or f"column_{k}": arrow.array(
            _typed(table, schema, name, cells), from_pandas=True
        )
        for k, (name, cells) in enumerate(pairs)
    }
    parquet.write_table(arrow.table(columns), file)


def _typed(table: Table, schema: Schema, name: str, cells: Cells) -> Any:
    """Return a column with its type: text becomes numbers and times again."""
    if not isinstance(cells, Words):
        return cells
    if name != schema.sensor:
        one = Table(table.path, (name,), [cells], range(len(cells.codes)))
        times = timed(one, name, schema.dates)
        if not times.is_wrong.any() and not times.is_empty.all():
            return to_datetimes(times.values)
        values = numeric(one, name, decimal=schema.decimal)
        if not values.is_wrong.any() and not values.is_empty.all():
            return values.values
    return [None if is_empty_word(text) else text for text in plain(cells).tolist()]


# NetCDF


def _as_netcdf(
    table: Table,
    schema: Schema,
    added: Added,
    sensors: Sensors | None,
    attributes: Attributes,
) -> bytes:
    """Return a NetCDF file: the one that was read and more, or one as CF has it."""
    xarray = xarray_module()
    if table.dimensions and Path(table.path).is_file():
        with xarray.open_dataset(table.path) as opened:
            dataset = opened.load()
        dims = tuple(table.dimensions)
    else:
        dataset, dims = _stations(table, schema, sensors), ("obs",)
    sizes = tuple(dataset.sizes[name] for name in dims)
    for name, values in added.items():
        said = dict(attributes.get(name, {}))
        if values.dtype.kind == "f" and schema.unit:
            said = {"units": schema.unit} | said
        dataset[name] = (dims, values.reshape(sizes), said)
    if schema.target in dataset:
        dataset[schema.target].attrs["ancillary_variables"] = " ".join(added)
    # HDF5 takes a slash in a name for a folder
    names = {name: str(name).replace("/", "_") for name in dataset.variables}
    return bytes(dataset.rename({k: v for k, v in names.items() if k != v}).to_netcdf())


def _stations(table: Table, schema: Schema, sensors: Sensors | None) -> Any:
    """Return readings as an indexed ragged array of stations."""
    found = find_labels(table, schema.sensor)
    names = found.names if sensors is None else list(sensors.names)
    number = {name: i for i, name in enumerate(names)}
    index = np.array([number.get(name, -1) for name in found.names])[found.codes]
    dataset = xarray_module().Dataset(
        {"station_index": ("obs", index, {"instance_dimension": "station"})},
        {schema.sensor: ("station", names, {"cf_role": "timeseries_id"})},
        {"Conventions": "CF-1.11", "featureType": "timeSeries"},
    )
    if sensors is not None and sensors.positions is not None:
        for k, name in enumerate(sensors.columns):
            dataset.coords[name] = ("station", sensors.positions[:, k])
    for one in schema.inputs:
        if one.kind == TIME:
            values = to_datetimes(timed(table, one.name, schema.dates).values)
        else:
            values = numeric(table, one.name, decimal=schema.decimal).values
        unit = {"units": one.unit} if one.unit and one.kind != TIME else {}
        dataset.coords[one.name] = ("obs", values, unit)
    if schema.target in table.header:
        values = numeric(table, schema.target, decimal=schema.decimal).values
        unit = {"units": schema.unit} if schema.unit else {}
        dataset[schema.target] = ("obs", values, unit)
    return dataset


# rows


def add_rows(
    table: Table, schema: Schema, sensors: Sequence[str], times: Vector
) -> Table:
    """Return a table with rows without a value, their times written as the others.

    Parameters
    ----------
    table : Table
        As :func:`examine` returned it.
    sensors : n names
        Whose rows they are. A table with a column per sensor gets the times for all.
    times : array (n,), in seconds since 1970

    Returns
    -------
    Table
        Its rows by time, or by sensor and time, if they were so before; else the new
        ones are the last.
    """
    (when,) = [one.name for one in schema.inputs if one.kind == TIME]
    came = table.origin or table
    if table.wide:
        times = np.unique(times)
    n = len(times)
    columns = {name: _none(cells, n) for name, cells in _named(came)}
    if not table.wide:
        columns[schema.sensor] = to_words(sensors)
    parts = table.parts.get(when, (when if when in came.header else "",))
    for name in parts:
        columns[name] = format_like(came.column(name), name, times, schema.dates)
    made = [
        _joined(cells, columns[name]) for name, cells in _named(came)
    ]  # row numbers of what is new are past the end
    last = max(came.numbers) + 1
    numbers = [*came.numbers, *range(last, last + n)]
    longer = replace(came, columns=made, numbers=numbers, said=())
    whose = np.zeros(came.n_rows, np.int64)
    if not table.wide:
        whose = find_labels(longer, schema.sensor).codes[: came.n_rows]
    reread = _shape_again(longer, table, schema)
    all_times = timed(reread, when, schema.dates).values[:: max(len(table.wide), 1)]
    order = _order(all_times, whose, came.n_rows, longer, table, schema)
    if order is not None:
        longer = replace(
            longer, columns=[_taken(cells, order) for cells in longer.columns]
        )
        reread = _shape_again(longer, table, schema)
    return reread


def _order(
    times: Vector, whose: NDArray[Any], n: int, longer: Table, table: Table,
    schema: Schema,
) -> NDArray[Any] | None:  # fmt: skip
    if (np.diff(times[:n]) >= 0).all():
        return np.argsort(times, kind="stable")
    all_of = find_labels(longer, schema.sensor).codes
    same = np.diff(whose) == 0
    if (np.diff(whose) >= 0).all() and (np.diff(times[:n])[same] >= 0).all():
        return np.lexsort([times, all_of])
    return None


def _shape_again(longer: Table, table: Table, schema: Schema) -> Table:
    inputs = [one.name for one in schema.inputs]
    asked = Asked(schema.sensor, schema.target, inputs, flags=schema.flags,
                  wide=bool(table.wide))  # fmt: skip
    return shape(longer, asked, table.wide, Findings())


def _named(table: Table) -> list[tuple[str, Cells]]:
    return list(zip(table.header, table.columns, strict=True))


def _none(cells: Cells, n: int) -> Cells:
    if isinstance(cells, Words):
        return to_words([""] * n)
    nothing: Any = np.nan if cells.dtype.kind == "f" else np.datetime64("NaT")
    return np.full(n, nothing, cells.dtype)


def _joined(cells: Cells, more: Cells) -> Cells:
    if isinstance(cells, Words) and isinstance(more, Words):
        known = {word: k for k, word in enumerate(cells.words)}
        codes = [known.setdefault(word, len(known)) for word in more.words]
        new = np.array(codes, np.int32)[more.codes]
        return Words(np.concatenate([cells.codes, new]), list(known))
    return np.concatenate([np.asarray(cells), np.asarray(more)])


def _taken(cells: Cells, order: NDArray[Any]) -> Cells:
    if isinstance(cells, Words):
        return Words(cells.codes[order], cells.words)
    taken: NDArray[Any] = cells[order]
    return taken
