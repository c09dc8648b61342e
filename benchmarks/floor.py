"""The floor: what a step must cost on this machine, measured in this process.

A step of all agents evaluates (E + V) M kernel terms, the answers and own values, and
makes one product of an M x M matrix with a vector an agent. Nothing else is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.timing import Job, Times, in_turn
from halk import Network
from halk._jit import LANES, borrowed, compiled, fma, lined_up, load, spread, total
from halk._validation import Matrix, Vector
from halk.compression import PANEL, Dictionary, dictionary, write_square
from halk.compression.panels import product
from halk.expansion import Expansion
from halk.kernels import kernel_lanes

__all__ = ["Floor", "KernelSum", "count_terms", "floor_of"]

_TERMS_A_CALL = 400_000
_TERMS_A_JOB = 8_000_000
_ENTRIES_A_JOB = 60_000_000
"""Of matrices. Jobs take 10 ms or more: what a first millisecond costs after something
else has run, up to twice as much, is no floor."""

_MATRICES = 10_000
"""At most so many different matrices: they leave the caches long before."""


_GROUP = 8
"""Points that are evaluated together, as an agent's questions are."""


@compiled
def _sums(
    kernel: Any, dictionary: Dictionary, m: int, groups: Any, out: Matrix,
    scratch: Matrix,
) -> None:  # fmt: skip
    """Fill ``out`` with the sums, and do nothing else: no value is put aside."""
    D, points, values = borrowed(dictionary), borrowed(groups), borrowed(out)
    atoms, weights, spare = D.atoms, D.weights, borrowed(scratch)
    for g in range(len(points)):
        for r in range(_GROUP):
            lanes = spread(0.0)
            for k in range(0, m, LANES):
                v = kernel_lanes(kernel, atoms, k, m, points[g], r, spare)
                lanes = fma(v, load(weights, k), lanes)
            values[g, r] = total(lanes)


class KernelSum:
    """The vectorised kernel sum ``sum_k w_k k(d_k, x)`` at many points.

    Calling it evaluates all of them; ``values`` (n,) are the results.
    """

    def __init__(self, function: Expansion, X: Matrix) -> None:
        m, p = function.order, X.shape[1]
        self.kernel, self.m = function.kernel, m
        self.dictionary = dictionary(m, p)
        self.dictionary.atoms[:, :m] = function.atoms.T
        self.dictionary.weights[:m] = function.weights
        self.n_points = len(X)
        n_groups = -(-len(X) // _GROUP)
        grouped = np.resize(X, (n_groups, _GROUP, p))
        self._groups = np.ascontiguousarray(grouped.transpose(0, 2, 1))
        self._scratch = np.zeros((2, p))
        self._out = np.zeros((n_groups, _GROUP))

    def __call__(self) -> None:
        """Evaluate."""
        _sums(
            self.kernel, self.dictionary, self.m, self._groups, self._out,
            self._scratch,
        )  # fmt: skip

    @property
    def values(self) -> Vector:
        """The sums, (n,)."""
        return self._out.ravel()[: self.n_points]


@compiled
def _products(A: NDArray[np.float64], x: Matrix, out: Matrix) -> None:
    """Fill ``out`` (V, M) with the products of symmetric A (V, M, M) and x (V, M)."""
    for v in range(len(A)):
        total, matrix, vector = out[v], A[v], x[v]
        total[:] = 0.0
        for k in range(len(vector)):
            weight, row = vector[k], matrix[k]
            for i in range(len(vector)):
                total[i] += weight * row[i]


@compiled
def _lane_products(matrices: Any, m: int, vectors: Matrix, results: Matrix) -> None:
    """Make the products as the engine does, on matrices in panels."""
    Q, x, out = borrowed(matrices), borrowed(vectors), borrowed(results)
    for v in range(len(Q)):
        product(Q[v], m, x[v], out[v])


def count_terms(network: Network, orders: ArrayLike) -> float:
    """Return the kernel terms of a step in which everybody has a reading.

    Agent j evaluates its M_j atoms at its own point and at each neighbour's.

    Examples
    --------
    >>> count_terms(Network.path(3), [10, 20, 30])
    140.0
    """
    return float((network.degree + 1) @ np.asarray(orders, dtype=np.float64))


@dataclass(frozen=True)
class Floor:
    """Two jobs that cost what a step must: kernel terms, and products.

    ``n_terms`` and ``n_products`` are how many of each the jobs make.
    """

    term: Job
    n_terms: int
    product: Job
    n_products: int

    @property
    def jobs(self) -> list[Job]:
        """Both jobs, to be timed in turn with what is measured against them."""
        return [self.term, self.product]

    def times(
        self, term: Times, product: Times, terms: float, products: float
    ) -> Times:
        """Return the floor of so many terms and products, repeat by repeat."""
        sums = term.scaled(terms / self.n_terms)
        return sums.plus(product.scaled(products / self.n_products))


def floor_of(function: Expansion, X: Matrix, n_agents: int, order: int = 0) -> Floor:
    """Return the floor of a network whose functions are like ``function``.

    Parameters
    ----------
    function : Expansion
        Its atoms and weights are summed.
    X : array (n, p)
        Points to evaluate it at, such as the stream's.
    n_agents : int
        How many different matrices there are, for the traffic of the memory.
    order : int
        Size of the matrices, by default that of the function.
    """
    order = order or function.order
    term, n_terms = _term_job(function, X)
    product, n_products = _product_job(n_agents, order)
    return Floor(term, n_terms, product, n_products)


def _term_job(function: Expansion, X: Matrix) -> tuple[Job, int]:
    n_points = max(_TERMS_A_CALL // max(function.order, 1), 100) // _GROUP * _GROUP
    sums = KernelSum(function, np.resize(X, (n_points, X.shape[1])))
    n_terms = n_points * function.order
    n_calls = max(1, _TERMS_A_JOB // n_terms)
    return Job(_repeated(sums, n_calls)), n_calls * n_terms


def _product_job(n_agents: int, order: int) -> tuple[Job, int]:
    n_matrices = min(n_agents, _MATRICES)
    n_rounds = max(1, _ENTRIES_A_JOB // (n_matrices * order**2))
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(n_matrices, order, order))
    x, out = rng.uniform(size=(n_matrices, order)), np.empty((n_matrices, order))

    def looped() -> None:
        _products(A, x, out)

    N = -(-order // PANEL) * PANEL
    Q, v = lined_up((n_matrices, N * N)), lined_up((n_matrices, N))
    v[:, :order] = x
    for panels, matrix in zip(Q, A, strict=True):
        write_square(panels, matrix)
    w = lined_up((n_matrices, N))

    def in_lanes() -> None:
        _lane_products(Q, order, v, w)

    def multiplied() -> None:
        np.matmul(A, x[:, :, None], out=out[:, :, None])

    # A round before the clock starts: what ran in between has emptied the caches,
    # and a long run of products finds in them what stays there.
    ways = [
        Job(_repeated(way, n_rounds), way) for way in (looped, multiplied, in_lanes)
    ]
    best = [times.best for times in in_turn(ways, repeats=3)]
    return ways[int(np.argmin(best))], n_rounds * n_matrices


def _repeated(function: Callable[[], None], times: int) -> Callable[[Any], None]:
    def run(_: Any) -> None:
        for _round in range(times):
            function()

    return run
