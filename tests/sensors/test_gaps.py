"""Artificial gaps: like the table's own, and always the same ones."""

import numpy as np
import pytest

from halk.data import Readings
from halk.sensors.gaps import KINDS, draw_gaps, find_pattern
from halk.sensors.order import find_line, sort_rows
from tests.sensors.made import make_series, make_site, take

POINTS, BLOCKS, OUTAGES, TAIL = range(4)


def draw(site, rows, seed=0, pattern=None):
    """Return the pattern of a table, sorted readings and what is hidden of them."""
    known = sort_rows(rows)
    line = find_line(site.schema, known)
    pattern = pattern or find_pattern(site.schema, rows)
    return pattern, known, draw_gaps(
        site.sensors.names, line, known, pattern, seed
    )  # fmt: skip


def hours(rows):
    """Return the hours of readings, counted from the first."""
    return np.rint((rows.x[:, 0] - rows.x[:, 0].min()) / 3600).astype(int)


def test_kinds_of_gaps_are_told_apart():
    """A single hour, a day, an outage of all sensors, an early end."""
    y = np.ones((400, 6))
    y[50, 0] = y[60, 1] = np.nan
    y[300:302, 5] = np.nan
    y[100:124, 2] = np.nan
    y[200:207] = np.nan
    y[370:, 3] = np.nan
    pattern = find_pattern(make_site(6).schema, make_series(y))
    missing = pattern.shares * 2400
    assert missing == pytest.approx([2, 26, 42, 30])
    assert sorted(pattern.length) == [1, 1, 2, *[7] * 6, 24]
    assert pattern.tails.tolist() == [30]
    said = pattern.as_dict()
    assert said["outages"]["longest_steps"] == 7
    assert said["blocks"]["longest_steps"] == 24


