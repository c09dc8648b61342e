"""Other ways to estimate missing readings of a network, made strong and kept apart.

Nothing here is halk's own: each method is what one would write with NumPy and
scikit-learn. A table is an array (T, n) of steps and sensors, NaN where nothing was
read; cells are pairs of arrays (step, sensor). ``causal`` estimates use readings up to
the step of the cell only, those of other sensors at that very step included.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

Array = NDArray[Any]
Cells = tuple[Array, Array]
Hide = Callable[[Array, np.random.Generator], Array]

HEARD = 8
"""Neighbours of which readings are used one by one."""
DRAWS = 40
"""Settings of kriging that are tried."""
DAY = 86_400.0


def find_cells(where: Array) -> Cells:
    """Return the cells of a table (T, n) at which something holds."""
    t, i = np.nonzero(where)
    return t, i


class Scale(NamedTuple):
    """Mean and standard deviation of every sensor."""

    mean: Array
    std: Array

    @classmethod
    def of(cls, X: Array) -> Scale:
        """Return those of a table; a sensor with few readings borrows from all."""
        n = np.sum(~np.isnan(X), axis=0)
        whole, spread = np.nanmean(X), np.nanstd(X) + 1e-12
        centre = np.where(n > 0, np.nansum(X, axis=0) / np.maximum(n, 1), whole)
        mean = (n * centre + 3 * whole) / (n + 3)
        square = np.nansum((X - mean) ** 2, axis=0)
        return cls(mean, np.sqrt((square + 3 * spread**2) / (n + 3)) + 1e-9)


class Context(NamedTuple):
    """What was read around cells: (m, P) sensors, steps from the cell, values.

    Own last two and next two; for each neighbour its last and next reading (that of
    the very step counts as last) and its readings when this sensor was last and next
    read. NaN where there is none.
    """

    sensor: Array
    lag: Array
    value: Array


def find_context(X: Array, cells: Cells, heard: Array, causal: bool) -> Context:
    """Return the readings around cells; the cells' own values are not used."""
    T, n = X.shape
    is_read, rows = ~np.isnan(X), np.arange(T)[:, None]
    last = np.full((T + 1, n), -1)
    last[1:] = np.maximum.accumulate(np.where(is_read, rows, -1))
    after = np.full((T + 2, n), T)  # row T and on: no next reading
    after[:T] = np.minimum.accumulate(np.where(is_read, rows, T)[::-1])[::-1]
    if causal:
        after[:] = T
    t, i = cells
    steps, sensors = [], []

    def add(at: Array, of: Array, unless: Array | bool = False) -> Array:
        steps.append(np.where((at < 0) | unless, T, at))
        sensors.append(of)
        return at

    before = add(last[t, i], i)  # last[t]: up to step t - 1
    add(last[np.maximum(before, 0), i], i)
    following = add(after[t + 1, i], i)
    add(after[np.minimum(following + 1, T + 1), i], i)
    for j in heard[i].T:
        latest = add(last[t + 1, j], j)
        coming = add(after[t, j], j, latest == t)
        add(before, j, before == latest)
        add(following, j, (following == coming) & (latest != t))
    at, of = np.stack(steps, 1), np.stack(sensors, 1)
    padded = np.vstack([X, np.full((1, n), np.nan)])
    return Context(of, (at - t[:, None]).astype(float), padded[at, of])


class Rival:
    """A method for one network.

    Parameters
    ----------
    places : array (n, 2), in a plane
    times : array (T,)
        Seconds, of all steps of the table.
    """

    name = ""

    def __init__(self, places: Array, times: Array) -> None:
        self.times = times
        self.distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        far = self.distance + np.diag(np.full(len(places), np.inf))
        self.nearest = np.argsort(far, axis=1, kind="stable")[:, :-1][:, : 3 * HEARD]
        self.heard = self.nearest[:, :HEARD]
        self.unit = float(np.median(np.min(far, axis=1))) + 1e-9

    def fit(self, X: Array, hide: Hide, causal: bool) -> None:
        """Learn from a table; ``hide`` draws gaps like those to be judged."""
        self.scale = Scale.of(X)

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        """Return estimates of cells that are empty in the table."""
        raise NotImplementedError

    def _draw(self, X: Array, hide: Hide, most: int) -> tuple[Array, Cells, Array]:
        """Return a table with more gaps, and the cells and values that were hidden."""
        rng = np.random.default_rng([5, 1])
        hidden = hide(X, rng)
        cells = find_cells(hidden)
        if len(cells[0]) > most:
            kept = np.sort(rng.choice(len(cells[0]), most, replace=False))
            cells = (cells[0][kept], cells[1][kept])
        return np.where(hidden, np.nan, X), cells, X[cells]


