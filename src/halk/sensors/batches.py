"""Readings as they came, and a method that learned them, to go on or anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk.data.readings import Readings
from halk.sensors.comparison import Comparison
from halk.sensors.method import Method, Site


class Batch(NamedTuple):
    """Readings that came at once: those of the fit, or of an update."""

    n_readings: int
    n_sensors: int  # that there were then


def take(rows: Readings, kept: slice) -> Readings:
    """Return some of the readings."""
    return Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])


def parts(rows: Readings) -> tuple[Any, Any, Any]:
    """Return sensors, inputs and values."""
    return rows.sensor, rows.x, rows.y


def join(one: Readings, other: Readings) -> Readings:
    """Return the readings of both, one after the other."""
    pairs = zip(parts(one), parts(other), strict=True)
    return Readings(*(np.concatenate(pair) for pair in pairs))


def state_of(method: Method) -> Mapping[str, NDArray[Any]] | None:
    """Return what a method has learned; None if it is fitted anew from readings."""
    if not hasattr(method, "state_dict"):
        return None
    state: Mapping[str, NDArray[Any]] = method.state_dict()
    return state


def without_first(batches: tuple[Batch, ...], n: int) -> tuple[Batch, ...]:
    """Return batches of which the first ``n`` readings are gone."""
    ends = np.maximum(np.cumsum([one.n_readings for one in batches]) - n, 0)
    sizes = np.diff(ends, prepend=0).tolist()
    return tuple(Batch(k, one.n_sensors) for k, one in zip(sizes, batches, strict=True))


def advance(
    method: Any, comparison: Comparison, site: Site, known: Readings, fresh: Readings
) -> Method:
    """Return a method that knows more readings, and more sensors if the site has more.

    One that goes on as a stream learns what is fresh; any other is fitted anew.
    """
    has_new = len(site.sensors.names) > len(method.site.sensors.names)
    can_join = hasattr(method, "join") and site.sensors.positions is not None
    if not hasattr(method, "update") or (has_new and not can_join):
        method = comparison.make(site)
        method.fit(join(known, fresh))
    else:
        if has_new:
            method.join(site.sensors)
        if len(fresh.y):
            method.update(fresh)
    made: Method = method
    return made


def replay(
    comparison: Comparison, site: Site, rows: Readings, batches: tuple[Batch, ...]
) -> Method:
    """Return a method that learns batches as they came."""
    method = comparison.make(site)
    if not hasattr(method, "update"):
        method.fit(rows)
        return method
    end = 0
    for k, batch in enumerate(batches):
        sensors = site.sensors.subset(np.arange(batch.n_sensors))
        known, start, end = take(rows, slice(end)), end, end + batch.n_readings
        then, fresh = site._replace(sensors=sensors), take(rows, slice(start, end))
        if k == 0:
            method = comparison.make(then)
            method.fit(fresh)
        else:
            method = advance(method, comparison, then, known, fresh)
    return method


def restore(
    comparison: Comparison,
    site: Site,
    rows: Readings,
    batches: tuple[Batch, ...],
    state: Mapping[str, NDArray[Any]] | None,
) -> Method:
    """Return the method that is used as it was: from its state, or from readings."""
    if state is None:
        return replay(comparison, site, rows, batches)
    made: Any = comparison.make(site)
    made.load_state_dict(state)
    method: Method = made
    return method
