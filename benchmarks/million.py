"""A million readings of a thousand sensors as CSV: ``python -m benchmarks.million``.

Hourly, spatially correlated, with a daily cycle; a tenth missing (points, gaps of days)
and some outliers. Long as loggers write it, or wide with ``--wide``. Then, timed:
``halk fit million.csv --sensors million_sensors.csv --quick`` and ``halk fill``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.networks import Network, write_wide
from benchmarks.rivals import Array

LAGS = 0.97
"""Correlation of the field from one hour to the next."""


def make_network(n: int, steps: int, seed: int = 0) -> Network:
    """Return sensors scattered over 400 km whose temperatures hang together."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 400, (n, 2))
    waves = rng.normal(size=(2, 200)) / 80  # random Fourier features: scale of 80 km
    phase = rng.uniform(0, 2 * np.pi, 200)
    features = np.sqrt(2 / 200) * np.cos(places @ waves + phase)
    field = np.zeros((steps, 200))
    noise = np.sqrt(1 - LAGS**2) * rng.normal(size=field.shape)
    field[0] = rng.normal(size=200)
    for t in range(1, steps):
        field[t] = LAGS * field[t - 1] + noise[t]
    hours = np.arange(steps)[:, None]
    height = 2 * rng.normal(size=n)
    daily = 4 * np.sin(2 * np.pi * hours / 24 + 0.2 * rng.normal(size=n))
    X = 12 + height + daily + 3 * field @ features.T + 0.3 * rng.normal(size=(steps, n))
    X[rng.random(X.shape) < 0.05] = np.nan
    for i in range(n):
        begin, length = rng.integers(steps), rng.integers(24, 76)
        X[begin : begin + length, i] = np.nan
    strange = rng.random(X.shape) < 1e-4
    X[strange] += rng.choice([-60.0, 60.0], strange.sum())
    names = tuple(f"s{i:04d}" for i in range(n))
    times = 1.7e9 // 3600 * 3600 + 3600.0 * np.arange(steps)
    return Network("million", Path(), times, X, names, places)


def write_long(path: Path, network: Network, X: Array) -> None:
    """Write a table with a row per reading, gaps left empty."""
    stamps = np.datetime_as_string(network.times.astype("datetime64[s]"))
    with path.open("w", encoding="utf-8") as file:
        file.write("station,time,temperature_C\n")
        for stamp, row in zip(stamps, X, strict=True):
            file.writelines(
                f"{name},{stamp},{'' if y != y else f'{y:.2f}'}\n"
                for name, y in zip(network.names, row, strict=True)
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--sensors", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--wide", action="store_true")
    told = parser.parse_args(arguments)
    network = make_network(told.sensors, told.steps)
    told.out.mkdir(parents=True, exist_ok=True)
    write = write_wide if told.wide else write_long
    write(told.out / "million.csv", network, network.X.round(2))
    lines = ["station,x,y"]
    lines += [
        f"{name},{x:.3f},{y:.3f}"
        for name, (x, y) in zip(network.names, network.places, strict=True)
    ]
    chart = told.out / "million_sensors.csv"
    chart.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
