"""Simple methods: right where the answer is known, blind to what is hidden."""

import numpy as np
import pytest

from halk.data import Readings
from halk.sensors import scattered, simple
from halk.sensors.methods import METHODS
from tests.sensors.made import (
    HOUR,
    START,
    draw_profiles,
    draw_shared,
    draw_walks,
    make_series,
    make_site,
    take,
)

SERIES = (simple.SensorMean, simple.Linear, simple.InverseDistance, simple.Kriging)
PROFILES = (
    simple.SensorMean, simple.Linear, scattered.InverseDistance, scattered.Kriging,
)  # fmt: skip


def fit(cls, site, rows):
    """Return a method that has taken in readings."""
    method = cls(site)
    method.fit(rows)
    return method


@pytest.fixture(scope="module")
def shared():
    """Return eight sensors that jump together, with a third of the readings hidden."""
    site = make_site(8)
    rows = make_series(draw_shared(site, 300))
    hidden = np.random.default_rng(5).random(len(rows.y)) < 0.3
    return site, rows, hidden


@pytest.fixture(scope="module")
def deep():
    """Return profiles of eight sensors, with a third of the readings hidden."""
    site = make_site(8, depth=True)
    rows, _ = draw_profiles(site)
    hidden = np.random.default_rng(5).random(len(rows.y)) < 0.3
    return site, rows, hidden


def test_mean_is_the_sensors_and_causally_that_of_its_past():
    """By hand: a sensor without readings takes all, without a past the others'."""
    site = make_site(3)
    rows = make_series(np.array([[1.0, 10, np.nan], [3, 10, np.nan], [8, 40, np.nan]]))
    method = fit(simple.SensorMean, site, rows)
    x = START + HOUR * np.array([[2.0], [2], [2]])
    assert method.estimate(np.arange(3), x).value.tolist() == [4, 20, 12]
    x = START + HOUR * np.array([[1.0], [0.5], [0.5]])
    causal = method.estimate(np.arange(3), x, causal=True).value
    assert causal.tolist() == [2, 10, 5.5]


def test_linear_is_straight_between_readings_and_causally_the_last():
    """Beyond the ends, and for sensors without readings, too."""
    site = make_site(2)
    rows = make_series(np.array([[0.0, 7], [np.nan, np.nan], [np.nan, 7], [6, 7]]))
    method = fit(simple.Linear, site, rows)
    x = START + HOUR * np.array([[1.0], [2.5], [9], [-3]])
    sensor = np.zeros(4, int)
    assert method.estimate(sensor, x).value == pytest.approx([2, 5, 6, 0])
    causal = method.estimate(sensor[:3], x[:3], causal=True).value
    assert causal.tolist() == [0, 0, 6]


def test_inverse_distance_is_exact_where_neighbours_are_alike(shared):
    """Sensors that differ by level and scale only are filled without error."""
    site, _, hidden = shared
    common = np.random.default_rng(0).normal(size=300)
    same = make_series(common[:, None] * np.arange(1, 9) + np.arange(8))
    method = fit(simple.InverseDistance, site, take(same, ~hidden))
    found = method.estimate(same.sensor[hidden], same.x[hidden]).value
    # means and stds are those of the readings there are, hence not quite exact
    assert np.abs(found - same.y[hidden]).mean() < 0.1 * same.y.std()


def test_inverse_distance_interpolates_where_nobody_reads():
    """An outage of all is what straight lines are for."""
    site = make_site(3)
    y = np.arange(30.0)[:, None] + np.arange(3)
    y[10:14] = np.nan
    method = fit(simple.InverseDistance, site, make_series(y))
    x = np.full((1, 1), START + 12 * HOUR)
    assert method.estimate(np.array([1]), x).value == pytest.approx([13])


def test_kriging_knows_neighbours_and_itself(shared):
    """Better than each alone on shared shocks; as good as lines on random walks."""
    site, rows, hidden = shared
    error = {}
    for cls in SERIES:
        found = fit(cls, site, take(rows, ~hidden))
        values = found.estimate(rows.sensor[hidden], rows.x[hidden]).value
        error[cls] = np.abs(values - rows.y[hidden]).mean()
    assert error[simple.Kriging] < 0.8 * error[simple.InverseDistance]
    assert error[simple.Kriging] < 0.3 * error[simple.Linear]
    walks = make_series(draw_walks(8, 300))
    values = {
        cls: fit(cls, site, take(walks, ~hidden)).estimate(
            walks.sensor[hidden], walks.x[hidden]
        ).value
        for cls in (simple.Kriging, simple.Linear)
    }  # fmt: skip
    error = {c: np.abs(v - walks.y[hidden]).mean() for c, v in values.items()}
    assert error[simple.Kriging] < 1.1 * error[simple.Linear]


def test_kriging_std_is_that_of_its_errors(shared):
    """Standardised errors have a std of about one."""
    site, rows, hidden = shared
    found = fit(simple.Kriging, site, take(rows, ~hidden)).estimate(
        rows.sensor[hidden], rows.x[hidden]
    )
    scores = (found.value - rows.y[hidden]) / found.std
    assert 0.5 < scores.std() < 2


