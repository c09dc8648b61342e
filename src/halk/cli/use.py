"""``halk fill``, ``halk forecast`` and ``halk predict``: use a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Missing, Numbers, Quiet, Source, pair
from halk.cli.talk import (
    STDOUT,
    Bars,
    console,
    known,
    put_json,
    say,
    size_of,
    table,
    writable,
)
from halk.errors import HalkError

Out = Annotated[str, cyclopts.Parameter(alias="-o")]


def fill(
    model: Path,
    readings: Source,
    *,
    out: Out = STDOUT,
    every: str | None = None,
    max_gap: str | None = None,
    causal: Annotated[bool, Flag] = False,
    at: Numbers = (),
    missing: Missing = (),
    skip_bad: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
    quiet: Quiet = False,
) -> None:
    """Give a table back with estimates where values are missing.

    For each column of values these are added: VALUE_filled (the reading where there is
    one, else the estimate), VALUE_std, VALUE_low and VALUE_high, VALUE_method (reading,
    suspect, or what made the estimate) and VALUE_fqc: 0 reading; 1, 2, 3 estimate with
    a 90 % half-width below 0.5, below 1, above 1 standard deviation of the sensor.

    Parameters
    ----------
    model
        What halk fit made.
    readings
        A table like the first one; - for standard input. Without the column of the
        values every row is a gap.
    out
        A .csv, .csv.gz, .xlsx, .parquet or .nc file; - for standard output.
    every
        Add rows for timestamps that are absent, such as 1h.
    max_gap
        Leave gaps empty that are longer, such as 2d.
    causal
        Use only readings up to the time of each gap.
    at
        LAT,LON: what a station there would have read, wherever the table has a row.
    missing
        What means no reading, such as -999 or ERR, separated by commas.
    skip_bad
        Leave rows that cannot be used as they are.
    json
        Print a summary for machines, to standard error if the table goes to
        standard output.
    quiet
        Print nothing but errors.
    """
    from halk.sensors import SensorModel, fill_table

    if out != STDOUT:
        writable(Path(out), "--out")
    learner = SensorModel.load(model)
    options: dict[str, Any] = {
        "every": every, "max_gap": max_gap, "causal": causal,
        "at": pair("--at", at) if at else None, "missing": missing,
        "skip_bad": skip_bad,
    }  # fmt: skip
    try:
        with Bars(quiet or json or out == STDOUT) as bars:
            bars.tell("filling", 0.0)
            made = fill_table(learner, readings, **options)
    except ValueError as error:
        raise HalkError(str(error)) from None
    _put(made, out)
    if json:
        put_json(made.as_dict() | {"out": out}, to_error=out == STDOUT)
    elif not quiet and (out != STDOUT or sys.stderr.isatty()):
        _tell_fill(made, out)


def _put(made: Any, out: str) -> None:
    from halk.data import write_csv, write_table

    if out == STDOUT:
        write_csv(made.table, made.schema, made.columns, sys.stdout)
        return
    columns, attributes = made.columns, None
    if out.casefold().endswith(".nc"):
        columns, attributes = made.netcdf()
    write_table(made.table, made.schema, columns, Path(out), made.sensors, attributes)


def _tell_fill(made: Any, out: str) -> None:
    from halk.cli.findings import told
    from halk.data.findings import counted

    told(console(is_error=True), made.findings.sorted)
    n = made.as_dict()
    gaps = counted(n["gaps"], "gap")
    say(f"{n['filled']:,} of {gaps} filled, in {n['rows']:,} rows.")
    _, good, fair, poor = n["quality"]
    say(f"Quality: {good:,} good, {fair:,} fair, {poor:,} poor (column _fqc: 1, 2, 3).")
    if n["suspects"]:
        suspects = counted(n["suspects"], "reading")
        say(f"{suspects} suspect or stuck: left as they are, used for nothing.")
    if out != STDOUT:
        say(f"Saved: {out} ({size_of(Path(out))})")


def forecast(
    model: Path,
    *,
    ahead: str,
    every: str | None = None,
    out: Out = STDOUT,
    json: Annotated[bool, Flag] = False,
    quiet: Quiet = False,
) -> None:
    """Say what every sensor is expected to read, with simple guesses beside it.

    Persistence is the last reading, climatology the mean of that hour of the day (and
    of that season, where readings cover more than a year). All are tried on the last
    part of the readings; so far ahead as one of them is best, its value is taken.

    Parameters
    ----------
    model
        What halk fit made.
    ahead
        How far, such as 24h or 7d.
    every
        At which steps, such as 1h; by default the table's own.
    out
        A .csv, .csv.gz, .xlsx, .parquet or .nc file; - for standard output.
    json
        Print errors and forecasts for machines.
    quiet
        Print nothing but errors.
    """
    from halk.sensors import SensorModel
    from halk.sensors.forecast import as_dict, table_of

    if out != STDOUT:
        writable(Path(out), "--out")
    learner = SensorModel.load(model)
    try:
        with Bars(quiet or json) as bars:
            bars.tell("trying", 0.0)
            made = learner.forecast(ahead, every)
    except ValueError as error:
        raise HalkError(str(error)) from None
    if json:
        put_json(as_dict(learner, made))
        return
    from halk.data import write_csv, write_table

    rows, added = table_of(learner, made)
    if out == STDOUT:
        write_csv(rows, learner.schema, added, sys.stdout)
    else:
        write_table(rows, learner.schema, added, Path(out), learner.sensors)
    if not quiet and (out != STDOUT or sys.stderr.isatty()):
        _tell_forecast(learner, made)
        if out != STDOUT:
            say(f"Saved: {out} ({size_of(Path(out))})")


def _tell_forecast(learner: Any, made: Any) -> None:
    from halk.cli.words import number
    from halk.data.times import format_duration

    unit = f", {learner.schema.unit}" if learner.schema.unit else ""
    names = list(made.errors)
    rows = [
        [f"up to {format_duration(end)}", *(number(made.errors[n][k]) for n in names)]
        for k, end in enumerate(made.ahead.tolist())
    ]
    title = f"Errors so far ahead{unit}, from {made.n_origins} times in the last part"
    columns = ["ahead", *(f">{name}" for name in names)]
    console(is_error=True).print(table(title, columns, rows))


def predict(
    model: Path,
    *,
    sensor: str,
    at: list[str],
    causal: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Say what a sensor would read.

    Parameters
    ----------
    model
        What halk fit made.
    sensor
        Its name.
    at
        An input and its value, or several separated by commas; once for each input.
    causal
        Use only readings up to the time of the point.
    json
        Print the result for machines.
    """
    from halk.sensors import SensorModel

    learner = SensorModel.load(model)
    points = dict(_input(text) for text in at)
    if len(points) < len(at):
        raise HalkError("--at must name each input once; separate values by commas")
    try:
        found = learner.predict(sensor, points, causal=causal)
    except ValueError as error:
        raise HalkError(str(error)) from None
    n = len(found.value)
    full = {name: values * n if len(values) == 1 else values
            for name, values in points.items()}  # fmt: skip
    rows = [
        {name: values[k] for name, values in full.items()}
        | {"value": known(found.value[k]), "std": known(found.std[k]),
           "low": known(found.low[k]), "high": known(found.high[k])}
        for k in range(n)
    ]  # fmt: skip
    schema, coverage = learner.schema, learner.coverage
    if json:
        beyond = found.is_extrapolated.tolist()
        put_json(
            {"sensor": sensor, "target": schema.target, "unit": schema.unit,
             "coverage": coverage, "method": learner.comparison.chosen,
             "predictions": [row | {"is_extrapolated": is_beyond}
                             for row, is_beyond in zip(rows, beyond, strict=True)]}
        )  # fmt: skip
        return
    shown = [["-" if v is None else _text(v) for v in row.values()] for row in rows]
    unit = f", {schema.unit}" if schema.unit else ""
    columns = [*full, f">{schema.target}{unit}", ">std", ">low", ">high"]
    title = f"Sensor {sensor}, with {coverage:.0%} intervals"
    console().print(table(title, columns, shown))
    if found.is_extrapolated.any():
        say("halk: outside all that was ever read: trust it little")


def _input(text: str) -> tuple[str, list[str]]:
    name, mark, values = text.partition("=")
    if not mark or not values:
        raise HalkError(f"--at must be INPUT=VALUE, got {text}")
    return name.strip(), [value.strip() for value in values.split(",")]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
