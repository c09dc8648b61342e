"""From a table to a model of every sensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from halk._validation import choice, real, require
from halk.data.doctor import Examined, examine
from halk.data.edges import number_edges, read_edges
from halk.data.findings import WARNING
from halk.data.readings import Readings
from halk.data.schema import Asked
from halk.data.sensors import Sensors
from halk.data.suspicions import find_copies, sort_readings
from halk.data.times import PARTS
from halk.sensing.choices import Choices, Graph
from halk.sensing.encoding import Part, candidates
from halk.sensing.job import Job
from halk.sensing.model import SensorModel
from halk.sensing.options import OptionError, Options
from halk.sensing.problem import Problem
from halk.sensing.reasons import reasons_of
from halk.sensing.scales import spread_of
from halk.sensing.trials import Trial, Trials

Progress = Callable[[str, float], None]
"""Told what is done, and which share of it is."""

SEARCHED = 20
"""Readings below which there is nothing to search by."""

SHORT = 10_000
"""Readings of a table whose budget is the usual one if nothing is searched."""

_OWN = ("number", "log", "seconds", "place")
"""Kinds of inputs that a search begins with."""


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
    time: Sequence[str] | str | None = None,
    missing: Sequence[float | str] = (),
    skip_bad: bool = False,
    coverage: float = 0.9,
    quick: bool = False,
    options: Options | dict[str, Any] | None = None,
    progress: Progress = lambda what, share: None,
) -> SensorModel:
    """Learn a model of every sensor from a table of readings.

    Parameters
    ----------
    readings : path, "-", frame, xarray dataset or dict of columns
        One row a reading: which sensor, one or more inputs, a value. CSV, Parquet or
        NetCDF; pandas, polars or pyarrow. Readings without a value are gaps.
    sensors : the same, optional
        One row a sensor: its name, place (lat and lon, or x and y), other attributes.
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
    time : subset of ("seconds", "hour", "weekday", "day"), optional
        What becomes of times; by default what their span can tell of.
    missing : sequence of float or str
        Values and words that mean no reading, such as -999.
    skip_bad : bool
        Leave out rows that cannot be used, instead of refusing the table.
    coverage : float between 0 and 1
        Share of readings that intervals are to cover.
    quick : bool
        Do not search for better choices than the readings' scales suggest.
    options : Options or dict, optional
        Choices that are made already; see :class:`halk.sensing.Options`.
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
    made = options if isinstance(options, Options) else Options.from_dict(options or {})
    try:
        level = real("coverage", coverage)
        require(0 < level < 1, "coverage", "be between 0 and 1", coverage)
    except (TypeError, ValueError) as error:
        raise OptionError(str(error)) from None
    found = examine(readings, sensors, asked, missing, skip_bad)
    found.findings.refuse()
    return fitted(found, graph, made, _time_parts(time), level, quick, progress)


def fitted(
    found: Examined,
    graph: Any,
    options: Options,
    time_parts: tuple[str, ...] | None,
    coverage: float,
    quick: bool,
    progress: Progress,
) -> SensorModel:
    """Learn from a table that was examined."""
    schema, sensors, rows = found.schema, found.sensors, found.readings
    if schema is None or sensors is None or rows is None:
        raise ValueError("a table with errors cannot be learned")
    read = rows.with_values()
    read = sort_readings(read)
    is_new = ~find_copies(read)
    read = Readings(read.sensor[is_new], read.x[is_new], read.y[is_new])
    unit = 1.0 if options.scaling == "own" else spread_of(read.y)
    edges = _graph(graph, sensors, unit)
    problem = Problem(schema, sensors, edges, read.sensor, read.x, read.y)
    parts = candidates(schema, sensors, read.x, read.sensor, time_parts)
    begun = [part for part in parts if _begins(part, time_parts, quick)]
    start = Choices(tuple(begun))
    if quick:
        start = replace(start, budget=_quick_budget(len(read.y), start.budget))
    choices = options.applied(start, parts, problem.spread)
    try:
        problem.learner(choices)
    except ValueError as error:  # numbers that do not go together
        raise OptionError(str(error)) from None
    _refuse_lonely(options, sensors, edges)
    trials: list[Trial] = []
    job = Job(problem, coverage, options.budget is None, progress)
    if quick or len(read.y) < SEARCHED:
        model = job.learned(choices)
    else:
        tried = Trials(
            problem.sample(), options.fixed(parts) | _fixed_by(edges),
            lambda done, total, what: progress("choosing", done / total),
        )  # fmt: skip
        free = list(map(options.widened, parts)) if options.use is None else []
        model = job.best(choices, tried, free)
        trials = tried.made
    model.findings = found.findings
    if sensors.positions is None and edges is None and len(sensors.names) > 1:
        found.findings.add(
            WARNING, "apart",
            "sensors learn apart: nobody knows where they are",
            "give their places (--sensors) or who is whose neighbour (--graph)",
        )  # fmt: skip
    model.reasons = reasons_of(model.choices, trials, options, problem)
    return model


def _quick_budget(n_readings: int, usual: float) -> float:
    """Return a budget that does not search: the longer a table, the coarser."""
    return usual * float(np.clip(np.sqrt(n_readings / SHORT), 1.0, 10.0))


def _begins(part: Part, time_parts: tuple[str, ...] | None, quick: bool) -> bool:
    """Return whether a search begins with a part: cycles and attributes must earn it.

    What was asked for is there from the start. Where nothing is searched, so are the
    cycles of the sun.
    """
    if time_parts is not None:
        return part.kind in _OWN or part.kind in time_parts
    return part.kind in _OWN or (quick and part.kind in ("hour", "day"))


def _time_parts(time: Sequence[str] | str | None) -> tuple[str, ...] | None:
    if time is None:
        return None
    names = [time] if isinstance(time, str) else list(time)
    try:
        for name in names:
            choice("time", name, PARTS)
    except ValueError as error:
        raise OptionError(str(error)) from None
    return tuple(names)


def _graph(graph: Any, sensors: Sensors, spread: float) -> Graph | None:
    if graph is None:
        return None
    is_path = isinstance(graph, str) or hasattr(graph, "__fspath__")
    path = str(graph) if is_path else "graph"
    pairs, limits = number_edges(read_edges(graph), sensors.names, path)
    own = [np.nan if limit is None else limit / spread for limit in limits]
    return Graph(np.array(pairs, np.int64).reshape(-1, 2), np.array(own))


def _fixed_by(graph: Graph | None) -> frozenset[str]:
    """Return questions that a graph answers: its own tolerances need one unit."""
    has_own = graph is not None and not np.isnan(graph.tolerance).all()
    return frozenset({"scaling"} if has_own else ())


def _refuse_lonely(options: Options, sensors: Sensors, graph: Graph | None) -> None:
    wants = options.neighbours is not None or options.radius is not None
    if wants and (graph is not None or sensors.positions is None):
        why = "a graph was given" if graph is not None else "no places are known"
        raise OptionError(f"neighbours and radius need places of sensors, but {why}")
