"""Times as numbers."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.data.table import to_words
from halk.data.times import (
    PERIODS,
    are_times,
    as_epoch,
    form_of,
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
    "cell",
    [
        "",
        "soon",
        "20240101",
        "2024",
        "1.5",
        7,
        None,
        "2024-99-01",
        "24-01-02",
        "1/2/2024",
        "31.12.2023 24:01",
        "2024-01-01 13:00 PM",
    ],
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
    assert are_times(to_words(["", "2024-01-01", "2024-01-02", "x"]))
    assert not are_times(to_words(["1", "2"]))
    assert not are_times(to_words(["", ""]))
    assert are_times(np.array(["2024-01-01"], "datetime64[s]"))
    assert not are_times(np.array([1.0]))


@pytest.mark.parametrize(
    ("cell", "same"),
    [
        ("31.12.2023 24:00", "2024-01-01"), ("1.2.2024", "2024-02-01"),
        ("01.02.24 05:30", "2024-02-01T05:30"), ("2024/2/1 5:30", "2024-02-01T05:30"),
        ("1-Feb-2024", "2024-02-01"), ("1 February 2024 06:00", "2024-02-01T06:00"),
        ("Feb 1, 2024 12:00 AM", "2024-02-01"), ("2024-02-01T05", "2024-02-01T05:00"),
        ("2024-02-01 12:00 PM", "2024-02-01T12:00"),
        ("2024-02-01 05:30:00.25 UTC", "2024-02-01T05:30:00.25"),
        ("2024-02-01T05:30-0600", "2024-02-01T11:30"),
        ("2024-02-01 05:30 +01", "2024-02-01T04:30"),
    ],
)  # fmt: skip
def test_times_as_people_write_them(cell, same):
    assert seconds(cell) == seconds(same)


@pytest.mark.parametrize(
    ("numbers", "first"),
    [
        ([1704067200, 1704070800], "2024-01-01T00:00:00"),
        ([1704067200000.0, np.nan], "2024-01-01T00:00:00"),
        ([20240131, 20240201], "2024-01-31T00:00:00"),
        ([2024013112], "2024-01-31T12:00:00"),
        ([202401311230], "2024-01-31T12:30:00"),
    ],
)
def test_numbers_that_are_times(numbers, first):
    values, what = as_epoch(np.array(numbers, dtype=float))
    assert what
    assert format_times(values[:1]) == [first]


@pytest.mark.parametrize("numbers", [[0, 5, 10], [1e5, 2e5], [20241301], [-1.7e9, 1e9]])
def test_numbers_that_are_no_times(numbers):
    assert as_epoch(np.array(numbers, dtype=float))[1] == ""


@given(st.datetimes(datetime(1971, 1, 1), datetime(2068, 1, 1)),
       st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p",
                        "%H:%M %d-%b-%Y", "%d %B %Y", "%Y%m%d%H%M"]))  # fmt: skip
def test_times_are_written_as_others_are(when, form):
    """What ``form_of`` finds writes the time it was found in again."""
    text = when.strftime(form)
    order = "mdy" if form.startswith("%m") else ""
    if form in ("%H:%M %d-%b-%Y", "%Y%m%d%H%M"):
        assert form_of(text, order) == ""
        return
    found = form_of(text, order)
    assert format_times(np.array([seconds(text, order)]), found) == [text]
