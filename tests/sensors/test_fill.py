"""Filling: what is added, what never changes, and in what layout it comes back."""

import csv

import numpy as np
import pytest

import halk
from halk.data import DataError
from halk.sensors import fill_table
from tests.sensors.network import as_long, as_wide, clocked, profiles

ADDED = ("filled", "std", "low", "high", "method", "fqc")


@pytest.fixture(scope="module")
def hourly():
    """Return hourly readings, times, sensors and a model of them."""
    y, times, sensors = clocked()
    wide = as_wide(y, times, sensors["sensor"])
    return y, times, sensors, halk.fit(wide, sensors, method="linear", quick=True)


def numbers(cells):
    return np.array([np.nan if c in (None, "") else float(c) for c in cells])


def test_wide_comes_back_wide_with_six_columns_per_sensor(hourly):
    y, times, sensors, model = hourly
    wide = as_wide(y, times, sensors["sensor"])
    made = model.fill(wide)
    names = sensors["sensor"]
    added = [f"{name}_{end}" for end in ADDED for name in names]
    assert list(made) == ["time", *names, *added]
    assert list(made["time"]) == times
    for i, name in enumerate(names):
        np.testing.assert_array_equal(numbers(made[name]), y[:, i])
        filled, there = numbers(made[f"{name}_filled"]), ~np.isnan(y[:, i])
        np.testing.assert_array_equal(filled[there], y[there, i])
        assert np.isfinite(filled).all()
        methods = np.asarray(made[f"{name}_method"])
        assert set(methods[there]) == {"reading"}
        assert set(methods[~there]) == {model.comparison.chosen}


def test_long_comes_back_long(hourly):
    y, times, sensors, _ = hourly
    long = as_long(y, times, sensors["sensor"]) | {"note": ["x"] * y.size}
    model = halk.fit(long, sensors, method="linear", quick=True)
    made = model.fill(long)
    added = [f"t_C_{end}" for end in ADDED]
    assert list(made) == ["time", "sensor", "t_C", "note", *added]
    for name in ("time", "sensor", "note"):
        assert list(made[name]) == long[name]
    np.testing.assert_array_equal(numbers(made["t_C"]), numbers(long["t_C"]))
    assert np.isfinite(np.asarray(made["t_C_filled"], float)).all()


def test_readings_have_class_0_and_estimates_follow_their_width(hourly):
    y, times, sensors, model = hourly
    made = fill_table(model, as_wide(y, times, sensors["sensor"]))
    assert (made.quality[~made.is_gap] == 0).all()
    half = (made.high - made.low)[made.is_gap] / 2
    who = np.flatnonzero(made.is_gap) % len(sensors["sensor"])
    relative = half / model.std_of_sensors()[who]
    wanted = 1 + (relative >= 0.5) + (relative >= 1)
    np.testing.assert_array_equal(made.quality[made.is_gap], wanted)
    assert np.isnan(made.std[~made.is_gap]).all()


def test_filling_a_filled_table_changes_nothing(hourly):
    y, times, sensors, model = hourly
    once = model.fill(as_wide(y, times, sensors["sensor"]))
    twice = model.fill(once)
    assert list(once) == list(twice)
    for name, cells in once.items():
        np.testing.assert_array_equal(np.asarray(cells), np.asarray(twice[name]))


def test_absent_timestamps_get_rows_and_all_others_stay(hourly):
    y, times, sensors, model = hourly
    names = sensors["sensor"]
    kept = [k for k in range(len(times)) if k % 7 != 3]
    wide = as_wide(y[kept], [times[k] for k in kept], names)
    made = model.fill(wide, every="1h")
    assert [str(t)[:16] for t in made["time"]] == [t[:16] for t in times]
    for i, name in enumerate(names):
        filled = numbers(made[f"{name}_filled"])
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(numbers(made[name])[kept], y[kept, i])
        assert np.isnan(numbers(made[name])[3::7]).all()


def test_absent_timestamps_of_one_sensor_in_a_long_table(hourly):
    y, times, sensors, _ = hourly
    long = as_long(y, times, sensors["sensor"])
    is_gone = [k % 6 == 1 and k < 600 for k in range(len(long["time"]))]
    short = {n: [c for c, gone in zip(cells, is_gone, strict=True) if not gone]
             for n, cells in long.items()}  # fmt: skip
    made = fill_table(
        halk.fit(long, sensors, method="linear", quick=True), short, every="1h"
    )
    assert made.n_added == sum(is_gone)
    assert len(made.value) == len(long["time"])
    assert np.isfinite(made.value).all()


