"""Compression by KOMP, S7, and the network: one step of all agents, S3 to S9."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halk.reference.formulas import Array, Kernel, Loss

# KOMP in double precision, each as a share: directions too short for least squares,
# rounding in a distance, and the difference between two removal costs that are a tie.
RESOLUTION, ROUNDING, TIE = 1e-6, 1e-12, 1e-9


def _as_vectors(K: Array) -> Array:
    """Return A with ``A'A = K``: column k is atom k, the RKHS norm is Euclidean.

    Eigenvalues of K below its own rounding are noise, and count as zero.
    """
    values, vectors = np.linalg.eigh(K)
    resolved = values > len(K) * np.finfo(float).eps * values.max(initial=0.0)
    return np.asarray(np.sqrt(values[resolved])[:, None] * vectors[:, resolved].T)


def _refit(A: Array, weights: Array, kept: list[int]) -> tuple[Array, float]:
    """Return the kept atoms' best weights for ``A weights``, and the distance left.

    Best fit = their own weights + the best fit of what the removed ones contributed.
    The matrix K cannot tell directions below `RESOLUTION`, so none are used: weights
    there would be large, and cancel only on paper.
    """
    removed = np.setdiff1d(np.arange(len(weights)), kept)
    lost = A[:, removed] @ weights[removed]
    takeover = np.linalg.lstsq(A[:, kept], lost, rcond=RESOLUTION)[0]
    distance = np.linalg.norm(A[:, kept] @ takeover - lost)
    return weights[kept] + takeover, float(distance)


def _merge(atoms: Array, weights: Array) -> tuple[list[int], Array]:
    """Return the first of each set of equal atoms, and weights (m,) moved to these."""
    _, first, which = np.unique(atoms, axis=0, return_index=True, return_inverse=True)
    total = np.zeros(len(atoms))
    np.add.at(total, first[which.ravel()], weights)
    return sorted(first.tolist()), total


def komp(
    kernel: Kernel, atoms: Array, weights: Array, epsilon: float
) -> tuple[NDArray[np.int64], Array]:
    """Compress f~ to f with ``||f - f~|| <= epsilon`` (S7), by destructive KOMP.

    Again and again remove the atom whose removal, after refitting the others, leaves
    the smallest distance to the original f~; stop when that exceeds epsilon. In a tie
    the largest index goes: the newest atom. Duplicates cost nothing and go first; with
    epsilon 0, only atoms go whose removal costs nothing up to rounding. Return the
    indices (n,) of the atoms that stay, ascending, and their new weights (n,).
    """
    K = kernel(atoms, atoms)
    A = _as_vectors(K)
    rounding = ROUNDING * float(np.abs(weights) @ np.sqrt(np.diag(K)))
    kept, weights = _merge(atoms, weights)
    while kept:
        rests = [[k for k in kept if k != candidate] for candidate in kept]
        costs = np.array([_refit(A, weights, rest)[1] for rest in rests])
        if costs.min() > epsilon + rounding:
            break
        limit = min(costs.min() * (1 + TIE), epsilon) + rounding
        kept = rests[np.flatnonzero(costs <= limit)[-1]]
    return np.array(kept, dtype=np.int64), _refit(A, weights, kept)[0]


class Messages(NamedTuple):
    """What the agents know after one round trip of messages; NaN where nothing."""

    asking: list[int]  # agents with a reading
    x: Array  # (V, p)
    target: Array  # (V,) y_i in the agent's own units
    own: Array  # (V,) f_i(x_i) in the agent's own units
    answers: Array  # (E,) F_j(x_i) in the target's units


class Info(NamedTuple):
    """What one step saw before it updated, in the target's units; NaN where nothing."""

    own: Array  # (V,) F_i(x_i)
    answers: Array  # (E,) F_j(x_i)
    step_sizes: Array  # (V,) eta_i of S9


