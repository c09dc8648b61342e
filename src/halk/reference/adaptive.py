"""The network with bandwidths that adapt: S10 and its guards, dense and slow."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from halk.reference.formulas import Array, distance
from halk.reference.network import HALK, Info


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

    ``bandwidth`` is that of the stationary ``kernel`` given; agent i uses
    ``k(x / s_i, y / s_i)``. For targets as they are (no ``standardize``).
    """

    def __init__(
        self,
        *arguments: Any,
        bandwidth: float,
        adaptation: Literal["leave-one-out", "loss-following"],
        guards: Guards = Guards(),  # noqa: B008
        **others: Any,
    ) -> None:
        super().__init__(*arguments, **others)
        self.bandwidth, self.adaptation, self.guards = bandwidth, adaptation, guards
        self.base = list(self.kernels)
        V = self.n_agents
        self.width = np.ones(V)  # s_i, in use
        self.proposed, self.readings = np.zeros(V), np.zeros(V)  # log s_i, wanted
        self.slope, self.square = np.zeros(V), np.zeros(V)  # running means

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Make a step of S3 to S9; then let those with a reading adapt, all at once."""
        around = [
            np.mean(self.proposed[self.neighbours[i]]) if self.neighbours[i] else None
            for i in range(self.n_agents)
        ]
        info = super().step(x, y)
        points, targets = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        for i in np.flatnonzero(~np.isnan(targets)):
            slope = self.loss.derivative(float(info.own[i]), float(targets[i]))
            self._adapt(int(i), points[i], slope, around[i])
        return info

    def _adapt(self, i: int, x: Array, slope: float, around: Any) -> None:
        """Propose, share, bound; change the kernel if that is worth a refit."""
        guards = self.guards
        self.readings[i] += 1
        if len(self.atoms[i]) >= 3 and self.readings[i] > guards.warm_up:
            if self.adaptation == "leave-one-out":
                self._towards_likelihood(i, x)
            else:
                self._down_the_loss(i, x, slope)
        if around is not None:
            self.proposed[i] += guards.sharing * (around - self.proposed[i])
        bounds = np.log(guards.narrowest), np.log(guards.widest)
        self.proposed[i] = np.clip(self.proposed[i], *bounds)
        if abs(self.proposed[i] - np.log(self.width[i])) > guards.threshold:
            self._refit(i, float(np.exp(self.proposed[i])))

    def _towards_likelihood(self, i: int, x: Array) -> None:
        """S10 on the dictionary with the new point, damped on the log scale."""
        points = np.vstack([self.atoms[i], x])
        squares = distance(points, points, self.bandwidth * self.width[i]) ** 2
        rows = [row[row > 0] for row in squares]
        e = [np.exp(-(row - row.min()) / 2) for row in rows]
        ratio = np.mean([(a * r).sum() / a.sum() for a, r in zip(e, rows, strict=True)])
        wanted = np.log(self.width[i]) + np.log(ratio) / 2
        self.proposed[i] += self.guards.rate * (wanted - self.proposed[i])

    def _down_the_loss(self, i: int, x: Array, slope: float) -> None:
        """Go down the loss's mean slope in log s_i, over its root mean square."""
        gradient, n = slope * self._widening(i, x), self.readings[i]
        n -= self.guards.warm_up
        self.slope[i] += (gradient - self.slope[i]) * max(0.05, 1 / n)
        self.square[i] += (gradient**2 - self.square[i]) * max(0.01, 1 / n)
        if self.square[i] > 0:
            pace = self.guards.rate / np.sqrt(1 + n / 100)
            self.proposed[i] -= pace * self.slope[i] / np.sqrt(self.square[i])

    def _gram(self, i: int, s: float, X: Array) -> Array:
        return self.base[i](X / s, self.atoms[i] / s)

    def _ridge(self, K: Array) -> Array:
        return K + self.guards.smoothing * np.diag(np.diag(K))

    def _widening(self, i: int, x: Array) -> float:
        """Return df(x) / d log s_i when weights follow to keep values at the atoms."""
        h, s, w, atoms = 1e-4, self.width[i], self.weights[i], self.atoms[i]
        up, down = s * np.exp(h), s * np.exp(-h)
        moved = (self._gram(i, up, atoms) - self._gram(i, down, atoms)) @ w
        here = (self._gram(i, up, x[None]) - self._gram(i, down, x[None])) @ w
        fit = np.linalg.solve(self._ridge(self._gram(i, s, atoms)), moved)
        return float((here - self._gram(i, s, x[None]) @ fit)[0] / (2 * h))

    def _refit(self, i: int, s: float) -> None:
        """Exchange the kernel, keeping the function where its atoms are."""
        values = self._f(i, self.atoms[i])
        K = self._gram(i, s, self.atoms[i])
        fit = np.linalg.solve(self._ridge(K), values)
        self.weights[i] = np.asarray(fit, dtype=float)
        self.width[i] = s
        base = self.base[i]
        self.kernels[i] = lambda X, Y: base(X / s, Y / s)
