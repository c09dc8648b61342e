"""The network with length scales that adapt: S10 and its guards, dense and slow."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from halk.reference.formulas import Array, distance
from halk.reference.network import HALK, Info


def leave_one_out_length_scale(points: Array, length_scale: float) -> float:
    """Return the length scale after one evaluation of the fixed point S10.

    A point and its duplicates tell nothing about each other. Shifting a row's exponents
    by its smallest squared distance cancels in the ratio and makes the denominator at
    least 1. A single point leaves the length scale as it is.
    """
    if len(np.unique(points, axis=0)) < 2:
        return length_scale
    ratios = []
    for row in distance(points, points, 1.0) ** 2:
        squares = row[row > 0]
        e = np.exp(-(squares - squares.min()) / (2 * length_scale**2))
        ratios.append((e * squares).sum() / e.sum())
    return float(np.sqrt(np.mean(ratios)))


class Guards(NamedTuple):
    """The numbers that keep adaptation in bounds; see `halk.bandwidth`."""

    rate: float = 0.05
    warm_up: float = 20
    narrowest: float = 0.1
    widest: float = 10.0
    threshold: float = 0.05
    smoothing: float = 0.01
    sharing: float = 0.5


class AdaptiveHALK(HALK):
    """`HALK` whose agents widen or narrow their kernel after each reading.

    ``length_scale`` is that of the stationary ``kernel`` given; agent i uses
    ``k(x / s_i, y / s_i)``. For targets as they are (no ``standardize``).
    """

    def __init__(
        self,
        *arguments: Any,
        length_scale: float,
        adaptation: Literal["leave-one-out", "loss-following"],
        guards: Guards = Guards(),  # noqa: B008
        **others: Any,
    ) -> None:
        super().__init__(*arguments, **others)
        self.length_scale, self.guards = length_scale, guards
        self.adaptation, self.base = adaptation, list(self.kernels)
        V = self.n_agents
        self.width = np.ones(V)  # s_i, in use
        self.proposed, self.readings = np.zeros(V), np.zeros(V)  # log s_i, wanted
        self.slope, self.square = np.zeros(V), np.zeros(V)  # running means

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Make a step of S3 to S9; then let those with a reading adapt, all at once."""
        around = [self.proposed[each].copy() for each in self.neighbours]
        info = super().step(x, y)
        points, targets = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        for i in np.flatnonzero(~np.isnan(targets)):
            slope = self.loss.derivative(float(info.own[i]), float(targets[i]))
            self._adapt(int(i), points[i], slope, around[i])
        return info

    def _adapt(self, i: int, x: Array, slope: float, around: Array) -> None:
        """Propose, share, bound; change the kernel if that is worth a refit."""
        guards = self.guards
        self.readings[i] += 1
        if len(self.atoms[i]) >= 3 and self.readings[i] > guards.warm_up:
            if self.adaptation == "leave-one-out":
                self._follow_likelihood(i, x)
            else:
                self._descend_loss(i, x, slope)
        if len(around):
            self.proposed[i] += guards.sharing * (np.mean(around) - self.proposed[i])
        bounds = np.log(guards.narrowest), np.log(guards.widest)
        self.proposed[i] = np.clip(self.proposed[i], *bounds)
        if abs(self.proposed[i] - np.log(self.width[i])) > guards.threshold:
            self._refit(i, float(np.exp(self.proposed[i])))

    def _follow_likelihood(self, i: int, x: Array) -> None:
        """S10 on the dictionary with the new point, damped on the log scale."""
        points = np.vstack([self.atoms[i], x]) / self.length_scale
        wanted = np.log(leave_one_out_length_scale(points, float(self.width[i])))
        self.proposed[i] += self.guards.rate * (wanted - self.proposed[i])

    def _descend_loss(self, i: int, x: Array, slope: float) -> None:
        """Go down the loss's mean slope in log s_i, over its root mean square."""
        gradient = slope * self._derivative(i, x)
        n = self.readings[i] - self.guards.warm_up
        self.slope[i] += (gradient - self.slope[i]) * max(0.05, 1 / n)
        self.square[i] += (gradient**2 - self.square[i]) * max(0.01, 1 / n)
        if self.square[i] > 0:
            pace = self.guards.rate / np.sqrt(1 + n / 100)
            self.proposed[i] -= pace * self.slope[i] / np.sqrt(self.square[i])

    def _gram(self, i: int, s: float, X: Array) -> Array:
        return self.base[i](X / s, self.atoms[i] / s)

    def _fit(self, i: int, s: float, values: Array) -> Array:
        """Return weights that have these values at the atoms, nearly (a ridge)."""
        K = self._gram(i, s, self.atoms[i])
        ridge = self.guards.smoothing * np.diag(np.diag(K))
        return np.asarray(np.linalg.solve(K + ridge, values), dtype=float)

    def _derivative(self, i: int, x: Array) -> float:
        """Return df(x) / d log s_i when weights follow to keep values at the atoms."""
        h, s, w, atoms = 1e-4, self.width[i], self.weights[i], self.atoms[i]
        up, down = s * np.exp(h), s * np.exp(-h)
        moved = (self._gram(i, up, atoms) - self._gram(i, down, atoms)) @ w
        here = (self._gram(i, up, x[None]) - self._gram(i, down, x[None])) @ w
        fit = self._fit(i, s, moved)
        return float((here - self._gram(i, s, x[None]) @ fit)[0] / (2 * h))

    def _refit(self, i: int, s: float) -> None:
        """Exchange the kernel, keeping the function where its atoms are."""
        self.weights[i] = self._fit(i, s, self._f(i, self.atoms[i]))
        self.width[i], base = s, self.base[i]
        self.kernels[i] = lambda X, Y: base(X / s, Y / s)