class HALK:
    """A network of agents learning by S3 to S9, dense and slow.

    Parameters
    ----------
    n_agents, n_features : int
        V and p.
    edges : directed edges (i, j), both directions of each
    tolerance : gamma, a number or one per directed edge
    kernel : function (X, Y) -> Gram matrix, or a list of one per agent
    loss, proximity : Loss, of `LOSSES` and `PROXIMITIES`
    step_size, dual_step_size : eta of S5 and of S6 (default: the same), a number or
        one per agent
    regularization, dual_regularization, tightening : lambda, delta, nu
    epsilon : budget of S7, a number or one per agent
    coupling : "exact", or "paper" to leave the neighbours' pulls out of S5
    step : "normalized" for S9, or "plain"
    norm_bound : R of S8, or None
    standardize : learn ``(y - offset) / scale`` by running statistics of an agent's
        own targets: of both (True), the offset alone ("offset"), or neither (False)

    Examples
    --------
    >>> from halk.reference import LOSSES, PROXIMITIES, gaussian
    >>> kernel = lambda X, Y: gaussian(X, Y, 0.5)
    >>> network = HALK(2, [(0, 1), (1, 0)], 0.1, 1, kernel, LOSSES["squared"](),
    ...                PROXIMITIES["squared"](), step_size=0.5, step="plain")
    >>> info = network.step(np.zeros((2, 1)), np.array([1.0, np.nan]))
    >>> network.predict(0, np.zeros((1, 1)))
    array([0.5])
    """

    def __init__(
        self,
        n_agents: int,
        edges: Sequence[tuple[int, int]],
        tolerance: ArrayLike,
        n_features: int,
        kernel: Kernel | Sequence[Kernel],
        loss: Loss,
        proximity: Loss,
        step_size: ArrayLike,
        dual_step_size: ArrayLike | None = None,
        regularization: float = 0.0,
        dual_regularization: float = 0.0,
        tightening: float = 0.0,
        epsilon: ArrayLike = 0.0,
        coupling: Literal["exact", "paper"] = "exact",
        step: Literal["normalized", "plain"] = "normalized",
        norm_bound: float | None = None,
        standardize: bool | Literal["offset"] = False,
    ) -> None:
        V, E, dual = n_agents, len(edges), dual_step_size
        self.n_agents, self.edges = V, list(edges)
        self.edge = {(i, j): e for e, (i, j) in enumerate(edges)}
        self.neighbours = [sorted(j for k, j in edges if k == i) for i in range(V)]
        self.kernels = [kernel] * V if callable(kernel) else list(kernel)
        self.loss, self.proximity = loss, proximity
        self.tolerance = np.full(E, tolerance, dtype=float)
        self.step_size = np.full(V, step_size, dtype=float)
        self.dual_step_size = np.full(V, step_size if dual is None else dual, float)
        self.epsilon = np.full(V, epsilon, dtype=float)
        self.regularization, self.tightening = regularization, tightening
        self.dual_regularization, self.norm_bound = dual_regularization, norm_bound
        self.coupling, self.rule, self.standardize = coupling, step, standardize
        self.atoms = [np.empty((0, n_features)) for _ in range(V)]
        self.weights = [np.empty(0) for _ in range(V)]
        self.multipliers = np.zeros(E)
        self.count, self.mean, self.deviations = np.zeros(V), np.zeros(V), np.zeros(V)
        self.offset, self.scale = np.zeros(V), np.ones(V)
        self.adopted = np.zeros(V, dtype=bool)

    def predict(self, i: int, X: ArrayLike) -> Array:
        """Return ``F_i = offset_i + scale_i f_i`` at points X (n, p)."""
        return np.asarray(self.offset[i] + self.scale[i] * self._f(i, X))

    def _f(self, i: int, X: ArrayLike) -> Array:
        """Return ``f_i = sum_k w_k k(d_k, .)`` at points X (n, p)."""
        K = self.kernels[i](np.asarray(X, dtype=float), self.atoms[i])
        return np.asarray(K @ self.weights[i])

    def step(self, x: ArrayLike, y: ArrayLike) -> Info:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once.

        Every new value is computed from the state at step t before any is stored. An
        agent with neither a reading nor a neighbour's pull (other than 0) is left
        untouched: compressing again what did not move would only lose more of it.
        """
        seen = self._exchange(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        step_sizes = np.full(self.n_agents, np.nan)
        functions = list(zip(self.atoms, self.weights, strict=True))
        for i in range(self.n_agents):
            pulls = [self._neighbour_pull(i, j, seen) for j in self._teachers(i, seen)]
            if i in seen.asking or any(pulls):
                step_sizes[i] = self._step_size(i, seen)
                functions[i] = self._update(i, seen, step_sizes[i])
        multipliers = [self._multiplier(e, seen) for e in range(len(self.edges))]
        self.multipliers = np.array(multipliers, dtype=float)
        self.atoms = [atoms for atoms, _ in functions]
        self.weights = [weights for _, weights in functions]
        return Info(self.offset + self.scale * seen.own, seen.answers, step_sizes)

    def _exchange(self, x: Array, y: Array) -> Messages:
        """Count the readings in, let their agents ask, and the neighbours answer."""
        own, answers = np.full(self.n_agents, np.nan), np.full(len(self.edges), np.nan)
        asking = [i for i in range(self.n_agents) if not np.isnan(y[i])]
        for i in asking:
            self._update_statistics(i, y[i])
        for i in asking:
            own[i] = self._f(i, x[[i]])[0]
            for j in self.neighbours[i]:
                self._adopt(j, i, own[i])
                answers[self.edge[i, j]] = self.predict(j, x[[i]])[0]
        return Messages(asking, x, (y - self.offset) / self.scale, own, answers)

    def _adopt(self, j: int, i: int, own: float) -> None:
        """Give agent j, which has read nothing, the unit of the first that asks it."""
        if self.count[j] == 0 and not self.adopted[j]:
            self.adopted[j] = True
            if self.standardize is not False:
                self.offset[j] = self.offset[i] + self.scale[i] * own
            if self.standardize is True:
                self.scale[j] = self.scale[i]

    def _update_statistics(self, i: int, y: float) -> None:
        """Count y in (Welford); where the scale moves, ``scale_i f_i`` stays."""
        self.count[i] += 1
        ahead = y - self.mean[i]
        self.mean[i] += ahead / self.count[i]
        self.deviations[i] += ahead * (y - self.mean[i])
        std = np.sqrt(self.deviations[i] / self.count[i])
        if self.standardize is not False:
            self.offset[i] = self.mean[i]
        if self.standardize is True and std > 1e-9 * abs(self.mean[i]):
            self.weights[i] = self.weights[i] * (self.scale[i] / std)
            self.scale[i] = std

    def _arguments(self, e: int, seen: Messages) -> tuple[float, float]:
        """Return what h compares on edge (i, j): f_i(x_i), F_j(x_i), in i's units."""
        i = self.edges[e][0]
        return seen.own[i], (seen.answers[e] - self.offset[i]) / self.scale[i]

    def _teachers(self, i: int, seen: Messages) -> list[int]:
        """Return the neighbours whose constraints pull on f_i in this step."""
        asked = [j for j in self.neighbours[i] if j in seen.asking]
        bound = [j for j in asked if self.multipliers[self.edge[j, i]] > 0]
        return bound if self.coupling == "exact" else []

    def _own_pull(self, i: int, seen: Messages) -> float:
        """S3: ``g_i = loss' + sum_j mu_ij d1h(f_i(x_i), f_j(x_i))``."""
        pull = self.loss.derivative(seen.own[i], seen.target[i])
        for j in self.neighbours[i]:
            a, b = self._arguments(self.edge[i, j], seen)
            pull += self.multipliers[self.edge[i, j]] * self.proximity.derivative(a, b)
        return pull

    def _neighbour_pull(self, i: int, j: int, seen: Messages) -> float:
        """S4: ``g_ji = mu_ji d2h(f_j(x_j), f_i(x_j))``, from j's units to i's.

        h is symmetric, so ``d2h(a, b) = d1h(b, a)``.
        """
        a, b = self._arguments(self.edge[j, i], seen)
        pull = self.multipliers[self.edge[j, i]] * self.proximity.derivative(b, a)
        return float(pull * self.scale[i] / self.scale[j])

    def _update(self, i: int, seen: Messages, eta: float) -> tuple[Array, Array]:
        """S5, S7, S8: ``(1 - eta lambda) f_i - eta sum_x g k(x, .)``, compressed."""
        weights, entering = self.weights[i], self._teachers(i, seen)
        pulls = [self._neighbour_pull(i, j, seen) for j in entering]
        if i in seen.asking:
            weights = (1 - eta * self.regularization) * weights
            entering, pulls = [i, *entering], [self._own_pull(i, seen), *pulls]
        atoms = np.vstack([self.atoms[i], seen.x[entering]])
        weights = np.append(weights, -eta * np.array(pulls))
        kept, weights = self._compress(i, atoms, weights)
        return atoms[kept], self._project(i, atoms[kept], weights)

    def _compress(self, i: int, atoms: Array, weights: Array) -> tuple[Any, Array]:
        return komp(self.kernels[i], atoms, weights, self.epsilon[i])

    def _knows_its_units(self, i: int) -> bool:
        """Return whether agent i has read enough for its multipliers to move."""
        std = np.sqrt(self.deviations[i] / max(self.count[i], 1))
        is_constant = self.standardize is True and std <= 1e-9 * abs(self.mean[i])
        return self.standardize is False or (self.count[i] >= 10 and not is_constant)

    def _multiplier(self, e: int, seen: Messages) -> float:
        """S6: ``[mu_ij (1 - delta eta^2) + eta (h - gamma_ij + nu)]_+`` if i asked."""
        i, mu = self.edges[e][0], float(self.multipliers[e])
        if i not in seen.asking or not self._knows_its_units(i):
            return mu
        eta = float(self.dual_step_size[i])
        h = self.proximity.value(*self._arguments(e, seen))
        kept = mu * (1 - self.dual_regularization * eta**2)
        return max(0.0, kept + eta * float(h - self.tolerance[e] + self.tightening))

    def _project(self, i: int, atoms: Array, weights: Array) -> Array:
        """S8: scale the weights by ``R / ||f_i||`` if ``||f_i|| > R``."""
        square = float(weights @ self.kernels[i](atoms, atoms) @ weights)
        if self.norm_bound is None or square <= self.norm_bound**2:
            return weights
        return weights * float(self.norm_bound / np.sqrt(square))

    def _step_size(self, i: int, seen: Messages) -> float:
        """S9: ``eta / (1 + eta kappa (loss'' + 2 sum mu_ij h'' + 2 sum mu_ji h''))``.

        An agent's own terms always count, those of its neighbours where they pull in
        this step; kappa is the largest k(x, x) of the points that enter. A neighbour's
        h is in its units, hence the scales.
        """
        eta, h_curvature = float(self.step_size[i]), self.proximity.curvature
        mu = sum(self.multipliers[self.edge[i, j]] for j in self.neighbours[i])
        curvature = self.loss.curvature + 2 * mu * h_curvature
        entering = self._teachers(i, seen)
        for j in entering:
            units = self.scale[i] / self.scale[j]
            curvature += 2 * self.multipliers[self.edge[j, i]] * h_curvature * units**2
        if i in seen.asking:
            entering = [i, *entering]
        kappa = np.diag(self.kernels[i](seen.x[entering], seen.x[entering])).max()
        return eta / float(1 + eta * kappa * curvature) if self.rule != "plain" else eta
