"""NewtonHALK: what it refuses, what changes while it learns, and its search."""

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, NewtonHALK, checks, kernels, losses
from halk.checks.learners import LEARNER_LAWS
from halk.learners.search import PER_AGENT

NETWORK = Network(3, [(0, 1), (1, 2)], 0.01, names=["a", "b", "c"])
NUMBERS: dict[str, Any] = {"length_scale": 0.3, "noise": 0.01}
ALL = NUMBERS | {"standardize": True}


def stream(n_steps: int = 60, missing: float = 0.3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_steps, 3, 1))
    Y = 20 + np.sin(6 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, 3))
    Y[rng.uniform(size=Y.shape) < missing] = np.nan
    return X, Y


def taught(model: NewtonHALK, **options: Any) -> NewtonHALK:
    model.learn_many(*stream(**options))
    return model


def assert_same_state(one: Any, other: Any) -> None:
    first, second = one.state_dict(), other.state_dict()
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


def test_a_unit_given_is_the_one_found() -> None:
    """Agents that count in the mean and std found learn what those learn that did."""
    found = taught(NewtonHALK(NETWORK, **NUMBERS), n_steps=200)
    unit = found._search.unit
    assert abs(unit[0] - 20) < 0.5
    assert abs(unit[1] - 0.7) < 0.3
    given = taught(NewtonHALK(NETWORK, standardize=unit, **NUMBERS), n_steps=200)
    assert given.is_settled
    assert_same_state(found.agent("a"), given.agent("a"))
    np.testing.assert_array_equal(found.multipliers, given.multipliers)
    np.testing.assert_array_equal(found.predict(0, [[0.3]]), given.predict(0, [[0.3]]))
    agent = NewtonHALK(NETWORK, standardize=[20.0, 0.7], **NUMBERS).agent("a", 1)
    assert agent.predict([0.5]) == 20.0


@pytest.mark.parametrize(
    ("noise", "tolerance", "standardize", "start"),
    [
        (0.02, 0.49, False, 0.02),
        (0.02, 0.0, False, 0.1),
        (0.02, 0.04, False, 0.1),
        (0.02, 0.49, (5.0, 2.0), 0.08 / 1.06),
        (0.02, 0.49, True, 0.1),
    ],
)
def test_multipliers_start_low_where_the_tolerance_is_wide(
    noise: float, tolerance: float, standardize: Any, start: float
) -> None:
    model = NewtonHALK(
        Network.path(2, tolerance), length_scale=1.0, noise=noise,
        standardize=standardize,
    )  # fmt: skip
    model.prepare(1)
    np.testing.assert_allclose(model.multipliers, start)
    np.testing.assert_allclose(model.agent(0).multipliers, start)


# Arguments ---------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "loss": ({"loss": losses.Hinge()}, r"loss must be one .*Hinge.*; HALK takes any"),
    "own loss": (
        {"loss": type("Mine", (losses.Squared,), {})()},
        "loss must be one that a parabola bounds",
    ),
    "kernel": ({"kernel": "gaussain"}, "kernel must be one of 'gaussian', 'lapl"),
    "no kernel": ({"kernel": 3}, "kernel must be a kernel such as"),
    "two scales": (
        {"kernel": kernels.Gaussian(0.3), "length_scale": 0.2},
        "length_scale must be left out where the kernel has its own, got 0.2",
    ),
    "length scale": ({"length_scale": -1.0}, "length_scale must be positive"),
    "length scale typo": ({"length_scale": "atuo"}, r"length_scale must be .*'atuo'"),
    "noise typo": ({"noise": "atuo"}, "noise must be a number, got 'atuo'"),
    "unit": ({"standardize": (1.0, 0.0)}, "standardize must be positive, got 0"),
    "units": ({"standardize": [1.0]}, "standardize must have"),
    "unit of labels": (
        {"standardize": (1.0, 2.0), "loss": losses.Logistic()},
        r"standardize must be False for the Logistic loss.*got \(1.0, 2.0\)",
    ),
    "noise": ({"noise": 0.0}, "noise must be positive, got 0.0"),
    "noise of one": ({"noise": [0.1, -0.1, 0.1]}, "noise must be positive"),
    "noises": ({"noise": [0.1, 0.1]}, r"one entry per agent \(3\), got 2 entries"),
    "noise NaN": ({"noise": [0.1, np.nan, 0.1]}, "noise must be finite"),
    "forgetting": ({"forgetting": 1.5}, "forgetting must be at most 1, got 1.5"),
    "no forgetting": ({"forgetting": 0}, "forgetting must be positive"),
    "novelty": ({"novelty": 0.0}, "novelty must be positive"),
    "no atoms": ({"max_atoms": 0}, "max_atoms must be at least 1, got 0"),
    "half an atom": ({"max_atoms": 2.5}, "max_atoms must be a whole number"),
    "epsilon": ({"epsilon": -0.1}, "epsilon must not be negative"),
    "robust": ({"robust": 0.0}, "robust must be positive"),
    "regularization": ({"regularization": -1}, "regularization must not be negative"),
    "exchange": ({"exchange": "reading"}, "exchange must be one of 'predictions', 're"),
    "identity": ({"identity": -1}, "identity must not be negative"),
    "first": ({"first_multiplier": -1}, "first_multiplier must not be negative"),
    "gain": ({"dual_gain": np.nan}, "dual_gain must be finite"),
    "warm-up": ({"warm_up": 0}, "warm_up must be positive"),
    "largest": ({"largest_multiplier": -1}, "largest_multiplier must not be negative"),
    "tightening": ({"tightening": -1}, "tightening must not be negative"),
    "standardize": ({"standardize": "std"}, "standardize must be one of False, 'off"),
    "labels": (
        {"loss": losses.Logistic(), "standardize": True},
        "standardize must be False for the Logis",
    ),
    "jobs": ({"n_jobs": 0}, "n_jobs must be at least 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_by_name(name: str) -> None:
    arguments, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message):
        NewtonHALK(NETWORK, **arguments)


