"""The neighbour model: what it estimates, what it believes, what does not move it."""

import dataclasses
from collections import namedtuple
from functools import cache

import numpy as np
import pytest

from halk.data.readings import Readings
from halk.data.schema import Input, Schema
from halk.data.sensors import Sensors
from halk.sensors.method import Site
from halk.sensors.neighbours import (
    ACCEPTED,
    STUCK,
    SUSPECT,
    NeighbourModel,
    find_nearest,
)
from tests.sensors.networks import HOUR, draw, fit, make_site, to_rows

AT = 400  # step at which something goes wrong, at sensor BAD
BAD = 3


def tables(model):
    """Return estimates of all cells: fill and nowcast."""
    return model._fill, model._now


def at_cells(values):
    """Return the sensor and the time of every cell."""
    n, width = values.shape
    time = HOUR * np.repeat(np.arange(n), width)
    return np.tile(np.arange(width), n), time[:, None]


# ------------------------------------------------------------------- estimates


def hide(kind, shape, rng):
    """Return which cells are missing: points, blocks of a sensor, or outages of all."""
    hidden = np.zeros(shape, bool)
    if kind == "points":
        hidden = rng.random(shape) < 0.2
    for _ in range({"points": 0, "blocks": 12 * shape[1], "outages": 20}[kind]):
        start = rng.integers(60, shape[0])
        who = rng.integers(shape[1]) if kind == "blocks" else slice(None)
        most = 48 if kind == "blocks" else 20
        hidden[start : start + int(np.exp(rng.uniform(0, np.log(most)))), who] = True
    return hidden


@cache
def cover(kind):
    """Return shares of hidden cells within their intervals, fill and nowcast."""
    found = []
    for seed in range(4):
        places, truth, values = draw(seed, 1000, 14, missing=0.05)
        hidden = hide(kind, truth.shape, np.random.default_rng(seed))
        model = fit(places, np.where(hidden, np.nan, values))
        hidden[:60] = False
        row = [
            ((truth >= t.around[..., 1]) & (truth <= t.around[..., 2]))[hidden].mean()
            for t in tables(model)
        ]
        found.append(row)
    return np.mean(found, axis=0)


@pytest.mark.parametrize("kind", ["points", "blocks", "outages"])
def test_intervals_cover_what_they_should(kind):
    fill, now = cover(kind)
    assert 0.86 <= fill <= 0.94
    assert 0.87 <= now <= 0.94


def test_neighbours_and_own_past_beat_either():
    places, truth, values = draw(1)
    hidden = np.isnan(values)
    hidden[:100] = False
    model = fit(places, values)
    fill, now = (np.abs(t.value - truth)[hidden].mean() for t in tables(model))
    own = np.array(values)
    for i in range(own.shape[1]):
        known = np.flatnonzero(np.isfinite(values[:, i]))
        own[:, i] = np.interp(np.arange(len(own)), known, values[known, i])
    others = truth - np.nanmean(values - np.nanmean(values, 0), 1, keepdims=True)
    others -= np.nanmean(values, axis=0)
    assert fill < 0.8 * np.abs(own - truth)[hidden].mean()
    assert fill < 0.8 * np.abs(others)[hidden].mean()
    assert fill < now


def test_readings_are_given_back_and_gaps_estimated():
    places, _, values = draw(0, 200)
    model = fit(places, values)
    sensor, x = at_cells(values)
    found = model.estimate(sensor, x)
    is_read = model.flags(sensor, x) == ACCEPTED
    assert np.array_equal(found.value[is_read], values.ravel()[is_read])
    assert np.all(found.std[is_read] == 0)
    gap = ~is_read
    assert np.all(found.low[gap] < found.value[gap])
    assert np.all(found.value[gap] < found.high[gap])
    assert np.all(found.std[gap] > 0)
    assert set(found.bin) <= {0, 1, 2, 3}


