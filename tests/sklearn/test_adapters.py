"""What the estimators of both libraries share."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from halk import NewtonHALK, river, sklearn
from halk._adapters import PASSED_ON

ESTIMATORS = [
    sklearn.KernelRegressor,
    sklearn.KernelClassifier,
    sklearn.NetworkRegressor,
    sklearn.NetworkClassifier,
    river.KernelRegressor,
    river.KernelClassifier,
]

OWN = {
    "loss", "shuffle", "random_state", "sensor", "network", "edges", "positions",
    "radius", "k", "metric", "tolerance",
}  # fmt: skip
"""Parameters that an estimator uses itself."""


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 2))
    return X, np.sin(X[:, 0]), rng.integers(3, size=60)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_used(estimator):
    assert set(inspect.signature(estimator).parameters) <= OWN | set(PASSED_ON)
    assert set(PASSED_ON) <= set(inspect.signature(NewtonHALK).parameters)


def test_parameters_reach_the_learner(table):
    X, y, _ = table
    given = {
        "kernel": "matern32", "length_scale": 0.7, "noise": 0.2, "forgetting": 0.99,
        "max_atoms": 7, "novelty": 1e-3, "robust": 4.0, "standardize": "offset",
        "exchange": "readings", "identity": 0.5,
    }  # fmt: skip
    assert set(given) == set(PASSED_ON)
    (learner,) = sklearn.NetworkRegressor(**given).fit(X, y).learners_
    assert {name: getattr(learner, name) for name in given} == given


def test_what_was_found_can_be_read(table):
    X, y, labels = table
    model = sklearn.KernelRegressor(random_state=0)
    for name in ("n_atoms_", "length_scale_", "noise_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    model.fit(X, y)
    assert len(model.length_scale_) == 2
    assert 0 < model.noise_ < 1
    several = sklearn.KernelClassifier(random_state=0).fit(X, labels)
    assert [np.shape(scale) for scale in several.length_scale_] == [(2,)] * 3
    assert several.noise_ == [learner.noise_ for learner in several.learners_]
    stream = river.KernelRegressor(length_scale=0.5, noise=0.3)
    stream.learn_one({"a": 1.0}, 2.0)
    assert (stream.n_atoms_, stream.length_scale_, stream.noise_) == (1, 0.5, 0.3)


@pytest.mark.parametrize("first", ["b", "a"])
def test_new_classes_in_the_middle_of_a_frame(rng, first):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rng.normal(size=(60, 2)), columns=["u", "v"])
    y = pandas.Series([first, "a", "b", "b", "c"] * 12)
    many, one = river.KernelClassifier(), river.KernelClassifier()
    many.learn_many(X[:0], y[:0])
    many.learn_many(X, y)
    for x, label in zip(X.to_dict("records"), y, strict=True):
        one.learn_one(x, label)
    assert many.classes == one.classes == list(dict.fromkeys(y))
    x = X.to_dict("records")[0]
    assert many.predict_proba_one(x) == one.predict_proba_one(x)
