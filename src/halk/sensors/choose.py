"""Which method estimates best on a table: judged by artificial gaps like its own."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector
from halk.data.readings import Readings
from halk.sensors.calibrate import (
    Calibration,
    Fit,
    correct_own,
    find_factors,
    measure_fit,
    measure_scores,
)
from halk.sensors.comparison import ALL, Comparison, Errors, Judged
from halk.sensors.gaps import (
    KINDS,
    MOST,
    WINDOWS,
    Hidden,
    Pattern,
    draw_gaps,
    find_pattern,
)
from halk.sensors.method import BINS, Estimates, Site
from halk.sensors.methods import METHODS, Options, list_methods
from halk.sensors.order import Line, find_far, find_line, sort_rows

Progress = Callable[[str, float], None]
"""Told what is done, and which share of it is."""

ENOUGH, DRAWS = 1_000, 5
"""Readings to judge by: small tables hide a tenth again and again, so many times."""

WINDOW = 400_000
"""Readings, the latest, that methods are judged on; of longer tables."""

QUICK, QUICK_WINDOW = 2_000, 100_000
"""Readings to hide where only intervals are to be made, and of how many."""

MARGIN = 0.01
"""Share of the best model's error by which a simple method must be better."""


# judging


class _Trial:
    """Readings that are hidden, in one draw or several, and what is said of them."""

    def __init__(
        self, site: Site, line: Line, rows: Readings, pattern: Pattern, most: int = MOST
    ) -> None:
        self.site, self.line, self.rows = site, line, rows
        self.is_far = find_far(rows)
        self.draws = [self._draw(pattern, 0, most)]
        n = len(self.draws[0].row)
        n_draws = min(DRAWS, -(-min(ENOUGH, most) // n)) if n else 1
        self.draws += [self._draw(pattern, k, most) for k in range(1, n_draws)]
        row, kind, gap = (
            np.concatenate(part) for part in zip(*self.draws, strict=True)
        )
        self.kind = kind
        self.sensor, self.y = rows.sensor[row], rows.y[row]
        place = line.place(rows.x)
        part = (place[row] - place.min()) // max(np.ptp(place) / WINDOWS, 1.0)
        self.cluster = part.astype(np.int64) if line.is_time else gap
        self.half = self.cluster % 2 == 1

    def _draw(self, pattern: Pattern, k: int, most: int) -> Hidden:
        names, seed = self.site.sensors.names, self.site.seed * DRAWS + k
        found = draw_gaps(names, self.line, self.rows, pattern, seed, most)
        kept = ~self.is_far[found.row]
        return Hidden(*(part[kept] for part in found))

    def run(self, name: str, options: Options, progress: Progress) -> _Run:
        """Return what a method estimates where readings were hidden."""
        began, fill, now = perf_counter(), [], []
        method, rows = METHODS[name].make(self.site, options), self.rows
        for k, draw in enumerate(self.draws):
            progress(f"judging {name}", k / len(self.draws))
            kept = np.ones(len(rows.y), bool)
            kept[draw.row] = False
            method.fit(Readings(rows.sensor[kept], rows.x[kept], rows.y[kept]))
            asked = rows.sensor[draw.row], rows.x[draw.row]
            fill.append(method.estimate(*asked))
            if self.line.is_time:
                now.append(method.estimate(*asked, causal=True))
        seconds = perf_counter() - began
        return _Run(name, _join(fill), _join(now) if now else None, seconds)


class _Run(NamedTuple):
    """What a method estimates of hidden readings."""

    name: str
    fill: Estimates
    now: Estimates | None
    seconds: float


def _join(found: list[Estimates]) -> Estimates:
    return Estimates(*(np.concatenate(part) for part in zip(*found, strict=True)))


class _Judge:
    """Compares what methods say of hidden readings with what they were."""

    def __init__(self, trial: _Trial, runs: list[_Run], scale: Vector, cover: float):
        self.trial, self.runs, self.scale, self.cover = trial, runs, scale, cover
        self.is_filled = self._find_known([run.fill for run in runs])
        self.is_now = self._find_known([run.now for run in runs])

    def _find_known(self, found: list[Estimates | None]) -> NDArray[np.bool_]:
        """Return which readings all methods have an estimate of."""
        known = np.ones(len(self.trial.y), bool)
        for one in found:
            known &= True if one is None else ~np.isnan(one.value)
        return known

    def rank(self) -> list[Judged]:
        """Return how methods did, the best first."""
        found = [
            Judged(
                run.name, METHODS[run.name].is_model,
                self._measure_errors(run.fill, self.is_filled),
                self._measure_errors(run.now, self.is_now),
                self._measure_intervals(run.fill), self._measure_intervals(run.now),
                run.seconds,
            )
            for run in self.runs
        ]  # fmt: skip
        return sorted(found, key=lambda one: one.error)

    def is_better(self, one: Judged, other: Judged) -> bool:
        """Return whether a method is better than another by more than chance.

        By more than a standard error of the difference; errors of one time go together.
        """
        runs = {run.name: run for run in self.runs}
        value, than = runs[one.name].fill.value, runs[other.name].fill.value
        gain = (np.abs(than - self.trial.y) - np.abs(value - self.trial.y))[
            self.is_filled
        ]
        if not len(gain):
            return False
        part = self.trial.cluster[self.is_filled]
        each = np.bincount(part, gain - gain.mean())
        error = float(np.sqrt((each**2).sum())) / len(gain)
        return bool(gain.mean() > max(error, MARGIN * other.error))

    def _measure_errors(
        self, found: Estimates | None, is_known: NDArray[np.bool_]
    ) -> dict[str, Errors]:
        errors = {}
        for k, name in enumerate((ALL, *KINDS) if found is not None else ()):
            assert found is not None
            inside = is_known & (self.trial.kind == k - 1) if k else is_known
            error = (found.value - self.trial.y)[inside]
            if len(error):
                mae, rmse = np.abs(error).mean(), np.sqrt((error**2).mean())
                errors[name] = Errors(float(mae), float(rmse), len(error))
        return errors or ({ALL: Errors(np.inf, np.inf, 0)} if found else {})

    def calibrate(self, run: _Run) -> Calibration:
        """Return factors from all hidden readings, for filling and for the present."""
        every = np.ones(len(self.trial.y), bool)
        now = run.fill if run.now is None else run.now
        factors = [self._find_factors(one, every) for one in (run.fill, now)]
        return Calibration(self.scale, np.stack(factors), self.cover)

    def _find_factors(self, found: Estimates, used: NDArray[np.bool_]) -> Matrix:
        scores = measure_scores(found, self.trial.sensor, self.trial.y, self.scale)
        used = used & ~np.isnan(scores)
        sensor, bins, n = self.trial.sensor[used], found.bin[used], len(self.scale)
        if not np.isnan(found.low).all():
            return correct_own(bins, scores[used], n, self.cover)
        return find_factors(sensor, bins, scores[used], n, self.cover)

    def find_intervals(self, found: Estimates) -> tuple[Vector, Vector]:
        """Return intervals, each half by the factors of the other, of other times."""
        low, high = np.full((2, len(self.trial.y)), np.nan)
        for half in (False, True):
            used = self.trial.half == half
            factor = self._find_factors(found, ~used)
            made = Calibration(self.scale, np.stack([factor, factor]), self.cover)
            part = Estimates(*(field[used] for field in found))
            shown = made.apply(part, self.trial.sensor[used])
            low[used], high[used] = shown.low, shown.high
        return low, high

    def _measure_intervals(self, found: Estimates | None) -> dict[str, Fit]:
        if found is None:
            return {}
        (low, high), fits = self.find_intervals(found), {}
        for b in (-1, *range(BINS)):
            inside = ~np.isnan(low) & ((found.bin == b) | (b < 0))
            if inside.any():
                fit = measure_fit(
                    low[inside], high[inside], self.trial.y[inside], self.cover
                )
                fits[ALL if b < 0 else str(b)] = fit
        return fits

    def measure_sensors(self, run: _Run) -> Matrix:
        """Return error, cover and number of hidden readings of every sensor."""
        sensor, y, n = self.trial.sensor, self.trial.y, len(self.scale)
        low, high = self.find_intervals(run.fill)
        known = ~np.isnan(run.fill.value)
        error = np.abs(run.fill.value - y)
        is_within = (low <= y) & (y <= high)
        count = np.bincount(sensor[known], minlength=n)
        with np.errstate(invalid="ignore"):
            mean = [
                np.bincount(sensor[known], what[known], n) / count
                for what in (error, is_within.astype(float))
            ]
        return np.column_stack([*mean, count])


def measure_scale(n_sensors: int, rows: Readings) -> Vector:
    """Return the std of every sensor's readings; of all, where there are few."""
    kept = ~find_far(rows)
    sensor, y = rows.sensor[kept], rows.y[kept]
    count = np.maximum(np.bincount(sensor, minlength=n_sensors), 1)
    mean = np.bincount(sensor, y, n_sensors) / count
    std = np.sqrt(np.bincount(sensor, (y - mean[sensor]) ** 2, n_sensors) / count)
    overall = float(y.std()) if len(y) else 1.0
    return np.asarray(np.where((count < 5) | (std <= 0), overall or 1.0, std))


def _take_latest(rows: Readings, line: Line, most: int) -> Readings:
    """Return the latest readings of a long table in time, those of all sensors."""
    if not line.is_time or len(rows.y) <= most:
        return rows
    times = rows.x[:, line.column]
    kept = times >= np.partition(times, -most)[-most]
    return Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])


