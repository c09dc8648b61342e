"""Kernel sums in lanes against the plain formula, atom by atom, for every kernel."""

from math import cos
from typing import Any

import numpy as np
import pytest

from halk.component import subclasses
from halk.kernels import (
    Constant,
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Matern32,
    Matern52,
    Polynomial,
    kernel_value,
    rescaled,
)
from tests.engine.drive import Rowed

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 31, 40]
ROUNDING = 1e-13


def seasonal(x: Any, y: Any) -> float:
    total = 1.0
    for k in range(len(x)):
        total += cos(x[k] - y[k])
    return total


def from_behind(x: Any, y: Any) -> float:
    tail, other = x[len(x) // 2 :], y[len(x) // 2 :]
    return (
        1.0 + float(x[-1] * y[-1]) + 0.5 * float(tail[-len(tail)] * other[-len(tail)])
    )


def _ours() -> list[Kernel]:
    families = [cls for cls in subclasses(Kernel) if cls.__module__.startswith("halk.")]
    return [kernel for cls in families for kernel in cls.examples()]


KERNELS = [
    *_ours(),
    Polynomial(5, 0.3, 1.5),
    Polynomial(1, 2.0, 0.0),
    Constant(0.0),
    Custom(seasonal) + Gaussian(0.7),
    Custom(from_behind),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def features_of(kernel: Kernel) -> list[int]:
    """Return the numbers of features, of 1 to 6, that the kernel can take."""

    def fits(p: int) -> bool:
        try:
            kernel.check_features(p)
        except ValueError:
            return False
        return True

    return [p for p in range(1, 7) if fits(p)]


def plain(kernel: Kernel, X: Any, Y: Any) -> Any:
    return np.array([[kernel_value(kernel, x, y) for y in Y] for x in X])


@every_kernel
def test_a_level_is_the_value_at_every_point(kernel: Kernel) -> None:
    rng = np.random.default_rng(1)
    for p in features_of(kernel):
        X = rng.normal(size=(5, p)) * 10.0 ** rng.integers(-3, 4, size=(5, 1))
        at_itself = np.array([kernel_value(kernel, x, x) for x in X])
        if np.isnan(kernel.at_itself):
            continue
        np.testing.assert_array_equal(at_itself, kernel.at_itself)


def test_kernels_of_a_distance_have_a_level() -> None:
    for cls in (Gaussian, Laplacian, Matern32, Matern52):
        assert cls(0.3).at_itself == 1.0


@every_kernel
def test_sums_are_those_of_the_formula(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    for p in features_of(kernel):
        for m in SIZES:
            atoms, X = rng.normal(size=(m, p)), rng.normal(size=(3, p))
            X[1] = atoms[m // 2]  # a distance of zero
            weights = rng.normal(size=m) * 10.0 ** rng.integers(-3, 4, size=m)
            got, expected = Rowed(kernel, atoms, weights, X), plain(kernel, X, atoms)
            assert np.isfinite(got.cross).all()
            np.testing.assert_allclose(got.cross, expected, rtol=ROUNDING, atol=1e-15)
            off = np.abs(got.values - expected @ weights)
            assert (off <= ROUNDING * (np.abs(expected) @ np.abs(weights))).all()


@every_kernel
def test_gram_matrices_are_those_of_the_formula(kernel: Kernel) -> None:
    rng = np.random.default_rng(1)
    p = features_of(kernel)[-1]
    for m, b in ((1, 1), (5, 2), (10, 9)):
        atoms, X = rng.normal(size=(m, p)), rng.normal(size=(b, p))
        got = Rowed(kernel, atoms, np.ones(m), X)
        for gram, points in ((got.gram, atoms), (got.block_gram, X)):
            expected = plain(kernel, points, points)
            np.testing.assert_allclose(gram, expected, rtol=ROUNDING, atol=1e-15)
            np.testing.assert_array_equal(gram, gram.T)
        own = np.array([kernel_value(kernel, x, x) for x in X])
        np.testing.assert_allclose(got.diagonal, own, rtol=ROUNDING)
        # step sizes are made with the one, distances with the other
        np.testing.assert_allclose(got.diagonal, got.block_gram.diagonal(), rtol=1e-14)


@pytest.mark.parametrize("scale", [0.1, 3.0])
@every_kernel
def test_bandwidths_can_be_scaled(kernel: Kernel, scale: float) -> None:
    rng = np.random.default_rng(2)
    p = features_of(kernel)[-1]
    atoms, X, weights = rng.normal(size=(6, p)), rng.normal(size=(2, p)), np.ones(6)
    got = Rowed(kernel, atoms, weights, X, scale)
    expected = Rowed(rescaled(kernel, scale), atoms, weights, X)
    for name in ("cross", "values", "gram", "block_gram", "diagonal"):
        twin = getattr(expected, name)
        np.testing.assert_allclose(getattr(got, name), twin, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Matern32, Matern52])
def test_far_atoms_count_as_nothing(cls: Any) -> None:
    atoms = np.array([[0.0], [1e3], [1e9], [1e150], [-1e160]])
    with np.errstate(all="ignore"):
        got = Rowed(cls(1.0), atoms, np.full(5, 1e6), np.array([[0.0]]))
    assert got.cross[0, 0] == 1.0
    assert (got.cross[0, 1:] >= 0.0).all()
    assert (got.cross[0, 1:] <= 1e-90).all()
    assert got.values[0] == 1e6


@pytest.mark.parametrize("width", [1e-100, 1e-170, 1e100, 1e170])
@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Matern32, Matern52])
def test_very_narrow_and_wide_kernels_are_kernels(cls: Any, width: float) -> None:
    atoms = np.array([[0.25], [1.0], [2.0]])
    with np.errstate(all="ignore"):
        got = Rowed(cls(width), atoms, np.ones(3), np.array([[1.0]]))
    expected = [0.0, 1.0, 0.0] if width < 1.0 else [1.0, 1.0, 1.0]
    np.testing.assert_allclose(got.cross[0], expected, rtol=1e-15, atol=1e-90)
    np.testing.assert_allclose(got.gram.diagonal(), 1.0)


@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Matern32, Matern52])
def test_sums_of_atoms_all_far_away(cls: Any) -> None:
    """Exponents of hundreds: rounding of the exponent counts, and no more."""
    atoms = np.linspace(20.0, 24.0, 11)[:, None]
    kernel, X = cls(1.0), np.zeros((1, 1))
    got, expected = Rowed(kernel, atoms, np.ones(11), X), plain(kernel, X, atoms)
    np.testing.assert_allclose(got.values, expected.sum(axis=1), rtol=4e-13)
