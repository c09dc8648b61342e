"""What estimates missing readings: one interface for models and simple methods."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.readings import Readings
from halk.data.schema import Schema
from halk.data.sensors import Sensors

BINS = 4
"""Distances to the nearest reading of the same sensor that intervals tell apart."""


class Graph(NamedTuple):
    """Pairs of neighbours that were given.

    Attributes
    ----------
    pairs : int array (P, 2)
    tolerance : array (P,)
        How far the two may differ, in stds of the readings; NaN where nobody said.
    """

    pairs: Indices
    tolerance: Vector


class Site(NamedTuple):
    """What is known of a network before any reading.

    Attributes
    ----------
    schema : Schema
        What readings depend on: ``schema.inputs``, of kind TIME (seconds since 1970) or
        NUMBER.
    sensors : Sensors
        Names and, if they are known, places.
    graph : Graph or None
        Who is whose neighbour, if the user said so; else the nearest are.
    seed : int
        Of everything that is drawn at random.
    """

    schema: Schema
    sensors: Sensors
    graph: Graph | None = None
    seed: int = 0


class Estimates(NamedTuple):
    """Estimates of readings, one per point asked for.

    Attributes
    ----------
    value : array (n,)
        NaN where the method has no estimate.
    std : array (n,)
        Standard deviation of a reading about the estimate; NaN if the method does not
        know.
    low, high : array (n,)
        Calibrated interval; NaN where the method has none of its own.
    bin : int array (n,)
        How far the nearest reading of the same sensor is, 0 (next to it) to BINS - 1.
    """

    value: Vector
    std: Vector
    low: Vector
    high: Vector
    bin: Indices

    @classmethod
    def of(cls, value: Vector, std: Vector | None = None, bin: Any = None) -> Estimates:
        """Return estimates without intervals of their own."""
        unknown = np.full(len(value), np.nan)
        bins = np.zeros(len(value), np.int64) if bin is None else bin
        return cls(
            value, unknown if std is None else std, unknown, unknown.copy(), bins
        )


class Method(Protocol):
    """A way to estimate readings; models and simple methods alike.

    A method is made for a site, is given all readings that may be used, and is asked
    for others. It never sees what it is judged by.
    """

    name: str
    """As users read it: "neighbours", "linear interpolation"."""

    def fit(self, rows: Readings) -> None:
        """Take in readings, in any order; what was known before is forgotten."""

    def estimate(
        self, sensor: Indices, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return estimates at inputs in the units of the schema.

        Parameters
        ----------
        sensor : int array (n,)
        x : array (n, number of inputs)
        causal : bool
            Use only readings up to the time of the point: those of other sensors at
            that very time included.
        """
