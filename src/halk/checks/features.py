"""The laws of feature maps."""

from typing import Any

import numpy as np

from halk.checks.law import check_value, law
from halk.features import FeatureMap


def check_features(features: FeatureMap, n_features: int = 1, seed: int = 0) -> None:
    """Check that a feature map keeps the promises that learners rely on.

    Parameters
    ----------
    features : FeatureMap
    n_features : int
        Length of the points that it is tried on.
    seed : int
    """
    check_value(features)
    X = np.random.default_rng(seed).normal(size=(9, n_features))
    before, first = X.copy(), features.matrix(X)
    _check(features, "leaves inputs alone", X, before)
    shape = (9, features.size(n_features))
    what = f"features of 9 points have shape {first.shape}, not {shape}"
    law(first.shape == shape, "size", features, what)
    law(np.isfinite(first).all(), "finite", features, "a feature is not finite")
    _check(features, "same again", features.matrix(X), first)
    rows = np.vstack([features.matrix(X[k : k + 1]) for k in range(9)])
    _check(features, "row by row", rows, first)
    _check(features, "row by row", features.matrix(X[::-1])[::-1], first)


def _check(features: FeatureMap, name: str, got: Any, wanted: Any) -> None:
    worst = np.max(np.abs(got - wanted), initial=0.0)
    what = f"entries differ by up to {worst:.3g}"
    law(np.array_equal(got, wanted), name, features, what)
