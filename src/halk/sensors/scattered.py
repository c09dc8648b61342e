"""Simple methods for readings that have no common clock: profiles and surveys.

They use the inputs of the field model: depth and its logarithm, times and circles,
places; all readings are in one place.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial import cKDTree

from halk._validation import Indices, Matrix, Vector
from halk.sensors.encode import Encoder
from halk.sensors.simple import Simple, cut, take_sample

NEAREST = 32
"""Readings that an estimate is made from."""


class _Scattered(Simple):
    """Readings by their inputs; estimates from the nearest."""

    def _fit(self) -> None:
        self.encoder = Encoder(self.site, self.rows)
        self.inputs = self.encoder.encode(self.rows.sensor, self.rows.x)
        self._tree: tuple[bytes, cKDTree] | None = None
        self._fit_scales()

    def _fit_scales(self) -> None:
        raise NotImplementedError

    def _find_near(
        self, sensor: Indices, x: Matrix, scale: Vector, causal: bool, leave: int = 0
    ) -> tuple[Matrix, Indices, Matrix]:
        """Return scaled inputs, the nearest readings and their distances.

        The ``leave`` nearest are left out; readings after a point have an infinite
        distance if ``causal``.
        """
        at = self.encoder.encode(sensor, x) / scale
        key = scale.tobytes()
        if self._tree is None or self._tree[0] != key:
            self._tree = key, cKDTree(self.inputs / scale)
        most = len(self.rows.y)
        k = min(NEAREST * (4 if causal else 1) + leave, most)
        distance, index = self._tree[1].query(at, np.arange(1 + leave, k + 1))
        if causal and self.track.line.is_time:
            column = self.track.line.column
            is_later = self.rows.x[index, column] > x[:, column, None]
            distance = np.where(is_later, np.inf, distance)
            order = np.argsort(distance, axis=1, kind="stable")[:, :NEAREST]
            index = np.take_along_axis(index, order, axis=1)
            distance = np.take_along_axis(distance, order, axis=1)
        return at, index, distance


class InverseDistance(_Scattered):
    """The mean of the nearest readings by a power of the distance in the inputs.

    Power, and how far a step in the sensors' places counts beside one in the other
    inputs, are those with the least error on readings of the table, left out in turn.
    """

    name = "inverse distance"

    def _fit_scales(self) -> None:
        is_place = np.concatenate(
            [np.full(self._n_columns(k), part.kind == "place")
             for k, part in enumerate(self.encoder.parts)]
        )  # fmt: skip
        some = take_sample(self.site, self.rows, 2_000)
        sensor, x, y = self.rows.sensor[some], self.rows.x[some], self.rows.y[some]
        found = []
        for factor in (0.2, 1.0, 5.0) if is_place.any() else (1.0,):
            scale = np.where(is_place, factor, 1.0)
            _, index, distance = self._find_near(sensor, x, scale, False, leave=1)
            for power in (1.0, 2.0, 4.0):
                value = self._mean(index, distance, power)
                found.append((float(np.abs(value - y).mean()), factor, power))
        _, factor, self.power = min(found)
        self.scale = np.where(is_place, factor, 1.0)

    def _n_columns(self, k: int) -> int:
        return (
            2
            if self.encoder.parts[k].kind in ("place", "hour", "weekday", "day")
            else 1
        )

    def _mean(self, index: Indices, distance: Matrix, power: float) -> Vector:
        if not distance.shape[1]:
            return np.full(len(index), self.rows.y.mean())
        weight = np.maximum(distance, 1e-9) ** -power
        total = weight.sum(axis=1)
        value = (weight * self.rows.y[index]).sum(axis=1) / np.maximum(total, 1e-300)
        return np.where(total > 0, value, np.nan)

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return estimates, without stds."""
        value = np.empty(len(sensor))
        for part in cut(len(sensor), 50_000):
            _, index, distance = self._find_near(
                sensor[part], x[part], self.scale, causal
            )
            value[part] = self._mean(index, distance, self.power)
        return value, None


