"""Intervals that cover what they say, from errors on readings that were hidden."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.sensors.method import BINS, Estimates

POOL = 100.0
"""Errors of its own from which on a sensor goes by them more than by all sensors'. So
many since those of one gap tell little more than one of them."""

SLACK = (0.03, 0.04)
"""How much less and more a method's own intervals may cover before they are changed."""

FEW = 50
"""Errors in a bin below which those of the next bins count too."""

NORMAL = 1.645
"""Half the width of an interval, in stds, where nothing was judged."""


class Calibration(NamedTuple):
    """By how much the interval of a method, or its std, is to be multiplied.

    Attributes
    ----------
    scale : array (V,)
        Stands for the std where a method knows none: that of the sensor's readings.
    factor : array (2, V, BINS)
        When filling and when using the past only; per sensor and bin.
    cover : float
        Share of readings that intervals are to cover.
    """

    scale: Vector
    factor: Matrix
    cover: float = 0.9

    def apply(
        self, found: Estimates, sensor: Indices, causal: bool = False
    ) -> Estimates:
        """Return estimates with calibrated intervals, and stds that fit these."""
        down, up = _half_widths(found, sensor, self.scale)
        factor = self.factor[int(causal), sensor, found.bin]
        quantile = NormalDist().inv_cdf((1 + self.cover) / 2)
        low, high = found.value - factor * down, found.value + factor * up
        return found._replace(low=low, high=high, std=(high - low) / 2 / quantile)

    def as_dict(self) -> dict[str, Any]:
        """Return the calibration as plain lists."""
        return {
            "scale": self.scale.tolist(), "factor": self.factor.tolist(),
            "cover": self.cover,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Calibration:
        """Return the calibration that was saved."""
        scale, factor = (np.array(found[name], float) for name in ("scale", "factor"))
        return cls(scale, factor, float(found["cover"]))


def _half_widths(
    found: Estimates, sensor: Indices, scale: Vector
) -> tuple[Vector, Vector]:
    """Return what is multiplied, below and above: own interval, std, or the scale."""
    std = np.where(np.isnan(found.std), scale[sensor], found.std)
    has_own = ~np.isnan(found.low) & ~np.isnan(found.high)
    least = 1e-12 * (1 + scale[sensor])
    down = np.maximum(np.where(has_own, found.value - found.low, std), least)
    up = np.maximum(np.where(has_own, found.high - found.value, std), least)
    return down, up


def measure_scores(
    found: Estimates, sensor: Indices, y: Vector, scale: Vector
) -> Vector:
    """Return errors in half-widths: what is below 1 is covered as it is."""
    down, up = _half_widths(found, sensor, scale)
    error = y - found.value
    scores: Vector = np.where(error > 0, error / up, -error / down)
    return scores


def find_factors(
    sensor: Indices, bins: Indices, scores: Vector, n_sensors: int, cover: float
) -> Matrix:
    """Return quantiles of scores per sensor and bin, (V, BINS).

    A sensor's own scores count as they are, all others' together as ``POOL`` more.
    """
    factor = np.full((n_sensors, BINS), NORMAL)
    for b in range(BINS):
        inside = _find_near(bins, b)
        order = np.argsort(scores[inside], kind="stable")
        ranked, who = scores[inside][order], sensor[inside][order]
        if not len(ranked):
            continue
        shared: Vector = np.linspace(0.0, POOL, len(ranked) + 1)[1:]
        factor[:, b] = _quantile(ranked, shared, cover)
        for i in np.unique(who).tolist():
            weights = (shared + np.cumsum(who == i)).astype(np.float64)
            factor[i, b] = _quantile(ranked, weights, cover)
    return factor


def _find_near(bins: Indices, b: int) -> NDArray[np.bool_]:
    """Return which errors stand for a bin: its own, and others' if these are few."""
    reach = 0
    while (np.abs(bins - b) <= reach).sum() < FEW and reach < BINS:
        reach += 1
    return np.abs(bins - b) <= reach


def _quantile(ranked: Vector, weights: Vector, cover: float) -> float:
    """Return the score at a share of the weight, a little more for few scores."""
    wanted = min(cover * (1 + 1 / len(ranked)), 1.0) * weights[-1]
    k = min(int(np.searchsorted(weights, wanted)), len(ranked) - 1)
    return float(ranked[k])


def correct_own(bins: Indices, scores: Vector, n_sensors: int, cover: float) -> Matrix:
    """Return factors for intervals that a method made itself, (V, BINS).

    They are left as they are unless they cover far too little, or too much: the method
    has judged itself on more than artificial gaps tell.
    """
    factor = np.ones(BINS)
    for b in range(BINS):
        ranked = np.sort(scores[_find_near(bins, b)])
        if len(ranked) >= FEW:
            least, most = max(cover - SLACK[0], 0.0), min(cover + SLACK[1], 1.0)
            low, high = (float(np.quantile(ranked, level)) for level in (least, most))
            factor[b] = np.clip(1.0, low, high)
    return np.tile(factor, (n_sensors, 1))


class Fit(NamedTuple):
    """How intervals fit readings that did not make them.

    Attributes
    ----------
    cover : float
        Share of readings within.
    width : float
        Mean width.
    score : float
        Interval score: the width, and 2 / (1 - cover wanted) times what is missed.
    cells : int
    """

    cover: float
    width: float
    score: float
    cells: int


def measure_fit(low: Vector, high: Vector, y: Vector, cover: float) -> Fit:
    """Return how intervals fit readings."""
    if not len(y):
        return Fit(float("nan"), float("nan"), float("nan"), 0)
    missed = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    width = high - low
    score = float((width + 2 / (1 - cover) * missed).mean())
    return Fit(float((missed <= 0).mean()), float(width.mean()), score, len(y))
