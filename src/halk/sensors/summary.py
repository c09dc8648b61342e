"""What a model learned, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

FEWEST = 10
"""Hidden readings of a sensor below which their cover says nothing."""

_INNER = ("calibration", "errors", "options")


class SensorRow(NamedTuple):
    """One sensor in a table of all."""

    name: str
    readings: int
    std: float  # of its readings
    error: float  # at artificial gaps; NaN if there were none
    cover: float  # share of hidden readings within their intervals; NaN for a few


def sensor_rows(model: SensorModel) -> list[SensorRow]:
    """Return every sensor, those that are predicted worst first.

    By the error in standard deviations of the sensor; unknown ones last.
    """
    V, names = len(model.sensors.names), model.sensors.names
    counts = np.bincount(model.readings.sensor, minlength=V)
    std = model.std_of_sensors()
    error, cover = model.comparison.by_sensor(V)
    few = model.comparison.errors[:V, 2] < FEWEST
    cover[: len(few)][few] = np.nan
    order = np.argsort(-np.nan_to_num(error / std, nan=-1.0), kind="stable")
    return [
        SensorRow(
            names[i], int(counts[i]), float(std[i]), float(error[i]), float(cover[i])
        )
        for i in order.tolist()
    ]


def as_dict(model: SensorModel) -> dict[str, Any]:
    """Return everything for JSON; what is not known is None."""
    found: dict[str, Any] = plain(
        {
            "target": model.schema.target, "unit": model.schema.unit,
            "inputs": [one.name for one in model.schema.inputs],
            "readings": len(model.readings.y), "coverage": model.coverage,
            "seed": model.site.seed, "method": model.comparison.chosen,
            "comparison": _comparison(model),
            "sensors": [row._asdict() for row in sensor_rows(model)],
            "notices": [notice.as_dict(model) for notice in model.notices],
            "findings": [finding.as_dict() for finding in model.findings.sorted],
        }
    )  # fmt: skip
    return found


def _comparison(model: SensorModel) -> dict[str, Any]:
    """Return the comparison without what only the model needs."""
    found = model.comparison.as_dict()
    return {name: found[name] for name in found if name not in _INNER}


def plain(value: Any) -> Any:
    """Return a value of JSON: None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    is_unknown = isinstance(value, float) and not np.isfinite(value)
    return None if is_unknown else value
