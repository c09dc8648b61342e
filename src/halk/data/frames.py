"""Frames of pandas, polars, pyarrow and others in, and the same kind out again."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk.streams.errors import DataError
from halk.streams.rows import Table


def _narwhals() -> Any:
    try:
        return import_module("narwhals.stable.v2")
    except ImportError:
        raise ImportError("frames need narwhals: pip install 'halk[io]'") from None


def is_frame(source: Any) -> bool:
    """Return whether something is a frame of a known library; imports none."""
    module = type(source).__module__.partition(".")[0]
    return module in {"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"}


def from_frame(frame: Any, name: str) -> Table:
    """Return a frame as a table; its rows are numbered from 0, as frames do."""
    nw = _narwhals()
    try:
        native = nw.from_native(frame)
        native = native.collect() if isinstance(native, nw.LazyFrame) else native
    except TypeError as error:
        raise DataError(f"{name} must be a frame, got: {error}") from None
    header = tuple(str(column) for column in native.columns)
    columns = [_cells(nw, native.get_column(column)) for column in native.columns]
    return Table(name, header, columns, list(range(len(native))), "row", "")


def _cells(nw: Any, column: Any) -> Any:
    """Return a column: numbers and times as arrays, all else as a list of cells."""
    if column.dtype.is_numeric():
        values = column.cast(nw.Float64).to_numpy()
        return np.array(values, dtype=np.float64)
    if column.dtype == nw.Datetime:
        if column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return np.array(column.to_numpy()).astype("datetime64[us]")
    if column.dtype == nw.Categorical or column.dtype == nw.Enum:
        column = column.cast(nw.String)
    return ["" if cell is None or cell != cell else cell for cell in column.to_list()]


def like(frame: Any, columns: dict[str, Any]) -> Any:
    """Return ``frame`` with columns added or replaced, of the same library."""
    nw = _narwhals()
    native = nw.from_native(frame)
    native = native.collect() if isinstance(native, nw.LazyFrame) else native
    space = nw.get_native_namespace(native)
    added = [
        nw.new_series(name, _plain(values), backend=space)
        for name, values in columns.items()
    ]
    if hasattr(frame, "index"):  # pandas lines series up by their index
        added = [
            nw.from_native(nw.to_native(series).set_axis(frame.index), series_only=True)
            for series in added
        ]
    return nw.to_native(native.with_columns(*added))


def _plain(values: Any) -> Any:
    array: NDArray[Any] = np.asarray(values)
    return array if array.dtype.kind in "fiub" else array.tolist()
