"""What is wrong with readings before any learning: `halk doctor`."""

from collections.abc import Collection
from typing import Any, NamedTuple

from halk.streams.errors import DataError
from halk.tables.findings import ERROR, Findings
from halk.tables.readings import Rows, rows_of
from halk.tables.schema import Asked, Schema, schema_of
from halk.tables.sensors import Sensors, sensors_of
from halk.tables.sources import table_of
from halk.tables.suspicions import examine_values


class Examined(NamedTuple):
    """A table of readings, understood as far as it can be."""

    schema: Schema | None
    sensors: Sensors | None
    rows: Rows | None
    findings: Findings


def examine(
    readings: Any,
    sensors: Any = None,
    asked: Asked | None = None,
    missing: Collection[float] = (),
    skips: bool = False,
) -> Examined:
    """Look for everything that is wrong with readings, without learning from them.

    Parameters
    ----------
    readings, sensors : path, "-", frame, dataset or dict of columns
    asked : Asked, optional
        Which columns are what.
    missing : numbers
        That stand for no reading.
    skips : bool
        Whether rows that cannot be used are left out, instead of being errors.
    """
    findings, asked = Findings(), asked or Asked()
    chart = None
    try:
        table = table_of(readings)
        places = None if sensors is None else table_of(sensors, "sensors")
    except DataError as error:
        findings.add(ERROR, "unreadable", str(error))
        return Examined(None, None, None, findings)
    schema = schema_of(table, asked, findings)
    if places is not None:
        column = asked.sensor if schema is None else schema.sensor
        chart = sensors_of(places, column, findings)
    if schema is None or (sensors is not None and chart is None):
        return Examined(schema, chart, None, findings)
    rows, chart, schema = rows_of(table, schema, chart, findings, missing, skips)
    examine_values(table.path, schema, rows, chart, findings)
    return Examined(schema, chart, rows, findings)
