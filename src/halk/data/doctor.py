"""What is wrong with readings before any learning: `halk doctor`."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from halk.data.findings import ERROR, Findings, suggest
from halk.data.readings import Readings, read_readings
from halk.data.schema import NUMBER, Asked, Schema, find_schema
from halk.data.sensors import Sensors, read_sensors
from halk.data.shape import shape
from halk.data.sources import read_table
from halk.data.suspicions import examine_values
from halk.data.table import Table
from halk.errors import DataError

OPEN = ("wide-or-long", "no-wide", "unclear-dates", "mixed-dates", "unclear-decimals")
"""Findings that ask what must be known first."""


class Examined(NamedTuple):
    """A table of readings, understood as far as it can be."""

    table: Table | None  # with one row per reading
    schema: Schema | None
    sensors: Sensors | None
    readings: Readings | None
    findings: Findings


def examine(
    readings: Any,
    sensors: Any = None,
    asked: Asked | None = None,
    missing: Collection[float | str] = (),
    skips: bool = False,
) -> Examined:
    """Look for everything that is wrong with readings, without learning from them.

    Parameters
    ----------
    readings, sensors : path, "-", frame, dataset or dict of columns
    asked : Asked, optional
        Which columns are what, and how they are written.
    missing : numbers or words
        That stand for no reading, here and in tables to come.
    skips : bool
        Whether rows that cannot be used are left out, instead of being errors.
    """
    findings, asked = Findings(), asked or Asked()
    chart = None
    try:
        table = read_table(readings)
        places = None if sensors is None else read_table(sensors, "sensors")
    except DataError as error:
        findings.add(ERROR, "unreadable", str(error))
        return Examined(None, None, None, None, findings)
    findings.found += table.notes
    if places is not None:
        findings.found += places.notes
        chart = read_sensors(places, asked.sensor, findings, table.header)
        if asked.sensor not in table.header and asked.sensor in places.header:
            asked = asked._replace(sensor=None)  # of a column per sensor
    table = shape(table, asked, () if chart is None else chart.names, findings)
    schema = None if _is_open(findings) else find_schema(table, asked, findings)
    if schema is None or _is_open(findings) or (sensors is not None and chart is None):
        return Examined(table, schema, chart, None, findings)
    schema = replace(schema, missing=tuple(missing))
    rows, chart, schema = read_readings(table, schema, chart, findings, skips=skips)
    examine_values(table.path, schema, rows, chart, findings)
    return Examined(table, schema, chart, rows, findings)


def _is_open(findings: Findings) -> bool:
    """Return whether there are questions without whose answers nothing can be read."""
    return any(finding.code in OPEN for finding in findings.found)


def read_more(
    source: Any,
    schema: Schema,
    sensors: Sensors,
    missing: Collection[float | str] = (),
    skips: bool = False,
    has_values: bool = False,
) -> Examined:
    """Read another table of a network that is known, as the first one was read.

    Parameters
    ----------
    source : path, "-", frame, dataset or dict of columns
        In the layout of the first table, or in another.
    has_values : bool
        Whether the column of values must be there.

    Raises
    ------
    DataError
        If columns are missing or cells cannot be used.
    """
    findings, table = Findings(), read_table(source)
    findings.found += table.notes
    is_long = schema.sensor in table.header
    is_wide = not is_long and bool({*sensors.names} & {*table.header})
    numbers = [one.name for one in schema.inputs if one.kind == NUMBER]
    asked = schema.as_asked(is_wide)
    table = shape(table, asked, sensors.names, findings, numbers)
    wanted = [schema.sensor, *(one.name for one in schema.inputs)]
    wanted += [schema.target] if has_values else []
    for name in wanted:
        if name not in table.header:
            hint = suggest(name, table.header)
            findings.add(
                ERROR, "no-such-column",
                f"{table.path}: there is no column {name!r}{hint}",
                f"the model needs {', '.join(wanted)}",
            )  # fmt: skip
    findings.refuse()
    rows, _, _ = read_readings(table, schema, sensors, findings, missing, skips)
    findings.refuse()
    return Examined(table, schema, sensors, rows, findings)