# choosing


def choose(
    site: Site,
    rows: Readings,
    *,
    method: str | None = None,
    quick: bool = False,
    coverage: float = 0.9,
    progress: Progress = lambda what, share: None,
    **options: Any,
) -> Comparison:
    """Return how methods do on a table, and which of them to use.

    Parameters
    ----------
    site : Site
    rows : Readings
        Rows without a value say where gaps are.
    method : str, optional
        Insist on one, by its name or how it begins ("field").
    quick : bool, default False
        Let the structure of the table decide, and hide readings for intervals only.
    coverage : float
        Share of readings that intervals are to cover.
    progress : function, optional
    **options
        See :data:`halk.sensors.methods.Options`; None is as if it were not given.

    Raises
    ------
    ValueError
        If there are no readings, or the method asked for does not suit them.
    """
    known = sort_rows(rows)
    if not len(known.y):
        raise ValueError("rows must hold readings, got none with a value")
    line = find_line(site.schema, known)
    options = {name: value for name, value in options.items() if value is not None}
    options["coverage"] = coverage
    names, skipped = list_methods(site, known, line, options)
    allowed = _find_allowed(method, names, skipped)
    if quick:
        names = allowed[:1]
    scale = measure_scale(len(site.sensors.names), known)
    pattern = find_pattern(site.schema, rows)
    part = _take_latest(known, line, QUICK_WINDOW if quick else WINDOW)
    trial = _Trial(site, line, part, pattern, QUICK if quick else MOST)
    runs = []
    for k, name in enumerate(names):

        def report(what: str, share: float, k: int = k) -> None:
            progress(what, (k + share) / len(names))

        runs.append(trial.run(name, options, report))
    judge = _Judge(trial, runs, scale, coverage)
    ranked = judge.rank()
    if quick or not len(trial.y):
        best = next(one for one in ranked if one.name == allowed[0])
        why = "nothing was compared" if quick else "too few readings to compare methods"
        reason = f"{best.name}: {describe_structure(line, skipped)}; {why}"
    else:
        best = _find_best([one for one in ranked if one.name in allowed], judge)
        reason = explain(ranked, best, site.schema.unit)
    if method:
        reason = _explain_wish(ranked, best, quick)
    run = next(run for run in runs if run.name == best.name)
    return Comparison(
        best.name, reason, tuple(ranked), judge.calibrate(run), skipped,
        pattern.as_dict(), len(trial.draws), site.schema.unit, options,
        judge.measure_sensors(run),
    )  # fmt: skip


