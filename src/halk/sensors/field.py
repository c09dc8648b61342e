"""The field model: second-order HALK on depth, season, place and other inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halk._validation import Indices, Matrix
from halk.data.readings import Readings
from halk.learners import NewtonHALK
from halk.network import Network
from halk.sensors.encode import Encoder
from halk.sensors.method import Estimates, Site
from halk.sensors.order import Track, find_line, hash_rows, sort_rows

NEIGHBOURS = 6
"""Nearest sensors that each talks to, unless the user gives a graph."""

TOLERANCE = 0.02
"""How far neighbours' functions may differ, in stds of the readings."""

KERNEL = "matern52"
"""Smooth enough for temperature over depth, and rough enough for its thermocline."""

MOST = 100_000
"""Readings that are learned at most; of more, so many at random. Tables beyond it are
those of the neighbour model."""


class FieldModel:
    """A function of the inputs per sensor, bound to its neighbours' by multipliers.

    Every reading is learned once, in random order; length scales and noise are found
    with the first 20 per sensor. Neighbours' predictions do not count as readings, so
    standard deviations are the shape of intervals, not their size.

    Parameters
    ----------
    site : Site
    together : bool, default True
        Whether sensors talk; else each learns by itself.
    neighbours : int
        Nearest sensors that each talks to, unless the user gave a graph.
    tolerance : float
        In stds of the readings.
    features : sequence of str, optional
        The inputs to use, as of :class:`halk.sensors.encode.Encoder`.
    """

    def __init__(
        self,
        site: Site,
        together: bool = True,
        *,
        neighbours: int = NEIGHBOURS,
        tolerance: float = TOLERANCE,
        features: Sequence[str] | None = None,
    ) -> None:
        self.site, self.together, self.tolerance = site, together, tolerance
        self.neighbours, self.features = neighbours, features
        self.name = "field, together" if together else "field, independent"

    def fit(self, rows: Readings) -> None:
        """Learn readings; what was known before is forgotten."""
        rows = sort_rows(rows)
        hashes = hash_rows(self.site.sensors.names, rows.sensor, rows.x, self.site.seed)
        order = np.argsort(hashes, kind="stable")[:MOST]
        self.encoder = Encoder(self.site, rows, self.features)
        self.track = Track(find_line(self.site.schema, rows), rows)
        sensor, y = rows.sensor[order], rows.y[order]
        self.learner = NewtonHALK(self.make_network(float(y.std())), KERNEL)
        self.learner.learn_readings(
            sensor, self.encoder.encode(sensor, rows.x[order]), y
        )

    def make_network(self, std: float) -> Network:
        """Return who talks to whom, with tolerances in the unit of readings."""
        sensors, n = self.site.sensors, len(self.site.sensors.names)
        limit = (self.tolerance * std) ** 2 / 2  # of half the squared difference
        if not self.together or n == 1:
            return Network(n, names=sensors.names, positions=sensors.positions)
        if self.site.graph is not None:
            return _from_graph(self.site, limit, std)
        if sensors.positions is None:
            raise ValueError(
                "sensors must have places or a graph to learn together, got neither"
            )
        metric = "haversine" if sensors.is_geographic else "euclidean"
        return Network.from_positions(
            sensors.positions, k=self.neighbours, metric=metric, tolerance=limit,
            names=sensors.names,
        )  # fmt: skip

    def estimate(
        self, sensor: Indices, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return estimates at inputs in the units of the schema.

        What was learned of the field is used whole: readings after a point count, even
        if ``causal``.
        """
        at = self.encoder.encode(sensor, x)
        value, std = self.learner.predict_readings(sensor, at, return_std=True)
        return Estimates.of(value, std, self.track.find_bins(sensor, x, causal))


def _from_graph(site: Site, limit: float, std: float) -> Network:
    """Return the user's graph; its tolerances are in stds, NaN for the common one."""
    assert site.graph is not None
    pairs, own = site.graph
    tolerance = np.where(np.isnan(own), limit, (own * std) ** 2 / 2)
    sensors = site.sensors
    return Network(
        len(sensors.names), pairs, tolerance, names=sensors.names,
        positions=sensors.positions,
    )  # fmt: skip
