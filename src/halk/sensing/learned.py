"""What a model has come to: errors at readings it had not seen, sensor by sensor."""

from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Vector

ENOUGH = 20
"""Readings below which nothing is said of coverage: first intervals are endless."""


class Learned(NamedTuple):
    """Counts and sums over readings, each predicted before it was learned."""

    readings: Indices  # (V,) learned
    judged: Indices  # (V,) of which errors count
    squares: Vector  # (V,) sum of their squared errors
    deviations: Vector  # (V,) of squared distances of values from their mean
    n_covered: int  # by intervals that were there before

    @classmethod
    def nothing(cls, n_sensors: int) -> "Learned":
        """Return what is known of a model that has learned nothing."""
        zeros, none = np.zeros(n_sensors), np.zeros(n_sensors, np.int64)
        return cls(none, none, zeros, zeros, 0)

    @classmethod
    def from_misses(
        cls, learned: Indices, a: Indices, miss: Vector, value: Vector, covered: Any,
        V: int,
    ) -> "Learned":  # fmt: skip
        """Return the sums over readings of agents ``a``, of those that were learned."""
        judged = np.bincount(a, minlength=V)
        means = np.bincount(a, value, V) / np.maximum(judged, 1)
        return cls(
            np.bincount(learned, minlength=V),
            judged,
            np.bincount(a, miss**2, V).astype(np.float64),
            np.bincount(a, (value - means[a]) ** 2, V).astype(np.float64),
            int(np.sum(covered)),
        )

    def joined(self, other: "Learned") -> "Learned":
        """Return the sums over both."""
        return Learned(
            self.readings + other.readings, self.judged + other.judged,
            self.squares + other.squares, self.deviations + other.deviations,
            self.n_covered + other.n_covered,
        )  # fmt: skip

    @property
    def n_readings(self) -> int:
        """Readings learned."""
        return int(self.readings.sum())

    @property
    def error(self) -> float:
        """Root mean square over all sensors' readings; NaN before any."""
        n = self.judged.sum()
        return float(np.sqrt(self.squares.sum() / n)) if n else float("nan")

    @property
    def errors(self) -> Vector:
        """Of every sensor, (V,); NaN where there is none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(self.squares / self.judged)

    @property
    def explained(self) -> float:
        """Share of the variance around each sensor's own mean that is explained."""
        total = self.deviations.sum()
        return float(1 - self.squares.sum() / total) if total else float("nan")

    @property
    def coverage(self) -> float:
        """Share of readings within their intervals; NaN before any."""
        n = int(self.judged.sum())
        return self.n_covered / n if n >= ENOUGH else float("nan")
