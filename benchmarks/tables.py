"""Real tables, with readings withheld: halk without options against simple methods.

``python -m benchmarks.tables FOLDER ...``; a folder holds readings.csv and sensors.csv.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from halk.data import Readings, Schema, Sensors, examine
from halk.data.doctor import Examined
from halk.data.findings import Findings
from halk.data.schema import Input
from halk.sensing.fitting import fitted
from halk.sensing.model import SensorModel
from halk.sensing.options import Options

WITHHELD = 0.2
BLOCKS = 5
"""Refits of methods that do not learn online, over the last third of the readings."""

Predict = Callable[[Readings], Any]


class Result(NamedTuple):
    """A method on one table."""

    method: str
    progressive: float
    withheld: float
    coverage: float
    seconds: float


def part(rows: Readings, kept: Any) -> Readings:
    """Return some of the readings."""
    return Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])


def error(rows: Readings, values: Any) -> float:
    """Return the root mean square error."""
    return float(np.sqrt(np.mean((values - rows.y) ** 2)))


def of_halk(
    found: Examined, train: Readings, test: Readings, name: str, **options: Any
) -> Result:
    """Return what ``halk fit`` comes to."""
    began = time.perf_counter()
    table = found._replace(readings=train, findings=Findings())
    model: SensorModel = fitted(
        table, None, Options(**options), None, 0.9, False, lambda what, share: None
    )
    seconds = time.perf_counter() - began
    made = model.predicted(test.sensor, test.x)
    is_known = ~np.isnan(made.low)
    inside = (test.y >= made.low) & (test.y <= made.high)
    return Result(
        name, model.learned.error, error(test, made.value),
        float(inside[is_known].mean()), seconds,
    )  # fmt: skip


def pooled(found: Examined, rows: Readings) -> tuple[Examined, Readings]:
    """Return the same readings as those of one sensor that knows where it is."""
    schema, sensors = found.schema, found.sensors
    assert schema is not None
    assert sensors is not None
    flat = sensors.plane()[rows.sensor]
    columns = [sensors.attributes[name][rows.sensor] for name in sensors.attributes]
    x = np.column_stack([rows.x, flat, *columns])
    names = ["east_km", "north_km", *sensors.attributes]
    inputs = (*schema.inputs, *(Input(name, "number") for name in names))
    one = Schema(schema.sensor, schema.target, schema.unit, inputs)
    made = Readings(np.zeros(len(rows.y), np.int64), x, rows.y)
    return Examined(found.table, one, Sensors(("all",)), made, Findings()), made


def mean_of(train: Readings, n_sensors: int) -> Predict:
    """Return each sensor's mean, and that of all for one without readings."""
    counts = np.bincount(train.sensor, minlength=n_sensors)
    sums = np.bincount(train.sensor, train.y, n_sensors)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), train.y.mean())
    return lambda rows: means[rows.sensor]


def boosted_each(train: Readings, n_sensors: int) -> Predict:
    """Return scikit-learn's gradient boosting, one for each sensor."""
    models = {}
    for i in range(n_sensors):
        mine = train.sensor == i
        if mine.sum() > 1:
            model = GradientBoostingRegressor(random_state=0)
            models[i] = model.fit(train.x[mine], train.y[mine])
    fallback = mean_of(train, n_sensors)

    def predict(rows: Readings) -> Any:
        values = fallback(rows).copy()
        for i, model in models.items():
            mine = rows.sensor == i
            if mine.any():
                values[mine] = model.predict(rows.x[mine])
        return values

    return predict


def boosted_pooled(found: Examined) -> Callable[[Readings, int], Predict]:
    """Return gradient boosting of all readings in one place, with places as inputs."""

    def train(rows: Readings, n_sensors: int) -> Predict:
        x = pooled(found, rows)[1].x
        model = GradientBoostingRegressor(random_state=0).fit(x, rows.y)
        return lambda asked: model.predict(pooled(found, asked)[1].x)

    return train


def of_batch(
    name: str,
    fit: Callable[[Readings, int], Predict],
    train: Readings,
    test: Readings,
    V: int,
) -> Result:
    """Return the errors of a method that is fitted to all readings at once."""
    began = time.perf_counter()
    withheld = error(test, fit(train, V)(test))
    seconds = time.perf_counter() - began
    order = np.random.default_rng(1).permutation(len(train.y))
    bounds = np.linspace(2 / 3, 1, BLOCKS + 1) * len(order)
    squares = []
    for first, last in zip(
        bounds[:-1].astype(int), bounds[1:].astype(int), strict=True
    ):
        known, new = part(train, order[:first]), part(train, order[first:last])
        squares.append((fit(known, V)(new) - new.y) ** 2)
    progressive = float(np.sqrt(np.mean(np.concatenate(squares))))
    return Result(name, progressive, withheld, np.nan, seconds)


def judged(folder: Path, seed: int = 0) -> tuple[dict[str, Any], list[Result]]:
    """Return all methods on one table."""
    found = examine(str(folder / "readings.csv"), str(folder / "sensors.csv"))
    found.findings.refuse()
    assert found.readings is not None
    assert found.sensors is not None
    assert found.schema is not None
    rows, V = found.readings.with_values(), len(found.sensors.names)
    away = np.random.default_rng([seed, 9]).random(len(rows.y)) < WITHHELD
    train, test = part(rows, ~away), part(rows, away)
    results = [of_halk(found, train, test, "halk fit")]
    results.append(of_halk(found, train, test, "sensors alone", tolerance="apart"))
    one, pooled_train = pooled(found, train)
    pooled_test = pooled(found, test)[1]
    results.append(of_halk(one, pooled_train, pooled_test, "one pooled model"))
    results.append(of_batch("mean of the sensor", mean_of, train, test, V))
    results.append(of_batch("gradient boosting, each", boosted_each, train, test, V))
    boosted = boosted_pooled(found)
    results.append(of_batch("gradient boosting, pooled", boosted, train, test, V))
    facts = {"table": folder.name, "sensors": V, "readings": len(rows.y),
             "target": found.schema.target}  # fmt: skip
    return facts, results


def main() -> None:
    """Print a table for every folder, and JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    everything = []
    for folder in arguments.folders:
        facts, results = judged(folder, arguments.seed)
        everything.append(facts | {"results": [r._asdict() for r in results]})
        sys.stdout.write(f"\n{facts}\n")
        for r in results:
            sys.stdout.write(
                f"{r.method:28s} progressive {r.progressive:9.4g}  withheld "
                f"{r.withheld:9.4g}  covered {r.coverage:6.1%}  {r.seconds:6.1f} s\n"
            )
        sys.stdout.flush()
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
