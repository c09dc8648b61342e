"""What a fitted network says of a new table: `halk doctor --model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halk._validation import Vector
from halk.data.doctor import Examined, read_more
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted
from halk.data.readings import Readings
from halk.data.sensors import read_sensors
from halk.data.sources import read_table
from halk.data.suspicions import conversions, examine_sizes
from halk.errors import DataError
from halk.sensors.join import add_sensors

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

FAR = 5.0
"""Standard deviations from what the model says at which a reading is far."""

GROUPS = 4
"""Groups of sensors that are judged by the others."""

ALIKE = 0.8
"""Share of a sensor's far readings that a unit must explain."""

FEWEST = 3
"""Far readings of a sensor below which its unit is not doubted."""

NEAR = 0.1
"""Degrees, or shares of the size of the network, within which places are the same."""


def judge(
    model: SensorModel,
    readings: Any,
    sensors: Any = None,
    missing: Sequence[float | str] = (),
    skip_bad: bool = False,
) -> Examined:
    """Look for what is strange about a table, given a model of its network.

    Every reading is compared with what the model says without it, and without the
    others of its sensor in the table.
    """
    findings, site = Findings(), model.site
    try:
        if sensors is not None:
            _compare_places(model, sensors, findings)
            site = add_sensors(site, sensors)
        found = read_more(
            readings, model.schema, site.sensors, missing, skips=True, has_values=True
        )
    except DataError as error:
        findings.add(ERROR, "unreadable", str(error))
        return Examined(None, model.schema, model.sensors, None, findings)
    findings.found += found.findings.found
    rows, table = found.readings, found.table
    assert rows is not None
    assert table is not None
    examine_sizes(table.path, model.schema, rows.with_values().y, findings,
                  model.readings.y)  # fmt: skip
    is_known = rows.is_reading & (rows.sensor < len(model.sensors.names))
    if is_known.any():
        where = np.flatnonzero(is_known)
        read = Readings(rows.sensor[where], rows.x[where], rows.y[where])
        miss, std = _misses(model, read, np.ones(len(read.y), bool))
        is_far = np.abs(miss) > FAR * std
        if is_far.any():  # what is far must not speak against its neighbours
            miss, std = _misses(model, read, ~is_far)
        _tell_far(found, model, where, read, miss, std, findings)
    return found._replace(findings=findings)


def _misses(
    model: SensorModel, read: Readings, is_trusted: NDArray[np.bool_]
) -> tuple[Vector, Vector]:
    """Return readings less what others say, and standard deviations of that."""
    miss, std = np.full(len(read.y), np.nan), np.full(len(read.y), np.nan)
    V = len(model.sensors.names)
    for group in range(min(GROUPS, V)):
        mine = read.sensor % GROUPS == group
        if not mine.any():
            continue
        kept = ~mine & is_trusted
        others = model.unknown(Readings(read.sensor[kept], read.x[kept], read.y[kept]))
        method = model.with_readings(others) if len(others.y) else None
        made = model.estimate(read.sensor[mine], read.x[mine], method=method)
        miss[mine] = read.y[mine] - made.value
        std[mine] = made.std
    usual = model.std_of_sensors()[read.sensor]
    return miss, np.where(np.isnan(std), usual, std)


def _tell_far(
    found: Examined,
    model: SensorModel,
    where: NDArray[np.intp],
    read: Readings,
    miss: Vector,
    std: Vector,
    findings: Findings,
) -> None:
    is_far = np.abs(miss) > FAR * std
    assert found.table is not None
    table, names = found.table, model.sensors.names
    is_told = np.zeros(len(miss), bool)
    for i in np.unique(read.sensor[is_far]).tolist():
        mine = is_far & (read.sensor == i)
        if mine.sum() < FEWEST:
            continue
        y, wanted = read.y[mine], (read.y - miss)[mine]
        for unit, convert in conversions(model.schema.unit).items():
            is_explained = np.abs(convert(y) - wanted) < FAR * std[mine] / 2
            if is_explained.mean() < ALIKE:
                continue
            findings.add(
                WARNING, "unit",
                f"{table.path}: {counted(int(mine.sum()), 'reading')} of sensor "
                f"{names[i]!r} look like {unit}: {np.median(y):.4g} where "
                f"{np.median(wanted):.4g} is expected",
                f"if they are, convert them to {model.schema.unit or 'the others'}",
                [table.where(row) for row in where[mine].tolist()],
            )  # fmt: skip
            is_told |= mine
            break
    left = np.flatnonzero(is_far & ~is_told)
    order = left[np.argsort(-np.abs(miss / std)[left], kind="stable")]
    if len(order):
        unit = f" {model.schema.unit}".rstrip()
        findings.add(
            WARNING, "far",
            f"{table.path}: {counted(len(order), 'reading')} far from what the model "
            f"says",
            "look at them; `halk update` does not trust them",
            [
                f"{table.where(int(where[r]), names[read.sensor[r]])}: {read.y[r]:.4g}"
                f"{unit}, {_explain(miss[r] / std[r])}"
                for r in order.tolist()
            ],
        )  # fmt: skip
    else:
        n = counted(len(miss), "reading")
        findings.add(
            NOTE, "judged", f"{table.path}: {n} judged by the model, none of them far "
            f"from what it says" if not is_told.any() else
            f"{table.path}: {n} judged by the model",
        )  # fmt: skip


def _explain(score: float) -> str:
    side = "above" if score > 0 else "below"
    return (
        f"{abs(score):.1f} standard deviations {side} what its neighbours and its own "
        f"past say"
    )


def _compare_places(model: SensorModel, source: Any, findings: Findings) -> None:
    """Look for sensors that are elsewhere than they were, or whose places are turned.

    Raises nothing that :func:`add_sensors` does not.
    """
    table, known = read_table(source, "sensors"), model.sensors
    chart = read_sensors(table, model.schema.sensor, Findings())
    if chart is None or chart.positions is None or known.positions is None:
        return
    size = 1.0 if known.is_geographic else float(np.ptp(known.positions, axis=0).max())
    moved: list[str] = []
    turned: list[str] = []
    for name, spot in zip(chart.names, chart.positions, strict=True):
        if name not in known.names:
            continue
        was = known.positions[known.names.index(name)]
        if np.abs(spot - was).max() <= NEAR * size:
            continue
        text = f"{name!r}: {spot[0]:g}, {spot[1]:g}; it was {was[0]:g}, {was[1]:g}"
        is_turned = np.abs(spot[::-1] - was).max() <= NEAR * size
        (turned if is_turned else moved).append(text)
    if turned:
        findings.add(
            WARNING, "swapped",
            f"{table.path}: {' and '.join(known.columns)} of "
            f"{counted(len(turned), 'sensor')} look swapped",
            "swap them, if that is so", turned,
        )  # fmt: skip
    if moved:
        findings.add(
            WARNING, "moved", f"{table.path}: {counted(len(moved), 'sensor')} "
            f"elsewhere than when the model was made",
            "a model knows sensors where they were: fit again, or give a sensor that "
            "moved a new name", moved,
        )  # fmt: skip
