"""Rows of many sensors."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from halk import Network, NewtonHALK
from halk.sklearn import (
    KernelClassifier,
    KernelRegressor,
    NetworkClassifier,
    NetworkRegressor,
)

FIXED = {"length_scale": 0.5, "noise": 0.01, "standardize": False, "shuffle": False}
NAMES = ["west", "mid", "east"]


@pytest.fixture
def table(rng):
    sensor = rng.integers(3, size=600)
    x = rng.uniform(-1, 1, size=(600, 2))
    y = np.sin(3 * x[:, 0]) + 0.3 * x[:, 1] + 0.2 * sensor
    return np.column_stack([x[:, 0], sensor, x[:, 1]]), y


def named(X):
    return np.array(NAMES)[X[:, 1].astype(int)]


def test_it_is_newton_halk_bit_for_bit(table):
    X, y = table
    network = Network.path(3, tolerance=0.02)
    ours = NetworkRegressor(1, network, shuffle=False).fit(X, y)
    direct = NewtonHALK(network, max_atoms=120)
    agents, inputs = X[:, 1].astype(int), X[:, [0, 2]]
    direct.learn_readings(agents, inputs, y)
    wanted = direct.predict_readings(agents, inputs)
    np.testing.assert_array_equal(ours.predict(X), wanted)
    assert direct.multipliers.any()


def test_huge_numbers_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="X must be below 1e"):
        NetworkRegressor().fit(X * 1e45, y)
    with pytest.raises(ValueError, match="y must be below 1e"):
        NetworkRegressor().partial_fit(X, y * 1e45)


@pytest.mark.parametrize("names", ["given", "found"])
def test_without_edges_sensors_are_regressors_apart(table, names):
    X, y = table
    network = Network(3) if names == "given" else None
    together = NetworkRegressor(1, network, **FIXED).fit(X, y)
    for i in range(3):
        own = X[:, 1] == i
        alone = KernelRegressor(**FIXED).fit(X[own][:, [0, 2]], y[own])
        np.testing.assert_array_equal(
            together.predict(X[own]), alone.predict(X[own][:, [0, 2]])
        )


def test_without_edges_only_the_order_within_a_sensor_matters(table, rng):
    X, y = table
    model = NetworkRegressor(1, **FIXED).fit(X, y)
    by_sensor = np.argsort(X[:, 1], kind="stable")
    again = clone(model).fit(X[by_sensor], y[by_sensor])
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    mixed = rng.permutation(len(X))
    other = clone(model).fit(X[mixed], y[mixed])
    assert not np.array_equal(model.predict(X), other.predict(X))


def test_with_edges_order_between_sensors_matters(table):
    X, y = table
    model = NetworkRegressor(1, Network.path(3, 0.01), **FIXED).fit(X, y)
    by_sensor = np.argsort(X[:, 1], kind="stable")
    again = clone(model).fit(X[by_sensor], y[by_sensor])
    assert not np.array_equal(model.predict(X), again.predict(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_name_their_sensors(table, library):
    frames = pytest.importorskip(library)
    X, y = table
    frame = frames.DataFrame({"a": X[:, 0], "station": named(X), "b": X[:, 2]})
    edges = [("west", "mid"), ("mid", "east")]
    model = NetworkRegressor("station", edges=edges, random_state=0).fit(frame, y)
    assert model.network_.names == ("east", "mid", "west")
    assert model.feature_names_in_.tolist() == ["a", "station", "b"]
    assert model.n_features_in_ == 3
    order = [2, 1, 0]  # the same network with numbers
    numbered = np.column_stack([X[:, 0], np.array(order)[X[:, 1].astype(int)], X[:, 2]])
    plain = NetworkRegressor(1, edges=[(2, 1), (1, 0)], random_state=0).fit(numbered, y)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(numbered))
    by_place = NetworkRegressor(1, edges=edges, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), by_place.predict(frame))


def test_the_three_ways_to_join_sensors(table):
    X, y = table
    pairs = NetworkRegressor(1, edges=[(0, 1), (1, 2)], tolerance=0.05)
    places = {0: [0.0], 1: [1.0], 2: [2.0]}
    near = NetworkRegressor(1, positions=places, radius=1.5, tolerance=0.05)
    nearest = NetworkRegressor(1, positions=places, k=1, tolerance=0.05)
    given = NetworkRegressor(1, Network.path(3, 0.05 * y.var()))
    wanted = given.set_params(random_state=0).fit(X, y).predict(X)
    for model in (pairs, near, nearest):
        model.set_params(random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), wanted)
    with pytest.raises(ValueError, match="joined in one way, got network and edges"):
        NetworkRegressor(1, Network(3), edges=[(0, 1)]).fit(X, y)
    with pytest.raises(TypeError, match="network must be a Network"):
        NetworkRegressor(1, "path").fit(X, y)


def test_a_sensor_learns_from_its_neighbours(table):
    X, y = table
    y = y - 0.2 * X[:, 1]
    seen = (X[:, 1] != 1) | (X[:, 0] < 0)
    hidden = ~seen
    alone = NetworkRegressor(1, random_state=0).fit(X[seen], y[seen])
    joined = NetworkRegressor(1, edges=[(0, 1), (1, 2)], random_state=0)
    joined.fit(X[seen], y[seen])
    far, near = (
        np.abs(model.predict(X[hidden]) - y[hidden]).mean() for model in (alone, joined)
    )
    assert near < 0.7 * far


def test_a_sensor_without_rows_predicts_what_it_was_taught(table):
    X, y = table
    seen = X[:, 1] != 1
    model = NetworkRegressor(1, Network.path(3, 0.0), random_state=0)
    assert model.fit(X[seen], y[seen]).score(X[~seen], y[~seen]) > 0.7


def test_unknown_sensors(table):
    X, y = table
    model = NetworkRegressor(1, random_state=0).fit(X, y)
    X = X[:4].copy()
    X[:, 1] = [0, 7, 8, 1]
    with pytest.raises(ValueError, match=r"sensors of the network .*got '7', '8'"):
        model.predict(X)
    with pytest.raises(ValueError, match="in column 1"):
        model.partial_fit(X, y[:4])
    X[0, 1] = 0.5
    with pytest.raises(ValueError, match="sensor must be a name or a whole number"):
        model.predict(X)


def test_columns_that_are_not_there(table):
    X, y = table
    with pytest.raises(ValueError, match="sensor must be within the 3 columns"):
        NetworkRegressor(3).fit(X, y)
    with pytest.raises(ValueError, match="position of a column where X is an array"):
        NetworkRegressor("station").fit(X, y)
    with pytest.raises(ValueError, match="sensor must name the column"):
        NetworkRegressor(network=Network(3)).fit(X, y)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        NetworkRegressor(0).fit(X[:, 1:2], y)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="sensor must be one of"):
        NetworkRegressor("station").fit(pandas.DataFrame({"a": y, "b": y}), y)


def test_text_and_numbers_in_one_array(table):
    X, y = table
    mixed = X.astype(object)
    mixed[:, 1] = named(X)
    model = NetworkRegressor(-2, edges=[("mid", "east")], random_state=0).fit(mixed, y)
    assert model.score(mixed, y) > 0.9
    mixed[3, 0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(mixed)


def test_workflow(table):
    X, y = table
    model = NetworkRegressor(1, edges=[(0, 1), (1, 2)], random_state=0)
    search = GridSearchCV(model, {"tolerance": [0.001, 0.1]}, cv=2).fit(X, y)
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(search.predict(X), copy.predict(X))


def test_classifier_without_edges(table):
    X, y = table
    for labels in (y > 0.2, np.digitize(y, [-0.2, 0.5])):
        once = {"length_scale": 0.5, "noise": 0.01, "shuffle": False}
        together = NetworkClassifier(1, **once).fit(X, labels)
        for i in range(3):
            own = X[:, 1] == i
            alone = KernelClassifier(**once).fit(X[own][:, [0, 2]], labels[own])
            np.testing.assert_array_equal(
                together.predict_proba(X[own]), alone.predict_proba(X[own][:, [0, 2]])
            )
        joined = NetworkClassifier(1, edges=[(0, 1), (1, 2)], random_state=0)
        assert joined.fit(X, labels).score(X, labels) > 0.85