def test_long_gaps_stay_empty_if_asked():
    y, times, sensors = clocked(missing=0.0)
    y[50:53, 0] = np.nan  # 3 hours
    y[100:110, 0] = np.nan  # 10 hours
    y[-4:, 1] = np.nan  # at the end
    wide = as_wide(y, times, sensors["sensor"])
    model = halk.fit(wide, sensors, method="linear", quick=True)
    for limit, wanted in (("2h", 0), ("3h", 3), ("4h", 7), ("9.9h", 7), ("10h", 17)):
        made = fill_table(model, wide, max_gap=limit)
        assert made.n_filled == wanted
        empty = made.is_gap & np.isnan(made.value)
        assert (made.method[empty] == "").all()
        assert np.isnan(made.quality[empty]).all()


def test_readings_of_the_table_that_the_model_does_not_know_are_used(hourly):
    y, times, sensors, _ = hourly
    names = sensors["sensor"]
    early = as_wide(y, times, names, slice(0, 200))
    model = halk.fit(early, sensors, method="linear", quick=True)
    late = y.copy()
    late[220, 0] = np.nan
    late[219, 0], late[221, 0] = 40.0, 42.0
    before = model.readings.y.copy()
    made = model.fill(as_wide(late, times, names))
    assert float(made["s0_filled"][220]) == pytest.approx(41.0)
    np.testing.assert_array_equal(model.readings.y, before)  # nothing is learned


def test_a_station_that_is_not_there_gets_a_series(hourly):
    y, times, sensors, model = hourly
    at = sensors["lat"][2], sensors["lon"][2]
    made = fill_table(model, as_wide(y, times, sensors["sensor"]), at=at)
    assert len(made.value) == len(times)
    assert np.isfinite(made.value).all()
    assert set(made.table.cells(model.schema.sensor)) == {f"at {at[0]:g},{at[1]:g}"}
    assert len(model.sensors.names) == 6


def test_frames_come_back_as_frames(hourly):
    pandas = pytest.importorskip("pandas")
    y, times, sensors, model = hourly
    wide = pandas.DataFrame(as_wide(y, times, sensors["sensor"]))
    wide.index = wide.index + 100
    made = model.fill(wide)
    assert list(made.index) == list(wide.index)
    pandas.testing.assert_frame_equal(made[wide.columns], wide)
    longer = model.fill(wide.drop(wide.index[5:8]), every="1h")
    assert len(longer) == len(wide)
    assert longer["s0_filled"].notna().all()


def test_netcdf_has_flags_as_the_conventions_want_them(hourly, tmp_path):
    xarray = pytest.importorskip("xarray")
    y, times, sensors, model = hourly
    made = fill_table(model, as_wide(y, times, sensors["sensor"]))
    columns, attributes = made.netcdf()
    path = tmp_path / "filled.nc"
    halk.data.write_table(
        made.table, made.schema, columns, path, made.sensors, attributes
    )
    with xarray.open_dataset(path) as found:
        target = model.schema.target
        quality = found[f"{target}_fqc"]
        assert quality.dtype.kind == "i"
        assert list(quality.attrs["flag_values"]) == [0, 1, 2, 3, 4]
        meanings = quality.attrs["flag_meanings"].split()
        assert len(meanings) == 5
        method = found[f"{target}_method"]
        labels = np.array(method.attrs["flag_meanings"].split())[method.values]
        assert (labels[~made.is_gap] == "reading").all()
        assert f"{target}_fqc" in found[target].attrs["ancillary_variables"].split()
        np.testing.assert_allclose(found[f"{target}_filled"], made.value)


def test_points_of_profiles_need_no_values():
    readings, sensors = profiles()
    model = halk.fit(readings, sensors, method="linear", quick=True)
    made = model.fill({"sensor": ["s0", "s1"], "depth_m": [0.5, 99.0]})
    assert np.isfinite(np.asarray(made["t_C_filled"], float)).all()
    assert float(made["t_C_fqc"][1]) == 3  # far outside all that was read


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": "1h"}, "every needs an input that is a time; inputs are depth_m"),
        ({"max_gap": "1h"}, "max_gap needs an input that is a time"),
        ({"causal": True}, "causal needs an input that is a time"),
    ],
)
def test_what_needs_a_time_says_so(options, words):
    readings, sensors = profiles(n_sensors=3)
    model = halk.fit(readings, sensors, method="linear", quick=True)
    with pytest.raises(DataError, match=words):
        model.fill(readings, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": "often"}, "every must be a length of time such as 30min, 6h or 1d"),
        ({"every": "0h"}, "every must be a length of time"),
        ({"every": "1s"}, "makes .* times; the most is"),
        ({"max_gap": "-1h"}, "max_gap must be a length of time"),
        ({"at": (100.0, 25.0)}, "at must be latitude, longitude.*swapped"),
        ({"at": (1.0, float("nan"))}, "at must be two numbers"),
    ],
)
def test_wrong_options_are_refused(hourly, options, words):
    y, times, sensors, model = hourly
    many = as_wide(y, times, sensors["sensor"])
    if options == {"every": "1s"}:
        many = many | {
            "time": [f"{1000 + k}-01-01T00:00:00" for k in range(len(times))]
        }
    with pytest.raises(ValueError, match=words):
        model.fill(many, **options)


