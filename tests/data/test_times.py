"""Times as numbers."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.data.times import (
    PERIODS,
    are_times,
    format_times,
    on_circle,
    seconds,
    to_seconds,
)

MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))


@given(MOMENTS)
def test_text_time_and_array_agree(moment):
    own = moment.replace(tzinfo=UTC).timestamp()
    assert seconds(moment) == pytest.approx(own, abs=1e-5)
    assert seconds(moment.isoformat()) == seconds(moment)
    array = np.array([moment], "datetime64[us]")
    np.testing.assert_allclose(to_seconds(array), own, rtol=0, atol=1e-5)


@given(MOMENTS, st.integers(-12, 14))
def test_zones_do_not_change_the_moment(moment, hours):
    zoned = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=hours)))
    assert seconds(zoned.isoformat()) == seconds(moment)


@given(MOMENTS, st.sampled_from(sorted(PERIODS)), st.integers(-1000, 1000))
def test_what_comes_round_again_is_the_same_point(moment, part, times):
    value = np.array([seconds(moment)])
    later = value + times * PERIODS[part]
    np.testing.assert_allclose(
        on_circle(later, part), on_circle(value, part), atol=1e-5
    )
    np.testing.assert_allclose((on_circle(value, part) ** 2).sum(), 1.0)


@pytest.mark.parametrize(
    "cell", ["", "soon", "20240101", "2024", "1.5", 7, None, "2024-99-01"]
)
def test_what_is_no_time(cell):
    assert np.isnan(seconds(cell))


def test_days_and_months():
    assert seconds(date(1970, 1, 2)) == seconds("1970-01-02") == 86400.0
    assert seconds("1970-02") == 31 * 86400.0
    assert format_times(np.array([seconds("2024-02-29T12:30:00")])) == [
        "2024-02-29T12:30:00"
    ]


def test_a_column_of_times_is_recognised():
    assert are_times(["", "2024-01-01", "2024-01-02", "x"])
    assert not are_times(["1", "2"])
    assert not are_times(["", ""])
    assert are_times(np.array(["2024-01-01"], "datetime64[s]"))
    assert not are_times(np.array([1.0]))
