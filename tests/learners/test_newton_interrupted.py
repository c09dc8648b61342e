"""NewtonHALK goes on from what it had, whatever stopped it."""

from typing import Any

import numpy as np
import pytest

from halk import Network, NewtonHALK, losses
from halk.learners.search import Search

NUMBERS: dict[str, Any] = {"length_scale": 0.3, "noise": 0.01}


def stream(n_steps: int, V: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_steps, V, 1))
    return X, np.sin(6 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, V))


def test_a_step_that_failed_can_be_made_again() -> None:
    """What an own kernel left half done reaches no other agent."""
    left = [10**9]

    def fragile(X: Any, Y: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise RuntimeError("once")
        return np.exp(-50 * (X[:, :1] - Y[:, 0]) ** 2)

    X, Y = stream(4)
    numbers: dict[str, Any] = {"noise": 0.01, "standardize": False}
    network = Network.complete(5, tolerance=0.001)
    whole = NewtonHALK(network, fragile, **numbers)
    whole.learn_many(X, Y)
    for k in range(1, 120, 7):
        model = NewtonHALK(network, fragile, **numbers)
        model.learn_many(X[:3], Y[:3])
        left[0] = k
        try:
            model.learn_one(X[3], Y[3])
        except RuntimeError:
            model.learn_one(X[3], Y[3])
        left[0] = 10**9
        for name, values in whole.state_dict().items():
            np.testing.assert_array_equal(model.state_dict()[name], values, str(k))


def test_an_interrupt_of_the_search_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Y = stream(6)
    model = NewtonHALK(Network.ring(5, tolerance=0.01))
    model.learn_many(X[:3], Y[:3])
    unit, scale = model._search.unit, model.length_scale_

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Search, "_find_best", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn_many(X[3:], Y[3:])
    assert (model._search.unit, model.length_scale_) == (unit, scale)
    assert model._search._n_kept == 5 * model.n_steps
    model.search_again()
    assert model._search.unit != unit


def test_a_loaded_model_makes_agents_as_before(tmp_path: Any) -> None:
    model = NewtonHALK(Network.path(3, tolerance=0.1), standardize=True, **NUMBERS)
    model.learn_many(*stream(20, 3))
    model.save(tmp_path / "a")
    loaded = NewtonHALK.load(tmp_path / "a")
    assert loaded.agent(2).target.tolist() == model.agent(2).target.tolist()


@pytest.mark.parametrize("n_seen", [-3.0, 51.0, 1e8])
def test_a_damaged_sample_is_refused(n_seen: float) -> None:
    model = NewtonHALK(Network.path(3, tolerance=0.1), standardize=True, **NUMBERS)
    model.learn_many(*stream(20, 3))
    state = model.state_dict()
    state["agents"][1, 6] = n_seen
    with pytest.raises(ValueError, match="agents must be a number of readings below"):
        model.load_state_dict(20, 1, state)


def test_labels_are_no_suspects() -> None:
    X, Y = stream(60, 2)
    model = NewtonHALK(Network(2), loss=losses.Logistic(), **NUMBERS)
    model.learn_many(X, np.sign(Y))
    assert model.suspects.tolist() == [0, 0]


def test_an_agent_that_only_asks_stays_small() -> None:
    model = NewtonHALK(
        Network.path(2), max_atoms=5, standardize=False, length_scale=0.01, noise=0.1
    )
    agent = model.agent(0, 1)
    for x in np.linspace(0.0, 1.0, 60):
        agent.ask([x], 1.0)
    assert agent.order <= 6


def test_a_first_step_of_all_agents_decides_nothing() -> None:
    X, Y = stream(1, 400)
    model = NewtonHALK(Network.ring(400, tolerance=0.01))
    model.learn_many(X, Y)
    assert model.noise_ == 0.03