def test_absent_times_are_gaps_as_empty_rows_are():
    """Rows without a value, and no rows at all, are the same."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random((300, 4)) < 0.2, np.nan, 1.0)
    rows = make_series(y)
    schema = make_site(4).schema
    one, other = (find_pattern(schema, table) for table in (rows, rows.with_values()))
    assert one.shares.tolist() == other.shares.tolist()
    assert one.length.tolist() == other.length.tolist()


def test_of_a_table_without_gaps_points_and_blocks_are_hidden_in_equal_parts():
    """A tenth of the readings in all, none of them twice."""
    site, rows = make_site(10), make_series(np.ones((1000, 10)))
    _, known, hidden = draw(site, rows)
    share = np.bincount(hidden.kind, minlength=4) / len(known.y)
    assert share == pytest.approx([0.05, 0.05, 0, 0], abs=0.002)
    assert (np.diff(hidden.row) > 0).all()
    lengths = np.bincount(hidden.gap)[np.unique(hidden.gap[hidden.kind == BLOCKS])]
    assert lengths.max() <= 48
    assert np.median(lengths) > 3


def test_copied_gaps_have_the_lengths_of_the_tables_own():
    """Blocks of 20 hours in the table: blocks of 20 hours are hidden."""
    y = np.ones((4000, 8))
    rng = np.random.default_rng(0)
    for k in range(300):
        start = rng.integers(0, 3900)
        y[start : start + 20, k % 8] = np.nan
    pattern, _, hidden = draw(make_site(8), make_series(y))
    assert pattern.shares[BLOCKS] > 0.1
    own = hidden.kind == BLOCKS
    lengths = np.bincount(hidden.gap[own])
    lengths = lengths[lengths > 0]
    # some meet gaps that are there already, and some are the usual short ones
    assert (lengths >= 15).mean() > 0.4
    assert (lengths == 20).sum() > 0.3 * len(lengths)


def test_outages_hide_the_sensors_that_were_out():
    """Five of eight sensors out at once: five are hidden at once."""
    y = np.ones((3000, 8))
    for start in range(100, 2900, 140):
        y[start : start + 10, :5] = np.nan
    pattern, known, hidden = draw(make_site(8), make_series(y))
    assert pattern.shares[OUTAGES] > 0.03
    out = hidden.row[hidden.kind == OUTAGES]
    assert len(out) > 100
    assert set(known.sensor[out].tolist()) == set(range(5))
    at_once = np.bincount(hours(known)[out])
    assert np.median(at_once[at_once > 0]) == 5


def test_tails_are_hidden_where_the_table_has_them():
    """The last readings of a sensor, and of no sensor more than a quarter."""
    y = np.ones((500, 6))
    y[430:, 0] = y[450:, 1] = np.nan
    _, known, hidden = draw(make_site(6), make_series(y))
    rows = hidden.row[hidden.kind == TAIL]
    assert len(rows) > 0
    for i in np.unique(known.sensor[rows]):
        own = hours(known)[known.sensor == i]
        taken = hours(known)[rows[known.sensor[rows] == i]]
        assert taken.min() > np.setdiff1d(own, taken)[-30:].min()
        assert len(taken) <= len(own) / 4


def test_profiles_hide_points_and_runs_in_depth():
    """Runs are of neighbouring depths, and no longer than a quarter of a profile."""
    site = make_site(5, depth=True)
    rng = np.random.default_rng(0)
    depth = rng.uniform(0, 9, (500, 1))
    rows = Readings(np.repeat(np.arange(5), 100), depth, np.ones(500))
    _, known, hidden = draw(site, rows)
    for gap in np.unique(hidden.gap[hidden.kind == BLOCKS]):
        inside = hidden.row[hidden.gap == gap]
        i = known.sensor[inside[0]]
        own = np.flatnonzero(known.sensor == i)
        ranks = np.flatnonzero(np.isin(own[np.argsort(known.x[own, 0])], inside))
        assert np.ptp(ranks) < 3 * len(ranks)  # others may be hidden in between
        assert len(inside) <= 25


def test_runs_of_empty_rows_of_profiles_are_drawn_again():
    """A table with runs of eight rows without a value hides runs of about eight."""
    site = make_site(6, depth=True)
    rng = np.random.default_rng(0)
    rows = Readings(
        np.repeat(np.arange(6), 200), rng.uniform(0, 9, (1200, 1)), np.ones(1200)
    )
    order = np.lexsort((rows.x[:, 0], rows.sensor))
    for start in range(10, 1180, 50):
        rows.y[order[start : start + 8]] = np.nan
    pattern, _, hidden = draw(site, rows)
    assert not pattern.is_copied
    assert np.median(pattern.length) == 8
    lengths = np.bincount(hidden.gap)[np.unique(hidden.gap[hidden.kind == BLOCKS])]
    assert np.median(lengths) >= 5


def test_no_gap_takes_more_than_a_quarter_of_a_sensor():
    """Though the table has profiles that lack most of their readings."""
    site = make_site(12, depth=True)
    rng = np.random.default_rng(0)
    rows = Readings(
        np.repeat(np.arange(12), 100), rng.uniform(0, 9, (1200, 1)), np.ones(1200)
    )
    order = np.lexsort((rows.x[:, 0], rows.sensor))
    rows.y[order[10:80]] = rows.y[order[110:180]] = np.nan
    pattern, known, hidden = draw(site, rows)
    assert pattern.length.max() == 70
    size = np.bincount(hidden.gap)
    assert 10 < size.max() <= 25
    assert len(hidden.row) < 0.15 * len(known.y)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_what_is_hidden_hardly_depends_on_other_rows(missing):
    """One row in a hundred is dropped, rows change places: nearly the same cells."""
    site = make_site(8)
    rng = np.random.default_rng(0)
    y = np.where(rng.random((2000, 8)) < missing, np.nan, 1.0)
    rows = make_series(y)
    keys = []
    for table in (
        rows,
        take(rows, rng.permutation(np.flatnonzero(rng.random(16000) > 0.01))),
    ):
        _, known, hidden = draw(site, table)
        cells = zip(known.sensor[hidden.row], known.x[hidden.row, 0], strict=True)
        keys.append(set(cells))
    assert len(keys[0] & keys[1]) > 0.85 * len(keys[0])


def test_other_seeds_hide_others_and_the_same_seed_the_same():
    """And kinds are named."""
    site, rows = make_site(4), make_series(np.ones((500, 4)))
    first, again, other = (draw(site, rows, seed)[2].row for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert len(set(first) & set(other)) < 0.5 * len(first)
    assert len(KINDS) == 4
