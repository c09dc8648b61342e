"""Methods side by side: errors on artificial gaps, intervals, and which one is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from halk._validation import Indices, Vector
from halk.sensors.calibrate import Calibration, Fit
from halk.sensors.method import Estimates, Method, Site
from halk.sensors.methods import METHODS

ALL = "all"
"""All kinds of gaps, and all bins."""


@dataclass(frozen=True)
class Errors:
    """Errors on hidden readings: mean absolute, root mean square, and how many."""

    mae: float
    rmse: float
    cells: int


@dataclass(frozen=True)
class Judged:
    """How a method did on the hidden readings.

    Attributes
    ----------
    name : str
    is_model : bool
        Whether it is a model of ours; else a simple method.
    fill, now : dict of Errors
        By kind of gap, and "all". ``now``: from the past only, and the present of other
        sensors; empty if there is no time.
    intervals, now_intervals : dict of Fit
        By bin of distance to the nearest own reading ("0" to "3"), and "all"; made
        without the readings that they are measured on.
    seconds : float
        That it took to learn and to estimate.
    """

    name: str
    is_model: bool
    fill: dict[str, Errors]
    now: dict[str, Errors]
    intervals: dict[str, Fit]
    now_intervals: dict[str, Fit]
    seconds: float

    @property
    def error(self) -> float:
        """Mean absolute error on all hidden readings."""
        return self.fill[ALL].mae


@dataclass(frozen=True)
class Comparison:
    """All methods on the same artificial gaps, and the one that is used.

    Attributes
    ----------
    chosen : str
    reason : str
        Why, in a sentence.
    judged : tuple of Judged
        The best first; none, or only the one that is used, after a quick choice.
    skipped : dict of str
        Methods that were not tried, and why.
    gaps : dict
        By kind, how much of the table is missing, how much of what was hidden is of
        that kind, and how long gaps are.
    draws : int
        How often readings were hidden.
    unit : str
    options : dict
        Of the methods: see :data:`halk.sensors.methods.METHODS`.
    calibration : Calibration
        Of the intervals of the method that is used.
    errors : array (V, 3)
        Mean absolute error, cover and number of hidden readings, sensor by sensor.
    """

    chosen: str
    reason: str
    judged: tuple[Judged, ...]
    calibration: Calibration
    skipped: dict[str, str] = field(default_factory=dict)
    gaps: dict[str, Any] = field(default_factory=dict)
    draws: int = 0
    unit: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    errors: Vector = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods that were judged, the best first."""
        return tuple(one.name for one in self.judged)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of gaps that there were."""
        return tuple(k for k in self.judged[0].fill if k != ALL) if self.judged else ()

    def find(self, name: str) -> Judged | None:
        """Return how a method did; None if it was not judged."""
        return next((one for one in self.judged if one.name == name), None)

    def error(self, name: str, kind: str = ALL, causal: bool = False) -> float:
        """Return the mean absolute error of a method; NaN if it was not judged."""
        one = self.find(name)
        errors = {} if one is None else one.now if causal else one.fill
        return errors[kind or ALL].mae if (kind or ALL) in errors else float("nan")

    def cover(self, name: str, causal: bool = False) -> float:
        """Return the share of hidden readings within their intervals."""
        one = self.find(name)
        fits = {} if one is None else one.now_intervals if causal else one.intervals
        return fits[ALL].cover if ALL in fits else float("nan")

    def by_sensor(self, n_sensors: int) -> tuple[Vector, Vector]:
        """Return error and cover of every sensor; NaN where nothing was hidden."""
        found = np.full((n_sensors, 2), np.nan)
        n = min(len(self.errors), n_sensors)
        found[:n] = self.errors[:n, :2]
        return found[:, 0], found[:, 1]

    def make(self, site: Site, name: str = "") -> Method:
        """Return the method that is used, or another, which has learned nothing yet."""
        made: Method = METHODS[name or self.chosen].make(site, self.options)
        return made

    def calibrate(
        self, found: Estimates, sensor: Indices, causal: bool = False
    ) -> Estimates:
        """Return estimates of the method that is used, with calibrated intervals."""
        return self.calibration.apply(found, sensor, causal)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return found | {
            "judged": [_as_dict(one) for one in self.judged],
            "calibration": self.calibration.as_dict(),
            "errors": self.errors.tolist(),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Comparison:
        """Return the comparison that was saved."""
        return cls(
            **dict(found)
            | {
                "judged": tuple(_from_dict(one) for one in found["judged"]),
                "calibration": Calibration.from_dict(found["calibration"]),
                "errors": np.array(found["errors"], float).reshape(-1, 3),
            }
        )


def _as_dict(one: Judged) -> dict[str, Any]:
    found = asdict(one)
    for name in ("intervals", "now_intervals"):
        found[name] = {key: fit._asdict() for key, fit in getattr(one, name).items()}
    return found


def _from_dict(found: Mapping[str, Any]) -> Judged:
    made = dict(found)
    for name in ("fill", "now"):
        made[name] = {key: Errors(**value) for key, value in found[name].items()}
    for name in ("intervals", "now_intervals"):
        made[name] = {key: Fit(**value) for key, value in found[name].items()}
    return Judged(**made)
