"""Readings made up for tests of methods: what they measure is known."""

import numpy as np

from halk.data import Input, Readings, Schema
from halk.data.sensors import Sensors
from halk.sensors.method import Site

HOUR, START = 3600.0, 1_400_000_000.0


def make_site(n, *, depth=False, places=True, seed=0):
    """Return sensors in a square, read in time or over depth."""
    rng = np.random.default_rng(seed)
    names = tuple(f"s{i:02d}" for i in range(n))
    positions = rng.uniform(0, 10, (n, 2)) if places else None
    one = Input("depth_m", "number", "m") if depth else Input("time", "time")
    return Site(Schema("s", "y", "C", (one,)), Sensors(names, positions))


def make_series(y, step=HOUR):
    """Return the readings of a table (times, sensors); NaN is a gap."""
    n_times, n = y.shape
    times = START + step * np.arange(n_times)
    rows = np.repeat(np.arange(n), n_times), np.tile(times, n)[:, None], y.T.ravel()
    return Readings(*rows)


def draw_shared(site, n_times, noise=0.1, seed=0):
    """Return a smooth field in space that jumps from hour to hour."""
    rng = np.random.default_rng([seed, 1])
    places = site.sensors.positions / 5
    shocks = rng.normal(size=(n_times, 3))
    shapes = np.column_stack([np.ones(len(places)), places])
    clean = shocks @ shapes.T
    return clean + noise * rng.normal(size=clean.shape)


def draw_walks(n, n_times, seed=0):
    """Return random walks that have nothing to do with each other."""
    return np.cumsum(np.random.default_rng([seed, 2]).normal(size=(n_times, n)), axis=0)


def draw_profiles(site, n_each=40, noise=0.02, seed=0):
    """Return readings of a curve in depth that bends a little from place to place."""
    rng = np.random.default_rng([seed, 3])
    n = len(site.sensors.names)
    who = np.repeat(np.arange(n), n_each)
    depth = rng.uniform(0, 3, len(who)).round(3)
    places = site.sensors.positions[who]
    clean = np.sin(2 * depth + 0.2 * places[:, 0]) + 0.1 * places[:, 1]
    y = clean + noise * rng.normal(size=len(who))
    return Readings(who, depth[:, None], y), clean


def take(rows, kept):
    """Return some rows."""
    return Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])
