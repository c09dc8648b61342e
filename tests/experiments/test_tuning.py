"""Tuning: what a choice may depend on, and how much is tried for it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from halk.data import draw_arrivals, withhold
from halk.experiments import fill_in, tuning
from halk.experiments.data import nearest, ocean
from halk.experiments.fill_in import FillIn
from halk.experiments.fill_in_methods import BATCH, ENTRIES, INPUTS, LABELS
from halk.experiments.fill_in_report import SHARES
from halk.experiments.runs import Options
from halk.experiments.tuning import Effort, prepared, tuned
from tests.experiments.conftest import GULF

OPTIONS = Options(scale="smoke", seeds=2, data=GULF, sensors=3)
CHOICE = {"is_log": 1.0, "vertical": 0.7, "horizontal": 3.0, "step_size": 0.3}


@pytest.fixture
def field():
    return ocean(OPTIONS, "temperature").with_positions()


# inputs


@pytest.mark.parametrize("is_log", [0.0, 1.0])
def test_inputs_do_not_depend_on_other_readings(field, is_log):
    choice = CHOICE | {"is_log": is_log}
    whole = prepared(field, choice, 15.0, 4.0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        mask = rng.random(field.n_readings) < 0.3
        part = prepared(field.subset(mask), choice, 15.0, 4.0)
        np.testing.assert_array_equal(part.x, whole.x[mask])
        np.testing.assert_array_equal(part.y, whole.y[mask])


def test_inputs_are_those_of_the_definition(field):
    centre = field.positions.mean(axis=0)
    for is_log in (0.0, 1.0):
        x, y = prepared(field, CHOICE | {"is_log": is_log}, 15.0, 4.0)
        depth, place = field.x[:, 0], field.x[:, 1:]
        up = np.log(1 + depth / 100) if is_log else depth / 1000
        np.testing.assert_allclose(x[:, 0], (up - 1.8) / 0.7)
        np.testing.assert_allclose(x[:, 1:], (place - centre) / 3.0)
        np.testing.assert_allclose(y * 4.0 + 15.0, field.y)


# the split


@pytest.mark.parametrize("variable", ["temperature", "salinity"])
@pytest.mark.parametrize("seed", range(5))
def test_training_readings_at_80_are_training_readings_at_less(variable, seed):
    field = ocean(Options(data=GULF), variable)
    masks = [withhold(field, share / 100, seed) for share in sorted(SHARES)]
    for fewer, more in pairwise(masks):
        assert not (fewer & ~more).any()
        assert more.sum() > fewer.sum()
    for share, mask in zip(sorted(SHARES), masks, strict=True):
        assert mask.mean() == pytest.approx(share / 100, abs=0.05)


def test_hyperparameters_are_searched_on_what_is_left_at_80():
    experiment = FillIn(OPTIONS)
    runs = {run.name: run for run in experiment.runs()}
    for seed in (0, 1):
        _, searched = experiment._split(runs[f"salinity-polk-search-{seed}"])
        for share in SHARES:
            _, mask = experiment._split(runs[f"salinity-polk-{share}-{seed}"])
            assert not (mask & ~searched).any()
        np.testing.assert_array_equal(searched, mask)  # the last is 80 %
    other = experiment._split(runs["salinity-polk-search-0"])[1]
    assert not np.array_equal(searched, other)


def garbled(field, mask):
    """Return a field with other values where the mask is set."""
    rng = np.random.default_rng(1)
    y, x = field.y.copy(), field.x.copy()
    y[mask] = 1e4 * rng.standard_normal(mask.sum())
    x[mask] = 1e3 * rng.random((mask.sum(), x.shape[1]))
    return replace(field, x=x, y=y)


@pytest.mark.parametrize("key", ["halk-exact", "rbf", "nlms"])
def test_withheld_readings_have_no_influence_on_the_choice(monkeypatch, key):
    experiment = FillIn(OPTIONS)
    (run,) = [r for r in experiment.runs() if r.name == f"temperature-{key}-search-1"]
    field, mask = experiment._split(run)
    wanted = experiment.execute(run, None, lambda share: None)
    for is_seen in (False, True):
        other = garbled(field, ~mask if is_seen else mask)
        monkeypatch.setattr(experiment, "fields", lambda variable, o=other: o)
        found = experiment.execute(run, None, lambda share: None)
        columns = wanted.trace.columns
        agree = [np.array_equal(found.trace[c], wanted.trace[c]) for c in columns]
        assert (found.numbers == wanted.numbers) is not is_seen
        assert all(agree) is not is_seen


@pytest.mark.parametrize("key", BATCH)
def test_withheld_readings_have_no_influence_on_a_gaussian_process(monkeypatch, key):
    experiment = FillIn(OPTIONS)
    (run,) = [r for r in experiment.runs() if r.name == f"temperature-{key}-80-0"]
    field, mask = experiment._split(run)
    seen = []
    fitted = "halk.experiments.gaussian_process.fitted"

    def spy(x, y, seed):
        seen.append((x, y))
        return Zero()

    class Zero:
        log_marginal_likelihood_value_ = 0.0

        def predict(self, at):
            return np.zeros(len(at))

    monkeypatch.setattr(fitted, spy)
    one = experiment.execute(run, None, lambda share: None)
    before, seen = seen, []
    other = garbled(field, mask)
    monkeypatch.setattr(experiment, "fields", lambda variable: other)
    two = experiment.execute(run, None, lambda share: None)
    assert len(seen) == len(before) > 0
    for (x, y), (x2, y2) in zip(before, seen, strict=True):
        np.testing.assert_array_equal(x, x2)
        np.testing.assert_array_equal(y, y2)
    spread = field.y[~mask].std()
    wanted = np.sqrt(np.mean((field.y[mask] - field.y[~mask].mean()) ** 2))
    assert one.numbers["error"] == pytest.approx(wanted)
    assert one.trace["test_error"][0] == pytest.approx(wanted / spread)
    assert two.numbers["error"] > 100 * one.numbers["error"]


# the score


def scored(monkeypatch, field, misses_of):
    """Return the score of made-up errors, which may depend on what is new."""
    is_new = None

    def spy(*arguments):
        nonlocal is_new
        found = draw_arrivals(*arguments)
        is_new = found.is_new
        return found

    monkeypatch.setattr(tuning, "draw_arrivals", spy)
    monkeypatch.setattr(tuning, "_misses", lambda model, X, Y: misses_of(is_new))
    network = field.network(1000.0)
    return tuning._score(ENTRIES["nlms"], field, network, CHOICE, 40, 0)


def test_only_arrivals_in_the_second_half_count(monkeypatch, field):
    def misses(is_new):
        late = is_new & (np.arange(40) >= 20)[:, None]
        assert 0 < late.sum() < is_new.sum() < is_new.size
        signs = np.where(np.arange(late.size).reshape(late.shape) % 2, 1, -1)
        return np.where(late, 2.0 * signs, 1e9)

    assert scored(monkeypatch, field, misses) == 2.0


def test_every_arrival_in_the_second_half_counts(monkeypatch, field):
    def misses(is_new):
        late = np.argwhere(is_new & (np.arange(40) >= 20)[:, None])
        made = np.zeros(is_new.shape)
        made[tuple(late[0])], made[tuple(late[-1])] = 3.0, 4.0
        return made * np.sqrt(len(late))

    assert scored(monkeypatch, field, misses) == pytest.approx(5.0)


def test_predictions_are_made_before_learning(field):
    network = field.network(1000.0)
    data = prepared(field, CHOICE, 15.0, 4.0)
    X, Y, _ = draw_arrivals(replace(field, x=data.x, y=data.y), 30, 0)
    Y[3, 1] = Y[7, :] = np.nan
    misses = tuning._misses(ENTRIES["nlms"].make(network, CHOICE, 0), X, Y)
    model = ENTRIES["nlms"].make(network, CHOICE, 0)
    for t in range(30):
        for i in range(3):
            miss = model.predict(i, X[t, i][None])[0] - Y[t, i]
            np.testing.assert_allclose(misses[t, i], miss, rtol=1e-9, atol=1e-12)
        model.learn_many(X[t : t + 1], Y[t : t + 1])


def test_a_choice_that_diverges_is_the_worst(field):
    network = field.network(1000.0)
    entry = replace(
        ENTRIES["nlms"], make=lambda network, choice, seed: Exploding(network)
    )
    assert tuning._score(entry, field, network, CHOICE, 40, 0) == np.inf


class Exploding:
    def __init__(self, network):
        self._model = ENTRIES["nlms"].make(network, CHOICE, 0)

    def dense_pieces(self, X, Y):
        return self._model.dense_pieces(X, Y)

    def observe(self, readings):
        raise tuning.DivergenceError("too large")


# the search


def test_the_best_of_many_short_runs_go_on(monkeypatch, field):
    scores, asked, told = iter([5.0, 1.0, np.inf, 3.0, 2.0, 0.7, 0.9]), [], []

    def score(entry, field, network, choice, n_steps, seed):
        asked.append((choice, n_steps))
        return next(scores)

    monkeypatch.setattr(tuning, "_score", score)
    effort = Effort(5, 100, 2, 300)
    found = tuned(ENTRIES["nlms"], field, None, effort, 0, told.append)
    assert [n for _, n in asked] == [100] * 5 + [300] * 2
    short, long = [choice for choice, _ in asked[:5]], [c for c, _ in asked[5:]]
    assert long == [short[1], short[4]]
    assert found[-1] == (short[1], 300, 0.7)
    assert [trial.score for trial in found] == [5.0, 1.0, np.inf, 3.0, 2.0, 0.9, 0.7]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert len(told) == 7


def test_every_method_gets_the_same_number_of_draws_of_its_own(monkeypatch, field):
    counts = {}

    def score(entry, field, network, choice, n_steps, seed):
        counts.setdefault(entry.label, []).append((tuple(choice.items()), n_steps))
        return float(len(counts[entry.label]))

    monkeypatch.setattr(tuning, "_score", score)
    effort = Effort(6, 10, 2, 20)
    for entry in ENTRIES.values():
        tuned(entry, field, None, effort, 0, lambda share: None)
    assert set(counts) | set(BATCH.values()) == set(LABELS.values())
    for label, asked in counts.items():
        (entry,) = [one for one in ENTRIES.values() if one.label == label]
        assert [n for _, n in asked] == [10] * 6 + [20] * 2
        assert len({choice for choice, n in asked if n == 10}) == 6
        assert {name for name, _ in asked[0][0]} == set(INPUTS) | set(entry.search)


def test_full_effort_is_the_same_for_all():
    experiment = FillIn(Options(data=GULF))
    efforts = {str(run.settings["effort"]) for run in experiment.runs()}
    assert len(efforts) == 1
    assert experiment.effort.n_trials >= 20
    assert experiment.effort.long == 2430
    small = FillIn(OPTIONS).effort
    assert small.n_trials * small.short < experiment.effort.short


def test_draws_stay_between_their_bounds():
    rng = np.random.default_rng(0)
    drawn = [ENTRIES["halk-exact"].drawn(rng) for _ in range(300)]
    depth = [one["vertical"] for one in drawn]
    assert 0.299 < min(depth) < 0.33
    assert 2.7 < max(depth) < 3.001
    assert {one["is_log"] for one in drawn} == {0.0, 1.0}
    assert {one["step_size"] for one in drawn} == {0.3, 1.0, 3.0, 10.0}
    again = [ENTRIES["halk-exact"].drawn(np.random.default_rng(0)) for _ in range(2)]
    assert again[0] == again[1] == drawn[0]


# one pass


@pytest.mark.parametrize("key", ["newton", "newton-auto", "newton-alone", "halk-once"])
def test_methods_of_one_pass_learn_every_training_reading_once(monkeypatch, key):
    experiment = FillIn(OPTIONS)
    (run,) = [r for r in experiment.runs() if r.name == f"temperature-{key}-80-0"]
    choice = ENTRIES[key].drawn(np.random.default_rng(0))
    learned = []

    def spy(run, model, X, Y, tell, test):
        learned.append(Y)
        return original(run, model, X, Y, tell, test)

    original = fill_in.learned
    monkeypatch.setattr(fill_in, "learned", spy)
    result = experiment._filled(run, choice, lambda share: None)
    field, away = experiment._split(run)
    for i, column in enumerate(learned[0].T):
        wanted = field.y[(field.agent == i) & ~away]
        y = column[~np.isnan(column)] * result.numbers["spread"]
        np.testing.assert_allclose(
            np.sort(y - y.mean()), np.sort(wanted - wanted.mean())
        )
    assert (result.trace["bytes"].sum() == 0) == (key == "newton-alone")


def test_sensors_of_one_pass_talk_to_their_nearest(field):
    network = nearest(field, 1)
    assert network.names == field.names
    assert network.n_edges in (2, 4)  # three sensors
    far = np.linalg.norm(field.positions[:, None] - field.positions, axis=2)
    np.fill_diagonal(far, np.inf)
    for i in range(3):
        assert [i, int(far[i].argmin())] in network.edges.tolist()
    assert nearest(field).n_edges == 6
