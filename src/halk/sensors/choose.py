"""Which method estimates best on a table: judged by artificial gaps like its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Vector
from halk.data.readings import Readings
from halk.sensors import scattered, simple
from halk.sensors.calibrate import (
    Calibration,
    Fit,
    find_factors,
    measure_fit,
    measure_scores,
)
from halk.sensors.field import FieldModel
from halk.sensors.gaps import KINDS, Pattern, draw_gaps, find_pattern
from halk.sensors.method import BINS, Estimates, Method, Site
from halk.sensors.order import Line, find_line, sort_rows

Tell = Callable[[str, float], None]
"""Is told what is being done, and which share of all is done."""

ENOUGH, DRAWS = 1_500, 5
"""Readings to judge by: small tables hide a tenth again and again, so many times."""

WINDOW = 400_000
"""Readings, the latest, that methods are judged on; of longer tables."""

QUICK = 2_000
"""Readings to hide where only intervals are to be made."""

MARGIN = 0.99
"""A simple method is used if its error is below so much of the best model's."""

FIELD_MOST = 50_000
"""Readings of sensors read at the same times beyond which no field is tried: a season
and a day in 60 atoms cannot follow them."""


@dataclass(frozen=True)
class Errors:
    """Errors on hidden readings: mean absolute, root mean square, and how many."""

    mae: float
    rmse: float
    cells: int


