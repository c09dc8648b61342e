"""The baselines with fixed features: a weight vector an agent, one loop each."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from halk.reference.formulas import Array, Loss

Map = Callable[[Array], Array]  # one point (p,) to its features (D,)


class LMS:
    """Agents by themselves: ``w <- (1 - eta lambda) w - eta loss'(w'phi, y) phi``.

    The others inherit what they share: the weights and the step size.

    Parameters
    ----------
    n_agents : int
    edges : directed edges (i, j), both directions of each
    features : function of one point (p,), its D features
    n_weights : D
    loss : Loss, of `LOSSES`
    step_size : eta, a number or one an agent
    regularization : lambda
    step : "normalized" for ``eta / (1 + eta loss'' |phi|^2)``, or "plain"
    """

    def __init__(
        self,
        n_agents: int,
        edges: Sequence[tuple[int, int]],
        features: Map,
        n_weights: int,
        loss: Loss,
        step_size: ArrayLike,
        regularization: float = 0.0,
        step: Literal["normalized", "plain"] = "normalized",
    ) -> None:
        self.n_agents, self.edges = n_agents, list(edges)
        self.neighbours = [[j for k, j in edges if k == i] for i in range(n_agents)]
        self.features, self.loss = features, loss
        self.step_size = np.full(n_agents, step_size, dtype=float)
        self.regularization, self.rule = regularization, step
        self.weights = np.zeros((n_agents, n_weights))

    def predict(self, i: int, x: Array) -> float:
        """Return ``w_i'phi(x)`` at one point."""
        return float(self.weights[i] @ self.features(x))

    def _eta(self, i: int, curvature: float) -> float:
        eta = float(self.step_size[i])
        return eta / (1 + eta * curvature) if self.rule == "normalized" else eta

    def adapted(self, i: int, x: Array, y: float) -> Array:
        """Return ``w_i`` after a reading, by itself."""
        phi = self.features(x)
        eta = self._eta(i, self.loss.curvature * float(phi @ phi))
        slope = self.loss.derivative(self.predict(i, x), y)
        kept = (1 - eta * self.regularization) * self.weights[i]
        return np.asarray(kept - eta * slope * phi)

    def step(self, x: Array, y: Array) -> None:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        readers = [i for i in range(self.n_agents) if not np.isnan(y[i])]
        moved = {i: self.adapted(i, x[i], y[i]) for i in readers}
        for i, w in moved.items():
            self.weights[i] = w


class Diffusion(LMS):
    """Adapt, then combine with Metropolis weights over the neighbours that spoke."""

    def step(self, x: Array, y: Array) -> None:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        psi = self.weights.copy()
        spoke = [i for i in range(self.n_agents) if not np.isnan(y[i])]
        for i in spoke:
            psi[i] = self.adapted(i, x[i], y[i])
        degree = [len(each) for each in self.neighbours]
        for i in range(self.n_agents):
            mixed = psi[i].copy()
            for j in self.neighbours[i]:
                if j in spoke:
                    mixed += (psi[j] - psi[i]) / (1 + max(degree[i], degree[j]))
            self.weights[i] = mixed


