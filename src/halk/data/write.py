"""Tables with columns or rows added, in the layout in which they came."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from halk._atomic import replacing
from halk._validation import Vector
from halk.data.excel import write_excel
from halk.data.findings import Findings
from halk.data.readings import read_times
from halk.data.schema import NUMBER, TIME, Input, Schema
from halk.data.sensors import Sensors
from halk.data.shape import shape
from halk.data.sources import import_extra
from halk.data.table import (
    COMMA,
    Cells,
    Table,
    Words,
    concatenate,
    find_labels,
    is_empty_word,
    plain,
    read_numbers,
    take_rows,
    to_cells,
    to_words,
)
from halk.data.times import format_like, to_datetimes
from halk.errors import HalkError

DIGITS = 6
"""Significant digits of added numbers in text."""

FORMATS = (".csv", ".csv.gz", ".xlsx", ".parquet", ".nc")

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
        if name.endswith(".xlsx"):
            pairs = with_added(table, schema, added)
            cells = [_typed(table, schema, *pair) for pair in pairs]
            write_excel([name for name, _ in pairs], cells, file)
        elif name.endswith(".parquet"):
            _write_parquet(table, schema, added, file)
        elif name.endswith(".nc"):
            file.write(_to_netcdf(table, schema, added, sensors, attributes or {}))
        else:
            is_packed = name.endswith(".gz")
            out: Any = gzip.GzipFile("", "wb", 9, file, 0) if is_packed else file
            text = io.TextIOWrapper(out, encoding="utf-8", newline="")
            write_csv(table, schema, added, text)
            text.detach()
            if is_packed:
                out.close()


def write_csv(table: Table, schema: Schema, added: Added, file: TextIO) -> None:
    """Write a table as text: cells, what separates them, and decimals as they came."""
    came = table.origin or table
    delimiter = came.delimiter if came.delimiter != " " else ","
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    pairs = with_added(table, schema, added)
    writer.writerow([name for name, _ in pairs])
    if came.units and came.word != "cell":  # a row of units below the header
        new = {n for n, cells in pairs if not isinstance(cells, Words)} - {*came.header}
        units = dict.fromkeys(new, schema.unit) | dict(came.units)
        writer.writerow([units.get(name, "") for name, _ in pairs])
    has_comma = schema.decimal == COMMA
    n_old = len(pairs) - len(added) * max(len(table.wide), 1)
    texts = [_texts(cells, has_comma, k < n_old) for k, (_, cells) in enumerate(pairs)]
    writer.writerows(zip(*texts, strict=True))


def with_added(table: Table, schema: Schema, added: Added) -> list[tuple[str, Cells]]:
    """Return the columns of a table as it came, and those that are added."""
    came, new = table.origin or table, {}
    for name, values in added.items():
        if not table.wide:
            new[name] = to_cells(values)
        for k, sensor in enumerate(table.wide):
            cells = to_cells(values.reshape(-1, len(table.wide))[:, k])
            new[f"{sensor}{name.removeprefix(schema.target)}"] = cells
    old = zip(came.header, came.columns, strict=True)
    return [*((name, cells) for name, cells in old if name not in new), *new.items()]


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
    arrow = import_extra("pyarrow", "Parquet", "io")
    parquet = import_extra("pyarrow.parquet", "Parquet", "io")
    columns = {
        name or f"column_{k}": arrow.array(
            _typed(table, schema, name, cells), from_pandas=True
        )
        for k, (name, cells) in enumerate(with_added(table, schema, added))
    }
    parquet.write_table(arrow.table(columns), file)


def _typed(table: Table, schema: Schema, name: str, cells: Cells) -> Any:
    """Return a column with its type: text becomes numbers and times again."""
    if not isinstance(cells, Words):
        return cells
    if name != schema.sensor:
        one = Table(table.path, (name,), [cells], range(len(cells.codes)))
        times = read_times(one, name, schema.dates)
        for made in (times, read_numbers(one, name, decimal=schema.decimal)):
            if not made.is_wrong.any() and not made.is_empty.all():
                return to_datetimes(made.values) if made.is_time else made.values
    return [None if is_empty_word(text) else text for text in plain(cells).tolist()]


# NetCDF


def _to_netcdf(
    table: Table,
    schema: Schema,
    added: Added,
    sensors: Sensors | None,
    attributes: Attributes,
) -> bytes:
    """Return a NetCDF file: the one that was read and more, or one as CF has it."""
    if table.dimensions and Path(table.path).is_file():
        dataset = import_extra("xarray", "NetCDF", "grids").load_dataset(table.path)
        dims = tuple(table.dimensions)
    else:
        dataset, dims = _stations(table, schema, sensors), ("obs",)
    sizes = tuple(dataset.sizes[name] for name in dims)
    for name, values in added.items():
        own = dict(attributes.get(name, {}))
        if values.dtype.kind == "f" and schema.unit:
            own = {"units": schema.unit} | own
        dataset[name] = (dims, values.reshape(sizes), own)
    if schema.target in dataset:
        dataset[schema.target].attrs["ancillary_variables"] = " ".join(added)
    # HDF5 takes a slash in a name for a folder
    names = {n: str(n).replace("/", "_") for n in dataset.variables if "/" in str(n)}
    return bytes(dataset.rename(names).to_netcdf())


def _stations(table: Table, schema: Schema, sensors: Sensors | None) -> Any:
    """Return readings as an indexed ragged array of stations."""
    found = find_labels(table, schema.sensor)
    names = found.names if sensors is None else list(sensors.names)
    number = {name: i for i, name in enumerate(names)}
    index = np.array([number.get(name, -1) for name in found.names])[found.codes]
    dataset = import_extra("xarray", "NetCDF", "grids").Dataset(
        {"station_index": ("obs", index, {"instance_dimension": "station"})},
        {schema.sensor: ("station", names, {"cf_role": "timeseries_id"})},
        {"Conventions": "CF-1.11", "featureType": "timeSeries"},
    )
    if sensors is not None and sensors.positions is not None:
        for name, places in zip(sensors.columns, sensors.positions.T, strict=True):
            dataset.coords[name] = ("station", places)
    columns = [*schema.inputs]
    if schema.target in table.header:
        columns.append(Input(schema.target, NUMBER, schema.unit))
    for name, kind, unit in map(astuple, columns):
        if kind == TIME:
            values = to_datetimes(read_times(table, name, schema.dates).values)
        else:
            values = read_numbers(table, name, decimal=schema.decimal).values
        has_unit = unit and kind != TIME
        dataset[name] = ("obs", values, {"units": unit} if has_unit else {})
    return dataset.set_coords([one.name for one in schema.inputs])


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
    came, V = table.origin or table, max(len(table.wide), 1)
    times = np.unique(times) if table.wide else times
    n, n_old = len(times), came.n_rows
    columns = dict(zip(came.header, came.columns, strict=True))
    new: dict[str, Cells] = {}
    if not table.wide:
        new[schema.sensor] = to_words(sensors)
    for name in table.parts.get(when, (when if when in columns else "",)):
        new[name] = format_like(columns[name], name, times, schema.dates)
    # numbers of rows that are new are past the end
    last = max(came.numbers) + 1
    made = [
        concatenate([cells, new.get(name, _empty(cells, n))])
        for name, cells in zip(came.header, came.columns, strict=True)
    ]
    numbers = [*came.numbers, *range(last, last + n)]
    longer = replace(came, columns=made, numbers=numbers, notes=())
    asked = schema.as_asked(bool(table.wide))
    shaped = shape(longer, asked, table.wide, Findings())
    at = read_times(shaped, when, schema.dates).values[::V]
    whose = np.zeros(n_old + n, np.int64)
    if not table.wide and (np.diff(at[:n_old]) < 0).any():
        whose = find_labels(longer, schema.sensor).codes
    order = np.lexsort([at, whose])
    if (np.diff(order[order < n_old]) < 0).any():
        return shaped  # they were in no order
    longer = replace(longer, columns=[take_rows(c, order) for c in longer.columns])
    return shape(longer, asked, table.wide, Findings())


def _empty(cells: Cells, n: int) -> Cells:
    if isinstance(cells, Words):
        return to_words([""] * n)
    nothing: Any = np.nan if cells.dtype.kind == "f" else np.datetime64("NaT")
    return np.full(n, nothing, cells.dtype)
