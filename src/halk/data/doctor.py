"""What is wrong with readings before any learning: `halk doctor`."""

from collections.abc import Collection
from typing import Any, NamedTuple

from halk.data.findings import ERROR, Findings
from halk.data.readings import Readings, read_readings
from halk.data.schema import Asked, Schema, find_schema
from halk.data.sensors import Sensors, read_sensors
from halk.data.sources import read_table
from halk.data.suspicions import examine_values
from halk.streams.errors import DataError
from halk.streams.rows import Table


class Examined(NamedTuple):
    """A table of readings, understood as far as it can be."""

    table: Table | None
    schema: Schema | None
    sensors: Sensors | None
    readings: Readings | None
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
        table = read_table(readings)
        places = None if sensors is None else read_table(sensors, "sensors")
    except DataError as error:
        findings.add(ERROR, "unreadable", str(error))
        return Examined(None, None, None, None, findings)
    schema = find_schema(table, asked, findings)
    if places is not None:
        column = asked.sensor if schema is None else schema.sensor
        chart = read_sensors(places, column, findings)
    if schema is None or (sensors is not None and chart is None):
        return Examined(table, schema, chart, None, findings)
    rows, chart, schema = read_readings(table, schema, chart, findings, missing, skips)
    examine_values(table.path, schema, rows, chart, findings)
    return Examined(table, schema, chart, rows, findings)
