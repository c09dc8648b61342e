"""Sine and cosine in lanes against fifty digits."""

from typing import Any

import mpmath
import numpy as np
import pytest

from halk._jit import IS_INTERPRETED, LANES, compiled, load, store
from halk._jit.trigonometry import cosine, sine


@compiled
def sines(x: Any, out: Any) -> None:
    for k in range(0, len(x), LANES):
        store(out[0], k, sine(load(x, k)))
        store(out[1], k, cosine(load(x, k)))


def errors(x: Any, got: Any) -> Any:
    """Return the errors of sines and cosines, (2, n), computed in fifty digits."""
    with mpmath.workdps(50):
        exact = [
            [f(mpmath.mpf(v)) for v in x.tolist()] for f in (mpmath.sin, mpmath.cos)
        ]
        return np.array(
            [
                [abs(float(e - mpmath.mpf(g))) for e, g in zip(row, found, strict=True)]
                for row, found in zip(exact, got.tolist(), strict=True)
            ]
        )


RNG = np.random.default_rng(0)
TURNS = np.pi / 4 * np.arange(-400, 400)
ANGLES = {
    "one turn": np.linspace(-2 * np.pi, 2 * np.pi, 2000),
    "edges": np.concatenate(
        [TURNS, np.nextafter(TURNS, 1e9), np.nextafter(TURNS, -1e9)]
    ),
    "small": np.concatenate([10.0 ** -np.linspace(0, 320, 200), np.zeros(4)]),
    "many turns": RNG.uniform(-1e5, 1e5, 2000),
    "most turns": RNG.uniform(-(2.0**30), 2.0**30, 2000),
    "beyond": RNG.choice([-1.0, 1.0], 400) * 10.0 ** RNG.uniform(9, 300, 400),
}


@pytest.mark.parametrize("name", ANGLES)
def test_they_are_exact_to_rounding(name: str) -> None:
    x = ANGLES[name]
    got = np.empty((2, len(x)))
    sines(x, got)
    # interpreted, a product is rounded before it is added, and turns are not exact
    turns = np.where(np.abs(x) <= 2.0**30, np.abs(x), 0.0) if IS_INTERPRETED else 0.0
    assert (errors(x, got) < 3e-16 + 3e-16 * turns).all()


@pytest.mark.compiled
def test_sines_near_whole_turns_keep_their_digits() -> None:
    x = np.pi * np.arange(1.0, 2001.0)
    got = np.empty((2, len(x)))
    sines(x, got)
    np.testing.assert_allclose(got[0], np.sin(x), rtol=1e-14, atol=0)


def test_what_is_no_angle_has_no_sine() -> None:
    x, got = np.array([np.nan, 1.0, np.nan, 2.0]), np.empty((2, 4))
    sines(x, got)
    np.testing.assert_allclose(got, [np.sin(x), np.cos(x)], rtol=1e-15)
