"""A network of sensors made up for tests: what they measure is known everywhere."""

import numpy as np


def truth(x, place, elevation):
    """Return what is measured, without noise."""
    return 10 + 4 * np.sin(3 * x + 0.02 * place[:, 0]) - 0.01 * elevation


def made(n_sensors=12, n_each=60, noise=0.3, seed=0, reach=None):
    """Return readings and sensors as columns, and a function of the truth.

    ``reach`` limits the depths of the sensors with odd numbers.
    """
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 100, (n_sensors, 2))
    elevation = rng.uniform(0, 500, n_sensors)
    agent = np.repeat(np.arange(n_sensors), n_each)
    depth = rng.uniform(0, 2, len(agent))
    if reach is not None:
        is_short = agent % 2 == 1
        depth[is_short] *= reach / 2
    clean = truth(depth, places[agent], elevation[agent])
    names = [f"s{i}" for i in range(n_sensors)]
    readings = {
        "sensor": [names[i] for i in agent],
        "depth_m": depth,
        "t_C": clean + rng.normal(0, noise, len(agent)),
    }
    sensors = {
        "sensor": names, "x": places[:, 0], "y": places[:, 1], "elevation_m": elevation,
    }  # fmt: skip

    def true(sensor, x):
        i = np.array([names.index(one) for one in sensor])
        return truth(x, places[i], elevation[i])

    return readings, sensors, true


def some(readings, kept):
    """Return some rows of a table of columns."""
    rows = np.flatnonzero(kept).tolist()
    return {name: [cells[k] for k in rows] for name, cells in readings.items()}