@dataclass(frozen=True)
class Judged:
    """How a method did on the hidden readings.

    ``now`` is as if only the past were known, and the present of other sensors; by
    kind of gap, and "all". ``intervals`` are per bin of distance to the nearest own
    reading, and "all", made without the readings they are measured on.
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
        return self.fill["all"].mae


@dataclass(frozen=True)
class Comparison:
    """All methods on the same artificial gaps, the best first.

    ``gaps`` says by kind how much of the table is missing, how much of what was hidden
    is of that kind, and how long gaps are; ``skipped`` why methods were not tried.
    """

    chosen: str
    why: str
    methods: tuple[Judged, ...]
    skipped: dict[str, str]
    gaps: dict[str, Any]
    draws: int
    unit: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        return asdict(self) | {"methods": [_as_dict(one) for one in self.methods]}

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Comparison:
        """Return the comparison that was saved."""
        methods = tuple(_from_dict(one) for one in found["methods"])
        return cls(**(found | {"methods": methods}))


def _as_dict(one: Judged) -> dict[str, Any]:
    found = asdict(one)
    for name in ("intervals", "now_intervals"):
        found[name] = {key: fit._asdict() for key, fit in getattr(one, name).items()}
    return found


def _from_dict(found: dict[str, Any]) -> Judged:
    made = dict(found)
    for name in ("fill", "now"):
        made[name] = {key: Errors(**value) for key, value in found[name].items()}
    for name in ("intervals", "now_intervals"):
        made[name] = {key: Fit(**value) for key, value in found[name].items()}
    return Judged(**made)


class Decision(NamedTuple):
    """The method to use, fitted to all readings, and what it was chosen by."""

    method: Method
    calibration: Calibration
    comparison: Comparison


class Candidate(NamedTuple):
    """A method that may be chosen."""

    make: Callable[[], Method]
    is_model: bool


# which methods there are


def list_candidates(
    site: Site, rows: Readings, line: Line
) -> tuple[list[Candidate], dict[str, str]]:
    """Return the methods that suit a table, and why others do not.

    Parameters
    ----------
    site : Site
    rows : Readings
        Sorted.
    line : Line
    """
    found, skipped = [], {}

    def add(make: Callable[..., Method], *options: Any, is_model: bool = False) -> None:
        found.append(Candidate(lambda: make(site, *options), is_model))

    is_series = line.is_time and line.is_only
    has_common = is_series and share_of_common(site, rows, line) >= 0.5
    if has_common:
        for options in ((12, 700), (18, 450)):
            model = _neighbour_model()
            if model is not None:
                add(model, *options, is_model=True)
    else:
        skipped["neighbours"] = (
            "sensors are hardly read at the same times" if is_series
            else "readings depend on more than the time"
        )  # fmt: skip
    if has_common and len(rows.y) > FIELD_MOST:
        skipped["field"] = f"more than {FIELD_MOST:,} readings at common times"
    else:
        can_talk = site.graph is not None or site.sensors.positions is not None
        if can_talk and len(site.sensors.names) > 1:
            add(FieldModel, True, is_model=True)
        else:
            skipped["field, together"] = "sensors have neither places nor a graph"
        add(FieldModel, False, is_model=True)
    module: Any = simple if is_series else scattered
    add(module.Kriging)
    add(module.InverseDistance)
    if line.is_only:
        add(simple.Linear)
    else:
        skipped[simple.Linear.name] = "readings depend on more than one input"
    add(simple.SensorMean)
    return found, skipped


def share_of_common(site: Site, rows: Readings, line: Line) -> float:
    """Return the share of readings at whose time another sensor is read too."""
    if not len(rows.y):
        return 0.0
    cell = np.rint(line.place(rows.x)).astype(np.int64)
    _, which, count = np.unique(cell, return_inverse=True, return_counts=True)
    pairs = np.unique(which * len(site.sensors.names) + rows.sensor)
    n_sensors = np.bincount(pairs // len(site.sensors.names), minlength=len(count))
    return float((n_sensors[which] > 1).mean())


def _neighbour_model() -> Any:
    try:
        return import_module("halk.sensors.neighbours").NeighbourModel
    except ImportError:
        return None


# judging


class _Trial:
    """What methods say of hidden readings, over all draws."""

    def __init__(
        self, site: Site, line: Line, rows: Readings, pattern: Pattern
    ) -> None:
        self.site, self.line, self.rows = site, line, rows
        names = site.sensors.names
        self.draws = [draw_gaps(names, line, rows, pattern, site.seed * DRAWS)]
        n = len(self.draws[0].row)
        for k in range(1, min(DRAWS, -(-ENOUGH // max(n, 1))) if n else 1):
            seed = site.seed * DRAWS + k
            self.draws.append(draw_gaps(names, line, rows, pattern, seed))
        self.use_draws()

    def use_draws(self) -> None:
        """Put what was hidden in all draws in a row."""
        row = np.concatenate([draw.row for draw in self.draws])
        self.kind = np.concatenate([draw.kind for draw in self.draws])
        self.sensor, self.y = self.rows.sensor[row], self.rows.y[row]
        parity = [draw.gap % 2 for draw in self.draws]
        self.half = np.concatenate(parity).astype(bool)

    def run(self, candidate: Candidate, tell: Callable[[str, float], None]) -> _Run:
        """Return what a method estimates where readings were hidden."""
        began, fill, now = perf_counter(), [], []
        method = candidate.make()
        for k, draw in enumerate(self.draws):
            tell(method.name, k / len(self.draws))
            kept = np.ones(len(self.rows.y), bool)
            kept[draw.row] = False
            rows = self.rows
            method.fit(Readings(rows.sensor[kept], rows.x[kept], rows.y[kept]))
            asked = rows.sensor[draw.row], rows.x[draw.row]
            fill.append(method.estimate(*asked))
            if self.line.is_time:
                now.append(method.estimate(*asked, causal=True))
        seconds = perf_counter() - began
        return _Run(
            method.name, candidate, _join(fill), _join(now) if now else None, seconds
        )

    def find_judged(self, found: list[Estimates | None]) -> NDArray[np.bool_]:
        """Return which readings all methods have an estimate of."""
        values = [one.value for one in found if one is not None]
        is_known = np.ones(len(self.y), bool)
        return is_known & ~np.isnan(values).any(axis=0) if values else is_known


class _Run(NamedTuple):
    """What a method estimates of hidden readings."""

    name: str
    candidate: Candidate
    fill: Estimates
    now: Estimates | None
    seconds: float


def _join(found: list[Estimates]) -> Estimates:
    return Estimates(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _measure_errors(
    found: Estimates, trial: _Trial, is_judged: NDArray[np.bool_]
) -> dict[str, Errors]:
    """Return errors over all gaps, and by kind of gap."""
    errors = {}
    for k, name in enumerate(("all", *KINDS)):
        inside = is_judged if k == 0 else is_judged & (trial.kind == k - 1)
        if inside.any() or k == 0:
            error = (found.value - trial.y)[inside]
            mae = float(np.abs(error).mean()) if len(error) else np.inf
            rmse = float(np.sqrt((error**2).mean())) if len(error) else np.inf
            errors[name] = Errors(mae, rmse, len(error))
    return errors


def _calibrate(
    trial: _Trial, found: list[Estimates | None], scale: Vector
) -> Calibration:
    """Return factors from all hidden readings, for filling and for the present."""
    factors = []
    for estimates in found:
        given = estimates if estimates is not None else found[0]
        assert given is not None
        scores = measure_scores(given, trial.sensor, trial.y, scale)
        known = ~np.isnan(scores)
        sensor, bins = trial.sensor[known], given.bin[known]
        factors.append(find_factors(sensor, bins, scores[known], len(scale)))
    return Calibration(scale, np.stack(factors))


def _measure_intervals(
    trial: _Trial, found: Estimates | None, scale: Vector
) -> dict[str, Fit]:
    """Return how intervals fit, each half of the gaps by the factors of the other."""
    if found is None:
        return {}
    low, high = np.full(len(trial.y), np.nan), np.full(len(trial.y), np.nan)
    scores = measure_scores(found, trial.sensor, trial.y, scale)
    for half in (False, True):
        made = (trial.half == half) & ~np.isnan(scores)
        sensor, bins = trial.sensor[made], found.bin[made]
        factor = find_factors(sensor, bins, scores[made], len(scale))
        used = trial.half != half
        part = Estimates(*(field[used] for field in found))
        shown = Calibration(scale, np.stack([factor, factor])).apply(
            part, trial.sensor[used]
        )
        low[used], high[used] = shown.low, shown.high
    known = ~np.isnan(low)
    fits = {"all": measure_fit(low[known], high[known], trial.y[known])}
    for b in range(BINS):
        inside = known & (found.bin == b)
        if inside.any():
            fits[str(b)] = measure_fit(low[inside], high[inside], trial.y[inside])
    return fits


def measure_scale(site: Site, rows: Readings) -> Vector:
    """Return the std of every sensor's readings; of all, where there are few."""
    n = len(site.sensors.names)
    count = np.bincount(rows.sensor, minlength=n)
    mean = np.bincount(rows.sensor, rows.y, n) / np.maximum(count, 1)
    square = np.bincount(rows.sensor, (rows.y - mean[rows.sensor]) ** 2, n)
    std = np.sqrt(square / np.maximum(count, 1))
    overall = float(rows.y.std()) if len(rows.y) else 1.0
    scale: Vector = np.where((count < 5) | (std <= 0), overall or 1.0, std)
    return scale


