"""Rows of kernel values: what all the time of a learner should go to."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from halk._jit import (
    LANES,
    filled,
    fma,
    inlined,
    is_ours,
    load,
    parameters,
    pointer,
    prefetch,
    prefetch_ahead,
    skeleton,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector
from halk.compression.workspace import Block, Dictionary, block, dictionary
from halk.kernels import Kernel, kernel_at_itself, kernel_lanes, rescaled

LINE = 8
"""Numbers in a line of memory."""


@inlined
def kernel_row(
    kernel: Any, atoms: Matrix, m: int, points: Matrix, r: int, out: Vector,
    scratch: Matrix,
) -> None:  # fmt: skip
    """Fill ``out`` with ``k(d_k, x)`` for the first ``m`` atoms and point ``r``."""
    for k in range(0, m, LANES):
        store(out, k, kernel_lanes(kernel, atoms, k, m, points, r, scratch))


@inlined
def kernel_square(
    kernel: Any, points: Matrix, n: int, out: Matrix, scratch: Matrix
) -> None:
    """Fill ``out`` with ``k(x_r, x_k)`` of ``n`` points, one half and its mirror.

    Within the lanes of the diagonal it is as symmetric as the kernel's own rounding.
    """
    for r in range(n):
        row, first = out[r], r // LANES * LANES
        for k in range(first, n, LANES):
            store(row, k, kernel_lanes(kernel, points, k, n, points, r, scratch))
        for k in range(first + LANES, n):  # those before stand in full lanes
            out[k, r] = row[k]


class Rows(NamedTuple):
    """A kernel as compiled code takes it: pointers to its loops, and its parameters.

    All take the parameters and a scale that multiplies the bandwidth, and at the end
    room for two points, (2, p); ``fill`` also the inverse that is needed after ``D``'s.
    """

    fill: Any  # (.., D, m, block, b, .., next_inverse)  cross and values of the block
    fill_diagonal: Any  # (.., block, b, ..)
    fill_gram: Any  # (.., points, n, out, ..)  the Gram matrix of points in columns
    theta: Vector
    at_itself: float  # k(x, x) where it is the same everywhere, else NaN


def rows_of(kernel: Kernel) -> Rows:
    """Return the rows of a kernel; all kernels of its type share their loops."""
    fill, fill_diagonal, fill_gram = _loops(skeleton(kernel))
    return Rows(fill, fill_diagonal, fill_gram, parameters(kernel), kernel.at_itself)


@cache
def _loops(kernel: Any) -> tuple[Any, ...]:
    def fill(
        theta: Vector, scale: float, D: Dictionary, m: int, block: Block, b: int,
        scratch: Matrix, next_inverse: Vector,
    ) -> None:  # fmt: skip
        actual = rescaled(filled(kernel, theta), scale)
        atoms, weights, points = D.atoms, D.weights, block.points
        # The inverse is needed next, for a product. Sums need next to no memory: asked
        # for now, two lines with every four terms, it has come when they are done. From
        # the memory of a large network it would not: the one after it is asked for too.
        inverse, ahead = D.inverse, 0 * m
        for r in range(b):
            row, lanes = block.cross[r], spread(0.0)
            for k in range(0, m, LANES):
                prefetch(inverse, ahead)
                prefetch(inverse, ahead + LINE)
                prefetch_ahead(next_inverse, ahead)
                prefetch_ahead(next_inverse, ahead + LINE)
                ahead += 2 * LINE
                v = kernel_lanes(actual, atoms, k, m, points, r, scratch)
                store(row, k, v)
                lanes = fma(v, load(weights, k), lanes)
            block.values[r] = total(lanes)

    def fill_diagonal(
        theta: Vector, scale: float, block: Block, b: int, scratch: Matrix
    ) -> None:
        actual = rescaled(filled(kernel, theta), scale)
        for r in range(b):
            block.diagonal[r] = kernel_at_itself(actual, block.points, r, scratch)

    def fill_gram(
        theta: Vector, scale: float, points: Matrix, n: int, out: Matrix,
        scratch: Matrix,
    ) -> None:  # fmt: skip
        actual = rescaled(filled(kernel, theta), scale)
        kernel_square(actual, points, n, out, scratch)

    cache = is_ours(kernel)
    v, M, D, B = np.zeros(1), np.zeros((1, 1)), dictionary(1, 1), block(1, 1, 1)
    return (
        pointer(None, v, 1.0, D, 1, B, 1, M, v, cache=cache, is_hot=True)(fill),
        pointer(None, v, 1.0, B, 1, M, cache=cache, is_hot=True)(fill_diagonal),
        pointer(None, v, 1.0, M, 1, M, M, cache=cache, is_hot=True)(fill_gram),
    )
