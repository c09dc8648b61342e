"""``halk inspect`` and ``halk doctor``: look at a model, and at a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Source, Table
from halk.cli.talk import console, put_json, say
from halk.errors import HalkError

SHOWN = 12
"""Sensors, and pairs of them, that are shown."""


def inspect(
    model: Path,
    *,
    out: Annotated[Path | None, cyclopts.Parameter(alias="-o")] = None,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Show what a model learned: errors, choices, who disagrees, and a report to open.

    Parameters
    ----------
    model
        What halk fit made.
    out
        The report: one page that needs nothing but itself. By default beside the
        model, with a name that ends in -report.html.
    json
        Print everything for machines, and make no report.
    """
    from halk.sensing import SensorModel, summary

    learner = SensorModel.load(model)
    if json:
        put_json(summary.as_dict(learner))
        return
    from halk.cli.words import chosen, learned
    from halk.report import write
    from halk.sensing.page import page

    screen = console()
    screen.print(chosen(learner))
    learned(screen, learner, SHOWN)
    path = out or model.with_name(f"{model.stem}-report.html")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(page(learner, str(model)), path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HalkError(f"--out cannot be written, {path}: {reason}") from None
    screen.print(f"Map, profiles and multipliers: {path}", markup=False)


def doctor(
    readings: Source,
    *,
    sensors: Path | None = None,
    table: Table = Table(),  # noqa: B008
    json: Annotated[bool, Flag] = False,
) -> None:
    """Say what is wrong with a table of readings, before any learning.

    The exit code is 1 if there are errors, with which halk fit refuses the table.

    Parameters
    ----------
    readings
        CSV, Excel, Parquet or NetCDF, with a row per reading or a column per sensor;
        - for standard input.
    sensors
        A table of the sensors.
    json
        Print the findings for machines.
    """
    from halk.data import Asked, examine
    from halk.data.findings import counted

    asked = Asked(**table.answers())
    found = examine(readings, sensors, asked, table.missing, table.skip_bad)
    findings, read = found.findings.sorted, found.readings
    n_errors = len(found.findings.of("error"))
    if json:
        put_json(
            {
                "is_usable": n_errors == 0,
                "schema": None if found.schema is None else found.schema.as_dict(),
                "sensors": None if found.sensors is None else len(found.sensors.names),
                "readings": None if read is None else int(read.is_reading.sum()),
                "gaps": None if read is None else int(read.is_gap.sum()),
                "findings": [finding.as_dict() for finding in findings],
            }
        )  # fmt: skip
    else:
        screen = console()
        if found.schema is not None and read is not None:
            schema = found.schema
            inputs = ", ".join(f"{one.name} ({one.kind})" for one in schema.inputs)
            n_readings = int(read.is_reading.sum())
            n_sensors = 0 if found.sensors is None else len(found.sensors.names)
            screen.print(
                f"{counted(n_readings, 'reading')} of {counted(n_sensors, 'sensor')}: "
                f"{schema.target}{f' in {schema.unit}' if schema.unit else ''}, by "
                f"{inputs}",
                markup=False,
            )
        from halk.cli.findings import told

        told(screen, findings)
        if not findings:
            screen.print("Nothing is wrong.")
    if n_errors:
        if not json:
            say(f"halk: {counted(n_errors, 'error')}; halk fit would refuse this table")
        raise SystemExit(1)
