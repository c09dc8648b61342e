"""Small networks of sensors that resemble real ones."""

import numpy as np

from halk.data.readings import Readings
from halk.data.schema import Input, Schema
from halk.data.sensors import Sensors
from halk.sensors.method import Site
from halk.sensors.neighbours import NeighbourModel

HOUR = 3600.0


def draw(seed=0, n_steps=600, n_sensors=12, missing=0.2):
    """Return places, true values and readings with gaps: a field with a daily cycle."""
    rng = np.random.default_rng(seed)
    places = rng.random((n_sensors, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    root = np.linalg.cholesky(np.exp(-apart / 0.7) + 1e-9 * np.eye(n_sensors))
    field = np.zeros((n_steps, n_sensors))
    for t in range(1, n_steps):
        field[t] = 0.95 * field[t - 1] + 0.3 * root @ rng.normal(size=n_sensors)
    daily = 4 * np.sin(2 * np.pi * np.arange(n_steps) / 24)[:, None]
    truth = 12 + 3 * field + daily + 2 * rng.normal(size=n_sensors)
    truth += 0.15 * rng.normal(size=truth.shape)
    return places, truth, np.where(rng.random(truth.shape) < missing, np.nan, truth)


def make_site(places, n_sensors=None, names=None, seed=0):
    """Return a site of sensors called a, b, ... that read at times."""
    n = len(places) if places is not None else n_sensors
    names = names or tuple(f"s{i:03}" for i in range(n))
    schema = Schema("sensor", "value", "", (Input("time", "time"),))
    return Site(schema, Sensors(tuple(names), places), seed=seed)


def to_rows(values, step=HOUR, start=0.0):
    """Return readings on a grid as rows."""
    row, sensor = np.nonzero(np.isfinite(values))
    return Readings(sensor, start + step * row[:, None], values[row, sensor])


def fit(places, values, site=None, **settings):
    """Return a model that has heard values on a grid of hours."""
    settings = {"n_threads": 1, **settings}
    model = NeighbourModel(site or make_site(places, values.shape[1]), **settings)
    model.fit(to_rows(values))
    return model