def test_a_causal_estimate_knows_nothing_of_what_comes():
    places, _, values = draw(2, 300)
    later = values.copy()
    later[200:] += 50
    sensor, x = at_cells(values[:200])
    one, other = (
        fit(places, v).estimate(sensor, x, causal=True) for v in (values, later)
    )
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a, b, equal_nan=True)


def test_times_off_the_grid_and_outside_it():
    places, _, values = draw(0, 300)
    model = fit(places, values)
    near = model.estimate(np.array([0, 0]), HOUR * np.array([[100.4], [100]]))
    assert near.value[0] == near.value[1]
    before = model.estimate(np.array([0]), np.array([[-HOUR]]))
    assert np.isnan(before.value[0])
    ahead = HOUR * (299 + np.array([[1], [6], [30], [200]]))
    found = model.estimate(np.zeros(4, int), ahead)
    assert np.all(np.isfinite(found.value))
    assert found.std[0] < found.std[1] < 1.2 * found.std[3]
    assert found.bin[0] == 0
    assert found.bin[3] == 3


def test_forecasts_know_the_hour_of_the_day():
    errors, last = [], []
    for stop in range(400, 470, 7):
        places, truth, values = draw(3, 500)
        model = fit(places, values[:stop], hearings=1)
        sensor = np.arange(truth.shape[1])
        x = np.full((len(sensor), 1), HOUR * (stop + 11))
        errors.append(model.estimate(sensor, x).value - truth[stop + 11])
        last.append(truth[stop - 1] - truth[stop + 11])
    assert np.std(errors) < 0.6 * np.std(last)


def test_without_places_sensors_that_go_together_are_neighbours():
    places, truth, values = draw(4)
    hidden = np.isnan(values)
    hidden[:100] = False
    blind = fit(None, values)
    error, known = (
        np.abs(m._fill.value - truth)[hidden].mean()
        for m in (blind, fit(places, values))
    )
    assert error < 1.1 * known


def test_a_place_without_a_sensor_is_estimated_from_those_around():
    places, truth, values = draw(5, 400, 30)
    model = fit(places[1:], values[:, 1:])
    steps = np.arange(100, 400)
    found = model.estimate_at(places[:1].repeat(300, 0), HOUR * steps[:, None])
    level = found.value - truth[steps, 0]  # the level of a sensor cannot be known
    assert np.std(level) < 0.5 * truth[:, 0].std()
    inside = (truth[steps, 0] >= found.low) & (truth[steps, 0] <= found.high)
    assert inside.mean() > 0.8


# ---------------------------------------------------------------- bad readings


def spoil(values, how):
    """Return values with one sensor spoiled, and the step when it is over."""
    bad = values.copy()
    column = bad[:, BAD]
    if how in ("-9999", "5000"):
        column[AT] = float(how)
        return bad, AT + 1
    if how == "five of 85":
        column[AT : AT + 5] = 85.0
        return bad, AT + 5
    if how == "fahrenheit":
        column[AT : AT + 24] = 1.8 * column[AT : AT + 24] + 32
        return bad, AT + 24
    if how == "stuck":
        is_read = np.isfinite(column[AT : AT + 60])
        column[AT : AT + 60][is_read] = column[AT]
        return bad, AT + 60
    column[AT:] += 10.0
    return bad, AT


@cache
def undisturbed(seed, hearings):
    places, truth, values = draw(seed, 700)
    values[AT, BAD] = truth[AT, BAD]
    return places, values, fit(places, values, hearings=hearings)