def describe_structure(line: Line, skipped: dict[str, str]) -> str:
    """Return what is seen of a table without judging methods."""
    if "neighbours" not in skipped:
        return "several sensors are read at the same times"
    if line.is_time and line.is_only:
        return "sensors are hardly read at the same times"
    return "readings do not depend on the time alone"


def _find_allowed(
    method: str | None, names: list[str], skipped: dict[str, str]
) -> list[str]:
    if method is None:
        return names
    found = [name for name in names if name.startswith(method)]
    if not found:
        why = [f" ({why})" for name, why in skipped.items() if name.startswith(method)]
        raise ValueError(
            f"method must be one that suits the table, {', '.join(names)}, got "
            f"{method!r}{why[0] if why else ''}"
        )
    return found


def _find_best(ranked: list[Judged], judge: _Judge) -> Judged:
    """Return the best; a model, unless a simple method is clearly better."""
    models = [one for one in ranked if one.is_model]
    if models and not judge.is_better(ranked[0], models[0]):
        return models[0]
    return ranked[0]


def _explain_wish(ranked: list[Judged], best: Judged, quick: bool) -> str:
    """Return what is to be said of a method that the user insists on."""
    if quick:
        return f"{best.name} was asked for; nothing was compared"
    first = ranked[0]
    if first is best:
        return f"{best.name} was asked for, and is best"
    return (
        f"{best.name} was asked for: its error is {best.error:.3g}, that of "
        f"{first.name} {first.error:.3g}"
    )


def explain(ranked: list[Judged], best: Judged, unit: str = "") -> str:
    """Return in a sentence why a method was chosen."""
    said = f"{best.name}: its error is {best.error:.3g}{f' {unit}' if unit else ''}"
    others = [one for one in ranked if one.name != best.name]
    told = [one for one in others if one.is_model != best.is_model][:1]
    told += [one for one in others if one not in told][: 2 - len(told)]
    for one in sorted(told, key=lambda one: one.error):
        said += f", {one.name}'{'' if one.name.endswith('s') else 's'} {one.error:.3g}"
    said += f" (mean absolute error on {best.fill[ALL].cells:,} hidden readings)"
    return said if best.is_model else f"{said}; a simple method is best here"