def test_a_length_scale_per_feature_must_fit_the_features() -> None:
    model = NewtonHALK(NETWORK, length_scale=(0.3, 0.3))
    with pytest.raises(ValueError, match="length_scale must be a number or have one"):
        model.prepare(1)
    assert model.n_features is None


@pytest.mark.parametrize("numbers", [{}, NUMBERS], ids=["auto", "given"])
def test_wrong_readings_are_refused_with_agent_and_argument(
    numbers: dict[str, Any],
) -> None:
    model = taught(NewtonHALK(NETWORK, **numbers), n_steps=9)
    X, Y = stream(4, missing=0.0)
    before = copy.deepcopy(model)
    bad = X.copy()
    bad[2, 1] = np.nan
    huge = Y.copy()
    huge[1, 2] = 1e41
    for call, message in (
        (lambda: model.learn_many(bad, Y), r"X must be finite .*got nan .*\(agent 1\)"),
        (lambda: model.learn_one(bad[2], Y[2]), r"x must be finite .*\(agent 1\)"),
        (lambda: model.learn_many(X, huge), r"Y must be below 1e40 .*\(agent 2\)"),
        (lambda: model.learn_many(X, Y[:, :2]), r"Y must have shape \(4, 3\)"),
        (lambda: model.learn_one(X[0, :, 0], Y[0]), r"x must have shape \(3, 1\)"),
        (lambda: model.learn_readings([0], bad[2, [1]], [1.0]), "X must be finite"),
        (lambda: model.learn_readings(["d"], X[0, :1], [1.0]), "agent"),
        (lambda: model.predict("a", bad[2], return_std=True), "X must be finite"),
        (lambda: model.predict_readings([5], X[0, :1], return_std=True), "agent"),
    ):
        with pytest.raises((KeyError, ValueError), match=message):
            call()
    assert_same_state(model, before)
    assert model.n_steps == before.n_steps


def test_streams_without_readings_are_no_steps() -> None:
    for model in (NewtonHALK(NETWORK), taught(NewtonHALK(NETWORK), n_steps=5)):
        n_steps = model.n_steps
        model.learn_readings([], np.zeros((0, 1)), [])
        model.learn_readings([1], np.zeros((1, 1)), [np.nan])
        model.learn_many(np.zeros((0, 3, 1)), np.zeros((0, 3)))
        assert model.n_steps == n_steps
        model.learn_many(np.full((2, 3, 1), np.nan), np.full((2, 3), np.nan))
        assert model.n_steps == n_steps + 2


def test_looks_of_it() -> None:
    noise = np.array([0.1, 0.2, 0.3])
    model = NewtonHALK(NETWORK, noise=noise, robust=None)
    noise[:] = 9.0
    assert model.noise.tolist() == [0.1, 0.2, 0.3]
    assert repr(model) == (
        "NewtonHALK(Network(3 agents, 4 edges), noise=array([0.1, 0.2, 0.3]), "
        "robust=None, n_steps=0)"
    )
    assert model.predict(0, [[0.5]], return_std=True)[1].tolist() == [1.0]
    assert model.suspects.tolist() == [0, 0, 0]
    assert model.length_scales is None
    with pytest.raises(ValueError, match="length_scale must be found first"):
        model.agent("a", 1)
    taught(model)
    mean, std = model.predict("b", [[0.2], [0.9]], return_std=True)
    assert np.abs(mean - 20 - np.sin([1.2, 5.4])).max() < 4 * std.max() < 4
    stds = model.predict_readings(["b", 1], [[0.2], [0.9]], return_std=True)[1]
    np.testing.assert_array_equal(stds, std)
    assert model.length_scales is not None
    assert model.length_scales.shape == (3,)
    assert np.shape(model.kernel_.length_scale) == ()


