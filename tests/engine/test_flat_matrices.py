"""Parts of flat arrays, and matrices inside them, as the arena has them."""

from typing import Any

import numpy as np
import pytest

from halk._jit import borrowed, compiled, matrix_at, part_of, point_of, row_of


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


@compiled
def fill_part(flat: Any, start: int, n: int, out: Any) -> int:
    """Copy a part of a flat array, and write places into it."""
    one, two = part_of(flat, start, n), part_of(borrowed(flat), start, n)
    for k in range(n):
        out[k] = one[k]
        two[k] = 10.0 + k
    return len(two)


@pytest.mark.parametrize(("start", "n"), [(0, 1), (3, 4), (5, 0), (20, 4)])
def test_parts_of_flat_arrays(start: int, n: int, rng: np.random.Generator) -> None:
    flat = rng.normal(size=24)
    expected, out = flat.copy(), np.empty(n)
    assert fill_part(flat, start, n, out) == n
    np.testing.assert_array_equal(out, expected[start : start + n])
    expected[start : start + n] = 10.0 + np.arange(n)
    np.testing.assert_array_equal(flat, expected)


@compiled
def fill_row(matrix: Any, row: int, out: Any) -> int:
    """Copy a row of a matrix, and write places into it."""
    one, two = row_of(matrix, row), row_of(borrowed(matrix), row)
    for k in range(len(two)):
        out[k] = one[k]
        two[k] = 10.0 + k
    return len(one)


@pytest.mark.parametrize("row", [0, 2])
def test_rows_of_matrices(row: int, rng: np.random.Generator) -> None:
    matrix, out = rng.normal(size=(3, 4)), np.empty(4)
    expected = matrix.copy()
    assert fill_row(matrix, row, out) == 4
    np.testing.assert_array_equal(out, expected[row])
    expected[row] = 10.0 + np.arange(4)
    np.testing.assert_array_equal(matrix, expected)


@compiled
def ends(matrix: Any, row: int) -> Any:
    """Return the last entries of a row, and of a part of it, counted from behind."""
    point = point_of(borrowed(matrix), row)
    part = point[1:]
    part[-2] = 7.0
    return point[-1], part[-len(part)], point[0], len(point), point.size


@pytest.mark.parametrize("row", [0, 2])
def test_points_may_be_read_from_behind(row: int, rng: np.random.Generator) -> None:
    matrix = rng.normal(size=(3, 4))
    before = matrix.copy()
    assert ends(matrix, row) == (before[row, 3], before[row, 1], before[row, 0], 4, 4)
    before[row, 2] = 7.0
    np.testing.assert_array_equal(matrix, before)
