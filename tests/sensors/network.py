"""Networks of sensors made up for tests: what they measure is known everywhere."""

import numpy as np

HOUR = 3600.0
START = np.datetime64("2024-03-01T00:00", "s")


def profiles(n_sensors=12, n_each=60, noise=0.3, seed=0):
    """Return readings by depth and sensors, as columns."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 100, (n_sensors, 2))
    who = np.repeat(np.arange(n_sensors), n_each)
    depth = rng.uniform(0, 2, len(who)).round(4)
    clean = 10 + 4 * np.sin(3 * depth + 0.02 * places[who, 0])
    names = [f"s{i}" for i in range(n_sensors)]
    readings = {
        "sensor": [names[i] for i in who],
        "depth_m": depth.tolist(),
        "t_C": (clean + rng.normal(0, noise, len(who))).round(4).tolist(),
    }
    return readings, {"sensor": names, "x": places[:, 0], "y": places[:, 1]}


def clocked(n_sensors=6, n_hours=240, noise=0.3, seed=0, missing=0.1):
    """Return hourly temperatures with gaps, (hours, sensors), times and places."""
    rng = np.random.default_rng(seed)
    lat, lon = 25 + rng.uniform(0, 2, n_sensors), -90 + rng.uniform(0, 2, n_sensors)
    hours = np.arange(n_hours)
    weather = np.cumsum(rng.normal(0, 0.5, n_hours))
    day = 5 * np.sin(2 * np.pi * hours / 24)
    y = 15 + (weather + day)[:, None] + lat + rng.normal(0, noise, (n_hours, n_sensors))
    y = y.round(3)
    y[rng.uniform(size=y.shape) < missing] = np.nan
    times = [str(START + 3600 * int(hour)) for hour in hours]
    names = [f"s{i}" for i in range(n_sensors)]
    return y, times, {"sensor": names, "lat": lat.tolist(), "lon": lon.tolist()}


def as_wide(y, times, names, rows=slice(None)):
    """Return a table with a column per sensor; None is a gap."""
    columns = {"time": times[rows]}
    for name, values in zip(names, y[rows].T.tolist(), strict=True):
        columns[name] = [None if v != v else v for v in values]
    return columns


def as_long(y, times, names, rows=slice(None)):
    """Return a table with a row per reading, gaps included."""
    y, times = y[rows], times[rows]
    return {
        "time": [time for time in times for _ in names],
        "sensor": list(names) * len(times),
        "t_C": [None if v != v else v for v in y.ravel().tolist()],
    }


def some(readings, kept):
    """Return some rows of a table of columns."""
    rows = np.flatnonzero(kept).tolist()
    return {name: [cells[k] for k in rows] for name, cells in readings.items()}
