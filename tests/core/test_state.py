"""States that fit no model are refused by name, and change nothing."""

from typing import Any

import numpy as np
import pytest

from halk import HALK, Network
from halk.agent import Agent
from halk.learners import NLMS, POLK
from halk.simulator import Simulator
from halk.state import ASKED, COUNT, MULTIPLIER, READINGS, SCALE, STD

REAL = ("atoms", "weights", "inverse", "agents", "edges")
WHOLE = ("order",)


def learn(cls: Any = HALK) -> Any:
    rng = np.random.default_rng(0)
    model = cls(Network.path(3, tolerance=0.1))
    model.learn_many(rng.uniform(size=(20, 3, 2)), rng.uniform(size=(20, 3)))
    return model


def in_a_step() -> Agent:
    """Return an agent that has learned, with a reading and a query waiting."""
    ends, middle = [learn().agent(i) for i in (0, 2)], learn().agent(1)
    for k in range(8):
        for j, end in zip((0, 2), ends, strict=True):
            queries = end.ask([0.1 * k, 0.5], float(k + j))
            middle.answer(j, queries[1]._replace(multiplier=0.5))
            end.update()
        if k < 7:
            middle.ask([0.1 * k, 0.4], float(k))
            middle.update()
    middle.ask([0.3, 0.2], 1.0)
    return middle


MODELS = {"simulator": lambda: learn()._executor, "agent": in_a_step}


def mutate(values: Any) -> dict[str, Any]:
    """Return what may stand in a state in the place of an array, and does not fit."""
    wrong = {
        "shape": values[:-1],
        "dimensions": values[None],
        "text": values.astype(str),
        "objects": np.full(values.shape, None),
        "complex": values + 1j,
        "ragged": [[1.0], [1.0, 2.0]],
    }
    for number in (np.nan, np.inf, -np.inf):
        wrong[f"{number}"] = values.astype(float)
        wrong[f"{number}"].flat[-1] = number
    return wrong


def assert_refused(model: Any, name: str, wrong: Any) -> None:
    before = model.state_dict()
    with pytest.raises((TypeError, ValueError), match=rf"^{name} must"):
        model.load_state_dict(before | {name: wrong})
    assert model.state_dict().keys() == before.keys()
    for key, values in model.state_dict().items():
        np.testing.assert_array_equal(values, before[key], err_msg=key)


@pytest.mark.parametrize("name", REAL + WHOLE)
@pytest.mark.parametrize("kind", MODELS)
def test_arrays_that_do_not_fit(kind: str, name: str) -> None:
    model: Any = MODELS[kind]()
    for wrong in mutate(model.state_dict()[name]).values():
        assert_refused(model, name, wrong)
    if name in WHOLE:
        assert_refused(model, name, model.state_dict()[name] + 0.5)
        assert_refused(model, name, -1 - model.state_dict()[name])


@pytest.mark.parametrize("kind", MODELS)
def test_numbers_that_cannot_be(kind: str) -> None:
    model: Any = MODELS[kind]()
    before = model.state_dict()
    for array, column, name, value in (
        ("edges", MULTIPLIER, "multipliers", -1.0), ("edges", ASKED, "asked", -1.0),
        ("agents", SCALE, "scale", 0.0), ("agents", STD, "std", 0.0),
        ("agents", COUNT, "count", -1.0), ("agents", READINGS, "readings", -1.0),
    ):  # fmt: skip
        state = {key: values.copy() for key, values in before.items()}
        state[array][-1, column] = value
        with pytest.raises(ValueError, match=rf"{name} must .*, got {value}"):
            model.load_state_dict(state)


@pytest.mark.parametrize("name", REAL + WHOLE)
@pytest.mark.parametrize("kind", MODELS)
def test_arrays_that_are_missing(kind: str, name: str) -> None:
    model: Any = MODELS[kind]()
    state = model.state_dict()
    del state[name]
    with pytest.raises(ValueError, match=f"state must hold {name}"):
        model.load_state_dict(state)


def test_a_step_in_progress_that_does_not_fit() -> None:
    agent = in_a_step()
    for name in ("reading", "queries"):
        for what, wrong in mutate(agent.state_dict()[name]).items():
            if (name, what) != ("queries", "shape"):  # fewer queries are as good
                assert_refused(agent, name, wrong)


def test_whole_states_are_loaded() -> None:
    agent, fresh = in_a_step(), learn().agent(1, 2)
    fresh.load_state_dict({k: v.tolist() for k, v in agent.state_dict().items()})
    for key, values in fresh.state_dict().items():
        np.testing.assert_array_equal(values, agent.state_dict()[key], err_msg=key)


@pytest.mark.parametrize("cls", [POLK, NLMS])
def test_other_learners(cls: Any) -> None:
    model = learn(cls)
    for name, values in model.state_dict().items():
        if values.size == 0:
            continue
        wrong = np.array(values)
        wrong.flat[-1] = np.nan if values.dtype.kind == "f" else -1
        with pytest.raises(ValueError, match=f"{name} must (be finite|not be neg)"):
            model.load_state_dict(1, 2, model.state_dict() | {name: wrong})


def test_a_fresh_learner_stays_fresh_where_a_state_is_refused() -> None:
    state, fresh = learn().state_dict(), HALK(Network.path(3))
    with pytest.raises(ValueError, match="atoms must have shape"):
        fresh.load_state_dict(20, 3, state)
    assert fresh.n_features is None
    fresh.load_state_dict(20, 2, state)
    assert fresh.n_steps == 20


def test_another_number_of_features_is_refused() -> None:
    model = HALK(Network.path(3))
    model.prepare(2)
    model.prepare(2)
    message = "n_features must be 2, as before, got 3; make another model"
    with pytest.raises(ValueError, match=message):
        model.prepare(3)
    with pytest.raises(ValueError, match=message):
        model.load_state_dict(1, 3, model.state_dict())


@pytest.mark.parametrize("convert", [np.ndarray.tolist, np.float32, np.asfortranarray])
def test_lists_are_learned_as_fast_as_arrays(
    convert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, twin = learn(), learn()
    monkeypatch.setattr(Simulator, "run", None)
    x, y = np.full((3, 2), 0.25), np.array([1.0, np.nan, 2.0])
    model.learn_one(convert(x), convert(y))
    twin.learn_one(x, y)
    assert model.n_steps == twin.n_steps == 21
    for key, values in model.state_dict().items():
        np.testing.assert_array_equal(values, twin.state_dict()[key], err_msg=key)
