"""Sums over rows of matrices that only some pairs of rows take part in.

Written out, because a matrix product rounds differently for different numbers of rows,
and an agent's numbers must not depend on how many others there are.
"""

import numpy as np

from halk._jit import compiled
from halk._validation import Indices, Matrix, Vector


@compiled
def _fill_dots(A: Matrix, i: Indices, B: Matrix, j: Indices, out: Vector) -> None:
    for k in range(len(out)):
        a, b = A[i[k]], B[j[k]]
        total = 0.0
        for d in range(len(a)):
            total += a[d] * b[d]
        out[k] = total


def dots(A: Matrix, i: Indices, B: Matrix, j: Indices) -> Vector:
    """Return the inner products of rows ``A[i[k]]`` and ``B[j[k]]``."""
    out = np.empty(len(i))
    _fill_dots(A, i, B, j, out)
    return out


def squares(A: Matrix) -> Vector:
    """Return the squared norm of every row."""
    rows = np.arange(len(A))
    return dots(A, rows, A, rows)


@compiled
def add_rows(out: Matrix, i: Indices, c: Vector, B: Matrix, j: Indices) -> None:
    """Add ``c[k] B[j[k]]`` to row ``i[k]`` of ``out``, in order; mutates ``out``."""
    for k in range(len(i)):
        row, b, factor = out[i[k]], B[j[k]], c[k]
        for d in range(len(row)):
            row[d] += factor * b[d]
