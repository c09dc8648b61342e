"""The baselines with fixed features: one weight vector per agent."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from halk.reference.formulas import LOSSES, Array, Loss, linear
from halk.reference.network import HALK, Info, Messages


class PrimalDual(HALK):
    """S3 to S6, S8 and S9 with ``phi(x)`` for ``k(x, .)``, and nothing to compress.

    That is `HALK` with the linear kernel on feature vectors. The other baselines
    inherit what they share with it: a step by themselves where there are no
    multipliers, which the default tolerance sees to.

    Parameters
    ----------
    n_agents, edges, loss, tolerance, proximity, others : as for `HALK`
    features : function of one point (p,), its D features
    n_weights : D
    """

    def __init__(
        self,
        n_agents: int,
        edges: Sequence[tuple[int, int]],
        features: Callable[[Array], Array],
        n_weights: int,
        loss: Loss,
        tolerance: ArrayLike = np.inf,
        proximity: Loss = LOSSES["squared"](),  # noqa: B008
        **others: Any,
    ) -> None:
        super().__init__(
            n_agents, edges, tolerance, n_weights, linear, loss, proximity, **others
        )
        self.features = features
        self.w = np.zeros((n_agents, n_weights))

    @property
    def w(self) -> Array:
        """Weights of every agent, (V, D): its atoms are feature vectors."""
        pairs = zip(self.atoms, self.weights, strict=True)
        return np.array([weights @ atoms for atoms, weights in pairs])

    @w.setter
    def w(self, w: Array) -> None:
        self.atoms, self.weights = [np.eye(w.shape[1])] * len(w), list(w)

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        phi = [self.features(point) for point in np.asarray(x, dtype=float)]
        return super().step(phi, y)

    def _compress(self, i: int, atoms: Array, weights: Array) -> tuple[Any, Array]:
        return np.arange(len(atoms)), weights

    def _teachers(self, i: int, seen: Messages) -> list[int]:
        """Return all neighbours with a reading: all of them count in S9."""
        asked = [j for j in self.neighbours[i] if j in seen.asking]
        return asked if self.coupling == "exact" else []


class Diffusion(PrimalDual):
    """Adapt, then combine with Metropolis weights over the neighbours that spoke."""

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        info = super().step(x, y)
        psi, mixed = self.w, self.w
        degree = [len(each) for each in self.neighbours]
        for i, j in self.edges:
            if not np.isnan(info.own[j]):
                mixed[i] += (psi[j] - psi[i]) / (1 + max(degree[i], degree[j]))
        self.w = mixed
        return info

    def _teachers(self, i: int, seen: Messages) -> list[int]:
        return []


class ADMM(PrimalDual):
    """Consensus by linearised ADMM on what neighbours last told, with censoring.

    Further parameters: penalty (rho), threshold and decay. There is one dual vector per
    edge; those of the two directions are opposite.
    """

    def __init__(
        self,
        *shared: Any,
        penalty: float,
        threshold: float = 0.0,
        decay: float = 1.0,
        **others: Any,
    ) -> None:
        super().__init__(*shared, **others)
        self.penalty, self.threshold, self.decay = penalty, threshold, decay
        self.told = self.w
        self.duals = {edge: np.zeros_like(self.told[0]) for edge in self.edges}
        self.readings = np.zeros(self.n_agents, dtype=int)
        self.bytes_sent = 0

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        phi = np.array([self.features(point) for point in np.asarray(x, dtype=float)])
        seen, w = self._exchange(phi, np.asarray(y, dtype=float)), self.w
        heard = {j for i in seen.asking for j in self.neighbours[i]}
        told = self.told.copy()
        for i in heard | set(seen.asking):
            w[i] = self._descend(i, seen)
            limit = self.threshold * self.decay ** self.readings[i]
            is_news = bool(np.linalg.norm(w[i] - told[i]) >= limit)
            told[i] = w[i] if is_news else told[i]
            size = 8 * len(w[i]) if is_news else 1
            self.bytes_sent += len(self.neighbours[i]) * size
        for i, j in self.edges:
            if i in seen.asking or j in seen.asking:
                self.duals[i, j] += self.penalty * (told[i] - told[j])
        self.w, self.told = w, told
        self.readings[seen.asking] += 1
        return Info(seen.own, seen.answers, np.full(self.n_agents, np.nan))

    def _descend(self, i: int, seen: Messages) -> Array:
        """Return ``w_i`` after a step down the augmented Lagrangian, linearised."""
        w, rho, slope = self.w[i], self.penalty, np.zeros_like(self.told[i])
        stiffness = 1 / self.step_size[i] + 2 * rho * len(self.neighbours[i])
        if i in seen.asking:
            phi = seen.x[i]
            slope += self.loss.derivative(seen.own[i], seen.target[i]) * phi
            slope += self.regularization * w
            if self.rule == "normalized":
                stiffness += self.loss.curvature * float(phi @ phi)
        for j in self.neighbours[i]:
            slope += self.duals[i, j] + rho * (2 * w - self.told[i] - self.told[j])
        return np.asarray(w - slope / stiffness)
