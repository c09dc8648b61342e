"""The floor: what a step must cost on this machine, measured in this process.

A step of all agents evaluates (E + V) M kernel terms, the answers and own values, and
makes one product of an M x M matrix with a vector per agent. Nothing else is counted.
``floor.cpp`` does both; it is compiled with the flags of the core.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.timing import Job, Times, time_in_turn
from halk import Network, _core
from halk._validation import Matrix
from halk.function import Function

FLAGS = (
    "-std=c++20 -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math -shared -fPIC "
    "-I../core floor.cpp"
)
NATIVE = ["-march=native -ffp-contract=fast", "-mcpu=native -ffp-contract=fast"]
"""All that the machine has. Contraction the core must not use: bits would differ."""

MOST_FEATURES = 8
_UNIT = 0.8493218002880191  # sqrt(log2(e) / 2), as in core/kernel.hpp

_TERMS_PER_ROUND = 400_000
_TERMS_PER_JOB = 8_000_000
_ENTRIES_PER_JOB = 60_000_000
"""Of matrices. Jobs take 5 ms or more: what a first millisecond costs after something
else has run, up to twice as much, is no floor."""

_MATRICES = 10_000
"""At most so many different matrices: they leave the caches long before."""


def find_compiler() -> list[str]:
    """Return the command of the compiler that the core is built with."""
    if "CXX" in os.environ:
        return shlex.split(os.environ["CXX"])
    for name in ("c++", "g++", "clang++"):
        if which(name):
            return [name]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise RuntimeError("the floor needs a C++ compiler: install one, or ziglang")


@cache
def load_library(is_native: bool = False) -> Any:
    """Compile ``floor.cpp`` and return it; ``is_native`` for all the machine has.

    Otherwise it has the flags of the core, at the level that the best wheel has.
    """
    level = _core.build_info()["level"].replace("v4", "v3")
    marches = [
        f"-march=x86-64-{level}",
        f"-march=x86_64_{level}",
    ]  # zig's
    own = [f"{march} -ffp-contract=off" for march in marches]
    ways = NATIVE if is_native else own if level != "any" else ["-ffp-contract=off"]
    with TemporaryDirectory() as folder:
        for way in ways:
            file = f"{folder}/floor.so"
            done = subprocess.run(
                [*find_compiler(), *FLAGS.split(), *way.split(), "-o", file],
                cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                return ctypes.CDLL(file)
    raise RuntimeError(f"floor.cpp does not compile: {done.stderr.strip()[-500:]}")


def _align(shape: tuple[int, ...]) -> Any:
    """Return zeros that begin with a cache line, on huge pages if they are many."""
    size = int(np.prod(shape))
    room = np.empty(size + 8)  # NumPy asks for huge pages here, not for np.zeros
    room[:] = 0.0
    first = -room.ctypes.data // room.itemsize % 8
    return room[first : first + size].reshape(shape)


def _pad(n: int) -> int:
    return -(-n // 8) * 8


def _call(function: Any, *arguments: Any) -> None:
    """Call a function of the library with arrays and integers."""
    function(
        *(
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a
            for a in arguments
        )
    )


class KernelSum:
    """The kernel sum ``sum_k w_k k(d_k, x)`` of a Gaussian at many points.

    ``evaluate`` computes ``values`` (n,), as often as asked.
    """

    def __init__(self, function: Function, X: Matrix, is_native: bool = False) -> None:
        m, p = function.atoms.shape
        if p > MOST_FEATURES:
            raise ValueError(f"X must have at most {MOST_FEATURES} features, got {p}")
        # the library's Gaussian is 2^-|x - y|^2
        unit = _UNIT / np.asarray(getattr(function.kernel, "length_scale"))  # noqa: B009
        self._atoms, self._weights = _align((p, _pad(m))), _align((_pad(m),))
        self._atoms[:, :m] = (function.atoms * unit).T
        self._weights[:m] = function.weights
        self._points = np.ascontiguousarray(X * unit)
        self.values = np.empty(len(X))
        self.n_terms = m * len(X)
        self._sizes = _pad(m), m, p
        self._sum = load_library(is_native).sum_terms

    def evaluate(self, rounds: int = 1) -> None:
        """Fill ``values``."""
        _call(
            self._sum, self._atoms, *self._sizes, self._weights, self._points,
            len(self._points), self.values, rounds,
        )  # fmt: skip


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
        sums = term.scale(terms / self.n_terms)
        return sums.add(product.scale(products / self.n_products))


def floor_of(
    function: Function,
    X: Matrix,
    n_agents: int,
    order: int = 0,
    is_native: bool = False,
) -> Floor:  # fmt: skip
    """Return the floor of a network whose functions are like ``function``.

    Parameters
    ----------
    function : Function of a Gaussian kernel
        Its atoms and weights are summed.
    X : array (n, p)
        Points to evaluate it at, such as the stream's.
    n_agents : int
        How many different matrices there are, for the traffic of the memory.
    order : int
        Size of the matrices, by default that of the function.
    is_native : bool
        With all the instructions the machine has, not only those of the core.
    """
    n_points = max(_TERMS_PER_ROUND // max(function.order, 1), 100)
    sums = KernelSum(function, np.resize(X, (n_points, X.shape[1])), is_native)
    n_calls = max(1, _TERMS_PER_JOB // sums.n_terms)
    term = Job(lambda _: sums.evaluate(n_calls))
    product, n_products = _product_job(n_agents, order or function.order, is_native)
    return Floor(term, n_calls * sums.n_terms, product, n_products)


def _product_job(n_agents: int, order: int, is_native: bool) -> tuple[Job, int]:
    """Return the faster of the engine's product, and one that prefetches."""
    V, ld = min(n_agents, _MATRICES), _pad(order)
    rng = np.random.default_rng(0)
    A, x, out = _align((V, ld, ld)), _align((V, ld)), _align((V, ld))
    A[:, :order, :order] = rng.uniform(size=(V, order, order))
    x[:, :order] = rng.uniform(size=(V, order))
    multiply = load_library(is_native).multiply
    n_rounds = max(1, _ENTRIES_PER_JOB // (V * order**2))

    def job(is_ahead: int) -> Job:
        # A round before the clock starts: what ran in between has emptied the caches,
        # and a long run of products finds in them what stays there.
        def run(rounds: int = n_rounds) -> None:
            _call(multiply, A, ld, order, V, x, out, is_ahead, rounds)

        return Job(lambda _: run(), lambda: run(1))

    jobs = [job(0), job(1)]
    best = [times.best for times in time_in_turn(jobs, repeats=3)]
    return jobs[int(np.argmin(best))], n_rounds * V


def update_job(n_agents: int, order: int) -> tuple[Job, int]:
    """Return the job of rank-one updates, and how many it makes."""
    V, ld = min(n_agents, _MATRICES), _pad(order)
    A, x = _align((V, ld, ld)), _align((V, ld))
    x[:, :order] = np.random.default_rng(0).uniform(size=(V, order))
    update, n_rounds = load_library().update, max(1, _ENTRIES_PER_JOB // (V * order**2))

    def run(rounds: int = n_rounds) -> None:
        _call(update, A, ld, order, V, x, rounds)

    return Job(lambda _: run(), lambda: run(1)), n_rounds * V
