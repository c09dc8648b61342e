"""Compare estimates with the readings that were emptied, method by method."""

import csv
from pathlib import Path

import numpy as np

import halk

with Path("truth.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
points = {"time": [row["time"] for row in rows], "sensor": [r["station"] for r in rows]}
truth = np.array([float(row["temperature_C"]) for row in rows])

for method in ("neighbours", "kriging", "idw", "linear", "mean"):
    model = halk.fit("readings.csv", "stations.csv", method=method, quick=True)
    found = model.fill(points)
    error = np.abs(found["value_filled"] - truth).mean()
    held = (found["value_low"] <= truth) & (truth <= found["value_high"])
    print(f"{method:>10}: error {error:.2f} °C, {held.mean():.0%} within intervals")
