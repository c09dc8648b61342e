"""One entry for every file of readings."""

from pathlib import Path
from typing import Any

from halk.streams.atlas import read_atlas
from halk.streams.atlas_csv import is_atlas_csv
from halk.streams.atlas_netcdf import is_netcdf
from halk.streams.field import Field
from halk.streams.files import PathLike, opened
from halk.streams.table import read_ocean_table

__all__ = ["read"]


def read(
    path: PathLike,
    variable: str | None = None,
    season: str | None = None,
    **options: Any,
) -> Field:
    """Read readings from a file, whatever it is, or from a folder.

    Parameters
    ----------
    path : path
        Decided by content: a tidy table (:func:`read_table`) in CSV or Parquet, or the
        World Ocean Atlas (:func:`read_atlas`) in CSV or NetCDF or a folder of it.
    variable : str, optional
        What was measured. In a table, the column called so, unless ``target`` is given.
    season : str, optional
        In a table with columns for several, "annual" by default; in the atlas, as the
        file's name says.
    **options
        Those of :func:`read_table` or :func:`read_atlas`.

    Raises
    ------
    DataError
        If the file cannot be used.
    """
    if Path(path).is_dir():
        return read_atlas(path, variable, season=season, **options)
    source = opened(path)
    is_parquet = source.data.startswith(b"PAR1")
    if is_netcdf(source.data) or (not is_parquet and is_atlas_csv(source.text())):
        return read_atlas(path, variable, season=season, **options)
    return read_ocean_table(path, variable, season or "annual", **options)