class Kriging(_Scattered):
    """A Gaussian process over the inputs, all readings in one place.

    Length scales per input, variance and noise maximise the likelihood of up to 400
    readings. An estimate is made from the nearest readings, which is no worse than from
    all of them: the ranges of fields differ from place to place.
    """

    name = "kriging"
    LIKELY = 400

    def _fit_scales(self) -> None:
        y = self.rows.y
        self.offset, self.unit = float(y.mean()), float(y.std()) or 1.0
        self.z = (y - self.offset) / self.unit
        some = take_sample(self.site, self.rows, self.LIKELY)
        p = self.inputs.shape[1]
        start = np.concatenate([np.full(p, 0.5 * np.log(p)), [0.0, np.log(0.03)]])
        bounds = [(-4.0, 5.0)] * p + [(-3.0, 5.0), (np.log(1e-6), 0.5)]
        found = minimize(
            _likelihood, start, (self.inputs[some], self.z[some]), "L-BFGS-B", jac=True,
            bounds=bounds, options={"maxiter": 50},
        )  # fmt: skip
        self.scale = np.exp(found.x[:p])
        self.variance, self.noise = np.exp(found.x[-2:]).tolist()

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return conditional means and stds."""
        value, variance = np.empty(len(sensor)), np.empty(len(sensor))
        for part in cut(len(sensor), 5_000):
            found = self._solve_near(sensor[part], x[part], causal)
            value[part], variance[part] = found
        std = self.unit * np.sqrt(np.maximum(variance, 0.0) + self.noise)
        return self.offset + self.unit * value, std

    def _solve_near(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector]:
        at, index, distance = self._find_near(sensor, x, self.scale, causal)
        is_there = np.isfinite(distance)
        near = self.inputs[index] / self.scale
        apart = ((near[:, :, None] - near[:, None]) ** 2).sum(axis=3)
        K = self.variance * np.exp(-0.5 * apart)
        K *= is_there[:, :, None] & is_there[:, None, :]
        diagonal = np.arange(index.shape[1])
        K[:, diagonal, diagonal] = self.variance * (1 + 1e-9) + self.noise
        k = self.variance * np.exp(-0.5 * ((near - at[:, None]) ** 2).sum(axis=2))
        k *= is_there
        weights = np.linalg.solve(K, k[:, :, None])[:, :, 0]
        value = (weights * self.z[index]).sum(axis=1)
        return value, self.variance - (weights * k).sum(axis=1)


def _gaussian(a: Matrix, b: Matrix) -> Matrix:
    square = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    found: Matrix = np.exp(-0.5 * np.maximum(square, 0.0))
    return found


def _invert(factor: Matrix) -> Matrix:
    """Return the inverse of the matrix that a lower factor is of."""
    half, _ = dpotri(factor, lower=True)
    below = np.tril(half)
    return np.asarray(below + np.tril(half, -1).T)


def _likelihood(theta: Vector, X: Matrix, z: Vector) -> tuple[float, Vector]:
    """Return minus the log-likelihood of readings, and its slope."""
    n, p = X.shape
    scaled, variance, noise = (
        X / np.exp(theta[:p]),
        np.exp(theta[-2]),
        np.exp(theta[-1]),
    )
    part = variance * _gaussian(scaled, scaled)
    K = part + (noise + 1e-9 * variance) * np.eye(n)
    try:
        factor = cho_factor(K, lower=True)
    except np.linalg.LinAlgError:
        return 1e10, np.zeros(p + 2)
    weights, inverse = cho_solve(factor, z), _invert(factor[0])
    value = 0.5 * z @ weights + np.log(np.diag(factor[0])).sum()
    slope_of_K = 0.5 * (inverse - np.outer(weights, weights))
    both = slope_of_K * part
    total, cross = both.sum(axis=1), both @ scaled
    # sum over pairs of (a - b)^2 both_ab, per input
    lengths = 2 * (total @ scaled**2 - (scaled * cross).sum(axis=0))
    slope = np.concatenate([lengths, [both.sum()], [noise * np.trace(slope_of_K)]])
    return float(value), slope