class Mean(Rival):
    """The mean of the sensor; of its past, if causal."""

    name = "sensor mean"

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        if not causal:
            return np.asarray(self.scale.mean[cells[1]])
        n = np.cumsum(~np.isnan(X), axis=0)
        mean = np.nancumsum(X, axis=0) / np.maximum(n, 1)
        return np.where(n > 0, mean, self.scale.mean)[cells]


class Linear(Rival):
    """A straight line between the readings around; the last reading, if causal."""

    name = "linear interpolation"

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        near = find_context(X, cells, self.heard[:, :0], causal)
        a, b = near.value[:, 0], near.value[:, 2]
        u, v = -near.lag[:, 0], near.lag[:, 2]
        line = np.where(
            np.isnan(b), a, np.where(np.isnan(a), b, a + (b - a) * u / (u + v))
        )
        return np.where(np.isnan(line), self.scale.mean[cells[1]], line)


class IDW(Linear):
    """Standardised readings of the same step, by a power of distance, best of five."""

    name = "inverse distance"
    power = 2.0

    def fit(self, X: Array, hide: Hide, causal: bool) -> None:
        super().fit(X, hide, causal)
        less, cells, y = self._draw(X, hide, 20_000)
        errors = {}
        for self.power in (1.0, 1.5, 2.0, 3.0, 4.0):
            said = IDW.estimate(self, less, cells, causal)
            errors[self.power] = np.mean((said - y) ** 2)
        self.power = min(errors, key=lambda power: float(errors[power]))

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        Z = (X - self.scale.mean) / self.scale.std
        W = (self.distance / self.unit + 0.01) ** -self.power
        np.fill_diagonal(W, 0.0)
        total = (~np.isnan(Z)).astype(float) @ W
        z = (np.nan_to_num(Z) @ W)[cells] / np.maximum(total[cells], 1e-300)
        y = self.scale.mean[cells[1]] + self.scale.std[cells[1]] * z
        return np.where(total[cells] > 0, y, super().estimate(X, cells, causal))


class Kriging(Rival):
    """Kriging of standardised readings in space and time, settings by hidden cells.

    Covariance (b + (1 - b) exp(-(d / r)^p)) exp(-(u / tau)^q) and a nugget; inputs are
    those of `find_context`. Readings may be taken by their square root.
    """

    name = "kriging in space and time"

    def fit(self, X: Array, hide: Hide, causal: bool) -> None:
        is_positive = bool(np.nanmin(X) >= 0)
        less, cells, y = self._draw(X, hide, 1000)
        rng = np.random.default_rng([5, 2])
        best = np.inf
        for _ in range(DRAWS):
            draw = {
                "r": self.unit * 10 ** rng.uniform(-0.3, 1.7), "b": rng.uniform(0, 0.9),
                "tau": 10 ** rng.uniform(0, 2.7), "nugget": 10 ** rng.uniform(-4, -0.3),
                "p": rng.choice([0.7, 1.0, 1.5]), "q": rng.choice([0.5, 1.0, 1.5]),
            }  # fmt: skip
            root = is_positive and rng.random() < 0.5
            self.settings, self.root = draw, root
            self.scale = Scale.of(np.sqrt(X) if root else X)
            error = np.mean((self.estimate(less, cells, causal) - y) ** 2)
            if error < best:
                best, kept = error, (draw, root, self.scale)
        self.settings, self.root, self.scale = kept

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        if self.root:
            X = np.sqrt(np.maximum(X, 0))
        Z = (X - self.scale.mean) / self.scale.std
        parts = []
        for begin in range(0, len(cells[0]), 4000):
            part = (cells[0][begin : begin + 4000], cells[1][begin : begin + 4000])
            parts.append(self._solve(Z, part, causal))
        z, v = (np.concatenate(both) for both in zip(*parts, strict=True))
        mean, std = self.scale.mean[cells[1]], self.scale.std[cells[1]]
        y = mean + std * z
        return np.asarray(y**2 + v * std**2 if self.root else y)

    def _solve(self, Z: Array, cells: Cells, causal: bool) -> tuple[Array, Array]:
        near = self._inputs(Z, cells, causal)
        is_there = ~np.isnan(near.value)
        lag = np.where(is_there, near.lag, 0.0)
        own = cells[1][:, None]
        C = self._covariance(
            self.distance[near.sensor[:, :, None], near.sensor[:, None]],
            np.abs(lag[:, :, None] - lag[:, None]),
        )
        C *= is_there[:, :, None] & is_there[:, None]
        P = C.shape[1]
        C[:, range(P), range(P)] = 1 + self.settings["nugget"] + 1e-6
        c = self._covariance(self.distance[near.sensor, own], np.abs(lag)) * is_there
        weights = np.linalg.solve(C, c[..., None])[..., 0]
        z = np.sum(weights * np.where(is_there, near.value, 0.0), axis=1)
        return z, np.maximum(1 - np.sum(weights * c, axis=1), 0)

    def _inputs(self, Z: Array, cells: Cells, causal: bool) -> Context:
        return find_context(Z, cells, self.heard, causal)

    def _covariance(self, d: Array, u: Array) -> Array:
        s = self.settings
        space = s["b"] + (1 - s["b"]) * np.exp(-((d / s["r"]) ** s["p"]))
        return np.asarray(space * np.exp(-((u / s["tau"]) ** s["q"])))


