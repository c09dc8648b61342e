"""Whether the average gap to the optimum vanishes as the theorem says.

HALK runs on a problem with finitely many readings, whose optimum a convex solver finds,
for growing numbers of steps T with ``eta = T^(-1/2)``; what counts is the average over
the steps of ``S(f_t) - S*`` and of the worst ``H_ij(f_t) - gamma_ij``. Expectations are
exact averages over the readings. ``halk reproduce theory`` makes the table.

What is fixed, and why:

* Four agents on a path, ten readings each of sine waves that differ by a phase, each
  agent's from its own window of [0, 1], the next one's a bit further right. The
  tolerance binds, so the optimum has positive multipliers.
* The plain step, the one of the theorem; ``delta`` as in the paper's experiments.
* ``alpha = 0.1 T^(-1/2)``, because the bound on the gap is ``O(T^(-1/2) + alpha)``. A
  constant parsimony would make alpha ``O(T^(-1/4))`` and the gap with it.
* Tightening by ``nu = zeta T^(-1/2)``. A multiplier that is never clipped sums up its
  violations, so their average is about ``(mu* - zeta) T^(-1/2)``: it goes below zero
  where zeta exceeds the optimum's largest multiplier, which is printed.

``NewtonHALK`` solves the same problem with gains of its own that fall as 1/t. Its
objective may be below the optimum while constraints are still violated, so what counts
is the gap of the Lagrangian, ``S(f) - S* + mu*'(H - gamma)``, which is never negative.
S1's ``lambda`` is its ``regularization``, per reading; its noise, which fades as 1/t,
must exceed ``lambda``. Nothing is compressed. All its steps are looked at: its
transient is over in a few.

How steep the gap falls also depends on ``lambda``. The exact coupling follows the flow
without noise to three digits, so the average is that of the transient from ``f = 0``,
and slow modes of the kernel end only after ``1 / lambda`` units of time, of which there
are ``eta T = T^(1/2)``. The slope reaches -1/2 where ``T^(1/2)`` is well above
``1 / lambda``. So lambda is 0.01: the first choice, 0.001, leaves slow modes on their
way at a million steps, and slopes of -0.39 to -0.45.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from halk import HALK, Network, NewtonHALK
from halk._validation import Indices, Matrix, Vector
from halk.kernels import Gaussian, Kernel

__all__ = ["Averages", "Optimum", "Problem", "optimum", "problem", "run"]

STEPS = (1_000, 10_000, 100_000, 1_000_000)
ZETA = 0.3
N_LOOKS = 20_000
"""At how many steps, at most, the functions are looked at."""

N_AGENTS, N_POINTS = 4, 10
WINDOW = 0.6  # length of the part of [0, 1] that an agent sees
AMPLITUDE, PHASE, NOISE = 0.5, 0.7, 0.1
TOLERANCE, BANDWIDTH = 0.025, 0.1
REGULARIZATION, DUAL_REGULARIZATION = 1e-2, 1e-5
ALPHA = 0.1  # times T^(-1/2)
NEWTON_NOISE = 2 * REGULARIZATION


@dataclass(frozen=True, eq=False)
class Problem:
    """S1 with squared loss and proximity, over finitely many readings per agent.

    By the representer theorem every function is a row of weights (N,) on the union of
    all agents' points.
    """

    network: Network
    kernel: Kernel
    points: Matrix  # (V, n), ascending in a row
    targets: Matrix  # (V, n)
    regularization: float

    @cached_property
    def union(self) -> Vector:
        """All points, ascending, (N,)."""
        return np.unique(self.points)

    @cached_property
    def gram(self) -> Matrix:
        """Kernel matrix of the union, (N, N)."""
        return self.kernel(self.union[:, None], self.union[:, None])

    @cached_property
    def places(self) -> Indices:
        """Where each agent's points stand in the union, (V, n)."""
        return np.searchsorted(self.union, self.points)

    def weights(self, model: HALK | NewtonHALK) -> Matrix:
        """Return the weights of every agent's function on the union, (V, N)."""
        rows = np.empty((self.network.n_agents, len(self.union)))
        for row, f in zip(rows, model.functions[:], strict=True):
            atoms = np.searchsorted(self.union, f.atoms[:, 0])
            row[:] = np.bincount(atoms, f.weights, len(self.union))
        return rows

    def objective(self, weights: Any) -> Vector:
        """Return ``S`` for weights (..., V, N)."""
        values = weights @ self.gram
        own = values[..., np.arange(len(self.points))[:, None], self.places]
        losses = ((own - self.targets) ** 2).mean(axis=-1) / 2
        norms = (values * weights).sum(axis=-1)
        total: Vector = (losses + self.regularization / 2 * norms).sum(axis=-1)
        return total

    def violations(self, weights: Any) -> Matrix:
        """Return ``H_ij - gamma_ij`` of every directed edge for weights (..., V, N)."""
        values = weights @ self.gram
        i, j = self.network.edges.T
        apart = values[..., i, :] - values[..., j, :]
        at = apart[..., np.arange(len(i))[:, None], self.places[i]]
        excess: Matrix = (at**2).mean(axis=-1) / 2 - self.network.tolerance
        return excess