def test_a_station_needs_places_of_others(hourly):
    y, times, sensors, _ = hourly
    wide = as_wide(y, times, sensors["sensor"])
    model = halk.fit(wide, method="linear", quick=True)
    with pytest.raises(DataError, match="at needs places of sensors"):
        model.fill(wide, at=(25.0, -90.0))


def test_wide_csv_keeps_its_cells(hourly, tmp_path):
    y, times, sensors, model = hourly
    path, out = tmp_path / "wide.csv", tmp_path / "filled.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        wide = as_wide(y, times, sensors["sensor"])
        writer.writerow(wide)
        writer.writerows(zip(*wide.values(), strict=True))
    made = fill_table(model, path)
    halk.data.write_table(made.table, made.schema, made.columns, out)
    before, after = path.read_text().splitlines(), out.read_text().splitlines()
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert other.startswith(one + ";")


def test_excel_comes_back_as_excel(hourly, tmp_path):
    calamine = pytest.importorskip("python_calamine")
    y, times, sensors, model = hourly
    made = fill_table(model, as_wide(y, times, sensors["sensor"]))
    paths = [tmp_path / "a.xlsx", tmp_path / "b.xlsx"]
    for path in paths:
        halk.data.write_table(made.table, made.schema, made.columns, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    rows = calamine.CalamineWorkbook.from_path(paths[0]).get_sheet_by_index(0)
    header, *cells = rows.to_python()
    plain = model.fill(as_wide(y, times, sensors["sensor"]))
    assert header == list(plain)
    found = [np.datetime64(row[0]) for row in cells]
    assert found == [np.datetime64(time) for time in times]
    for k, name in enumerate(header[1:], 1):
        got = [row[k] for row in cells]
        if name.endswith("_method"):
            assert got == list(plain[name])
        else:
            np.testing.assert_allclose(numbers(got), numbers(plain[name]))
    again = fill_table(model, paths[0])  # and is read as it was written
    np.testing.assert_allclose(again.value, made.value)


def test_a_sheet_has_an_end(hourly, tmp_path, monkeypatch):
    y, times, sensors, model = hourly
    made = fill_table(model, as_wide(y, times, sensors["sensor"]))
    monkeypatch.setattr("halk.data.excel.MOST_ROWS", 200)
    with pytest.raises(halk.HalkError, match=r"holds 200 rows .* got 241 and 43"):
        halk.data.write_table(
            made.table, made.schema, made.columns, tmp_path / "a.xlsx"
        )
    assert list(tmp_path.iterdir()) == []


def test_causal_estimates_do_not_know_what_comes_later(hourly):
    y, times, sensors, _ = hourly
    names = sensors["sensor"]
    model = halk.fit(
        as_wide(y, times, names, slice(0, 160)), sensors, method="neighbours",
        quick=True,
    )  # fmt: skip
    other = y.copy()
    other[200:] += 3.0
    pair = [
        fill_table(model, as_wide(table, times, names), causal=True)
        for table in (y, other)
    ]
    early = slice(0, 200 * len(names))
    assert pair[0].is_gap[early].sum() > 50
    np.testing.assert_array_equal(pair[0].value[early], pair[1].value[early])
    both = [fill_table(model, as_wide(table, times, names)) for table in (y, other)]
    assert not np.array_equal(both[0].value[early], both[1].value[early])


def test_a_station_beside_a_sensor_reads_nearly_the_same(hourly):
    y, times, sensors, _ = hourly
    wide = as_wide(y, times, sensors["sensor"])
    made = {}
    for coverage in (0.5, 0.9):
        model = halk.fit(
            wide, sensors, method="neighbours", quick=True, coverage=coverage
        )
        at = sensors["lat"][2] + 1e-3, sensors["lon"][2] + 1e-3
        made[coverage] = fill_table(model, wide, at=at)
    there = ~np.isnan(y[:, 2])
    miss = made[0.9].value[there] - y[there, 2]
    assert np.abs(miss).mean() < 0.3 * y[there, 2].std()
    width = {c: (one.high - one.low)[there] for c, one in made.items()}
    np.testing.assert_allclose(width[0.5] / width[0.9], 0.6745 / 1.6449, rtol=1e-3)
    assert (made[0.9].method == "neighbours").all()