def _latest(rows: Readings, line: Line) -> Readings:
    """Return the latest readings of a long table in time, those of all sensors."""
    if not line.is_time or len(rows.y) <= WINDOW:
        return rows
    times = rows.x[:, line.column]
    kept = times >= np.partition(times, -WINDOW)[-WINDOW]
    return Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])


def choose(
    site: Site,
    rows: Readings,
    *,
    quick: bool = False,
    candidates: list[Candidate] | None = None,
    tell: Tell = lambda what, share: None,
) -> Decision:
    """Return the best method for a table, fitted to all its readings.

    Parameters
    ----------
    site : Site
    rows : Readings
        Rows without a value say where gaps are.
    quick : bool, default False
        Let the structure of the table decide; hide readings for intervals only, and
        only if the method has none of its own.
    candidates : list of Candidate, optional
        Instead of those that suit the table.
    tell : function (what, share)
        Is called when something begins.
    """
    known = sort_rows(rows)
    line = find_line(site.schema, known)
    scale = measure_scale(site, known)
    skipped: dict[str, str] = {}
    if candidates is None:
        candidates, skipped = list_candidates(site, known, line)
    if quick:
        return _decide_quickly(site, known, line, scale, candidates[0], tell)
    pattern = find_pattern(site.schema, rows)
    trial = _Trial(site, line, _latest(known, line), pattern)
    runs = []
    for k, one in enumerate(candidates):

        def tell_share(name: str, share: float, k: int = k) -> None:
            tell(f"judging {name}", (k + share) / (len(candidates) + 1))

        runs.append(trial.run(one, tell_share))
    ranked = sorted(_judge(trial, runs, scale), key=lambda one: one.error)
    best = _find_best(ranked)
    run = next(run for run in runs if run.name == best.name)
    tell(f"fitting {best.name}", len(candidates) / (len(candidates) + 1))
    method = run.candidate.make()
    method.fit(known)
    comparison = Comparison(
        best.name, explain(ranked, best, site.schema.unit), tuple(ranked), skipped,
        pattern.as_dict(), len(trial.draws), site.schema.unit,
    )  # fmt: skip
    calibration = _calibrate(trial, [run.fill, run.now], scale)
    return Decision(method, calibration, comparison)