@pytest.mark.parametrize("numbers", [{}, NUMBERS], ids=["auto", "given"])
def test_other_tolerances_hold_from_the_next_step_on(
    numbers: dict[str, Any], tmp_path: Any
) -> None:
    X, Y = stream(90)
    moved, stays = (NewtonHALK(NETWORK, **numbers) for _ in range(2))
    for model in (moved, stays):
        model.learn_many(X[:60], Y[:60])
    moved.set_tolerance(1e-4)
    np.testing.assert_array_equal(moved.network.tolerance, 1e-4)
    fresh = NewtonHALK(Network(3, [(0, 1), (1, 2)], 1e-4), **numbers)
    fresh.load_state_dict(60, 1, moved.state_dict())
    for model in (moved, stays, fresh):
        model.learn_many(X[60:], Y[60:])
    assert_same_state(moved, fresh)
    assert (moved.multipliers != stays.multipliers).any()
    moved.save(tmp_path / "a")
    np.testing.assert_array_equal(
        NewtonHALK.load(tmp_path / "a").network.tolerance, 1e-4
    )
    with pytest.raises(ValueError, match="tolerance must"):
        moved.set_tolerance(-1.0)


def test_functions_are_those_that_predict() -> None:
    """Weights belong to the values, whether anybody has predicted since or not."""
    model = taught(NewtonHALK(NETWORK, standardize=False, **NUMBERS))
    grid = np.linspace(0, 1, 9)[:, None]
    values = [f(grid) for f in model.functions]
    for i in range(3):
        np.testing.assert_allclose(values[i], model.predict(i, grid), rtol=1e-9)


@pytest.mark.parametrize("exchange", ["predictions", "readings"])
def test_one_that_is_brought_back_at_every_step_agrees(exchange: str) -> None:
    """With removals, after which the original must not know more than its state."""
    changes = NUMBERS | {"max_atoms": 4, "regularization": 0.01, "exchange": exchange}
    whole, copied = (NewtonHALK(NETWORK, **changes) for _ in range(2))
    for x, y in zip(*stream(40), strict=True):
        whole.learn_one(x, y)
        copied.learn_one(x, y)
        copied = pickle.loads(pickle.dumps(copied))
        np.testing.assert_array_equal(copied.predict_one(x), whole.predict_one(x))
    assert_same_state(whole, copied)


# The search --------------------------------------------------------------------------


