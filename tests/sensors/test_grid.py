"""Irregular readings on a regular grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.sensors import grid as grids
from halk.sensors.grid import Grid, average_cells, find_spacing, make_grid


def test_exact_times_are_kept():
    time = 7200.0 + 3600.0 * np.array([0, 1, 2, 3, 7, 8])
    grid = make_grid(np.zeros(6, int), time)
    assert (grid.start, grid.step, grid.n_rows) == (7200.0, 3600.0, 9)
    assert grid.find_rows(time).tolist() == [0, 1, 2, 3, 7, 8]
    assert np.array_equal(grid.find_times()[[0, 7]], [7200.0, 7200.0 + 7 * 3600])


@pytest.mark.parametrize("clock", [600.0, 600.0137])
def test_a_clock_that_is_a_little_off_does_not_drift(clock):
    rng = np.random.default_rng(0)
    time = clock * np.arange(20_000) + rng.uniform(-100, 100, 20_000)
    grid = make_grid(np.zeros(20_000, int), time)
    assert grid.find_rows(time).tolist() == list(range(20_000))


def test_the_spacing_is_that_of_most_sensors():
    sensor = np.repeat([0, 1, 2], [100, 100, 1000])
    time = np.concatenate([3600.0 * np.arange(100)] * 2 + [60.0 * np.arange(1000)])
    assert find_spacing(sensor, time) == 3600.0


def test_one_time_far_off_costs_a_few_rows():
    time = np.append(60.0 * np.arange(100), 4e9)
    grid = make_grid(np.zeros(101, int), time, longest=50)
    assert grid.n_rows == 100 + 50
    assert grid.find_rows(time).tolist() == [*range(100), 149]
    inside = np.array([99 * 60.0 + 600, 2e9, 4e9 - 600])
    assert grid.find_rows(inside).tolist() == [109, 124, 139]


def test_a_grid_that_memory_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr(grids, "MOST_CELLS", 100)
    with pytest.raises(ValueError, match="readings must fit on a grid of 100 cells"):
        average_cells(np.array([0]), np.array([0]), np.array([1.0]), (51, 2))


def test_readings_of_a_cell_are_averaged():
    row, sensor = np.array([0, 0, 1]), np.array([0, 0, 1])
    mean, count = average_cells(row, sensor, np.array([1.0, 2.0, 5.0]), (2, 2))
    assert np.array_equal(mean, [[1.5, np.nan], [np.nan, 5.0]], equal_nan=True)
    assert count.tolist() == [[2, 0], [0, 1]]


@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=40, unique=True),
    st.integers(2, 60),
)
def test_rows_are_ascending_and_their_times_lead_back(steps, longest):
    taken = np.sort(np.array(steps)) - min(steps)
    grid = Grid(5.0, 2.0, longest, taken)
    assert grid.n_rows <= (len(steps) - 1) * longest + 1
    time = grid.find_times()
    assert np.all(np.diff(time) > 0)
    assert np.array_equal(grid.find_rows(time), np.arange(grid.n_rows))
    assert np.array_equal(time[grid.rows], 5.0 + 2.0 * taken)


def test_later_times_extend_a_grid_and_leave_its_rows():
    grid = make_grid(np.zeros(10, int), 60.0 * np.arange(10), longest=20)
    more = grid.extend(np.array([120.0, 900.0, 1e9]))
    assert np.array_equal(more.rows[:10], grid.rows)
    assert more.find_rows(np.array([900.0, 1e9])).tolist() == [15, 35]


def test_no_readings_are_refused():
    with pytest.raises(ValueError, match="readings must not be empty"):
        make_grid(np.zeros(0, int), np.zeros(0))
