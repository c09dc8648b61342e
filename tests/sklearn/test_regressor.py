"""The regressor of one agent: what it is made of, and how it behaves in a workflow."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from halk import Network, NewtonHALK, kernels, losses
from halk.sklearn import KernelRegressor


@pytest.fixture
def table(rng):
    X = rng.normal(size=(400, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, 5.0]
    y = 300 + 40 * np.sin(X[:, 0]) + X[:, 1] / 10 + rng.normal(size=400)
    return X, y


def test_it_is_newton_halk_bit_for_bit(table):
    X, y = table
    ours = KernelRegressor(shuffle=False, loss="huber", forgetting=0.99).fit(X, y)
    direct = NewtonHALK(Network(1), loss=losses.Huber(), forgetting=0.99, max_atoms=120)
    direct.learn_readings([0] * len(X), X, y)
    got, wanted = ours.predict(X, return_std=True), direct.predict(0, X, True)
    np.testing.assert_array_equal(got, wanted)
    assert ours.n_atoms_ == direct.n_atoms


def friedman1(n, seed):
    return make_friedman1(n, noise=1.0, random_state=seed)


def sine(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1])
    return X, y + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("problem", "n", "least"), [(friedman1, 2000, 0.93), (sine, 1000, 0.95)]
)
@pytest.mark.parametrize("seed", [100, 101])
def test_accuracy_out_of_the_box(problem, n, least, seed):
    X, y = problem(2 * n, seed)
    model = KernelRegressor(random_state=0).fit(X[:n], y[:n])
    mean, std = model.predict(X[n:], return_std=True)
    assert r2_score(y[n:], mean) > least
    assert 0.85 < (np.abs(mean - y[n:]) < 1.645 * std).mean() < 0.95


def test_diabetes_out_of_the_box():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(KernelRegressor(random_state=0), X, y).mean() > 0.45


@pytest.mark.parametrize("portion", [1, 7, 64, 399])
def test_portions_do_not_matter(table, portion):
    X, y = table
    whole = KernelRegressor(shuffle=False).fit(X, y)
    parts = KernelRegressor()
    for t in range(0, len(X), portion):
        parts.partial_fit(X[t : t + portion], y[t : t + portion])
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def test_portions_do_not_matter_during_the_search(table):
    X, y = table[0][:90], table[1][:90]
    whole, parts = KernelRegressor().partial_fit(X, y), KernelRegressor()
    for t in range(90):
        parts.partial_fit(X[t : t + 1], y[t : t + 1])
        assert np.isfinite(parts.predict(X)).all()
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def test_fit_of_few_rows_looks_once_more(table):
    X, y = table[0][:50], table[1][:50]
    direct = NewtonHALK(Network(1), max_atoms=120)
    direct.learn_readings([0] * 50, X, y)
    fitted = KernelRegressor(shuffle=False).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), direct.predict(0, X))
    partly = KernelRegressor().partial_fit(X, y)
    assert partly.learners_[0].length_scale_ != fitted.learners_[0].length_scale_
    fitted.partial_fit(*table)
    assert fitted.learners_[0].is_settled


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
    left = X[:, 0] < 0
    model = KernelRegressor(random_state=0).fit(X[left], y[left])
    before = model.score(X[~left], y[~left])
    assert before < 0.9 < model.partial_fit(X[~left], y[~left]).score(X, y)


def test_random_state_decides_the_order(table):
    X, y = table
    one, same = (KernelRegressor(random_state=3).fit(X, y) for _ in range(2))
    other = KernelRegressor(random_state=4).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), same.predict(X))
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_a_pickle_learns_on_like_the_original(table):
    X, y = table
    for n in (100, 300):  # during the search, and after
        model = KernelRegressor().partial_fit(X[:n], y[:n])
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(model.predict(X), copy.predict(X))
        model.partial_fit(X[n:], y[n:])
        copy.partial_fit(X[n:], y[n:])
        np.testing.assert_array_equal(model.predict(X), copy.predict(X))


def test_the_rows_kept_for_the_search_are_dropped(table):
    X, y = (np.tile(part, (5,) + (1,) * (part.ndim - 1)) for part in table)
    sizes = [
        len(pickle.dumps(KernelRegressor(max_atoms=20).partial_fit(X[:n], y[:n])))
        for n in (200, 2000)
    ]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.1)


def test_std_is_that_of_the_gaussian_process(rng):
    X = rng.uniform(-3, 3, size=(150, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=150)
    kernel = ConstantKernel(1.0, "fixed") * RBF(0.5, "fixed")
    exact = GaussianProcessRegressor(kernel + WhiteKernel(0.01, "fixed")).fit(X, y)
    ours = KernelRegressor(
        length_scale=0.5, noise=0.01, robust=None, standardize=False, novelty=1e-9,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    Z = np.linspace(-3, 3, 40)[:, None]
    for got, wanted in zip(
        ours.predict(Z, return_std=True), exact.predict(Z, return_std=True), strict=True
    ):
        np.testing.assert_allclose(got, wanted, atol=2e-3)


def test_forgetting_follows_what_drifts(rng):
    X = rng.uniform(size=(1500, 2))
    y = np.sin(4 * X[:, 0]) * X[:, 1] + 0.01 * rng.normal(size=1500)
    y[900:] *= -1
    kept, forgot = (
        KernelRegressor(forgetting=beta).partial_fit(X, y).score(X[-100:], y[-100:])
        for beta in (1.0, 0.99)
    )
    assert kept < 0.5 < 0.95 < forgot


def test_pipeline_grid_search_and_clone(table):
    X, y = table
    model = TransformedTargetRegressor(
        make_pipeline(MinMaxScaler(), KernelRegressor(random_state=0, noise=0.01)),
        transformer=MinMaxScaler(),
    )
    prefix = "regressor__kernelregressor__"
    grid = {
        prefix + "kernel": ["laplacian", "gaussian"],
        prefix + "length_scale": [0.01, 1.0],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_[prefix + "length_scale"] == 1.0
    assert search.score(X, y) > 0.9
    best = clone(search.best_estimator_)
    assert best.get_params()[prefix + "length_scale"] == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be one of 'gaussian'"),
        ({"length_scale": -1.0}, "length_scale must be positive, got -1.0"),
        ({"length_scale": [1.0, 2.0]}, "length_scale must"),
        ({"kernel": kernels.Gaussian(), "length_scale": 1.0}, "must be left out"),
        ({"noise": 0.0}, "noise must be positive"),
        ({"loss": "squares"}, "loss must be one of 'squared'"),
        ({"loss": losses.Logistic()}, "loss must be one of numbers"),
        ({"forgetting": 1.5}, "forgetting must be at most 1"),
        ({"max_atoms": 0}, "max_atoms must be at least 1"),
        ({"novelty": -0.1}, "novelty must be positive"),
        ({"robust": 0.0}, "robust must be positive"),
        (
            {"standardize": "yes"},
            "standardize must be one of False, 'offset', True, 'common'",
        ),
        ({"shuffle": "yes"}, "shuffle must be one of False, True"),
    ],
)
def test_bad_parameters_say_so_when_fitted(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelRegressor(**parameters).fit(*table)


@pytest.mark.parametrize("name", ["kernel", "loss"])
def test_things_that_are_no_components(table, name):
    with pytest.raises(TypeError, match=f"{name} must be a {name} such as"):
        KernelRegressor(**{name: 3}).fit(*table)


def test_the_model_stays_small(table):
    small = KernelRegressor(max_atoms=10, random_state=0).fit(*table)
    large = KernelRegressor(random_state=0).fit(*table)
    assert small.n_atoms_ == 10 < large.n_atoms_ <= 120


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
