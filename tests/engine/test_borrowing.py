"""Borrowed arrays give the same numbers as the arrays themselves."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halk._jit import borrowed, compiled, internal, lent


class Inner(NamedTuple):
    matrix: Any
    counts: Any


class Outer(NamedTuple):
    vector: Any
    is_off: bool
    is_on: bool
    number: float
    inner: Inner
    gapped: Any
    count: int


def outer(rng: np.random.Generator) -> Outer:
    inner = Inner(rng.normal(size=(5, 8)), np.arange(3))
    gapped = rng.normal(size=30)[::3]
    return Outer(rng.normal(size=12), False, True, 2.5, inner, gapped, 7)


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
    out[11] = inner.counts[2] if given.is_on and not given.is_off else -1.0
    out[12], out[13] = given.gapped[4], given.count
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


@both_ways
def test_fields_rows_and_views_are_read(way: str, rng: np.random.Generator) -> None:
    given, out = outer(rng), np.zeros(14)
    total, number, length = look(way, given, out)
    assert total == pytest.approx(given.vector[2:9].sum(), rel=1e-15)
    assert (number, length) == (2.5, 12)
    np.testing.assert_array_equal(out[:8], given.inner.matrix[3])
    assert out[8:12].tolist() == [given.inner.matrix[4, 7], 5.0, 8.0, 2.0]
    assert out[12:].tolist() == [given.gapped[4], 7.0]


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
    held, out = lent(outer(rng)), np.zeros(14)
    expected = held.value.inner.matrix[3].copy()
    others = [np.zeros((5, 8)) for _ in range(50)]  # who would get it if it were free
    look_lent(held, out)
    np.testing.assert_array_equal(out[:8], expected)
    assert not np.any(others)


@pytest.mark.parametrize("step", [1, 3])
def test_arrays_by_themselves(step: int, rng: np.random.Generator) -> None:
    a = rng.normal(size=30)[::step]
    assert sum_of(a, True) == sum_of(a, False)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "other",
    [
        {"vector": np.zeros((3, 4))},
        {"vector": np.zeros(4, np.int64)},
        {"vector": np.zeros(8)[::2]},
        {"number": 3},
        {"count": 2.5},
        {"is_on": 1},
    ],
)
def test_values_of_another_type_are_not_read_as_the_last_ones(
    other: Any, rng: np.random.Generator
) -> None:
    right = outer(rng)
    usual, changed, again = lent(right), lent(right._replace(**other)), lent(right)
    assert changed._numba_type_ != usual._numba_type_
    assert again._numba_type_ == usual._numba_type_
