"""The classifier of one agent."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.model_selection import cross_val_score

from halk import Network, NewtonHALK, losses
from halk.sklearn import KernelClassifier


@pytest.fixture
def moons():
    return make_moons(400, noise=0.2, random_state=0)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_several_classes_out_of_the_box(load):
    X, y = load(return_X_y=True)
    score = cross_val_score(KernelClassifier(random_state=0), X, y, cv=2).mean()
    assert score > 0.93


def test_probabilities(moons):
    X, y = load_iris(return_X_y=True)
    for model in (
        KernelClassifier(random_state=0).fit(*moons),
        KernelClassifier(random_state=0).fit(X, y),
    ):
        x, far = X[:, : model.n_features_in_], np.full((1, model.n_features_in_), 1e6)
        p = model.predict_proba(x)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(
            model.classes_[p.argmax(axis=1)], model.predict(x)
        )
        np.testing.assert_allclose(np.exp(model.predict_log_proba(x)), p)
        # Where nothing was learned, nothing is preferred.
        np.testing.assert_allclose(model.predict_proba(far), 1 / len(model.classes_))


def test_two_classes_are_one_newton_halk(moons):
    X, y = moons
    ours = KernelClassifier().partial_fit(X, np.array(["a", "b"])[y], ["b", "a"])
    direct = NewtonHALK(Network(1), loss=losses.Logistic(), max_atoms=120)
    direct.learn_readings([0] * len(X), X, 2.0 * y - 1)
    values = direct.predict(0, X)
    np.testing.assert_array_equal(ours.decision_function(X), values)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], 1 / (1 + np.exp(-values)))


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    truth = 1 / (1 + np.exp(-3 * X[:, 0] * X[:, 1]))
    y = rng.random(1200) < truth
    model = KernelClassifier(random_state=0).fit(X[:800], y[:800])
    assert np.abs(model.predict_proba(X[800:])[:, 1] - truth[800:]).mean() < 0.1


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    settings = {"max_atoms": 40, "shuffle": False}
    values = KernelClassifier(**settings).fit(X, y).decision_function(X)
    for k in range(3):
        alone = KernelClassifier(**settings).fit(X, y == k)
        np.testing.assert_array_equal(values[:, k], alone.decision_function(X))


def test_portions_do_not_matter(moons):
    X, y = moons
    whole, parts = KernelClassifier(shuffle=False), KernelClassifier()
    whole.fit(X, y)
    for t in range(0, len(X), 13):
        parts.partial_fit(X[t : t + 13], y[t : t + 13], classes=[0, 1])
    np.testing.assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))


def test_classes_of_partial_fit(moons):
    X, y = moons
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        KernelClassifier().partial_fit(X, y)
    model = KernelClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="y must hold classes among"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="2 classes or more, got 1 class"):
        KernelClassifier().fit(X, np.zeros(len(X)))