class Optimum(NamedTuple):
    """The solution of S1."""

    value: float  # S*
    multipliers: Vector  # (E,)


class Averages(NamedTuple):
    """What one run of one learner came to."""

    gap: float
    violation: float
    order: float
    lagrangian_gap: float = np.inf
    multiplier_error: float = np.inf  # the largest, at the end


# the problem and its optimum


def problem(seed: int = 0, regularization: float = REGULARIZATION) -> Problem:
    """Draw the readings of four agents on a path, once and for all."""
    rng = np.random.default_rng(seed)
    agents = np.arange(N_AGENTS)[:, None]
    left = (1 - WINDOW) * agents / (N_AGENTS - 1)
    points = left + WINDOW * np.sort(rng.uniform(size=(N_AGENTS, N_POINTS)))
    noise = NOISE * rng.standard_normal(points.shape)
    targets = AMPLITUDE * np.sin(2 * np.pi * points + PHASE * agents) + noise
    network = Network.path(N_AGENTS, tolerance=TOLERANCE)
    return Problem(network, Gaussian(BANDWIDTH), points, targets, regularization)


def optimum(task: Problem) -> Optimum:
    """Solve S1 as a quadratic program with quadratic constraints.

    The variables are ``a_i`` with ``f_i = B a_i`` on the union and ``B B' = K``, so
    that ``||f_i||^2 = ||a_i||^2`` however ill-conditioned ``K`` is.
    """
    cp = _cvxpy()
    eigenvalues, U = np.linalg.eigh(task.gram)
    B = U * np.sqrt(np.maximum(eigenvalues, 0.0))
    a = cp.Variable((task.network.n_agents, len(B)))
    n = task.points.shape[1]
    objective = task.regularization / 2 * cp.sum_squares(a)
    for i, places in enumerate(task.places):
        objective += cp.sum_squares(B[places] @ a[i] - task.targets[i]) / (2 * n)
    constraints = [
        cp.sum_squares(B[task.places[i]] @ (a[i] - a[j])) / (2 * n) <= gamma
        for (i, j), gamma in zip(
            task.network.edges, task.network.tolerance, strict=True
        )
    ]
    program = cp.Problem(cp.Minimize(objective), constraints)
    program.solve(solver=cp.CLARABEL)
    multipliers = [np.sum(constraint.dual_value) for constraint in constraints]
    return Optimum(float(program.value), np.array(multipliers))


def _cvxpy() -> Any:
    try:
        import_module("clarabel")
        return import_module("cvxpy")
    except ImportError as error:
        raise ImportError(
            "the optimum needs cvxpy and clarabel: pip install 'halk[experiments]'"
        ) from error


# one run


def learner(
    task: Problem, n_steps: int, coupling: str, zeta: float, alpha: float | None = None
) -> HALK | NewtonHALK:
    """Return the learner of the theorem for a horizon of ``n_steps``, or NewtonHALK."""
    if coupling == "newton":
        return NewtonHALK(
            task.network,
            kernel=task.kernel,
            noise=NEWTON_NOISE,
            regularization=task.regularization,
            robust=None,
            novelty=1e-6,
            standardize=False,
        )
    eta = n_steps**-0.5
    return HALK(
        task.network,
        kernel=task.kernel,
        step_size=eta,
        regularization=task.regularization,
        dual_regularization=DUAL_REGULARIZATION,
        tightening=zeta * eta,
        alpha=ALPHA * eta if alpha is None else alpha,
        coupling=coupling,
        step="plain",
    )


def looks(
    task: Problem,
    model: HALK | NewtonHALK,
    n_steps: int,
    seed: int,
    tell: Callable[[int], None],
) -> Iterator[Matrix]:
    """Learn, and yield the weights before every k-th step, those of zero included."""
    rng = np.random.default_rng([seed, 1])
    agents = np.arange(task.network.n_agents)
    k = -(-n_steps // N_LOOKS) if isinstance(model, HALK) else 1
    weights = np.zeros((len(agents), len(task.union)))
    for t in range(0, n_steps, k):
        yield weights
        drawn = rng.integers(
            task.points.shape[1], size=(min(k, n_steps - t), len(agents))
        )
        model.learn_many(
            task.points[agents, drawn][..., None], task.targets[agents, drawn]
        )
        weights = task.weights(model)
        tell(t)


def run(
    task: Problem,
    best: Optimum,
    n_steps: int,
    coupling: str,
    zeta: float,
    seed: int,
    alpha: float | None = None,
    tell: Callable[[int], None] = lambda t: None,
) -> Averages:
    """Learn for ``n_steps``; return the averages over the steps.

    ``tell`` is told the step now and then. Without ``alpha`` it is the theorem's.
    """
    model = learner(task, n_steps, coupling, zeta, alpha)
    weights = np.stack(list(looks(task, model, n_steps, seed, tell)))
    gap = float(task.objective(weights).mean() - best.value)
    violation = task.violations(weights).mean(axis=0)
    return Averages(
        gap,
        float(violation.max()),
        float(model.model_order.mean()),
        gap + float(best.multipliers @ violation),
        float(np.abs(model.multipliers - best.multipliers).max()),
    )
