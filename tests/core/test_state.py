"""States that do not fit are refused by name, and change nothing."""

import numpy as np
import pytest

from halk import HALK, Network, kernels
from halk.bandwidth import LeaveOneOut


def learn(**options):
    rng = np.random.default_rng(0)
    model = HALK(Network.path(3, tolerance=0.01), standardize="offset", **options)
    X = rng.uniform(size=(30, 3, 2))
    model.learn_many(X, X.sum(axis=2))
    return model


def with_bad(name, change):
    def spoil(state):
        state[name] = change(state[name].copy())

    return pytest.param(spoil, name, id=name)


def put(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


def lose(state):
    del state["inverse"]


BAD = [
    with_bad("atoms", put(np.nan)),
    with_bad("weights", put(np.inf)),
    with_bad("inverse", lambda array: array[:-1]),
    with_bad("scale", put(0.0)),
    with_bad("target", lambda array: array.ravel()),
    with_bad("adaptation", lambda array: array.astype(str)),
    with_bad("multipliers", put(-1.0)),
    with_bad("violation", put(np.nan)),
    with_bad("asked", lambda array: array + 0.5),
    with_bad("readings", put(-1)),
    with_bad("order", put(10**6)),
    pytest.param(lose, "inverse", id="missing"),
]


@pytest.mark.parametrize(("spoil", "name"), BAD)
@pytest.mark.parametrize("face", ["simulator", "agent"])
def test_bad_states_are_refused_by_name(face, spoil, name):
    model = learn()
    if face == "agent":
        changed = model.agent(1)
        changed.load_state_dict(changed.state_dict())
        for k in range(3):
            changed.ask([0.1 * k, 0.2], k)
            changed.update()
    else:
        changed = model._executor
    before, state = changed.state_dict(), changed.state_dict()
    spoil(state)
    expected = "atoms" if name == "order" else name
    with pytest.raises((ValueError, TypeError), match=expected):
        changed.load_state_dict(state)
    for key, value in changed.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


def test_a_std_of_zero_is_refused():
    executor = learn()._executor
    state = executor.state_dict()
    state["target"][1, 4] = 0.0
    with pytest.raises(ValueError, match="std must be positive"):
        executor.load_state_dict(state)


def test_another_number_of_features_is_refused():
    model = HALK(Network(1))
    model.prepare(2)
    model.prepare(2)
    with pytest.raises(ValueError, match="n_features must be 2, as before, got 3"):
        model.prepare(3)


class _Bell(kernels.Kernel):
    """A plain class whose constructor takes another argument than it keeps."""

    def __init__(self, half_width):
        self.length_scale = half_width / 1.17741

    def matrix(self, X, Y):
        squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
        return np.exp(-0.5 * squares / self.length_scale**2)


def test_length_scales_of_a_plain_class_adapt():
    options = {"adaptation": LeaveOneOut(warm_up=5, rate=0.5), "epsilon": 0.01}
    own = learn(kernel=_Bell(0.05 * 1.17741), **options)
    native = learn(kernel=kernels.Gaussian(0.05), **options)
    assert (own.length_scales != 0.05).all()
    np.testing.assert_allclose(own.length_scales, native.length_scales, rtol=1e-6)
    f = own.function(0)
    assert f.kernel.length_scale == own.length_scales[0]
    np.testing.assert_allclose(f([[0.5, 0.5]]), native.function(0)([[0.5, 0.5]]))


def test_ragged_results_name_the_kernel():
    def crooked(X, Y):
        return [[0.0] * (k + 1) for k in range(len(X))]

    with pytest.raises(ValueError, match=r"crooked.* must return numbers of shape"):
        kernels.as_kernel(crooked)(np.zeros((3, 1)))


def test_absurd_degrees_are_refused():
    with pytest.raises(ValueError, match="degree must be at most 1000"):
        kernels.Polynomial(2**40)
