"""The choice: judged by what was hidden, won by the right method, with intervals."""

import json
from dataclasses import replace

import numpy as np
import pytest

from halk.data import Input, Readings, Schema
from halk.sensors import choose as judging
from halk.sensors.calibrate import (
    Calibration,
    correct_own,
    find_factors,
    measure_scores,
)
from halk.sensors.choose import choose
from halk.sensors.comparison import Comparison, Judged
from halk.sensors.gaps import KINDS
from halk.sensors.method import BINS, Estimates
from halk.sensors.methods import METHODS, Way, list_methods
from halk.sensors.order import find_line, sort_rows
from tests.sensors.made import (
    draw_profiles,
    draw_shared,
    draw_walks,
    make_series,
    make_site,
    take,
)


@pytest.fixture(autouse=True, scope="module")
def draw_once():
    """Let readings be hidden once: the tables here are large enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "ENOUGH", 100)
        yield


@pytest.fixture(scope="module")
def shared(draw_once):
    """Return sensors that jump together, a tenth missing, and the choice."""
    site = make_site(8)
    y = draw_shared(site, 400)
    y[np.random.default_rng(3).random(y.shape) < 0.1] = np.nan
    return site, make_series(y), choose(site, make_series(y))


# the right one wins


def test_shocks_that_all_share_are_won_by_what_hears_others(shared):
    """Kriging or neighbours, far ahead of lines."""
    _, _, found = shared
    assert found.chosen in ("neighbours", "neighbours, wide", "kriging")
    assert found.error(found.chosen) < 0.5 * found.error("linear interpolation")
    assert found.judged[0].error <= found.error(found.chosen)


def test_random_walks_are_won_by_lines():
    """And it is said that a simple method is best."""
    site = make_site(6, places=False)
    found = choose(site, make_series(draw_walks(6, 500)))
    best = found.error(found.judged[0].name)
    assert found.error("linear interpolation") < 1.05 * best
    assert found.error("sensor mean") > 3 * best
    assert METHODS[found.chosen].is_model or "a simple method is best" in found.reason


def test_noise_about_a_level_is_won_by_the_mean():
    """Nothing else is better than it by more than chance."""
    site = make_site(5)
    y = np.random.default_rng(0).normal(size=(400, 5)) + np.arange(5)
    found = choose(site, make_series(y))
    assert found.error("sensor mean") < 1.01 * found.judged[0].error
    assert found.error("linear interpolation") > 1.1 * found.judged[0].error


def test_profiles_are_won_by_fields():
    """Of depth and place; the neighbour model is left out, and why is said."""
    site = make_site(10, depth=True)
    rows, _ = draw_profiles(site, n_each=15)
    found = choose(site, rows)
    assert found.chosen in ("field, together", "kriging")
    assert "neighbours" not in found.methods
    assert "time" in found.skipped["neighbours"]
    assert not found.judged[0].now


def test_a_model_is_used_unless_a_simple_method_is_clearly_better():
    """By a hundredth, and by more than a standard error of times that differ."""
    rng = np.random.default_rng(0)
    y = np.zeros(1000)
    noise = rng.normal(size=1000)
    cluster = np.repeat(np.arange(100), 10)

    class Trial:
        sensor, kind, half = np.zeros((3, 1000), int)

    Trial.y, Trial.cluster = y, cluster
    bad_days = np.where(cluster < 5, 3.0, np.where(cluster < 12, 0.05, 1.0))
    for scale, expected in ((1.005, False), (1.2, True), (bad_days, False)):
        runs = [
            judging._Run(name, Estimates.of(value), None, 0.0)
            for name, value in (("kriging", noise), ("neighbours", noise * scale))
        ]
        judge = judging._Judge(Trial, runs, np.ones(1), 0.9)
        simple, model = (Judged(run.name, k == 1, judge._measure_errors(
            run.fill, judge.is_filled), {}, {}, {}, 0.0) for k, run in enumerate(runs)
        )  # fmt: skip
        assert judge.is_better(simple, model) is expected
        best = judging._find_best([simple, model], judge)
        assert best.is_model is not expected


# nothing is judged by what it has seen


class Spy:
    """Remembers what it is given and asked; estimates zeros."""

    name = "spy"
    seen: list = []  # noqa: RUF012

    def __init__(self, site, options):
        self.site = site

    def fit(self, rows):
        self.rows = rows

    def estimate(self, sensor, x, *, causal=False):
        self.seen.append((self.rows, sensor, x, causal))
        return Estimates.of(np.zeros(len(sensor)))


def test_methods_never_see_what_they_are_judged_by(monkeypatch):
    """No reading that is asked for is among those given; nearly all others are."""
    site = make_site(6)
    y = np.random.default_rng(0).normal(size=(300, 6))
    monkeypatch.setitem(METHODS, "neighbours", Way(Spy, True))
    monkeypatch.setattr(Spy, "seen", [])
    found = choose(site, make_series(y))
    assert {causal for *_, causal in Spy.seen} == {False, True}
    for rows, sensor, x, _ in Spy.seen:
        given = set(zip(rows.sensor.tolist(), rows.x[:, 0].tolist(), strict=True))
        asked = set(zip(sensor.tolist(), x[:, 0].tolist(), strict=True))
        assert not given & asked
        assert len(given) + len(asked) == 1800
    values = np.abs(y).mean()
    assert found.error("neighbours") == pytest.approx(values, rel=0.1)
    assert found.error("neighbours", causal=True) == found.error("neighbours")


def test_errors_are_those_of_the_hidden_readings(shared):
    """By kind they add up; all methods are judged on the same ones."""
    _, _, found = shared
    for one in found.judged:
        kinds = [one.fill[kind] for kind in found.kinds]
        total = sum(kind.mae * kind.cells for kind in kinds)
        assert total == pytest.approx(one.error * one.fill["all"].cells)
    assert len({one.fill["all"].cells for one in found.judged}) == 1
    assert set(found.kinds) <= set(KINDS)
    errors, cover = found.by_sensor(9)
    assert errors[:8].mean() == pytest.approx(found.error(found.chosen), rel=0.3)
    assert cover[:8].mean() == pytest.approx(found.cover(found.chosen), abs=0.05)
    assert np.isnan(errors[8])


def test_order_of_rows_changes_nothing(shared):
    """Not the choice, not a digit of the errors."""
    site, rows, found = shared
    order = np.random.default_rng(0).permutation(len(rows.y))
    again = choose(site, take(rows, order))
    assert again.reason == found.reason
    for name in found.methods:
        assert again.error(name) == found.error(name)


def test_another_seed_hides_others(shared):
    """And the same seed the same."""
    site, rows, found = shared
    other = choose(site._replace(seed=1), rows)
    assert other.error("sensor mean") != found.error("sensor mean")
    assert other.error("kriging") == pytest.approx(found.error("kriging"), rel=0.2)


# intervals


def test_intervals_cover_what_they_say_on_readings_not_judged(shared):
    """Of the method used, for gaps that nothing was made with."""
    site, rows, found = shared
    known = rows.with_values()
    hidden = np.random.default_rng(11).random(len(known.y)) < 0.1
    method = found.make(site)
    method.fit(take(known, ~hidden))
    sensor, x, y = known.sensor[hidden], known.x[hidden], known.y[hidden]
    for causal in (False, True):
        shown = method.estimate(sensor, x, causal=causal)
        made = found.calibrate(shown, sensor, causal=causal)
        cover = ((made.low <= y) & (y <= made.high)).mean()
        assert 0.84 < cover < 0.96


@pytest.mark.parametrize("has_std", [False, True])
def test_intervals_of_any_errors_cover(has_std):
    """Skewed ones with heavy tails, differing by sensor and bin."""
    rng = np.random.default_rng(0)
    n = 20_000
    sensor, bins = rng.integers(0, 10, n), rng.integers(0, BINS, n)
    size = (1 + sensor) * (1 + bins)
    error = size * rng.standard_t(3, n)
    std = np.where(rng.random(n) < 0.5, 1.0, 3.0) * size if has_std else None
    found = Estimates.of(np.zeros(n), std, bins)
    half = rng.random(n) < 0.5
    scale = 2.0 + np.arange(10)
    scores = measure_scores(found, sensor, error, scale)
    factor = find_factors(sensor[half], bins[half], scores[half], 10, 0.9)
    made = Calibration(scale, np.stack([factor, factor])).apply(found, sensor)
    within = (made.low <= error) & (error <= made.high)
    assert within[~half].mean() == pytest.approx(0.9, abs=0.015)
    for b in range(BINS):
        assert within[~half & (bins == b)].mean() == pytest.approx(0.9, abs=0.03)
    for i in range(10):
        assert within[~half & (sensor == i)].mean() == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize(("width", "expected"), [(0.5, 0.87), (1.0, 0.9), (3.0, 0.94)])
def test_own_intervals_are_changed_only_where_they_are_far_off(width, expected):
    """Lopsided ones keep their shape."""
    rng = np.random.default_rng(0)
    error = np.where(rng.random(9000) < 0.5, -1.0, 4.0) * rng.exponential(size=9000)
    value, low, high = np.zeros((3, 9000))
    low -= width * np.log(10)  # of exponential errors these cover 90 %
    high += 4 * width * np.log(10)
    found = Estimates(value, high / 4, low, high, np.zeros(9000, int))
    sensor = np.zeros(9000, int)
    scores = measure_scores(found, sensor, error, np.ones(1))
    factor = correct_own(found.bin, scores, 1, 0.9)
    made = Calibration(np.ones(1), np.stack([factor, factor])).apply(found, sensor)
    assert made.high[0] == pytest.approx(-4 * made.low[0])
    cover = ((made.low <= error) & (error <= made.high)).mean()
    assert cover == pytest.approx(expected, abs=0.006)
    assert bool(factor[0, 0] == 1) is (width == 1.0)


def test_a_sensor_with_few_errors_takes_those_of_all():
    """One with many goes by its own."""
    rng = np.random.default_rng(0)
    sensor = np.concatenate([np.zeros(1000, int), np.ones(1000, int), [2]])
    scores = np.abs(rng.normal(size=2001)) * np.where(sensor == 1, 5.0, 1.0)
    factor = find_factors(sensor, 0 * sensor, scores, 4, 0.9)[:, 0]
    assert factor[0] == pytest.approx(1.645, rel=0.15)
    assert factor[1] == pytest.approx(5 * 1.645, rel=0.15)
    pooled = np.quantile(scores, 0.9)
    assert factor[2:] == pytest.approx(pooled, rel=0.1)


def test_a_bin_with_few_errors_takes_those_of_the_next():
    """Far from readings errors are large, and near ones tell nothing of them."""
    rng = np.random.default_rng(0)
    bins = np.repeat([0, 1, 2, 3], [3000, 3000, 300, 10])
    scores = np.abs(rng.normal(size=6310)) * (1 + bins) ** 2
    factor = find_factors(0 * bins, bins, scores, 1, 0.9)[0]
    assert factor == pytest.approx(1.645 * np.array([1, 4, 9, 9]), rel=0.2)


# what is asked for, what is said, what is saved


def test_a_method_can_be_insisted_on(shared):
    """By the beginning of its name; one that does not suit is refused, and why."""
    site, rows, _ = shared
    found = choose(site, rows, method="linear", quick=True)
    assert found.chosen == "linear interpolation"
    assert "was asked for" in found.reason
    deep = make_site(4, depth=True)
    profiles, _ = draw_profiles(deep)
    with pytest.raises(
        ValueError, match=r"suits the table, field.*got 'neighbours' \("
    ):
        choose(deep, profiles, method="neighbours")


def test_quick_goes_by_structure_and_judges_one_method_only(shared):
    """Series: neighbours; profiles: fields, together if there are places."""
    site, rows, _ = shared
    deep = make_site(4, depth=True)
    alone = make_site(4, depth=True, places=False)
    profiles, _ = draw_profiles(deep)
    for where, what, expected in (
        (site, rows, "neighbours"),
        (deep, profiles, "field, together"),
        (alone, profiles, "field, independent"),
    ):
        found = choose(where, what, quick=True)
        assert found.methods == (expected,)
        assert "nothing was compared" in found.reason
        assert (found.calibration.factor > 0).all()


def test_which_methods_suit():
    """By clock and by inputs, and by what was asked for."""
    site, rows = make_site(4), sort_rows(make_series(np.ones((100, 4))))

    def suited(site, rows, **options):
        rows = sort_rows(rows)
        return list_methods(site, rows, find_line(site.schema, rows), options)[0]

    assert suited(site, rows) == list(METHODS)
    assert "field, together" not in suited(site, rows, together=False)
    assert "field, independent" not in suited(site, rows, together=True)
    rng = np.random.default_rng(0)
    odd = Readings(rows.sensor, rows.x + 1e8 * rows.sensor[:, None], rows.y)
    assert "neighbours" not in suited(site, odd)
    both = Schema("s", "y", "", (*site.schema.inputs, Input("depth", "number")))
    moored = Readings(
        rows.sensor, np.column_stack([rows.x, rng.uniform(0, 9, 400)]), rows.y
    )
    found = suited(site._replace(schema=both), moored)
    assert "linear interpolation" not in found
    assert "kriging" in found


def test_comparisons_survive_json(shared):
    """With everything that intervals and another fit need."""
    site, _, found = shared
    again = Comparison.from_dict(json.loads(json.dumps(found.as_dict())))
    arrays = {"errors": found.errors, "calibration": found.calibration}
    assert replace(again, **arrays) == found
    assert np.array_equal(again.errors, found.errors, equal_nan=True)
    asked = Estimates.of(np.zeros(8), np.ones(8))
    for one, other in zip(
        found.calibrate(asked, np.arange(8)), again.calibrate(asked, np.arange(8)),
        strict=True,
    ):  # fmt: skip
        assert np.array_equal(one, other)
    assert again.make(site).name == found.make(site).name


def test_progress_rises_and_names_what_is_judged(shared, monkeypatch):
    """From nothing to nearly all, draw by draw."""
    site, rows, _ = shared
    told = []
    monkeypatch.setattr(judging, "ENOUGH", 1_000)
    choose(site, rows, quick=True, progress=lambda *one: told.append(one))
    assert told[0] == ("judging neighbours", 0.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1


def test_few_readings_are_not_compared_and_none_are_refused():
    """One reading each: the structure decides."""
    site = make_site(3)
    found = choose(site, make_series(np.ones((1, 3))))
    assert "too few readings" in found.reason
    with pytest.raises(ValueError, match="must hold readings, got none"):
        choose(site, make_series(np.full((5, 3), np.nan)))
