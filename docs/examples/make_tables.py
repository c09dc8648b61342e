"""Make the tables of the page "Fill the gaps of your own sensors".

Readings are those that come with halk (the Gulf of Mexico, a climatology), of thirty
places, with more than half of them emptied. What was emptied goes to ``withheld.csv``,
and a part of it to ``later.csv``, as readings that come in afterwards.
"""

import csv
from pathlib import Path

import numpy as np

from halk import data

HERE = Path(__file__).parent
N_SENSORS, N_SHALLOW = 30, 8


def write(name: str, header: list[str], rows: list[list[object]]) -> None:
    """Write a table beside this file."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main() -> None:
    """Write all four tables."""
    field = data.gulf("temperature").choose(range(N_SENSORS))
    rng = np.random.default_rng(0)
    names = [f"buoy-{number:02d}" for number in range(N_SENSORS)]
    shallow = rng.choice(N_SENSORS, N_SHALLOW, replace=False)
    depth = field.x[:, 0]
    is_lost = rng.uniform(size=field.n_readings) < 0.5
    is_lost |= np.isin(field.agent, shallow) & (depth > 100)
    is_later = is_lost & (rng.uniform(size=field.n_readings) < 0.2)
    rows = [
        [names[agent], f"{x:g}", f"{y:.2f}"]
        for agent, x, y in zip(field.agent, depth, field.y, strict=True)
    ]
    header = ["buoy", "depth_m", "temperature_C"]
    kept = [
        [*row[:2], "" if lost else row[2]]
        for row, lost in zip(rows, is_lost, strict=True)
    ]
    write("readings.csv", header, kept)
    write(
        "withheld.csv", header, [rows[r] for r in np.flatnonzero(is_lost & ~is_later)]
    )
    write("later.csv", header, [rows[r] for r in np.flatnonzero(is_later)])
    places = [
        [name, f"{lat:g}", f"{lon:g}"]
        for name, (lat, lon) in zip(names, field.positions, strict=True)
    ]
    write("sensors.csv", ["buoy", "lat", "lon"], places)


if __name__ == "__main__":
    main()
