"""``halk inspect``, ``halk doctor`` and ``halk demo``: look at models and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Source, Table
from halk.cli.talk import console, put_json, say, writable
from halk.errors import HalkError


def inspect(
    model: Path,
    *,
    out: Annotated[Path | None, cyclopts.Parameter(alias="-o")] = None,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Show what a model learned: methods side by side, sensors by error, suspects.

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
    from halk.sensors import SensorModel, summary

    learner = SensorModel.load(model)
    if json:
        put_json(summary.as_dict(learner))
        return
    from halk.cli.words import show_model

    screen = console()
    show_model(screen, learner)
    path = out or model.with_name(f"{model.stem}-report.html")
    writable(path, "--out")
    learner.report(path)
    screen.print(f"Map, curves and all sensors: {path}", markup=False)


def doctor(
    readings: Source,
    *,
    sensors: Path | None = None,
    model: Path | None = None,
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
    model
        What halk fit made of this network: judge the readings by it.
    json
        Print the findings for machines.
    """
    from halk.data import Asked, examine
    from halk.data.findings import counted

    if model is None:
        asked = Asked(**table.answers())
        found = examine(readings, sensors, asked, table.missing, table.skip_bad)
    else:
        from halk.sensors import SensorModel
        from halk.sensors.judge import judge

        learner = SensorModel.load(model)
        found = judge(learner, readings, sensors, table.missing, table.skip_bad)
    findings = found.findings.sorted
    n_errors = len(found.findings.of("error"))
    if json:
        put_json(_as_dict(found, n_errors))
    else:
        _tell(found)
    if n_errors:
        if not json:
            say(f"halk: {counted(n_errors, 'error')}; halk fit would refuse this table")
        raise SystemExit(1)
    if not json and not findings:
        console().print("Nothing is wrong.")


def _as_dict(found: Any, n_errors: int) -> dict[str, Any]:
    read = found.readings
    return {
        "is_usable": n_errors == 0,
        "schema": None if found.schema is None else found.schema.as_dict(),
        "sensors": None if found.sensors is None else len(found.sensors.names),
        "readings": None if read is None else int(read.is_reading.sum()),
        "gaps": None if read is None else int(read.is_gap.sum()),
        "findings": [finding.as_dict() for finding in found.findings.sorted],
    }


def _tell(found: Any) -> None:
    from halk.cli.findings import told
    from halk.data.findings import counted

    screen, schema, read = console(), found.schema, found.readings
    if schema is not None and read is not None:
        inputs = ", ".join(f"{one.name} ({one.kind})" for one in schema.inputs)
        n_readings = int(read.is_reading.sum())
        n_sensors = 0 if found.sensors is None else len(found.sensors.names)
        screen.print(
            f"{counted(n_readings, 'reading')} of {counted(n_sensors, 'sensor')}: "
            f"{schema.target}{f' in {schema.unit}' if schema.unit else ''}, by "
            f"{inputs}",
            markup=False,
        )
    told(screen, found.findings.sorted)


def demo(*, out: Path = Path("halk-demo")) -> None:
    """Let fifty sensors of the Gulf of Mexico fill in what they did not measure.

    The same as halk fit, halk fill and halk inspect, on tables that come along, with
    four fifths of the readings withheld.

    Parameters
    ----------
    out
        The folder for tables, model and report.
    """
    from halk.cli.show import show

    try:
        show(out)
    except OSError as error:
        raise HalkError(
            f"--out must be a folder that can be written, got {out}: "
            f"{error.strerror or error}"
        ) from None