KINDS = ["-9999", "5000", "five of 85", "fahrenheit", "stuck", "step of 10"]


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_bad_readings_are_reported_and_do_not_move_what_others_say(how, seed):
    places, values, clean = undisturbed(seed, 2)
    bad, end = spoil(values, how)
    model = fit(places, bad)
    flags = model.flag[AT:end, BAD]
    if how == "step of 10":
        found = [s for s in model.shifts if s.sensor == BAD]
        assert len(found) == 1
        assert abs(found[0].time / HOUR - AT) <= 16
        assert 6 < found[0].after - found[0].before < 14
    elif how == "stuck":
        (spell,) = [s for s in model.stuck if s.sensor == BAD]
        assert (spell.start / HOUR, spell.value) == (AT, bad[AT, BAD])
        assert np.all(flags[np.isfinite(bad[AT:end, BAD])] == STUCK)
    else:
        n = np.isfinite(bad[AT:end, BAD]).sum()
        assert np.sum(flags == SUSPECT) >= 0.9 * n
        spoiled = [s for s in model.suspects if s.sensor == BAD and s.time >= AT * HOUR]
        assert spoiled[0].value == bad[AT, BAD]
        assert abs(spoiled[0].deviation) > 5
        assert abs(spoiled[0].expected - values[AT, BAD]) < 3
    # A day later everybody says what they would have said.
    std = np.nanstd(values, axis=0)
    moved = np.abs(model._fill.value - clean._fill.value) / std
    if how == "step of 10":
        moved[:, BAD] = np.nan
    assert np.nanmax(moved[end + 24 :]) < 0.1


def test_a_stream_forgets_bad_readings_too():
    places, values, clean = undisturbed(0, 1)
    for how in KINDS:
        bad, end = spoil(values, how)
        model = fit(places, bad, hearings=1)
        moved = np.abs(model._now.value - clean._now.value) / np.nanstd(values, axis=0)
        if how == "step of 10":
            moved[:, BAD] = np.nan
        later = moved[end + 24 :]
        assert np.sqrt(np.nanmean(later**2)) < 0.03, how
        assert np.nanmax(later) < 0.2, how


def test_a_slow_drift_is_found_with_its_start():
    places, _, values = draw(0, 2600)
    assert fit(places, values).drifts == ()
    values[1000:, BAD] += 0.008 * np.arange(1600)
    (found,) = fit(places, values).drifts
    assert found.sensor == BAD
    assert 950 < found.start / HOUR < 1400
    assert found.start < found.found
    assert found.size > 0


def test_readings_as_they_should_be_are_believed():
    places, _, values = draw(6, 1000)
    model = fit(places, values)
    assert len(model.suspects) <= 1e-3 * np.isfinite(values).sum()
    assert model.shifts == model.stuck == ()


# ------------------------------------------------------------------------ laws


def same(a, b):
    """Assert that two models say the same, bit for bit."""
    for one, other in zip(tables(a), tables(b), strict=True):
        for name, values in vars(one).items():
            assert np.array_equal(values, getattr(other, name), equal_nan=True), name
    assert np.array_equal(a.flag, b.flag)


def test_threads_change_nothing():
    places, _, values = draw(0, 100, 200)
    spoiled = values.copy()
    spoiled[60:65] += 30
    same(fit(places, spoiled), fit(places, spoiled, n_threads=3))


def test_the_order_of_sensors_changes_nothing():
    places, _, values = draw(0, 200)
    order = np.random.default_rng(0).permutation(len(places))
    names = [f"s{i:03}" for i in order]
    site = make_site(places[order], names=names)
    one, other = fit(places, values), fit(None, values[:, order], site)
    for a, b in zip(tables(one), tables(other), strict=True):
        for name, found in vars(a).items():
            assert np.array_equal(found[:, order], getattr(b, name), equal_nan=True)


def test_another_seed_draws_otherwise():
    places, _, values = draw(0, 300)
    a, b = (fit(places, values, make_site(places, seed=s)) for s in (0, 1))
    assert not np.array_equal(a._fill.value, b._fill.value, equal_nan=True)


def test_a_stream_in_pieces_is_the_stream():
    places, _, values = draw(0, 300)
    whole = fit(places, values, hearings=1)
    parts = fit(places, values[:100], hearings=1)
    for start, stop in ((100, 101), (101, 250), (250, 300)):
        rows = to_rows(values[start:stop], start=HOUR * start)
        parts.update(rows)
    assert np.array_equal(whole._now.value, parts._now.value, equal_nan=True)
    assert np.array_equal(whole._fill.value, parts._fill.value, equal_nan=True)


