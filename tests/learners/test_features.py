"""Feature maps: their laws, their formulas, and what they refuse."""

from math import exp, pi, sin, sqrt

import numpy as np
import pytest

from halk import checks, features, kernels
from halk.component import subclasses
from halk.errors import LawError
from halk.features import (
    FeatureMap,
    Identity,
    Monomials,
    RadialBasis,
    RandomFourier,
    Sine,
)

MAPS = [
    example
    for cls in subclasses(FeatureMap)
    if cls.__module__.startswith("halk.")
    for example in cls.examples()
]


def length_of(features):
    """Return a length of points that the map takes."""
    for p in (1, 3):
        try:
            features.check_features(p)
        except ValueError:
            continue
        return p
    raise AssertionError(features)


def test_every_map_is_exported():
    names = {
        cls.__name__ for cls in subclasses(FeatureMap) if cls.__module__[:4] == "halk"
    }
    assert names | {"FeatureMap"} == set(features.__all__)


@pytest.mark.parametrize("example", MAPS, ids=repr)
def test_laws(example):
    checks.check_features(example, length_of(example))


@pytest.mark.parametrize("example", [Identity(), Monomials(3), Sine(2.0)], ids=repr)
def test_laws_with_three_inputs(example):
    checks.check_features(example, 3)


class _Centred(Identity):
    """Depends on the other points."""

    def _values(self, X):
        return super()._values(X - X.mean())


class _Short(Identity):
    def size(self, n_features):
        return n_features


@pytest.mark.parametrize(("cls", "law"), [(_Centred, "row by row"), (_Short, "size")])
def test_broken_maps_are_found(cls, law):
    with pytest.raises(LawError, match=f"breaks a law, {law}: "):
        checks.check_features(cls())


def test_formulas_by_hand():
    x = [[0.5, -2.0]]
    assert Identity(False).matrix(x).tolist() == x
    assert Identity().matrix(x).tolist() == [[1, 0.5, -2]]
    assert Monomials(3).matrix(x).tolist() == [[1, 0.5, 0.25, 0.125, -2, 4, -8]]
    expected = [0.5, sin(1.0), -2, sin(-4.0)]
    assert Sine(2.0).matrix(x)[0].tolist() == pytest.approx(expected)
    bumps = RadialBasis([[0.5, -2.0], [1.5, 0.0]], (1.0, 4.0))
    assert bumps.matrix(x)[0].tolist() == pytest.approx([1, exp(-0.5 * (1 + 0.25))])


def test_centres_are_drawn_from_the_box():
    drawn = RadialBasis.uniform(500, (0.0, 10.0), (1.0, 12.0), seed=3)
    centres = np.array(drawn.centres)
    assert centres.shape == (500, 2)
    assert (centres.min(axis=0) >= [0, 10]).all()
    assert (centres.max(axis=0) <= [1, 12]).all()
    np.testing.assert_allclose(centres.mean(axis=0), [0.5, 11], atol=0.1)
    assert drawn == RadialBasis.uniform(500, (0.0, 10.0), (1.0, 12.0), seed=3)
    assert drawn != RadialBasis.uniform(500, (0.0, 10.0), (1.0, 12.0), seed=4)


@pytest.mark.parametrize("length_scale", [0.7, (0.5, 2.0)])
def test_random_features_approach_the_gaussian_like_one_over_root_d(rng, length_scale):
    X = rng.uniform(size=(12, 2))
    gram = kernels.Gaussian(length_scale)(X)
    sizes, worst = np.array([50, 400, 3200]), []
    for D in sizes:
        errors = []
        for seed in range(20):
            phi = RandomFourier(int(D), length_scale, seed).matrix(X)
            errors.append(np.sqrt(((phi @ phi.T - gram) ** 2).mean()))
        worst.append(np.mean(errors))
    slope = np.polyfit(np.log(sizes), np.log(worst), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.08)
    assert worst[-1] < 1.5 / sqrt(3200)


def test_random_features_of_one_seed_are_the_same_and_of_two_are_not():
    x = [[0.3]]
    first = RandomFourier(10, seed=1).matrix(x)
    assert np.array_equal(first, RandomFourier(10, seed=1).matrix(x))
    assert not np.array_equal(first, RandomFourier(10, seed=2).matrix(x))


def test_random_phases_fill_the_circle():
    values = RandomFourier(4000).matrix([[0.0]])[0] * sqrt(2000)
    angles = np.arccos(np.clip(values, -1, 1))
    np.testing.assert_allclose(
        np.quantile(angles, [0.25, 0.5, 0.75]), [pi / 4, pi / 2, 3 * pi / 4], atol=0.1
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Identity(1), "intercept must be one of True, False, got 1"),
        (lambda: Monomials(0), "degree must be at least 1, got 0"),
        (lambda: Monomials(1.5), "degree must be a whole number, got 1.5"),
        (lambda: Sine(0.0), "frequency must be positive, got 0.0"),
        (lambda: RadialBasis([], 1.0), "centres must have shape"),
        (lambda: RadialBasis([[0.0]], -1.0), "length_scale must be positive, got -1.0"),
        (lambda: RadialBasis([[0.0]], (1.0, 2.0)), "length_scale must be a number or"),
        (lambda: RadialBasis([[np.nan]], 1.0), "centres must be finite, got nan"),
        (lambda: RadialBasis.uniform(0, 0, 1), "n_centres must be at least 1, got 0"),
        (lambda: RadialBasis.uniform(3, 1, 0), r"low must be below high, got \[1.0\]"),
        (lambda: RandomFourier(0), "n_frequencies must be at least 1, got 0"),
        (lambda: RandomFourier(5, 0.0), "length_scale must be positive, got 0.0"),
        (lambda: RandomFourier(5, seed=-1), "seed must be at least 0, got -1"),
        (lambda: RandomFourier(5, (1.0, 2.0)).matrix([[0.0]]), "length_scale must be"),
        (lambda: RadialBasis([[0.0]]).matrix([[0.0, 1.0]]), r"centres \(1\), got 2"),
        (lambda: Identity().matrix([0.0]), "X must have shape"),
        (lambda: Identity().matrix([[np.nan]]), "X must be finite, got nan"),
        (lambda: Monomials(9).matrix([[1e40]]), "X must have features below 1e.50"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