def test_kriging_of_inputs_is_near_the_noise(deep):
    """On a smooth field in depth and place; its std says so."""
    site, rows, hidden = deep
    found = fit(scattered.Kriging, site, take(rows, ~hidden)).estimate(
        rows.sensor[hidden], rows.x[hidden]
    )
    error = found.value - rows.y[hidden]
    assert np.sqrt((error**2).mean()) < 0.04
    assert 0.5 < (error / found.std).std() < 1.5


def test_slope_of_the_likelihood_is_its_difference():
    """Central differences, in every number."""
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(30, 3)), rng.normal(size=30)
    theta = np.array([0.3, -0.2, 1.0, 0.1, -1.0])
    _, slope = scattered._likelihood(theta, X, z)
    for k in range(5):
        up, down = theta.copy(), theta.copy()
        up[k] += 1e-5
        down[k] -= 1e-5
        rise = scattered._likelihood(up, X, z)[0] - scattered._likelihood(down, X, z)[0]
        assert slope[k] == pytest.approx(rise / 2e-5, rel=1e-5)


def test_sensors_without_places_are_near_if_they_read_alike():
    """Two pairs that have nothing to do with each other."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 200))
    y = np.column_stack([one, other, one, other])
    rows = make_series(y + 0.1 * rng.normal(size=y.shape))
    site = make_site(4, places=False)
    kept = rng.random(len(rows.y)) > 0.2
    method = fit(simple.InverseDistance, site, take(rows, kept))
    assert method.distance[0, 2] < 0.7 < method.distance[0, 1]
    found = method.estimate(rows.sensor[~kept], rows.x[~kept]).value
    assert np.abs(found - rows.y[~kept]).mean() < 0.6  # means alone: 0.8


# laws of all simple methods


def estimates(cls, site, rows, asked, causal=False):
    """Return values and stds at points, in one array."""
    found = fit(cls, site, rows).estimate(asked.sensor, asked.x, causal=causal)
    return np.stack([found.value, found.std, found.bin])


def cases(shared, deep):
    """Return every method on the readings that suit it."""
    yield from ((cls, *shared) for cls in SERIES)
    yield from ((cls, *deep) for cls in PROFILES)


def test_order_of_rows_changes_nothing(shared, deep):
    """Bit for bit."""
    for cls, site, rows, hidden in cases(shared, deep):
        known, asked = take(rows, ~hidden), take(rows, hidden)
        order = np.random.default_rng(1).permutation(len(known.y))
        plain = estimates(cls, site, known, asked)
        mixed = estimates(cls, site, take(known, order), asked)
        assert np.array_equal(plain, mixed, equal_nan=True)


def test_units_carry_over(shared, deep):
    """Readings times 9/5 and plus 32 give estimates times 9/5 and plus 32."""
    for cls, site, rows, hidden in cases(shared, deep):
        known, asked = take(rows, ~hidden), take(rows, hidden)
        celsius = estimates(cls, site, known, asked)
        warm = Readings(known.sensor, known.x, 1.8 * known.y + 32)
        fahrenheit = estimates(cls, site, warm, asked)
        assert fahrenheit[0] == pytest.approx(1.8 * celsius[0] + 32, abs=1e-4)
        assert fahrenheit[1] == pytest.approx(1.8 * celsius[1], abs=1e-4, nan_ok=True)


def test_the_future_changes_nothing_causally(shared):
    """Readings after a time may be anything; ranges and powers are given."""
    site, rows, hidden = shared
    known = take(rows, ~hidden)
    half = START + 150 * HOUR
    asked = take(rows, hidden & (rows.x[:, 0] <= half))
    poison = known.y + 5 * (known.x[:, 0] > half) * np.sin(known.x[:, 0])
    other = Readings(known.sensor, known.x, poison)
    for cls in SERIES:
        methods = [fit(cls, site, one) for one in (known, other)]
        for name in ("power", "ranges"):
            if hasattr(methods[0], name):
                setattr(methods[1], name, getattr(methods[0], name))
        plain, poisoned = (
            m.estimate(asked.sensor, asked.x, causal=True).value for m in methods
        )
        assert poisoned == pytest.approx(plain, abs=1e-9)


def test_a_code_for_missing_values_is_left_out(shared):
    """One reading of -9999 moves nobody's estimates."""
    site, rows, hidden = shared
    known, asked = take(rows, ~hidden), take(rows, hidden)
    y = known.y.copy()
    y[100] = -9999.0
    kept = np.arange(len(y)) != 100
    for cls in SERIES:
        plain = estimates(cls, site, take(known, kept), asked)
        poisoned = estimates(cls, site, Readings(known.sensor, known.x, y), asked)
        assert np.array_equal(plain, poisoned, equal_nan=True)


def test_one_name_serves_series_and_profiles(shared, deep):
    """Kriging is in time for the ones, over depth for the others."""
    for (site, rows, hidden), module in ((shared, simple), (deep, scattered)):
        method = METHODS["kriging"].make(site, {})
        method.fit(take(rows, ~hidden))
        assert type(method.method) is module.Kriging
        assert method.name == "kriging"
