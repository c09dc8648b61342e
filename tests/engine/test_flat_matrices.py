"""Matrices inside flat arrays, as the arena has them."""

from typing import Any

import numpy as np
import pytest

from halk._jit import borrowed, compiled, matrix_at


@compiled
def matrix_of(flat: Any, start: int, n_rows: int, n_columns: int) -> Any:
    return matrix_at(flat, start, n_rows, n_columns)


@compiled
def fill_matrix(flat: Any, start: int, n_rows: int, n_columns: int, out: Any) -> None:
    """Copy a matrix out of a flat array, and write its place into it."""
    M = matrix_at(flat, start, n_rows, n_columns)
    N = matrix_at(borrowed(flat), start, n_rows, n_columns)
    for r in range(n_rows):
        row = N[r]
        for c in range(n_columns):
            out[r, c] = M[r, c]
            row[c] = 10.0 * r + c


@pytest.mark.parametrize(("start", "n", "p"), [(0, 1, 1), (3, 4, 2), (5, 2, 7)])
def test_matrices_in_flat_arrays(
    start: int, n: int, p: int, rng: np.random.Generator
) -> None:
    flat = rng.normal(size=24)
    before, out = flat.copy(), np.empty((n, p))
    view = matrix_of(flat, start, n, p)
    fill_matrix(flat, start, n, p, out)
    np.testing.assert_array_equal(out, before[start : start + n * p].reshape(n, p))
    places = 10.0 * np.arange(n)[:, None] + np.arange(p)
    np.testing.assert_array_equal(flat[start : start + n * p], places.ravel())
    np.testing.assert_array_equal(view, places)
    np.testing.assert_array_equal(flat[:start], before[:start])
    np.testing.assert_array_equal(flat[start + n * p :], before[start + n * p :])
