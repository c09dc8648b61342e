"""Compare predictions with the readings that were emptied: together, and apart."""

import csv
from pathlib import Path

import numpy as np

import halk
from halk.sensing import fill

with Path("withheld.csv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
points = {name: [row[name] for row in rows] for name in ("buoy", "depth_m")}
truth = np.array([float(row["temperature_C"]) for row in rows])

for label, options in (("together", {}), ("apart", {"tolerance": "apart"})):
    model = halk.fit("readings.csv", "sensors.csv", options=options)
    found = fill(model, points)
    miss = found["temperature_C_predicted"] - truth
    low, high = found["temperature_C_low"], found["temperature_C_high"]
    has_interval = ~np.isnan(low)
    held = ((low <= truth) & (truth <= high))[has_interval].mean()
    error = np.sqrt(np.mean(miss**2))
    print(
        f"{label:>8}: error {error:.2f} °C; {held:.0%} of {has_interval.sum()} "
        f"intervals held the truth"
    )
