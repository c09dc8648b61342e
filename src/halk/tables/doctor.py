"""What is wrong with readings before any learning: `halk doctor`."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Matrix, Vector
from halk.streams.errors import DataError
from halk.tables.findings import ERROR, NOTE, WARNING, Findings
from halk.tables.readings import Rows, rows_of
from halk.tables.schema import TIME, Asked, Schema, schema_of
from halk.tables.sensors import Sensors, sensors_of
from halk.tables.sources import table_of

SENTINELS = (-9999.0, -999.0, -99.0, -999.9, -99.9, 999.0, 9999.0, 99999.0)
"""Numbers that loggers write where they have none."""

FEW = 5
"""Readings below which a sensor hardly says anything."""

FAR_OUT = 10.0
"""Spreads between the quartiles from the median at which a value is suspicious."""

STUCK = 30
"""Same values of a sensor, one after the other, that look like a fault."""


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
        if sensors is not None:
            chart = sensors_of(table_of(sensors, "sensors"), asked.sensor, findings)
    except DataError as error:
        findings.add(ERROR, "unreadable", str(error))
        return Examined(None, None, None, findings)
    schema = schema_of(table, asked, findings)
    if schema is None or (sensors is not None and chart is None):
        return Examined(schema, chart, None, findings)
    rows, chart, schema = rows_of(table, schema, chart, findings, missing, skips)
    examine_values(table.path, schema, rows, chart, findings)
    return Examined(schema, chart, rows, findings)


def examine_values(
    path: str, schema: Schema, rows: Rows, sensors: Sensors, findings: Findings
) -> None:
    """Look for what is strange about values, sensors and inputs."""
    read = rows.readings()
    if not len(read.y) and not findings.of(ERROR):
        findings.add(
            ERROR, "no-readings", f"{path}: column {schema.target} holds no readings",
            "name the column of the values with --target",
        )  # fmt: skip
    if not len(read.y):
        return
    _sentinels(path, schema, read.y, findings)
    _far_out(path, schema, read, sensors, findings)
    _few(path, read, sensors, findings)
    _repeated(path, read, findings)
    _stuck(path, read, sensors, findings)
    _constant(path, schema, read.x, findings)
    n_gaps = int(rows.is_gap.sum())
    if n_gaps:
        findings.add(
            NOTE, "gaps", f"{path}: {n_gaps} rows have no value; `halk fill` fills them"
        )
    if len(sensors.names) == 1:
        findings.add(
            WARNING, "one-sensor",
            f"{path}: there is one sensor, {sensors.names[0]!r}, and nobody to learn "
            f"from", "name the column of the sensors with --sensor",
        )  # fmt: skip


def _sentinels(path: str, schema: Schema, y: Vector, findings: Findings) -> None:
    rest = y[~np.isin(y, SENTINELS)]
    for value in SENTINELS:
        n = int((y == value).sum())
        if n and (not len(rest) or not rest.min() <= value <= rest.max()):
            findings.add(
                ERROR, "sentinel",
                f"{path}: {schema.target} is {value:g} in {n} rows, far from all "
                f"other values", f"if it means no reading, add --missing {value:g}",
            )  # fmt: skip


def _far_out(
    path: str, schema: Schema, read: Rows, sensors: Sensors, findings: Findings
) -> None:
    low, middle, high = np.quantile(read.y, [0.25, 0.5, 0.75])
    limit = FAR_OUT * (high - low)
    rows = np.flatnonzero(np.abs(read.y - middle) > limit)
    if limit and len(rows) and len(rows) < 0.01 * len(read.y):
        unit = f" {schema.unit}" if schema.unit else ""
        findings.add(
            WARNING, "far-out",
            f"{path}: {len(rows)} values of {schema.target} are far from the others "
            f"(median {middle:g}{unit}, half of them within {low:g} and {high:g})",
            "correct or empty them if they are faults",
            [f"{sensors.names[read.agent[r]]!r}: {read.y[r]:g}{unit}" for r in rows],
        )  # fmt: skip


def _few(path: str, read: Rows, sensors: Sensors, findings: Findings) -> None:
    counts = np.bincount(read.agent, minlength=len(sensors.names))
    silent = [sensors.names[i] for i in np.flatnonzero(counts == 0)]
    if silent:
        findings.add(
            NOTE, "silent", f"{path}: {len(silent)} sensors have no reading; their "
            f"neighbours speak for them", places=silent,
        )  # fmt: skip
    few = np.flatnonzero((counts > 0) & (counts < FEW))
    if len(few):
        findings.add(
            WARNING, "few",
            f"{path}: {len(few)} sensors have fewer than {FEW} readings",
            "their predictions rest on their neighbours",
            [f"{sensors.names[i]!r}: {counts[i]}" for i in few],
        )  # fmt: skip


def repeated(read: Rows) -> Any:
    """Return which readings are exact copies of earlier ones."""
    rows = np.column_stack([read.agent, read.x, read.y])
    _, first = np.unique(rows, axis=0, return_index=True)
    is_copy = np.ones(len(rows), bool)
    is_copy[first] = False
    return is_copy


def _repeated(path: str, read: Rows, findings: Findings) -> None:
    n = int(repeated(read).sum())
    if n:
        findings.add(
            WARNING, "repeated",
            f"{path}: {n} readings are exact copies of others and are learned once",
        )  # fmt: skip
    points = np.column_stack([read.agent, read.x])
    n_twice = len(points) - len(np.unique(points, axis=0)) - n
    if n_twice:
        findings.add(
            NOTE, "same-inputs",
            f"{path}: {n_twice} readings are of the same sensor and inputs as others, "
            f"with other values; all are learned",
        )  # fmt: skip


def _stuck(path: str, read: Rows, sensors: Sensors, findings: Findings) -> None:
    found = []
    for i, name in enumerate(sensors.names):
        y = read.y[read.agent == i]
        if len(y) < STUCK or not np.ptp(read.y):
            continue
        changes = np.flatnonzero(np.diff(y) != 0)
        bounds = np.concatenate([[-1], changes, [len(y) - 1]])
        longest = int(np.diff(bounds).max())
        at = float(y[bounds[np.diff(bounds).argmax()] + 1])
        if longest >= STUCK and at != np.median(read.y) and at != 0.0:
            found.append(f"{name!r}: {at:g}, {longest} times")
    if found:
        findings.add(
            WARNING, "stuck",
            f"{path}: {len(found)} sensors repeat one value {STUCK} times or more",
            "empty these cells if the sensor was stuck", found,
        )  # fmt: skip


def _constant(path: str, schema: Schema, x: Matrix, findings: Findings) -> None:
    for one, column in zip(schema.inputs, x.T, strict=True):
        if np.ptp(column) == 0:
            kind = "time" if one.kind == TIME else "number"
            findings.add(
                WARNING, "constant-input",
                f"{path}: input {one.name} is the same {kind} everywhere",
                "leave it out with --inputs",
            )  # fmt: skip