def test_a_model_that_was_saved_goes_on_as_if_it_was_not():
    places, _, values = draw(0, 300)
    rows = to_rows(values[200:], start=HOUR * 200)
    model = fit(places, values[:200])
    copy = NeighbourModel(model.site, n_threads=1)
    copy.load_state_dict(model.state_dict())
    same(model, copy)
    model.update(rows)
    copy.update(rows)
    same(model, copy)
    x = HOUR * np.full((3, 1), 310)
    ahead = [m.estimate(np.arange(3), x) for m in (model, copy)]
    for a, b in zip(*ahead, strict=True):
        assert np.array_equal(a, b)


def test_a_state_that_does_not_fit_is_refused_and_leaves_all_as_it_was():
    places, _, values = draw(0, 100)
    model = fit(places, values)
    state = model._core.state()
    wrong = {**state, "table": state["table"][:-1]}
    with pytest.raises(ValueError, match="table must have"):
        model._core.load(wrong)
    for name, array in model._core.state().items():
        assert np.array_equal(array, state[name], equal_nan=True)
    with pytest.raises(ValueError, match="state must have scales"):
        model._core.load({k: v for k, v in state.items() if k != "scales"})


def test_late_readings_are_kept_for_the_next_fit():
    places, _, values = draw(0, 200)
    t, i = np.argwhere(np.isnan(values))[50]
    model = fit(places, values)
    before = model._fill.value.copy()
    model.update(Readings(np.array([i]), np.array([[HOUR * t]]), np.array([42.0])))
    assert model.estimate(np.array([i]), np.array([[HOUR * t]])).value == 42.0
    assert np.array_equal(model._fill.value, before, equal_nan=True)


def test_a_sensor_joins_without_touching_the_others():
    places, truth, values = draw(0, 500)
    site = make_site(places)
    first = dataclasses.replace(
        site.sensors, names=site.sensors.names[:-1], positions=places[:-1]
    )
    old, new = values[:300, :-1], values[300:]
    alone, joined = (fit(None, old, site._replace(sensors=first)) for _ in range(2))
    joined.join(site.sensors)
    alone.update(to_rows(new[:, :-1], start=HOUR * 300))
    joined.update(to_rows(new, start=HOUR * 300))
    for a, b in zip(tables(alone), tables(joined), strict=True):
        assert np.array_equal(a.value, b.value[:, :-1], equal_nan=True)
    gap = np.isnan(values[:, -1])
    gap[:350] = False
    error = np.abs(joined._fill.value[gap, -1] - truth[gap, -1]).mean()
    assert error < 0.5 * truth[:, -1].std()


def test_who_joins_must_come_last():
    places, _, values = draw(0, 50)
    model = fit(places, values)
    site = make_site(places, names=[f"t{i:03}" for i in range(len(places))])
    with pytest.raises(ValueError, match="sensors must begin with those the model has"):
        model.join(site.sensors)


def test_the_table_is_positive_semidefinite():
    places, _, values = draw(0, 300, 5)
    model = fit(places, values, window=6, memory=50.0)
    table = model._core.state()["table"].reshape(5, 5, 5, 13)[0].astype(float)
    decay = np.sqrt(1 - 1 / 50) ** np.arange(13)
    whole = np.zeros((5, 13, 5, 13))
    for a in range(13):
        for b in range(13):
            lag = abs(a - b)
            late = table[:, :, lag] * decay[lag]  # (k, j): z_k(t) z_j(t - lag)
            whole[:, a, :, b] = late if a <= b else late.T
    values = np.linalg.eigvalsh(whole.reshape(65, 65))
    assert values[0] > -1e-5 * values[-1]