def field(scales: Any, n: int, noise: float, seed: int, p: int = 0) -> tuple[Any, Any]:
    """Return readings of a Gaussian process, in units of nobody's prior."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n, max(p, len(scales))))
    K = kernels.Gaussian(tuple(scales))(X[:, : len(scales)])
    f = np.linalg.cholesky(K + 1e-9 * np.eye(n)) @ rng.normal(size=n)
    return X, 10 + 5 * (f + np.sqrt(noise) * rng.normal(size=n))


def learned_alone(X: Any, y: Any) -> NewtonHALK:
    model = NewtonHALK(Network(1))
    model.learn_readings(np.zeros(len(y), int), X, y)
    return model


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scales", [(0.3,), (1.0,), (0.5, 2.0)])
def test_it_finds_the_length_scales_of_a_gaussian_process(
    scales: tuple[float, ...], seed: int
) -> None:
    model = learned_alone(*field(scales, 200, 0.01, seed))
    ratio = np.ravel(model.length_scale_) / scales
    assert ((ratio > 0.5) & (ratio < 2.0)).all()
    assert 0.001 < model.noise_ < 0.1


def test_agents_of_a_network_find_them_together() -> None:
    X, y = field((0.5,), 100, 0.01, 0)
    model = NewtonHALK(Network.complete(5, tolerance=0.01))
    model.learn_many(X.reshape(20, 5, 1), y.reshape(20, 5))
    assert 0.25 < model.length_scale_ < 1.0


def test_features_that_say_nothing_get_long_length_scales() -> None:
    for seed in range(3):
        scales = learned_alone(*field((0.5,), 200, 0.02, seed, p=4)).length_scale_
        assert scales[0] < 1.0
        assert min(scales[1:]) > 2.0 * scales[0]


def test_nothing_to_be_found_is_no_trouble(rng: np.random.Generator) -> None:
    X = rng.uniform(size=(200, 2))
    y = 20 + np.sin(6 * X[:, 0])
    flat = np.column_stack([X[:, 0], np.full(200, 3.0)])
    cases = {
        "a constant feature": (flat, y, 0.1),
        "constant targets": (X, np.full(200, 7.0), 1e-6),
        "zeros": (X, np.zeros(200), 1e-6),
        "everything constant": (np.ones((200, 1)), np.full(200, 7.0), 1e-6),
        "one reading": (X[:1], y[:1], 1e-6),
        "the same twice": (X[[0, 0]], y[[0, 0]], 1e-6),
        "large units": (1e9 * X, 1e9 * y, 1e8),
        "small units": (1e-9 * X, 1e-9 * y, 1e-10),
    }
    for name, (x, targets, near) in cases.items():
        model = learned_alone(x, targets)
        mean, std = model.predict(0, x, return_std=True)
        assert np.abs(mean - targets).max() < near, name
        assert (std > 0).all(), name
        assert np.isfinite(std).all(), name


@pytest.mark.parametrize("places", [[0], [0, 3, 50], [1, 2, 199]])
def test_outliers_do_not_choose(places: list[int], rng: np.random.Generator) -> None:
    X = rng.uniform(size=(200, 2))
    clean = 20 + np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=200)
    y = clean.copy()
    y[places] = [-9999.0, 5000.0, 85.0][: len(places)]
    ours, other = learned_alone(X, y), learned_alone(X, clean)
    ratio = np.log(np.divide(ours.length_scale_, other.length_scale_))
    assert np.abs(ratio[0]) < np.log(3)
    errors = np.delete(ours.predict(0, X) - clean, places)
    assert np.sqrt(np.mean(errors**2)) < 0.15


def test_many_features_share_one_length_scale_at_bounded_cost(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.uniform(size=(300, 30)) * np.linspace(1, 9, 30)
    made = []
    make = NewtonHALK._make_simulator
    monkeypatch.setattr(
        NewtonHALK,
        "_make_simulator",
        lambda self, *numbers: made.append(numbers) or make(self, *numbers),
    )
    model = NewtonHALK(Network(1))
    y = np.sin(X[:, 0])
    model.learn_readings(np.zeros(100, int), X[:100], y[:100])
    assert len(model.state_dict()["kept_y"]) == 100
    model.learn_readings(np.zeros(200, int), X[100:], y[100:])
    assert "kept_y" not in model.state_dict()
    # 12 starts and 4 rounds of up to 30 features and the noise, both ways
    assert len(made) <= 1 + 8 * (12 + 4 * 2 * 31)
    shares = np.array(model.length_scale_) / X[:200].std(axis=0)
    assert np.ptp(np.log(shares)) < 0.5


@pytest.mark.parametrize("exchange", ["predictions", "readings"])
def test_pieces_do_not_matter(exchange: str) -> None:
    """Candidates are tried when the readings have doubled, whoever counts them."""
    X, Y = stream(60)
    whole, single, again = (NewtonHALK(NETWORK, exchange=exchange) for _ in range(3))
    for x, y in zip(X, Y, strict=True):
        single.learn_one(x, y)
    for part in whole.dense_pieces(X, Y):
        whole.observe(part)
    for piece in (slice(1), slice(1, 7), slice(7, 60)):
        for part in again.dense_pieces(X[piece], Y[piece]):
            again.observe(part)
    assert whole.n_steps == single.n_steps == again.n_steps == 60
    for other in (single, again):
        assert_same_state(other, whole)
    assert whole.state_dict()["searched"][1] == 1, "the search was over before the end"


def test_once_the_search_is_over_no_readings_are_kept() -> None:
    model = NewtonHALK(NETWORK)
    X, Y = stream(60)
    n_readings = np.cumsum((~np.isnan(Y)).sum(axis=1))
    for n, x, y in zip(n_readings, X, Y, strict=True):
        model.learn_one(x, y)
        assert ("kept_y" in model.state_dict()) == (n < 3 * PER_AGENT)


@pytest.mark.parametrize("n_steps", [0, 1, 2, 7, 13, 40])
@pytest.mark.parametrize(
    "changes",
    [{}, {"noise": 0.01}, {"kernel": kernels.Matern52(0.3)}, {"exchange": "readings"}],
    ids=["all", "length scale", "noise", "readings"],
)
def test_a_search_goes_on_from_a_file(
    n_steps: int, changes: dict[str, Any], tmp_path: Any
) -> None:
    X, Y = stream(50)
    model = NewtonHALK(NETWORK, **changes)
    for x, y in zip(X[:n_steps], Y[:n_steps], strict=True):
        model.learn_one(x, y)
    model.save(tmp_path / "a")
    models = [
        model, NewtonHALK.load(tmp_path / "a"), pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]  # fmt: skip
    for one in models:
        assert_same_state(one, model)
    for one in models:
        for x, y in zip(X[n_steps:], Y[n_steps:], strict=True):
            one.learn_one(x, y)
        one.search_again()
    for one in models[1:]:
        assert_same_state(one, model)
        assert repr(one.kernel_) == repr(model.kernel_)
        assert one.noise_ == model.noise_


def cut(values: Any) -> Any:
    return values[:-1]


def put(place: int, value: float) -> Any:
    def change(values: Any) -> Any:
        values = values.copy()
        values.flat[place] = value
        return values

    return change


DAMAGES: dict[str, tuple[str, Any]] = {
    "no length scale": ("found_length_scale", None),
    "two length scales": ("found_length_scale", lambda v: np.append(v, v)),
    "negative length scale": ("found_length_scale", put(0, -1.0)),
    "unknown length scale": ("found_length_scale", put(0, np.nan)),
    "no noise": ("found_noise", None),
    "negative noise": ("found_noise", put(0, 0.0)),
    "unknown noise": ("found_noise", put(0, np.nan)),
    "no count": ("searched", None),
    "half a count": ("searched", lambda v: v + 0.5),
    "large count": ("searched", put(0, 99)),
    "no points": ("kept_x", None),
    "fewer points": ("kept_x", cut),
    "unknown points": ("kept_x", put(1, np.nan)),
    "unknown targets": ("kept_y", put(1, np.nan)),
    "huge targets": ("kept_y", put(1, 1e41)),
    "no agents": ("kept_agent", None),
    "fewer agents": ("kept_agent", cut),
    "another agent": ("kept_agent", put(-1, 3)),
    "agents in disorder": ("kept_agent", np.zeros_like),
    "no steps": ("kept_start", None),
    "fewer steps": ("kept_start", cut),
    "none at all": ("kept_start", lambda v: v[:0]),
    "steps backwards": ("kept_start", put(1, 99)),
    "a step of nothing": ("kept_start", put(0, 1)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_states_are_refused_by_name_and_change_nothing(name: str) -> None:
    model = NewtonHALK(NETWORK)
    for x, y in zip(*stream(8, missing=0.0), strict=True):
        model.learn_one(x, y)
    array, change = DAMAGES[name]
    state = model.state_dict()
    assert "kept_y" in state
    if change is None:
        del state[array]
    else:
        state[array] = change(state[array])
    before = copy.deepcopy(model)
    fresh = NewtonHALK(NETWORK)
    for one in (model, fresh):
        with pytest.raises((TypeError, ValueError), match=rf"(hold )?{array}"):
            one.load_state_dict(8, 1, state)
    assert_same_state(model, before)
    assert fresh.n_features is None
    for one in (model, before):
        one.learn_many(*stream(9, seed=1))
    assert_same_state(model, before)


def test_a_state_of_given_numbers_starts_no_search() -> None:
    found = taught(NewtonHALK(NETWORK), n_steps=5)
    model = NewtonHALK(NETWORK, **NUMBERS)
    model.load_state_dict(5, 1, found.state_dict())
    taught(model, n_steps=5)
    assert (model.length_scale_, model.noise_) == (0.3, 0.01)


AUTO = {"learns alone without edges": "all agents have one length scale"}


@pytest.mark.parametrize("exchange", ["predictions", "readings"])
@pytest.mark.parametrize("numbers", [{}, ALL], ids=["auto", "given"])
def test_laws(numbers: dict[str, Any], exchange: str) -> None:
    make = partial(NewtonHALK, exchange=exchange, identity=0.1, **numbers)
    skip = {"ignores labels", *({} if numbers else AUTO)}
    assert skip < set(LEARNER_LAWS)
    checks.check_learner(make, skip=skip)
    checks.check_learner(make, Network.star(4, tolerance=0.1), 2, skip=skip)


def test_first_order_states_are_refused() -> None:
    model = HALK(NETWORK)
    model.learn_many(*stream())
    with pytest.raises(ValueError, match=r"agents must have shape|found_length_scale"):
        NewtonHALK(NETWORK).load_state_dict(60, 1, model.state_dict())
