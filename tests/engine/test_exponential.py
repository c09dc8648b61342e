"""The exponential in lanes against fifty digits."""

from typing import Any

import mpmath
import numpy as np
import pytest

from halk._jit import LANES, compiled, decay, in_lanes, load, store
from halk._jit.exponential import exponential


@compiled
def decays(a: Any, out: Any) -> None:
    for k in range(0, len(a), LANES):
        store(out, k, decay(load(a, k)))


@compiled
def exponentials(a: Any, out: Any) -> None:
    for k in range(0, len(a), LANES):
        store(out, k, exponential(load(a, k)))


def relative_errors(a: Any, got: Any) -> list[float]:
    """Return the errors of ``exp(-a)``, relative, computed in fifty digits."""
    with mpmath.workdps(50):
        pairs = zip(a.tolist(), got.tolist(), strict=True)
        return [
            abs(float(mpmath.mpf(g) * mpmath.exp(mpmath.mpf(x)) - 1)) for x, g in pairs
        ]


def decayed(a: Any) -> Any:
    a = np.array(a, dtype=float)
    room = np.zeros(in_lanes(len(a)))
    room[: len(a)] = a
    out = np.empty_like(room)
    decays(room, out)
    return out[: len(a)]


# where the range is reduced from one power of two to the next, and around it
EDGES = np.log(2.0) * (np.arange(1010) + 0.5)
POINTS = {
    "even": np.linspace(0.0, 700.0, 2001),
    "edges": np.concatenate([EDGES, np.nextafter(EDGES, 0), np.nextafter(EDGES, 800)]),
    "small": 10.0 ** np.linspace(-320, 0, 400),
    "random": np.random.default_rng(0).uniform(0.0, 700.0, 2001),
    "special": np.array([0.0, 5e-324, 2.0**-53, 2.0**-52, 1.0, 699.9999, 700.0]),
}


@pytest.mark.parametrize("name", POINTS)
def test_exponential_is_exact_to_rounding(name: str) -> None:
    a = POINTS[name][POINTS[name] <= 700.0]
    got = decayed(a)
    assert max(relative_errors(a, got)) < 1e-15
    assert (got <= 1.0).all()
    np.testing.assert_allclose(got, np.exp(-a), rtol=1.2e-15)


def test_exponential_of_zero_is_one() -> None:
    assert (decayed(np.zeros(4)) == 1.0).all()
    assert (decayed(-np.zeros(4)) == 1.0).all()


def test_exponential_never_underflows_nor_comes_back() -> None:
    far = [700.0, 700.0001, 709.0, 745.0, 1e4, 1e100, 1.7e308, np.inf, np.nan]
    got = decayed(far)
    assert (got >= 0.0).all()
    assert (got <= 1e-300).all()


def test_lanes_do_not_depend_on_their_neighbours(rng: np.random.Generator) -> None:
    a = rng.uniform(0.0, 800.0, size=40)
    whole = decayed(a)
    for k in range(len(a)):
        assert decayed(a[k:])[0] == whole[k]


def test_lanes_are_loaded_and_stored_in_place(rng: np.random.Generator) -> None:
    a, out = rng.uniform(size=16), np.full(16, 7.0)
    decays(a[5:13], out[3:11])
    assert (out[:3] == 7.0).all()
    assert (out[11:] == 7.0).all()
    np.testing.assert_allclose(out[3:11], np.exp(-a[5:13]), rtol=1e-15)


@pytest.mark.parametrize("name", POINTS)
def test_exponentials_of_either_sign(name: str) -> None:
    a = POINTS[name][POINTS[name] <= 700.0]
    for sign in (1.0, -1.0):
        x = np.resize(sign * a, in_lanes(len(a)))
        got = np.empty_like(x)
        exponentials(x, got)
        assert max(relative_errors(-x, got)) < 1e-15


def test_exponentials_beyond_are_the_library_s() -> None:
    x = np.array([700.0, 709.5, 709.79, np.inf, -700.1, -745.0, -np.inf, 1.0])
    got = np.empty(8)
    with np.errstate(all="ignore"):
        exponentials(x, got)
        np.testing.assert_allclose(got, np.exp(x), rtol=1e-15, atol=0)
    x[1:4] = x[5:8] = np.nan
    exponentials(x, got)
    np.testing.assert_allclose(got, np.exp(x), rtol=1e-15, atol=0)