class PrimalDual(LMS):
    """S3 to S6, S8 and S9 with ``phi(x)`` for ``k(x, .)``.

    Further parameters: tolerance (gamma, a number or one an edge), proximity,
    dual_step_size, dual_regularization, tightening, coupling and norm_bound, as for
    `HALK`.
    """

    def __init__(
        self,
        *shared: object,
        tolerance: ArrayLike,
        proximity: Loss,
        dual_step_size: ArrayLike | None = None,
        dual_regularization: float = 0.0,
        tightening: float = 0.0,
        coupling: Literal["exact", "paper"] = "exact",
        norm_bound: float | None = None,
        **further: object,
    ) -> None:
        super().__init__(*shared, **further)  # type: ignore[arg-type]
        dual = self.step_size if dual_step_size is None else dual_step_size
        self.edge = {pair: e for e, pair in enumerate(self.edges)}
        self.tolerance = np.full(len(self.edges), tolerance, dtype=float)
        self.multipliers = np.zeros(len(self.edges))
        self.proximity, self.coupling = proximity, coupling
        self.dual_step_size = np.full(self.n_agents, dual, dtype=float)
        self.dual_regularization, self.tightening = dual_regularization, tightening
        self.norm_bound = norm_bound

    def step(self, x: Array, y: Array) -> None:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        readers = [i for i in range(self.n_agents) if not np.isnan(y[i])]
        weights = [self._moved(i, readers, x, y) for i in range(self.n_agents)]
        prices = [self._price(e, readers, x) for e in range(len(self.edges))]
        self.weights, self.multipliers = np.array(weights), np.array(prices)

    def _moved(self, i: int, readers: list[int], x: Array, y: Array) -> Array:
        w, kappa, h = self.weights[i].copy(), 0.0, self.proximity
        pull = np.zeros_like(w)
        prices = sum(self.multipliers[self.edge[i, j]] for j in self.neighbours[i])
        curvature = self.loss.curvature + 2 * prices * h.curvature
        if i in readers:
            phi, own = self.features(x[i]), self.predict(i, x[i])
            pull += self.loss.derivative(own, y[i]) * phi
            kappa = float(phi @ phi)
            for j in self.neighbours[i]:
                mu = self.multipliers[self.edge[i, j]]
                pull += mu * h.derivative(own, self.predict(j, x[i])) * phi
        for j in self.neighbours[i]:
            if j in readers and self.coupling == "exact":
                mu, phi = self.multipliers[self.edge[j, i]], self.features(x[j])
                values = self.predict(i, x[j]), self.predict(j, x[j])
                pull += mu * h.derivative(*values) * phi
                curvature += 2 * mu * h.curvature
                kappa = max(kappa, float(phi @ phi))
        eta = self._eta(i, kappa * curvature)
        shrink = 1 - eta * self.regularization if i in readers else 1.0
        w = shrink * w - eta * pull
        norm = float(np.linalg.norm(w))
        over = self.norm_bound is not None and norm > self.norm_bound
        return np.asarray(w * (self.norm_bound / norm) if over else w)  # type: ignore[operator]

    def _price(self, e: int, readers: list[int], x: Array) -> float:
        i, j = self.edges[e]
        mu, eta = float(self.multipliers[e]), float(self.dual_step_size[i])
        if i not in readers:
            return mu
        h = self.proximity.value(self.predict(i, x[i]), self.predict(j, x[i]))
        kept = mu * (1 - self.dual_regularization * eta**2)
        return max(0.0, kept + eta * float(h - self.tolerance[e] + self.tightening))


class ADMM(LMS):
    """Consensus by linearised ADMM on what neighbours last told, with censoring.

    Further parameters: penalty (rho), threshold and decay. Duals are kept an edge, in
    full, and are antisymmetric.
    """

    def __init__(
        self,
        *shared: object,
        penalty: float,
        threshold: float = 0.0,
        decay: float = 1.0,
        **further: object,
    ) -> None:
        super().__init__(*shared, **further)  # type: ignore[arg-type]
        self.penalty, self.threshold, self.decay = penalty, threshold, decay
        self.told = np.zeros_like(self.weights)
        self.duals = {edge: np.zeros_like(self.weights[0]) for edge in self.edges}
        self.count = np.zeros(self.n_agents, dtype=int)
        self.bytes_sent = 0

    def step(self, x: Array, y: Array) -> None:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        readers = [i for i in range(self.n_agents) if not np.isnan(y[i])]
        heard = {j for i in readers for j in self.neighbours[i]}
        active = sorted(heard | set(readers))
        moved = {i: self._moved(i, i in readers, x[i], y[i]) for i in active}
        for i, w in moved.items():
            self.weights[i] = w
            change = np.linalg.norm(w - self.told[i])
            is_news = change >= self.threshold * self.decay ** self.count[i]
            self.bytes_sent += len(self.neighbours[i]) * (8 * len(w) if is_news else 1)
            self.told[i] = w if is_news else self.told[i]
        for i, j in self.edges:
            if i in readers or j in readers:
                self.duals[i, j] += self.penalty * (self.told[i] - self.told[j])
        self.count[readers] += 1

    def _moved(self, i: int, has_reading: bool, x: Array, y: float) -> Array:
        w, rho = self.weights[i], self.penalty
        slope, curvature = np.zeros_like(w), 0.0
        if has_reading:
            phi = self.features(x)
            slope = self.loss.derivative(self.predict(i, x), y) * phi
            slope = slope + self.regularization * w
            is_normalized = self.rule == "normalized"
            curvature = self.loss.curvature * float(phi @ phi) * is_normalized
        for j in self.neighbours[i]:
            slope = slope + self.duals[i, j]
            slope = slope + rho * (2 * w - self.told[i] - self.told[j])
        stiffness = (
            1 / self.step_size[i] + curvature + 2 * rho * len(self.neighbours[i])
        )
        return np.asarray(w - slope / stiffness)
