"""From a table to a model of every sensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halk._validation import integer, real, require
from halk.data.doctor import Examined, examine
from halk.data.edges import number_edges, read_edges
from halk.data.readings import Readings
from halk.data.schema import Asked
from halk.data.sensors import Sensors
from halk.data.suspicions import find_copies, sort_readings
from halk.errors import DataError
from halk.sensors.choose import choose
from halk.sensors.method import Graph, Site
from halk.sensors.model import SensorModel

Progress = Callable[[str, float], None]
"""Told what is done, and which share of it is."""

NAMES = {"idw": "inverse distance", "mean": "sensor mean"}
"""Short names of methods; of others the name, or how it begins."""


def fit(
    readings: Any,
    sensors: Any = None,
    graph: Any = None,
    *,
    sensor: str | None = None,
    target: str | None = None,
    inputs: Sequence[str] | str | None = None,
    unit: str | None = None,
    wide: bool | None = None,
    dates: str = "",
    decimal: str = "",
    flags: str = "",
    good: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    missing: Sequence[float | str] = (),
    skip_bad: bool = False,
    method: str | None = None,
    features: Sequence[str] | str | None = None,
    together: bool | None = None,
    neighbours: int | None = None,
    coverage: float = 0.9,
    quick: bool = False,
    seed: int = 0,
    progress: Progress = lambda what, share: None,
) -> SensorModel:
    """Learn a model of every sensor from a table of readings.

    Several methods fill artificial gaps like those of the table; the best one learns
    all readings.

    Parameters
    ----------
    readings : path, "-", frame, xarray dataset or dict of columns
        A row per reading (which sensor, one or more inputs, a value) or a column per
        sensor. CSV, Excel, Parquet or NetCDF; pandas, polars or pyarrow. Readings
        without a value are gaps.
    sensors : the same, optional
        A row per sensor: its name, place (lat and lon, or x and y), other attributes.
    graph : path, frame or pairs of names, optional
        Who is whose neighbour, instead of the nearest: an edge list or GraphML.
    sensor, target : str, optional
        Columns of the sensors' names and of the values, if their names do not tell.
    inputs : str or sequence of str, optional
        Columns that values depend on; by default times, depths and the like.
    unit : str, optional
        Of the values; by default what the column's name ends in.
    wide : bool, optional
        Whether there is a column per sensor, or a row per reading, if it is not clear.
    dates : {"dmy", "mdy"}, optional
        What 1/2/2024 is, if no date tells.
    decimal : {"comma", "point"}, optional
        What 1,234 is, if no number tells.
    flags : str, optional
        Column of quality flags; of a wide table, what the names of such columns end in.
    good : sequence of str, optional
        The flags of readings to be used.
    limits : two floats, optional
        Readings outside are none.
    missing : sequence of float or str
        Values and words that mean no reading, such as -999.
    skip_bad : bool
        Leave out rows that cannot be used, instead of refusing the table.
    method : str, optional
        Insist on one: "neighbours", "field", "kriging", "idw", "linear" or "mean".
    features : str or sequence of str, optional
        Inputs of the field model, by name: columns, "place", attributes of sensors; by
        default all.
    together : bool, optional
        Of the field model: whether sensors learn together or are independent.
    neighbours : int, optional
        How many nearest sensors each hears.
    coverage : float between 0 and 1
        Share of readings that intervals are to cover.
    quick : bool
        Compare nothing: take the method that suits the structure of the table.
    seed : int
        Of everything that is drawn at random.
    progress : function, optional
        Called with what is done and the share of it that is.

    Returns
    -------
    SensorModel

    Raises
    ------
    DataError
        If the table cannot be used: what is wrong, where, and what to do.

    Examples
    --------
    >>> import numpy as np, halk
    >>> rng = np.random.default_rng(0)
    >>> depth, buoy = rng.uniform(0, 100, 300), rng.integers(3, size=300)
    >>> model = halk.fit(
    ...     {"buoy": buoy, "depth_m": depth, "t_C": 20 + buoy - depth / 10},
    ...     {"buoy": [0, 1, 2], "lat": [25, 26, 27], "lon": [-90, -90, -90]},
    ...     quick=True,
    ... )
    >>> model.predict("1", {"depth_m": 50}).value.round()
    array([16.])
    """
    names = [inputs] if isinstance(inputs, str) else inputs
    asked = Asked(
        sensor, target, names, unit, wide, dates, decimal, flags, tuple(good), limits
    )
    _check(coverage, neighbours, seed)
    found = examine(readings, sensors, asked, missing, skip_bad)
    found.findings.refuse()
    used = [features] if isinstance(features, str) else features
    return fit_examined(
        found, graph, method=method, features=used, together=together,
        neighbours=neighbours, coverage=coverage, quick=quick, seed=seed,
        progress=progress,
    )  # fmt: skip


def _check(coverage: float, neighbours: int | None, seed: int) -> None:
    level = real("coverage", coverage)
    require(0 < level < 1, "coverage", "be between 0 and 1", coverage)
    integer("seed", seed)
    if neighbours is not None:
        integer("neighbours", neighbours, minimum=1)


def fit_examined(
    found: Examined,
    graph: Any = None,
    *,
    method: str | None = None,
    coverage: float = 0.9,
    seed: int = 0,
    progress: Progress = lambda what, share: None,
    **options: Any,
) -> SensorModel:
    """Return a model of a table that was examined; see :func:`fit`."""
    schema, sensors, rows = found.schema, found.sensors, found.readings
    if schema is None or sensors is None or rows is None:
        raise ValueError("a table with errors cannot be learned")
    read = sort_readings(rows.with_values())
    is_new = ~find_copies(read)
    read = Readings(read.sensor[is_new], read.x[is_new], read.y[is_new])
    std = float(read.y.std()) or 1.0
    site = Site(schema, sensors, _graph(graph, sensors, std), seed)
    comparison = choose(
        site, rows, method=NAMES.get(method or "", method), coverage=coverage,
        progress=progress, **options,
    )  # fmt: skip
    made = comparison.make(site)
    progress(f"fitting {made.name}", 0.0)
    made.fit(read)
    progress(f"fitting {made.name}", 1.0)
    model = SensorModel(site, comparison, made, read, coverage)
    model.findings = found.findings
    return model


def _graph(graph: Any, sensors: Sensors, std: float) -> Graph | None:
    """Return pairs of neighbours by number, tolerances in stds of the readings."""
    if graph is None:
        return None
    is_path = isinstance(graph, str) or hasattr(graph, "__fspath__")
    path = str(graph) if is_path else "graph"
    pairs, limits = number_edges(read_edges(graph), sensors.names, path)
    if not pairs:
        raise DataError(f"{path}: a graph must have edges, got none")
    own = [np.nan if limit is None else limit / std for limit in limits]
    return Graph(np.array(pairs, np.int64), np.array(own))
