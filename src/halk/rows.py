"""Rows of kernel values: what all the time of a learner should go to."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from halk._jit import (
    LANES,
    filled,
    fma,
    internal,
    is_ours,
    load,
    parameters,
    pointer,
    skeleton,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector
from halk.kernels import Kernel, kernel_at_itself, kernel_lanes, rescaled


@internal
def kernel_row(
    kernel: Any, atoms: Matrix, m: int, points: Matrix, r: int, out: Vector,
    scratch: Matrix,
) -> None:  # fmt: skip
    """Fill ``out`` with ``k(d_k, x)`` for the first ``m`` atoms and point ``r``."""
    for k in range(0, m, LANES):
        store(out, k, kernel_lanes(kernel, atoms, k, m, points, r, scratch))


@internal
def kernel_rows(
    kernel: Any, atoms: Matrix, m: int, points: Matrix, b: int, out: Matrix,
    scratch: Matrix,
) -> None:  # fmt: skip
    """Fill the rows of ``out`` for the first ``b`` points."""
    for r in range(b):
        kernel_row(kernel, atoms, m, points, r, out[r], scratch)


class Rows(NamedTuple):
    """A kernel as compiled code takes it: a pointer to its loop, and its parameters.

    ``fill(theta, scale, atoms, m, weights, points, b, cross, values, scratch)`` fills
    ``cross[r, k]`` with ``k(d_k, x_r)`` and ``values[r]`` with their sum over ``k``
    weighted by ``weights``, for ``m`` atoms and ``b`` points in columns. Behind the
    first ``m``, up to full lanes, weights are zero and ``cross`` is anything finite.
    ``scale`` multiplies the bandwidth; ``scratch`` (2, p) has room for two points.
    ``fill_diagonal(theta, scale, points, b, out, scratch)`` fills in ``k(x_r, x_r)``.
    """

    fill: Any
    fill_diagonal: Any
    theta: Vector


def rows_of(kernel: Kernel) -> Rows:
    """Return the rows of a kernel; all kernels of its type share one compiled loop."""
    bones = skeleton(kernel)
    return Rows(_filler(bones), _diagonal_filler(bones), parameters(kernel))


@lru_cache(maxsize=None)
def _filler(kernel: Any) -> Any:
    def fill(
        theta: Vector, scale: float, atoms: Matrix, m: int, weights: Vector,
        points: Matrix, b: int, cross: Matrix, values: Vector, scratch: Matrix,
    ) -> None:  # fmt: skip
        actual = rescaled(filled(kernel, theta), scale)
        for r in range(b):
            row, lanes = cross[r], spread(0.0)
            for k in range(0, m, LANES):
                v = kernel_lanes(actual, atoms, k, m, points, r, scratch)
                store(row, k, v)
                lanes = fma(v, load(weights, k), lanes)
            values[r] = total(lanes)

    vector, matrix = np.zeros(1), np.zeros((1, 1))
    shape = (vector, 1.0, matrix, 1, vector, matrix, 1, matrix, vector, matrix)
    return pointer(None, *shape, cache=is_ours(kernel))(fill)


@lru_cache(maxsize=None)
def _diagonal_filler(kernel: Any) -> Any:
    def fill(
        theta: Vector, scale: float, points: Matrix, b: int, out: Vector,
        scratch: Matrix,
    ) -> None:  # fmt: skip
        actual = rescaled(filled(kernel, theta), scale)
        for r in range(b):
            out[r] = kernel_at_itself(actual, points, r, scratch)

    vector, matrix = np.zeros(1), np.zeros((1, 1))
    shape = (vector, 1.0, matrix, 1, vector, matrix)
    return pointer(None, *shape, cache=is_ours(kernel))(fill)
