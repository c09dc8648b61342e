"""Every operation on lanes against its twin in NumPy."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from halk._jit import (
    LANES,
    any_at_most,
    any_below,
    compiled,
    fma,
    in_lanes,
    least,
    lined_up,
    load,
    magnitude,
    packed,
    padded,
    prefetch,
    put,
    root,
    spread,
    store,
    total,
)
from halk._jit.lanes import (
    chosen,
    first_of,
    lane,
    prefetch_ahead,
    quarter_turns,
    two_to_the,
)

HALF = 1.5 * 2.0**52
N_RESULTS = 18


@compiled
def operations(a: Any, b: Any, c: Any, t: Any, out: Any) -> Any:
    """Fill a row of ``out`` with each operation; return those that give a number."""
    u, v, w = load(a, 0), load(b, 0), load(c, 0)
    store(out[0], 0, u + v)
    store(out[1], 0, u - v)
    store(out[2], 0, u * v)
    store(out[3], 0, u / v)
    store(out[4], 0, fma(u, v, w))
    store(out[5], 0, least(u, v))
    store(out[6], 0, magnitude(u))
    store(out[7], 0, root(magnitude(u)))
    store(out[8], 0, spread(c[1]))
    store(out[9], 0, packed(a[3], b[1], c[0], a[2]))
    store(out[10], 0, two_to_the(load(t, 0)))
    store(out[11], 0, put(u, 2, c[1]))
    store(out[12], 0, put(u, LANES, c[1]))
    store(out[13], 0, put(u, -1, c[1]))
    store(out[14], 0, chosen(u, v, w, u))
    store(out[15], 0, first_of(u, 3))
    store(out[16], 0, first_of(u, -1))
    store(out[17], 0, quarter_turns(load(t, 0), u, v))
    return total(u), any_below(u, v), any_at_most(u, v), lane(u, 2)


SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, 1e-320, 1e308, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("seed", range(40))
def test_operations_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, LANES)) * 10.0 ** rng.integers(-9, 9, size=(3, LANES))
    if seed % 2:
        a, b, c = rng.choice(SPECIAL, size=(3, LANES))
    n = rng.integers(-1022, 1024, size=LANES)
    out = np.empty((N_RESULTS, LANES))
    with np.errstate(all="ignore"):
        summed, below, at_most, third = operations(a, b, c, n + HALF, out)
        twins = [
            a + b, a - b, a * b, a / b, None, np.where(a < b, a, b), np.abs(a),
            np.sqrt(np.abs(a)), np.full(LANES, c[1]), [a[3], b[1], c[0], a[2]],
            2.0**n, [a[0], a[1], c[1], a[3]], a, a,
            np.where(a < b, c, a), [a[0], a[1], a[2], 0.0], np.zeros(LANES),
            np.choose(n % 4, [a, b, -a, -b]),
        ]  # fmt: skip
        for row, twin in enumerate(twins):
            if twin is not None:
                np.testing.assert_array_equal(out[row], twin)
        np.testing.assert_array_equal(summed, (a[0] + a[2]) + (a[1] + a[3]))
        if not seed % 2:
            np.testing.assert_allclose(out[4], a * b + c, rtol=1e-9)
    np.testing.assert_array_equal(third, a[2])
    assert (below, at_most) == ((a < b).any(), (a <= b).any())


@pytest.mark.compiled
def test_fma_rounds_once(rng: np.random.Generator) -> None:
    for _ in range(50):
        a, b = rng.normal(size=(2, LANES))
        c, out = -a * b, np.empty((N_RESULTS, LANES))  # all but the rounding cancels
        operations(a, b, c, np.full(LANES, HALF), out)
        numbers = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        exact = [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in numbers]
        np.testing.assert_array_equal(out[4], exact)


@pytest.mark.parametrize("n", range(34))
def test_rooms_are_full_lanes(n: int) -> None:
    assert in_lanes(n) == -(-n // LANES) * LANES
    assert padded(n) == -(-n // (2 * LANES)) * 2 * LANES


@pytest.mark.parametrize("shape", [0, 1, 7, 8, 1000, (3, 5), (2, 8, 8), (0, 4)])
def test_arrays_begin_at_a_line_of_memory(shape: Any) -> None:
    for _ in range(5):
        made = lined_up(shape)
        assert made.size == 0 or made.ctypes.data % 64 == 0
        assert made.shape == np.zeros(shape).shape
        assert made.flags.c_contiguous
        assert made.flags.writeable
        assert not made.any()


@compiled
def asked_for(a: Any, k: int) -> float:
    prefetch(a, k)
    prefetch_ahead(a, k)
    return float(a[0])


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("k", [0, 3, 10**9, -(10**9)])
def test_asking_ahead_changes_nothing_wherever_it_points(k: int, dtype: Any) -> None:
    a = np.arange(1, 5).astype(dtype)
    assert asked_for(a, k) == 1.0
    np.testing.assert_array_equal(a, [1, 2, 3, 4])
