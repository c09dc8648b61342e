"""``halk demo``: fit, fill and inspect on tables that come along, and the truth."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from halk import data
from halk._validation import Matrix, Vector
from halk.cli.talk import Bars, console, table
from halk.cli.words import number, sentence, share, show_model
from halk.sensors import SensorModel, fill_table, fit

WITHHELD = 0.8
"""Share of every sensor's readings that nobody sees."""

SEED = 0


def show(out: Path) -> None:
    """Run the demo in a folder, which keeps its tables, model and report."""
    began, screen = time.perf_counter(), console()
    out.mkdir(parents=True, exist_ok=True)
    field = data.gulf("temperature")
    away = data.withhold(field, WITHHELD, SEED)
    _write_tables(field, away, out)
    paths = [out / name for name in ("readings.csv", "sensors.csv", "model.halk")]
    screen.print(
        f"\n[bold]{field.n_agents} sensors of the Gulf of Mexico[/bold] measured "
        f"temperature by depth. {int(away.sum())} of {field.n_readings} readings were "
        f"taken out; {int((~away).sum())} are left, about "
        f"{(~away).sum() / field.n_agents:.0f} per sensor.\n"
    )
    say_command(screen, "fit", paths[0], "--sensors", paths[1], "-o", paths[2])
    with Bars() as bars:
        model = fit(paths[0], paths[1], progress=bars.tell)
    model.save(paths[2])
    screen.print(f"{sentence(model.comparison.reason)}\n", markup=False)
    say_command(screen, "fill", paths[2], paths[0], "-o", out / "filled.csv")
    made = fill_table(model, paths[0])
    data.write_table(made.table, made.schema, made.columns, out / "filled.csv")
    screen.print(f"{made.n_filled} of {int(made.is_gap.sum())} gaps filled.\n")
    screen.print(_truth(model, field, away))
    say_command(screen, "inspect", paths[2])
    show_model(screen, SensorModel.load(paths[2]))
    page = out / "model-report.html"
    model.report(page)
    screen.print(f"Map, curves and all sensors: {page}", markup=False)
    screen.print(f"All in {time.perf_counter() - began:.1f} s.\n")


def say_command(screen: Any, *words: Any) -> None:
    """Show a command as one would type it."""
    screen.print(f"[bold]$ halk {' '.join(map(str, words))}[/bold]", highlight=False)


def _write_tables(field: Any, away: Any, out: Path) -> None:
    y = ["" if gone else f"{v:.4f}" for v, gone in zip(field.y, away, strict=True)]
    rows = zip([field.names[i] for i in field.agent], field.x[:, 0], y, strict=True)
    places = ([name, *spot] for name, spot in zip(field.names, field.positions,
                                                  strict=True))  # fmt: skip
    tables = {
        "readings.csv": (["sensor", "depth_m", "temperature_C"], rows),
        "sensors.csv": (["sensor", "lat", "lon"], places),
    }
    for name, (header, lines) in tables.items():
        with (out / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(lines)


def _truth(model: SensorModel, field: Any, away: Any) -> Any:
    """Return what every method says of the readings that were taken out."""
    number_of = {name: i for i, name in enumerate(model.sensors.names)}
    who = np.array([number_of[name] for name in field.names])[field.agent]
    sensor, x, y = who[away], field.x[away], field.y[away]
    rows = []
    for name in model.comparison.methods:
        cover, method = np.nan, model.comparison.make(model.site, name)
        method.fit(model.readings)
        found = method.estimate(sensor, x)
        if name == model.comparison.chosen:
            found = model.comparison.calibrate(found, sensor)
            cover = float(((found.low <= y) & (y <= found.high)).mean())
        rows.append([name, found.value - y, cover])
    assert model.sensors.positions is not None
    place = model.sensors.plane()
    read = model.readings
    ceiling = fit_gp(_inputs(read.x, place[read.sensor]), read.y)
    guess = ceiling(_inputs(x, place[sensor]))
    rows.append(["batch Gaussian process, all data in one place", guess - y, np.nan])
    shown = [
        [name, number(float(np.sqrt(np.mean(miss**2)))), share(cover)]
        for name, miss, cover in rows
    ]
    unit = model.schema.unit
    title = f"The {len(y)} readings that were taken out, and what methods say of them"
    return table(title, ["method", f">error, {unit}", ">in interval"], shown)


def _inputs(x: Matrix, place: Matrix) -> Matrix:
    return np.column_stack([np.log1p(x[:, 0] / 100.0), place / 1000.0])


def fit_gp(Z: Matrix, y: Vector) -> Any:
    """Return a Gaussian process of all readings at once, as a function of points.

    Length scales and noise are those of the largest likelihood: what can be had where
    all readings may be sent to one place.
    """
    mean, std = float(y.mean()), float(y.std())
    target = (y - mean) / std

    def kernel(one: Matrix, other: Matrix, log: Vector) -> Matrix:
        apart = (one[:, None] - other) / np.exp(log[:-2])
        gram: Matrix = np.exp(2 * log[-2] - 0.5 * (apart**2).sum(axis=2))
        return gram

    def cost(log: Vector) -> float:
        gram = kernel(Z, Z, log) + (np.exp(2 * log[-1]) + 1e-8) * np.eye(len(Z))
        try:
            factor = cho_factor(gram, lower=True)
        except np.linalg.LinAlgError:
            return 1e10
        half = float(np.log(np.diag(factor[0])).sum())
        return 0.5 * float(target @ cho_solve(factor, target)) + half

    start = np.concatenate([np.log(Z.std(axis=0)), [0.0, np.log(0.05)]])
    bounds = [(-6.0, 6.0)] * len(start[:-1]) + [(-9.0, 1.0)]
    log = minimize(cost, start, method="L-BFGS-B", bounds=bounds).x
    gram = kernel(Z, Z, log) + (np.exp(2 * log[-1]) + 1e-8) * np.eye(len(Z))
    weights = cho_solve(cho_factor(gram, lower=True), target)
    return lambda points: mean + std * (kernel(points, Z, log) @ weights)