def _judge(trial: _Trial, runs: list[_Run], scale: Vector) -> list[Judged]:
    is_filled = trial.find_judged([run.fill for run in runs])
    is_now = trial.find_judged([run.now for run in runs])
    return [_judge_run(trial, run, is_filled, is_now, scale) for run in runs]


def _judge_run(
    trial: _Trial, run: _Run, is_filled: NDArray[np.bool_], is_now: NDArray[np.bool_],
    scale: Vector,
) -> Judged:  # fmt: skip
    return Judged(
        run.name,
        run.candidate.is_model,
        _measure_errors(run.fill, trial, is_filled),
        {} if run.now is None else _measure_errors(run.now, trial, is_now),
        _measure_intervals(trial, run.fill, scale),
        _measure_intervals(trial, run.now, scale),
        run.seconds,
    )


def _find_best(ranked: list[Judged]) -> Judged:
    """Return the best; a model, unless a simple method is better by a margin."""
    models = [one for one in ranked if one.is_model]
    best = ranked[0]
    if models and best.error >= MARGIN * models[0].error:
        return models[0]
    return best


def explain(ranked: list[Judged], best: Judged, unit: str = "") -> str:
    """Return in a sentence why a method was chosen."""
    others = [one for one in ranked if one.name != best.name]
    said = f"{best.name}: its error is {best.error:.3g}{f' {unit}' if unit else ''}"
    told = [one for one in others if one.is_model != best.is_model][:1]
    told += [one for one in others if one not in told][: 2 - len(told)]
    for one in sorted(told, key=lambda one: one.error):
        said += f", that of {one.name} {one.error:.3g}"
    n = best.fill["all"].cells
    said += f" (mean absolute error on {n:,} hidden readings)"
    return said if best.is_model else f"{said}; a simple method is best here"


def _decide_quickly(
    site: Site, rows: Readings, line: Line, scale: Vector, first: Candidate, tell: Tell
) -> Decision:
    method, pattern = first.make(), None
    factor = np.ones((2, len(scale), BINS))
    calibration = Calibration(scale, factor)
    tell(f"fitting {method.name}", 0.0)
    method.fit(rows)
    sample = rows.sensor[:1], rows.x[:1]
    if len(rows.y) and np.isnan(method.estimate(*sample).low).all():
        pattern = find_pattern(site.schema, rows)
        trial = _Trial(site, line, _latest(rows, line), pattern)
        trial.draws = [
            draw_gaps(site.sensors.names, line, trial.rows, pattern, site.seed, QUICK)
        ]
        trial.use_draws()
        tell("judging intervals", 0.5)
        run = trial.run(first, lambda name, share: None)
        calibration = _calibrate(trial, [run.fill, run.now], scale)
    why = f"{method.name}: by the structure of the table (quick); nothing was compared"
    gaps = {} if pattern is None else pattern.as_dict()
    comparison = Comparison(method.name, why, (), {}, gaps, 0, site.schema.unit)
    return Decision(method, calibration, comparison)
