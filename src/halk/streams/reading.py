"""One entry for every file of readings."""

from pathlib import Path
from typing import Any

from halk._validation import integer
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
    n_agents: int | None = None,
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
    n_agents : int, optional
        How many sensors: out of the atlas 50 by default, out of a table all. Fewer are
        the first ones.
    **options
        Those of :func:`read_table` or :func:`read_atlas`.

    Raises
    ------
    DataError
        If the file cannot be used.
    """
    if n_agents is not None:
        integer("n_agents", n_agents, minimum=2)
    if Path(path).is_dir():
        return _atlas(path, variable, season, n_agents, options)
    source = opened(path)
    is_parquet = source.data.startswith(b"PAR1")
    if is_netcdf(source.data) or (not is_parquet and is_atlas_csv(source.text())):
        return _atlas(path, variable, season, n_agents, options)
    field = read_ocean_table(path, variable, season or "annual", **options)
    if n_agents is None or n_agents >= field.n_agents:
        return field
    return field.chosen(range(n_agents))


def _atlas(
    path: PathLike,
    variable: str | None,
    season: str | None,
    n_agents: int | None,
    options: dict[str, Any],
) -> Field:
    if n_agents is not None:
        options = options | {"n_agents": n_agents}
    return read_atlas(path, variable, season=season, **options)
