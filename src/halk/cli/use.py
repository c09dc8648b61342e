"""``halk fill`` and ``halk predict``: use a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Missing, Source
from halk.cli.talk import (
    STDOUT,
    console,
    known,
    put_json,
    say,
    size_of,
    table,
    writable,
)
from halk.errors import HalkError


def fill(
    model: Path,
    readings: Source,
    *,
    out: Annotated[str, cyclopts.Parameter(alias="-o")] = STDOUT,
    everywhere: Annotated[bool, Flag] = False,
    missing: Missing = (),
    skip_bad: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
    quiet: Annotated[
        bool, cyclopts.Parameter(alias="-q", negative="", show_default=False)
    ] = False,
) -> None:
    """Give a table back with a prediction and an interval where values are missing.

    Three columns are added: VALUE_predicted, VALUE_low and VALUE_high. Where nothing
    near a point was learned there is a prediction, but no interval.

    Parameters
    ----------
    model
        What halk fit made.
    readings
        A table like the first one; - for standard input. Without the column of the
        values every row is predicted.
    out
        A .csv, .csv.gz, .parquet or .nc file; - for standard output.
    everywhere
        Predict at every row, also where there is a value.
    missing
        What means no reading, such as -999 or ERR, separated by commas.
    skip_bad
        Leave rows that cannot be used without a prediction.
    json
        Print a summary for machines, to standard error if the table goes to
        standard output.
    quiet
        Print nothing but errors.
    """
    from halk.data import write_csv, write_table
    from halk.sensing import SensorModel, filled

    if out != STDOUT:
        writable(Path(out), "--out")
    learner = SensorModel.load(model)
    made = filled(
        learner, readings, everywhere=everywhere, missing=missing, skip_bad=skip_bad
    )
    schema = learner.schema
    added = made.columns(schema.target)
    if out == STDOUT:
        write_csv(made.table, schema, added, sys.stdout)
    else:
        write_table(made.table, schema, added, Path(out), learner.sensors)
    if json:
        put_json(_counts(made) | {"out": out}, to_error=out == STDOUT)
    elif not quiet and (out != STDOUT or sys.stderr.isatty()):
        _tell(made, out)


def _counts(made: Any) -> dict[str, int]:
    n_predicted = int((made.value == made.value).sum())
    return {
        "rows": len(made.value), "gaps": int(made.is_gap.sum()),
        "filled": made.n_filled, "predicted": n_predicted,
        "without_interval": made.n_far,
    }  # fmt: skip


def _tell(made: Any, out: str) -> None:
    from halk.cli.findings import told
    from halk.data.findings import counted

    told(console(is_error=True), made.findings.sorted)
    n = _counts(made)
    say(f"{n['filled']} of {counted(n['gaps'], 'gap')} filled, in {n['rows']} rows.")
    if n["without_interval"]:
        far = counted(n["without_interval"], "prediction")
        say(f"{far} without an interval: nothing near was learned, or too few.")
    if out != STDOUT:
        say(f"Saved: {out} ({size_of(Path(out))})")


def predict(
    model: Path,
    *,
    sensor: str,
    at: list[str],
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
    json
        Print the result for machines.
    """
    from halk.sensing import SensorModel

    learner = SensorModel.load(model)
    points = dict(_pair(text) for text in at)
    if len(points) < len(at):
        raise HalkError("--at must name each input once; separate values by commas")
    try:
        found = learner.predict(sensor, points)
    except ValueError as error:
        raise HalkError(str(error)) from None
    n = len(found.value)
    full = {name: values * n if len(values) == 1 else values
            for name, values in points.items()}  # fmt: skip
    rows = [
        {name: values[k] for name, values in full.items()}
        | {"value": known(found.value[k]), "low": known(found.low[k]),
           "high": known(found.high[k])}
        for k in range(n)
    ]  # fmt: skip
    schema, coverage = learner.schema, learner.intervals.coverage
    if json:
        put_json(
            {"sensor": sensor, "target": schema.target, "unit": schema.unit,
             "coverage": coverage, "predictions": rows}
        )  # fmt: skip
        return
    shown = [["-" if v is None else _text(v) for v in row.values()] for row in rows]
    unit = f", {schema.unit}" if schema.unit else ""
    columns = [*full, f">{schema.target}{unit}", ">low", ">high"]
    title = f"Sensor {sensor}, with {coverage:.0%} intervals"
    console().print(table(title, columns, shown))
    if any(row["low"] is None for row in rows):
        say("No interval: nothing near was learned, or too few readings were judged.")


def _pair(text: str) -> tuple[str, list[str]]:
    name, mark, values = text.partition("=")
    if not mark or not values:
        raise HalkError(f"--at must be INPUT=VALUE, got {text}")
    return name.strip(), [value.strip() for value in values.split(",")]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