def hostile(name, rng):
    """Return values that no sensor should send."""
    values = rng.normal(size=(120, 4))
    if name == "constant":
        values[:] = 7.0
    elif name == "no readings of a sensor":
        values[:, 1] = np.nan
    elif name == "one reading":
        values[:] = np.nan
        values[40, 2] = 3.0
    elif name == "outliers":
        values[rng.random(values.shape) < 0.3] *= 1e6
    elif name == "huge":
        values *= 1e25
    elif name == "tiny":
        values *= 1e-25
    elif name == "one sensor":
        values = values[:, :1]
    elif name == "two sensors":
        values = values[:, :2]
    elif name == "twins":
        values[:] = values[:, :1]
    elif name == "far from zero":
        values += 1e9
    elif name == "jumps":
        values += 1e6 * (np.arange(120) % 37 > 18)[:, None]
    return values


HOSTILE = (
    "constant", "no readings of a sensor", "one reading", "outliers", "huge", "tiny",
    "one sensor", "two sensors", "twins", "far from zero", "jumps",
)  # fmt: skip


def test_a_reading_beyond_all_measure_is_suspect():
    places, _, values = draw(0, 100)
    values[50, 0] = 1e300
    model = fit(places, values)
    assert model.flag[50, 0] == SUSPECT
    assert np.all(np.abs(model._fill.value[model._fill.bin >= 0]) < 100)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("has_places", [True, False])
def test_hostile_readings_leave_estimates_finite(name, has_places):
    rng = np.random.default_rng(0)
    values = hostile(name, rng)
    values[rng.random(values.shape) < 0.2] = np.nan
    if name != "one reading":
        values[-1] = 1.0
    places = rng.random((values.shape[1], 2)) if has_places else None
    model = fit(places, values)
    sensor, x = at_cells(model.values)
    x += model.grid.start
    for causal in (False, True):
        found = model.estimate(sensor, x, causal=causal)
        known = np.isfinite(found.value)
        assert np.all(np.isfinite(np.array(found)[:, known]))
        if not causal:
            assert known.all()
    later = np.full((values.shape[1], 1), x.max() + HOUR)
    ahead = model.estimate(np.arange(values.shape[1]), later)
    assert np.all(np.isfinite(ahead.value))
    assert len(model.suspects) == np.sum(model.flag == SUSPECT)


def test_equally_near_sensors_are_taken_by_name():
    places = np.array([[0.0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    near, apart = find_nearest(places, "euclidean", 2, tuple("edcba"))
    assert near[0].tolist() == [0, 4, 3]
    assert apart[0].shape == (3, 3)


@pytest.mark.parametrize("has_places", [True, False])
def test_a_graph_says_who_is_heard(has_places):
    places, _, values = draw(0, 80, 5)
    pairs = np.array([[0, 1], [1, 2], [4, 0]])
    graph = namedtuple("Graph", "pairs")(pairs)
    site = make_site(places if has_places else None, 5)._replace(graph=graph)
    model = fit(None, values, site)
    heard = [set(who.tolist()) for who in model._near]
    assert heard == [{0, 1, 4}, {0, 1, 2}, {1, 2}, {3}, {0, 4}]


def test_inputs_beside_time_are_refused():
    schema = Schema(
        "sensor", "value", "", (Input("time", "time"), Input("z", "number"))
    )
    with pytest.raises(ValueError, match="got inputs time, z: use the field model"):
        NeighbourModel(Site(schema, Sensors(("a",))))


def test_shapes_are_checked_by_name():
    core = fit(*draw(0, 60)[::2])._core
    with pytest.raises(ValueError, match="values must have 12 columns"):
        core.hear(np.zeros((3, 4)), None, None, None, None, None, None, None, 1)
    flag = np.zeros((3, 12), np.int8)
    with pytest.raises(ValueError, match="flag must have 2 entries along axis 0"):
        core.hear(np.zeros((2, 12)), None, None, None, None, flag, None, None, 1)
    with pytest.raises(ValueError, match="ahead must be at least 1"):
        core.forecast(np.array([0]), np.array([0]))


def test_progress_is_reported_to_the_end():
    places, _, values = draw(0, 60)
    shares = []
    fit(places, values, report=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
