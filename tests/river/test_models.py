"""The estimators for river: features that come and go, pipelines, agreement."""

import pickle

import numpy as np
import pytest
from river import datasets, evaluate, metrics, preprocessing, stream
from river.datasets import synth

from halk import Network, NewtonHALK
from halk.river import KernelClassifier, KernelRegressor
from halk.sklearn import KernelRegressor as TableRegressor


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(400, 3)) * [1.0, 30.0, 0.1]
    y = np.sin(2 * X[:, 0]) + X[:, 1] / 30
    return X, y


def taught(model, X, y, names="abc"):
    for x, target in stream.iter_array(X, y, feature_names=list(names)):
        model.learn_one(x, float(target))
    return model


def test_it_is_the_regressor_of_tables_bit_for_bit(rows):
    X, y = rows
    ours = taught(KernelRegressor(), X, y)
    table = TableRegressor(forgetting=0.999, robust=5.0).partial_fit(X, y)
    got = [ours.predict_one(dict(zip("abc", x, strict=True))) for x in X]
    np.testing.assert_array_equal(got, table.predict(X))
    assert ours.n_atoms_ == table.n_atoms_


def test_it_is_newton_halk_bit_for_bit(rows):
    X, y = rows
    ours = taught(KernelRegressor(), X, y)
    direct = NewtonHALK(Network(1), max_atoms=120, forgetting=0.999, robust=5.0)
    for x, target in zip(X, y, strict=True):
        direct.learn_one(x[None], [target])
    mean, std = direct.predict(0, X, return_std=True)
    points = [dict(zip("abc", x, strict=True)) for x in X]
    np.testing.assert_array_equal([ours.predict_one(x) for x in points], mean)
    known = [ours.predict_one(x, with_dist=True) for x in points]
    np.testing.assert_allclose([one.mu for one in known], mean)
    np.testing.assert_allclose([one.sigma for one in known], std)


@pytest.mark.parametrize("n", [30, 300])  # during the search, and after
def test_a_new_feature_changes_nothing_until_it_varies(rows, n):
    X, y = rows
    one = taught(KernelRegressor(), X[:n], y[:n])
    two = pickle.loads(pickle.dumps(one))
    x = dict(zip("abc", X[n], strict=True))
    one.learn_one(x, y[n])
    two.learn_one({**x, "new": 17.0}, y[n])
    for row in X[:20]:
        x = dict(zip("abc", row, strict=True))
        assert two.predict_one(x) == pytest.approx(one.predict_one(x), rel=1e-9)
        unknown = {**x, "never learned": 3.0}
        assert two.predict_one(unknown) == two.predict_one(x)


def test_a_feature_that_comes_late_is_learned(rng):
    model = KernelRegressor()
    X = rng.normal(size=(1500, 2)) * [1.0, 1000.0]
    for t, (a, b) in enumerate(X):
        if t < 250:
            model.learn_one({"a": a}, np.sin(a))
        else:
            model.learn_one({"a": a, "b": b}, np.sin(a) + b / 1000)
    errors = [
        model.predict_one({"a": a, "b": b}) - np.sin(a) - b / 1000 for a, b in X[-200:]
    ]
    assert np.sqrt(np.mean(np.square(errors))) < 0.3


def test_missing_is_the_mean_and_so_are_none_and_nan(rows):
    X, y = rows
    model = taught(KernelRegressor(), X, y)
    x = dict(zip("abc", X[0], strict=True))
    wanted = model.predict_one({**x, "b": X[:, 1].mean()})
    assert model.predict_one({"a": x["a"], "c": x["c"]}) == pytest.approx(wanted)
    for nothing in (None, float("nan")):
        assert model.predict_one({**x, "b": nothing}) == pytest.approx(wanted)


def test_before_the_first_reading():
    assert KernelRegressor().predict_one({"a": 1.0}) == 0.0
    assert KernelClassifier().predict_proba_one({"a": 1.0}) == {}
    assert KernelClassifier().predict_one({"a": 1.0}) is None


def score(data, model):
    return evaluate.progressive_val_score(data, model, metrics.MAE()).get()