class SpaceKriging(Kriging):
    """Kriging of the readings of the same step."""

    name = "kriging"

    def _inputs(self, Z: Array, cells: Cells, causal: bool) -> Context:
        of = self.nearest[cells[1]]
        return Context(of, np.zeros(of.shape), Z[cells[0][:, None], of])


class Chained(Rival):
    """scikit-learn's IterativeImputer on the wide table."""

    name = "IterativeImputer"

    def fit(self, X: Array, hide: Hide, causal: bool) -> None:
        super().fit(X, hide, causal)
        near = min(30, X.shape[1] - 1)
        self.model = IterativeImputer(
            n_nearest_features=near, random_state=0, keep_empty_features=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged
            self.model.fit((X - self.scale.mean) / self.scale.std)

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        Z = self.model.transform((X - self.scale.mean) / self.scale.std)
        return np.asarray((Z * self.scale.std + self.scale.mean)[cells])


class Trees(IDW):
    """Boosted trees on what was read around a cell, taught on cells hidden alike.

    Among their inputs are the straight line and inverse distance weighting.
    """

    name = "boosted trees"

    def fit(self, X: Array, hide: Hide, causal: bool) -> None:
        super().fit(X, hide, causal)
        inputs, outputs = [], []
        rng = np.random.default_rng([5, 3])
        for _ in range(4):
            hidden = hide(X, rng)
            cells = find_cells(hidden)
            inputs.append(self._features(np.where(hidden, np.nan, X), cells, causal))
            outputs.append(self._standard(X)[cells])
        table = np.vstack(inputs)
        self.known = ~np.isnan(table).all(axis=0)
        self.model = HistGradientBoostingRegressor(
            max_iter=1000, learning_rate=0.05, early_stopping=True,
            l2_regularization=5.0, random_state=0,
        )  # fmt: skip
        self.model.fit(table[:, self.known], np.concatenate(outputs))

    def estimate(self, X: Array, cells: Cells, causal: bool) -> Array:
        z = self.model.predict(self._features(X, cells, causal)[:, self.known])
        return np.asarray(self.scale.mean[cells[1]] + self.scale.std[cells[1]] * z)

    def _standard(self, X: Array) -> Array:
        return np.asarray((X - self.scale.mean) / self.scale.std)

    def _features(self, X: Array, cells: Cells, causal: bool) -> Array:
        Z = self._standard(X)
        near = find_context(Z, cells, self.heard, causal)
        lag = np.where(np.isnan(near.value), np.nan, near.lag)
        is_timed = np.arange(lag.shape[1]) < 4
        is_timed |= (np.arange(lag.shape[1]) % 4 < 2) & (np.arange(lag.shape[1]) >= 4)
        n_read = np.sum(~np.isnan(Z), axis=1)
        everyone = np.nansum(Z, axis=1) / np.maximum(n_read, 1)
        t, i = cells
        mean, std = self.scale.mean[i], self.scale.std[i]
        z_line = (Linear.estimate(self, X, cells, causal) - mean) / std
        z_near = (IDW.estimate(self, X, cells, causal) - mean) / std
        seconds = self.times[t]
        kept = {
            "hour": seconds % DAY / 3600, "weekday": seconds // DAY % 7,
            "season": seconds / DAY % 365.25, "all": everyone[t],
            "mean": mean, "std": std, "sensor": i,
            "line": z_line, "weighted": z_near,
        }  # fmt: skip
        return np.column_stack([near.value, lag[:, is_timed], *kept.values()])


RIVALS = (Mean, Linear, IDW, SpaceKriging, Kriging, Chained, Trees)
