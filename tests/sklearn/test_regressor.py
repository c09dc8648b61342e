"""The regressor of one agent: what it is made of, and how it behaves in a workflow."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from halk import HALK, Network, kernels, losses
from halk.sklearn import KernelRegressor


@pytest.fixture
def table(rng):
    X = rng.normal(size=(400, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, 5.0]
    y = 300 + 40 * np.sin(X[:, 0]) + X[:, 1] / 10 + rng.normal(size=400)
    return X, y


def test_it_is_halk_to_the_last_bit(table):
    X, y = (table[0] - table[0].mean(axis=0)) / table[0].std(axis=0), table[1] / 100
    plain = {"standardize_inputs": False, "standardize_target": False}
    ours = KernelRegressor(
        kernels.Matern52(1.5), loss=losses.Huber(0.5), step_size=0.3, epsilon=0.02,
        regularization=1e-3, n_passes=2, shuffle=False, **plain,
    ).fit(X, y)  # fmt: skip
    direct = HALK(
        Network(1), kernels.Matern52(1.5), losses.Huber(0.5), step_size=0.3,
        epsilon=0.02, regularization=1e-3,
    )  # fmt: skip
    for _ in range(2):
        direct.learn_readings([0] * len(X), X, y)
    np.testing.assert_array_equal(ours.predict(X), direct.predict(0, X))
    assert ours.n_atoms_ == direct.n_atoms


def test_standardising_is_halk_on_standardised_numbers(table):
    X, y = table
    first = slice(0, 256)
    Z = (X - X[first].mean(axis=0)) / X[first].std(axis=0)
    v = (y - y[first].mean()) / y[first].std()
    squares = ((Z[first, None] - Z[None, first]) ** 2).sum(axis=2)
    width = np.sqrt(np.median(squares[~np.eye(256, dtype=bool)]) / 2)
    ours = KernelRegressor(n_passes=1, shuffle=False).fit(X, y)
    assert ours.model_.kernel.length_scale == pytest.approx(width)
    direct = HALK(
        Network(1), ours.model_.kernel, step_size=0.2, epsilon=0.05, regularization=1e-4
    )
    direct.learn_readings([0] * len(Z), Z, v)
    wanted = direct.predict(0, Z) * y[first].std() + y[first].mean()
    np.testing.assert_allclose(ours.predict(X), wanted, rtol=1e-8)


@pytest.mark.parametrize("portion", [1, 7, 64, 399])
def test_portions_do_not_matter(table, portion):
    X, y = table
    whole = KernelRegressor(n_passes=1, shuffle=False).fit(X, y)
    parts = KernelRegressor()
    for t in range(0, len(X), portion):
        parts.partial_fit(X[t : t + portion], y[t : t + portion])
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def test_portions_do_not_matter_while_warming_up(table):
    X, y = table[0][:90], table[1][:90]
    whole, parts = KernelRegressor().partial_fit(X, y), KernelRegressor()
    for t in range(90):
        parts.partial_fit(X[t : t + 1], y[t : t + 1])
        assert np.isfinite(parts.predict(X)).all()
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def test_scales_are_taken_at_powers_of_two(table):
    X, y = table
    for n, used in ((1, 1), (90, 64), (128, 128), (299, 256), (400, 256)):
        model = KernelRegressor().partial_fit(X[:n], y[:n]).model_
        np.testing.assert_allclose(model.inputs.mean, X[:used].mean(axis=0))
    model = KernelRegressor(n_passes=1, shuffle=False).fit(X[:90], y[:90]).model_
    np.testing.assert_allclose(model.inputs.mean, X[:90].mean(axis=0))


def test_units_do_not_matter(table):
    X, y = table
    model = KernelRegressor(random_state=0)
    before = model.fit(X, y).predict(X)
    after = (
        clone(model)
        .fit(X * [1000, 0.001, -7] + 3, 5 * y - 2)
        .predict(X * [1000, 0.001, -7] + 3)
    )
    np.testing.assert_allclose((after + 2) / 5, before, rtol=1e-3)


def test_partial_fit_goes_on_after_fit(table):
    X, y = table
    model = KernelRegressor(random_state=0).fit(X, y)
    before = model.predict(X[:1])
    for _ in range(20):
        model.partial_fit(X[:1], before + 50)
    assert abs(model.predict(X[:1]) - before - 50) < 10


def test_random_state_decides_the_order(table):
    X, y = table
    one, same = (KernelRegressor(random_state=3).fit(X, y) for _ in range(2))
    other = KernelRegressor(random_state=4).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), same.predict(X))
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_a_pickle_learns_on_like_the_original(table):
    X, y = table
    for n in (100, 300):  # while warming up, and after
        model = KernelRegressor().partial_fit(X[:n], y[:n])
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(model.predict(X), copy.predict(X))
        model.partial_fit(X[n:], y[n:])
        copy.partial_fit(X[n:], y[n:])
        np.testing.assert_array_equal(model.predict(X), copy.predict(X))


def test_the_rows_kept_for_warming_up_are_let_go(table):
    model = KernelRegressor(warm_up=50).partial_fit(*table)
    assert len(pickle.dumps(model)) < 2 * table[0].nbytes + 60_000
    assert len(model.model_._X) == 0


def test_good_out_of_the_box():
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(KernelRegressor(random_state=0), X, y).mean()
    ridge = cross_val_score(Ridge(alpha=0.1), X, y).mean()
    assert ours > ridge - 0.03


def test_pipeline_grid_search_and_clone(table):
    X, y = table
    model = TransformedTargetRegressor(
        make_pipeline(MinMaxScaler(), KernelRegressor(random_state=0, n_passes=2)),
        transformer=MinMaxScaler(),
    )
    prefix = "regressor__kernelregressor__"
    grid = {
        prefix + "kernel": ["laplacian", kernels.Gaussian(1.0)],
        prefix + "length_scale": ["scale", 2.0],
        prefix + "step_size": [0.01, 0.3],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_[prefix + "step_size"] == 0.3
    assert search.score(X, y) > 0.9
    best = clone(search.best_estimator_)
    assert best.get_params()[prefix + "step_size"] == 0.3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be one of 'gaussian'"),
        ({"length_scale": "wide"}, "length_scale must be one of 'median', 'scale'"),
        ({"length_scale": -1.0}, "length_scale must be positive, got -1.0"),
        ({"loss": "squares"}, "loss must be one of 'squared'"),
        ({"loss": losses.Logistic()}, "loss must be one of numbers"),
        ({"step_size": 0.0}, "step_size must be positive"),
        ({"epsilon": -0.1}, "epsilon must not be negative"),
        ({"n_passes": 0}, "n_passes must be at least 1"),
        ({"warm_up": 0}, "warm_up must be at least 1"),
        ({"shuffle": "yes"}, "shuffle must be one of False, True"),
        ({"standardize_inputs": 2}, "standardize_inputs must be one of"),
    ],
)
def test_bad_parameters_say_so_when_fitted(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelRegressor(**parameters).fit(*table)


@pytest.mark.parametrize("name", ["kernel", "loss"])
def test_things_that_are_no_components(table, name):
    with pytest.raises(TypeError, match=f"{name} must be a {name} such as"):
        KernelRegressor(**{name: 3}).fit(*table)


def test_parsimony_goes_before_epsilon(table):
    small = KernelRegressor(parsimony=10.0, random_state=0).fit(*table)
    large = KernelRegressor(parsimony=0.01, random_state=0).fit(*table)
    assert small.n_atoms_ < large.n_atoms_


def test_nan_is_refused(table):
    X, y = table[0].copy(), table[1].copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        KernelRegressor().fit(X, y)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        KernelRegressor().partial_fit(X, table[1])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_names(table, library):
    frames = pytest.importorskip(library)
    X = frames.DataFrame(dict(zip("abc", table[0].T, strict=True)))
    model = KernelRegressor(random_state=0).fit(X, table[1])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    plain = KernelRegressor(random_state=0).fit(*table)
    np.testing.assert_array_equal(model.predict(X), plain.predict(table[0]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["b", "a", "c"]])