def test_pipelines_and_progressive_validation():
    data = datasets.TrumpApproval()
    assert score(data, KernelRegressor()) < 0.4
    piped = preprocessing.StandardScaler() | KernelRegressor()
    assert score(data, piped) < 0.6


def test_targets_that_grow():
    assert score(datasets.ChickWeights(), KernelRegressor()) < 24


@pytest.mark.slow
def test_drift():
    drift = {"drift_type": "gra", "position": (2000, 3500), "seed": 42}
    data = synth.FriedmanDrift(**drift).take(5000)
    assert score(data, KernelRegressor()) < 1.6


def test_text_goes_through_an_encoder():
    model = preprocessing.OneHotEncoder() | KernelRegressor()
    for place, y in [("north", 1.0), ("south", -1.0)] * 50:
        model.learn_one({"place": place}, y)
    assert model.predict_one({"place": "north"}) == pytest.approx(1.0, abs=0.1)
    with pytest.raises(
        TypeError, match="feature 'place' must be a number, got 'north'"
    ):
        KernelRegressor().learn_one({"place": "north"}, 1.0)


def test_classes_may_come_late():
    model = KernelClassifier(max_atoms=30)
    data = list(datasets.ImageSegments())
    for x, y in data[:1000]:
        model.learn_one(x, y)
    right = [model.predict_one(x) == y for x, y in data[1000:1300]]
    assert np.mean(right) > 0.8
    x = data[0][0]
    for _ in range(30):
        model.learn_one(x, "something else")
    assert model.predict_one(x) == "something else"
    assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)


def test_a_pickle_learns_on_like_the_original(rows):
    X, y = rows
    model = taught(KernelRegressor(), X[:300], y[:300])
    copy = pickle.loads(pickle.dumps(model))
    taught(model, X[300:], y[300:])
    taught(copy, X[300:], y[300:])
    x = dict(zip("abc", X[0], strict=True))
    assert model.predict_one(x) == copy.predict_one(x)


def test_frames_agree_with_rows(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame, target = pandas.DataFrame(X, columns=list("abc")), pandas.Series(y)
    many = KernelRegressor()
    for t in range(0, 400, 37):
        many.learn_many(frame[t : t + 37], target[t : t + 37])
    one = taught(KernelRegressor(), X, y)
    got = many.predict_many(frame[::-1])
    assert got.index.tolist() == frame.index[::-1].tolist()
    wanted = [one.predict_one(dict(zip("abc", x, strict=True))) for x in X[::-1]]
    np.testing.assert_array_equal(got, wanted)
    labels = KernelClassifier()
    labels.learn_many(frame, target > 0)
    assert (labels.predict_many(frame) == (target > 0)).mean() > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be one of"),
        ({"length_scale": 0.0}, "length_scale must be positive"),
        ({"loss": "logistic"}, "loss must be one of 'squared'"),
        ({"forgetting": 0.0}, "forgetting must be positive"),
        ({"noise": -1.0}, "noise must be positive"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelRegressor(**parameters)


@pytest.mark.parametrize("y", [float("nan"), "high", None])
def test_bad_targets(y):
    with pytest.raises((ValueError, TypeError), match="y must be"):
        KernelRegressor().learn_one({"a": 1.0}, y)


@pytest.mark.parametrize("bad", [float("inf"), "text", [1.0]])
def test_what_is_refused_leaves_no_trace(bad):
    for model, y in ((KernelRegressor(), 1.0), (KernelClassifier(), "yes")):
        before = pickle.dumps(model)
        with pytest.raises((TypeError, ValueError), match="feature 'b' must be"):
            model.learn_one({"a": 1.0, "b": bad}, y)
        assert pickle.dumps(model) == before
        model.learn_one({"a": 1.0}, y)


def test_readings_without_features_are_let_pass():
    model = KernelRegressor()
    model.learn_one({}, 3.0)
    assert model.predict_one({}) == 0.0
    model.learn_one({"a": 1.0}, 3.0)
    model.learn_one({}, 3.0)
    assert model.predict_one({}) == pytest.approx(3.0, abs=1.0)
