"""What a model learned, for people and for machines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from halk.sensing.model import SensorModel
from halk.sensing.scales import unit_of_functions


class Disagreement(NamedTuple):
    """Two neighbours, how far apart they are, and what holding them together costs."""

    one: str
    other: str
    difference: float  # root mean square, in the unit of unit_of
    tolerance: float
    price: float  # multipliers of both directions


def disagreements(model: SensorModel, most: int | None = None) -> list[Disagreement]:
    """Return pairs of neighbours that tolerances hold together, dearest first."""
    network, learner = model.learner.network, model.learner
    spread, names = unit_of_functions(learner, model.choices.scaling), network.names
    mu, gamma = learner.multipliers, network.tolerance
    squares = np.maximum(learner.violations + gamma, 0.0)
    pairs = np.flatnonzero(network.edges[:, 0] < network.edges[:, 1])
    back = network.reverse[pairs]
    price = mu[pairs] + mu[back]
    # the proximity is half a square: a mean of two halves is their sum
    apart = spread * np.sqrt(squares[pairs] + squares[back])
    limit = spread * np.sqrt(gamma[pairs] + gamma[back])
    order = np.lexsort((-apart, -price))
    found = [
        Disagreement(
            names[network.edges[pairs[k], 0]], names[network.edges[pairs[k], 1]],
            float(apart[k]), float(limit[k]), float(price[k]),
        )
        for k in order.tolist()
        if price[k] > 0
    ]  # fmt: skip
    return found if most is None else found[:most]


def unit_of(model: SensorModel) -> str:
    """Return the unit in which disagreements are told."""
    is_own = model.choices.scaling == "own"
    return "of a sensor's spread" if is_own else model.schema.unit


class SensorRow(NamedTuple):
    """One sensor in a table of all."""

    name: str
    readings: int
    error: float  # NaN if there was nothing to judge it by
    interval: float  # half its width; infinite if not known
    atoms: int


def sensor_rows(model: SensorModel) -> list[SensorRow]:
    """Return every sensor, the largest error first."""
    errors, widths = model.learned.errors, model.intervals.half_widths()
    atoms = model.learner.model_order
    order = np.argsort(-np.nan_to_num(errors, nan=-1.0), kind="stable")
    return [
        SensorRow(
            model.sensors.names[i], int(model.learned.readings[i]), float(errors[i]),
            float(widths[i]), int(atoms[i]),
        )
        for i in order.tolist()
    ]  # fmt: skip


def as_dict(model: SensorModel) -> dict[str, Any]:
    """Return everything for JSON; what is not known is None."""
    learned = model.learned
    return {
        "target": model.schema.target,
        "unit": model.schema.unit,
        "inputs": [one.name for one in model.schema.inputs],
        "sensors": [
            {key: _plain(value) for key, value in row._asdict().items()}
            for row in sensor_rows(model)
        ],
        "readings": learned.n_readings,
        "error": _plain(learned.error),
        "explained_variance": _plain(learned.explained),
        "coverage": {
            "wanted": model.intervals.coverage,
            "measured": _plain(learned.coverage),
        },
        "atoms": int(model.learner.model_order.sum()),
        "choices": [reason._asdict() for reason in model.reasons],
        "unit_of_disagreements": unit_of(model),
        "disagreements": [pair._asdict() for pair in disagreements(model)],
        "findings": [finding.as_dict() for finding in model.findings.sorted],
    }


def _plain(value: Any) -> Any:
    is_unknown = isinstance(value, float) and not np.isfinite(value)
    return None if is_unknown else value
