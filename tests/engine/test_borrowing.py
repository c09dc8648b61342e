"""Borrowed arrays give the same numbers as the arrays themselves."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halk._jit import borrowed, compiled, internal, lent, matrix_at


class Inner(NamedTuple):
    matrix: Any
    counts: Any


class Outer(NamedTuple):
    vector: Any
    number: float
    inner: Inner
    is_on: bool


def outer(rng: np.random.Generator) -> Outer:
    inner = Inner(rng.normal(size=(5, 8)), np.arange(3))
    return Outer(rng.normal(size=12), 2.5, inner, True)


@internal
def _look(given: Outer, out: Any) -> Any:
    inner = given.inner
    row, part = inner.matrix[3], given.vector[2:9]
    total = 0.0
    for k in range(len(part)):
        total += part[k]
    for k in range(len(row)):
        out[k] = row[k]
    out[8] = inner.matrix[4, 7]
    out[9], out[10] = inner.matrix.shape
    out[11] = inner.counts[2] if given.is_on else -1.0
    return total, given.number, len(given.vector)


@internal
def _change(given: Outer) -> None:
    given.inner.counts[1] += 5
    row, part = given.inner.matrix[2], given.vector[4:]
    row[1] = 11.0
    part[0] = 12.0
    given.inner.matrix[0, 0] = 13.0


@compiled
def look_borrowed(given: Outer, out: Any) -> Any:
    """Read everything, through fields, rows and views."""
    return _look(borrowed(given), out)


@compiled
def change_borrowed(given: Outer) -> None:
    """Write to everything, through fields, rows and views."""
    _change(borrowed(given))


@compiled
def look_lent(given: Outer, out: Any) -> Any:
    return _look(given, out)


@compiled
def change_lent(given: Outer) -> None:
    _change(given)


def look(way: str, given: Outer, out: Any) -> Any:
    """Read in compiled code, borrowed there or lent from here."""
    is_lent = way == "lent"
    return look_lent(lent(given), out) if is_lent else look_borrowed(given, out)


both_ways = pytest.mark.parametrize("way", ["borrowed", "lent"])


@compiled
def sum_of(a: Any, is_lent: bool) -> float:
    b, total = borrowed(a), 0.0
    for k in range(len(a)):
        total += b[k] if is_lent else a[k]
    return total


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


@both_ways
def test_fields_rows_and_views_are_read(way: str, rng: np.random.Generator) -> None:
    given, out = outer(rng), np.zeros(12)
    total, number, length = look(way, given, out)
    assert total == pytest.approx(given.vector[2:9].sum(), rel=1e-15)
    assert (number, length) == (2.5, 12)
    np.testing.assert_array_equal(out[:8], given.inner.matrix[3])
    assert out[8:].tolist() == [given.inner.matrix[4, 7], 5.0, 8.0, 2.0]


@both_ways
def test_writing_reaches_the_owner(way: str, rng: np.random.Generator) -> None:
    given = outer(rng)
    expected = Inner(given.inner.matrix.copy(), np.array([0, 6, 2]))
    vector = given.vector.copy()
    expected.matrix[2, 1], vector[4], expected.matrix[0, 0] = 11.0, 12.0, 13.0
    change_lent(lent(given)) if way == "lent" else change_borrowed(given)
    np.testing.assert_array_equal(given.inner.matrix, expected.matrix)
    np.testing.assert_array_equal(given.inner.counts, expected.counts)
    np.testing.assert_array_equal(given.vector, vector)


@pytest.mark.compiled
def test_what_is_lent_is_held_on_to(rng: np.random.Generator) -> None:
    held, out = lent(outer(rng)), np.zeros(12)
    expected = held.value.inner.matrix[3].copy()
    others = [np.zeros((5, 8)) for _ in range(50)]  # who would get it if it were free
    look_lent(held, out)
    np.testing.assert_array_equal(out[:8], expected)
    assert not np.any(others)


@pytest.mark.parametrize("step", [1, 3])
def test_arrays_by_themselves(step: int, rng: np.random.Generator) -> None:
    a = rng.normal(size=30)[::step]
    assert sum_of(a, True) == sum_of(a, False)


@pytest.mark.parametrize(("start", "n", "p"), [(0, 1, 1), (3, 4, 2), (5, 2, 7)])
def test_matrices_in_flat_arrays(
    start: int, n: int, p: int, rng: np.random.Generator
) -> None:
    flat = rng.normal(size=24)
    before, out = flat.copy(), np.empty((n, p))
    fill_matrix(flat, start, n, p, out)
    np.testing.assert_array_equal(out, before[start : start + n * p].reshape(n, p))
    places = 10.0 * np.arange(n)[:, None] + np.arange(p)
    np.testing.assert_array_equal(flat[start : start + n * p], places.ravel())
    np.testing.assert_array_equal(flat[:start], before[:start])
    np.testing.assert_array_equal(flat[start + n * p :], before[start + n * p :])
