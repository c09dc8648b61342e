"""Make the tables of the page "Fill the gaps of your own sensors".

Ten weather stations that nobody built, every hour for a month and a half: a common
weather that moves across them, a day, a height, and noise. Then what happens to real
tables: single readings and days are missing, so are rows, one logger wrote 85 once and
one sensor was stuck. ``truth.csv`` has the temperatures of what is missing.
"""

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
N_STATIONS, N_HOURS, N_LATER = 10, 45 * 24, 48
START = np.datetime64("2024-05-01T00:00")


def write(name: str, header: list[str], rows: list[list[object]]) -> None:
    """Write a table beside this file."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def weather(rng: np.random.Generator, spots: np.ndarray) -> np.ndarray:
    """Return temperatures that go together the more, the nearer stations are."""
    apart = np.linalg.norm(spots[:, None] - spots, axis=2)
    common = np.linalg.cholesky(np.exp(-apart / 2.0) + 1e-9 * np.eye(len(spots)))
    slow = np.zeros((N_HOURS, len(spots)))
    for k in range(1, N_HOURS):
        slow[k] = 0.985 * slow[k - 1] + common @ rng.normal(0, 0.6, len(spots))
    hours = np.arange(N_HOURS)[:, None]
    day = 4 * np.sin(2 * np.pi * (hours - 9) / 24) * (1 + 0.3 * np.tanh(slow / 3))
    return 14 + slow + day + 0.004 * hours


def main() -> None:
    """Write all tables."""
    rng = np.random.default_rng(5)
    lat, lon = rng.uniform(46.5, 48.0, N_STATIONS), rng.uniform(8, 11, N_STATIONS)
    height = rng.uniform(300, 1500, N_STATIONS)
    names = [
        "Aach",
        "Birk",
        "Calw",
        "Dorf",
        "Egg",
        "Fels",
        "Gams",
        "Hof",
        "Illa",
        "Jona",
    ]
    truth = weather(rng, np.column_stack([lat, lon])) - 0.0065 * (height - 600)
    truth = np.round(truth + rng.normal(0, 0.3, truth.shape), 1)
    is_lost = rng.uniform(size=truth.shape) < 0.04
    for i in range(N_STATIONS):
        for start in rng.integers(48, N_HOURS - 120, 2):
            is_lost[start : start + rng.integers(6, 60), i] = True
    y = np.where(is_lost, np.nan, truth)
    y[500, 3] = 85.0
    y[700:740, 6] = y[700, 6] = truth[700, 6]
    is_absent = rng.uniform(size=N_HOURS) < 0.02
    is_absent[[0, 500, N_HOURS - N_LATER - 1]] = False
    times = [
        str(START + np.timedelta64(k, "h")).replace("T", " ") for k in range(N_HOURS)
    ]
    rows = [
        [times[k], *("" if v != v else f"{v:.1f}" for v in y[k])]
        for k in range(N_HOURS)
    ]
    cut = N_HOURS - N_LATER
    write("readings.csv", ["time", *names],
          [rows[k] for k in range(cut) if not is_absent[k]])  # fmt: skip
    write("today.csv", ["time", *names], rows[cut:])
    lost = [
        [times[k], names[i], f"{truth[k, i]:.1f}"]
        for k, i in np.argwhere(is_lost[:cut] | is_absent[:cut, None])
    ]
    write("truth.csv", ["time", "station", "temperature_C"], lost)
    places = [
        [name, f"{a:.3f}", f"{b:.3f}", f"{h:.0f}"]
        for name, a, b, h in zip(names, lat, lon, height, strict=True)
    ]
    write("stations.csv", ["station", "lat", "lon", "height_m"], places)


if __name__ == "__main__":
    main()
