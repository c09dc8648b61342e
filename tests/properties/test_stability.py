"""Whatever the sensors send, the model stays finite."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk import HALK, DivergenceError, Network, kernels
from tests.properties.strategies import Stream, learners, streams


def assert_finite(learner: HALK, stream: Stream) -> None:
    """Look at everything: weights, atoms, prices, predictions near and far."""
    assert np.isfinite(learner.multipliers).all()
    assert (learner.multipliers >= 0).all()
    assert np.isfinite(learner.violations).all()
    assert np.isfinite(learner.predict_one(stream.X[-1])).all()
    far = np.full((3, stream.X.shape[2]), [[-1e6], [0.0], [1e6]])
    for i in range(learner.network.n_agents):
        assert np.isfinite(learner.predict(i, far)).all()
        if learner.n_features is not None:
            f = learner.function(i)
            assert np.isfinite(f.weights).all()
            assert np.isfinite(f.atoms).all()


def assert_bounded(learner: HALK, stream: Stream) -> None:
    is_exact = learner.coupling == "exact"
    for i, order in enumerate(learner.model_order):
        assert order <= stream.n_distinct(i, is_exact)


@given(st.data(), streams())
def test_normalized_step_stays_finite(data: st.DataObject, stream: Stream) -> None:
    learner = data.draw(learners(stream.network, "normalized"))
    with np.errstate(all="raise"):
        learner.learn_many(stream.X, stream.Y)
    assert learner.n_steps == len(stream.X)
    assert_finite(learner, stream)
    assert_bounded(learner, stream)


def divergence(learner: HALK, stream: Stream) -> DivergenceError | None:
    """Learn the stream; return how that went wrong, if it did."""
    try:
        learner.learn_many(stream.X, stream.Y)
    except DivergenceError as error:
        return error
    return None


@given(st.data(), streams())
def test_plain_step_stays_finite_or_says_so(
    data: st.DataObject, stream: Stream
) -> None:
    learner = data.draw(learners(stream.network, "plain"))
    for _ in range(3):
        before = learner.n_steps
        error = divergence(learner, stream)
        n_steps = len(stream.X)
        if error is not None:
            assert "step='normalized', or a step size below" in str(error)
            assert 0 <= error.n_steps < n_steps
            n_steps = error.n_steps
        assert learner.n_steps == before + n_steps
        assert_finite(learner, stream)
        assert_bounded(learner, stream)


@given(st.data(), streams(max_steps=12))
def test_steps_may_be_cut_anywhere(data: st.DataObject, stream: Stream) -> None:
    learner = data.draw(learners(stream.network, "normalized"))
    cut = data.draw(st.integers(0, len(stream.X)))
    twin = HALK(**{name: getattr(learner, name) for name in ARGUMENTS})
    learner.learn_many(stream.X, stream.Y)
    twin.learn_many(stream.X[:cut], stream.Y[:cut])
    twin.learn_many(stream.X[cut:], stream.Y[cut:])
    np.testing.assert_array_equal(learner.multipliers, twin.multipliers)
    prediction = learner.predict_one(stream.X[0])
    np.testing.assert_array_equal(prediction, twin.predict_one(stream.X[0]))


ARGUMENTS = [
    name for name in HALK.__init__.__annotations__ if name not in ("self", "return")
]


def test_divergence_keeps_the_last_finite_state(rng: np.random.Generator) -> None:
    """A step of ten on a squared loss doubles the error, and more, every time."""
    learner = HALK(Network(1), kernels.Gaussian(1.0), step_size=10.0, step="plain")
    X, Y = rng.uniform(size=(300, 1, 1)), np.ones((300, 1))
    with pytest.raises(DivergenceError, match=r"agent 0, step \d+ of") as caught:
        learner.learn_many(X, Y)
    assert learner.n_steps == caught.value.n_steps > 10
    twin = HALK(Network(1), kernels.Gaussian(1.0), step_size=10.0, step="plain")
    twin.learn_many(X[: learner.n_steps], Y[: learner.n_steps])
    probes = rng.uniform(size=(5, 1))
    np.testing.assert_array_equal(learner.predict(0, probes), twin.predict(0, probes))
    with pytest.raises(DivergenceError, match="a step size below 10"):
        learner.learn_many(X, Y)
    assert np.isfinite(learner.predict(0, probes)).all()


@pytest.mark.parametrize("step_size", [1e-4, 1e-2, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_long_normalized_runs_stay_near_the_data(
    step_size: float, coupling: str, rng: np.random.Generator
) -> None:
    network = Network.ring(5, tolerance=0.01)
    learner = HALK(
        network, kernels.Gaussian(0.2), step_size=step_size, coupling=coupling
    )
    X = rng.uniform(size=(1500, 5, 1))
    learner.learn_many(X, np.sin(6.0 * X[..., 0]) + 0.1 * rng.normal(size=(1500, 5)))
    predictions = np.array([learner.predict_one(x) for x in X[:50]])
    assert np.abs(predictions).max() < 3.0
    assert np.isfinite(learner.multipliers).all()
    assert learner.model_order.max() < 60
