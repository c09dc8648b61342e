"""Ugly files hold the same readings, and go out again as they came."""

import csv
import io
from datetime import UTC
from pathlib import Path

import numpy as np
import pytest

from halk.cli import main
from halk.data import Asked, add_rows, examine, read_more, write_csv, write_table
from tests.data.ugly import FILES, NAMES, readings, sensors

pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")
pytest.importorskip("xarray")

ANSWERS = {
    "calendar.csv": {"flags": "temp_qc", "good": ("1",)},
    "flags_beside.csv": {"flags": "_flag", "good": ("V",)},
    "two_values.csv": {"target": "temp"},
}
FLAGGED = ("calendar.csv", "flags_beside.csv")
MISSING = {"logger.txt": [-999.0], "two_values.csv": [-9999.0]}
SAID = {
    "german_wide.csv": {"encoding", "preamble", "gaps"},
    "american_long.csv": {"unused", "gaps"},
    "erddap.csv": {"gaps"},
    "logger.txt": {"comments", "gaps"},
    "calendar.csv": {"flagged", "gaps"},
    "epoch.csv": {"epoch", "gaps"},
    "pandas_wide.csv": {"gaps"},
    "sheet.xlsx": {"sheets", "preamble", "gaps"},
    "stations.nc": {"gaps"},
    "german_units.csv": {"encoding", "preamble", "gaps"},
    "hours_of_day.csv": {"gaps"},
    "two_values.csv": {"flags", "unused", "gaps"},
    "flags_beside.csv": {"flagged", "gaps"},
}
"""All that is said about each file: nothing is done in silence."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, make in FILES.items():
        Path(name).write_bytes(make())
    Path("sensors.csv").write_text(sensors(), encoding="utf-8")
    return tmp_path


def examined(name, path=None, chart="sensors.csv"):
    asked = Asked(**ANSWERS.get(name, {}))
    return examine(path or name, chart, asked, MISSING.get(name, ()))


def as_grid(found):
    """Return readings as times (N,) and values (N, 3), sensors as they were made."""
    rows, V = found.readings, len(NAMES)
    times, at = np.unique(rows.x[:, 0], return_inverse=True)
    values = np.full((len(times), V), np.nan)
    values[at, rows.sensor] = rows.y
    return times, values[:, [found.sensors.names.index(name) for name in NAMES]]


def truth(name):
    times, values = readings()
    if name in FLAGGED:
        values = values.copy()
        values[30, 0] = np.nan  # its flag says it is bad
    return np.array([t.replace(tzinfo=UTC).timestamp() for t in times]), values


@pytest.mark.parametrize("name", SAID)
def test_they_hold_the_same_readings(name):
    found = examined(name)
    assert found.findings.of("error") == []
    assert {one.code for one in found.findings.found} == SAID[name]
    times, values = as_grid(found)
    np.testing.assert_array_equal(times, truth(name)[0])
    np.testing.assert_array_equal(values, truth(name)[1])
    assert found.sensors.names == NAMES
    assert found.schema.unit in ("", "°C", "degC", "degree_C", "µg/m³")


@pytest.mark.parametrize("name", SAID)
def test_what_is_wide_or_long_is_seen_without_the_sensors(name):
    found = examined(name, chart=None)
    assert found.findings.of("error") == []
    np.testing.assert_array_equal(as_grid(found)[1], truth(name)[1])


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("end", [".csv", ".csv.gz", ".parquet", ".nc"])
def test_they_go_out_again_with_columns_added(name, end):
    found = examined(name)
    schema, out = found.schema, Path(f"filled{end}")
    n = len(found.readings.y)
    added = {f"{schema.target}_std": np.arange(n) / 8}
    write_table(found.table, schema, added, out, found.sensors)
    if end in (".parquet", ".nc") and not found.table.wide:
        return  # read again below, by its columns
    if end == ".nc" and name == "flags_beside.csv":
        return  # stations have no flags of their own in what is written
    again = examined(name, out)
    times, values = as_grid(again)
    np.testing.assert_array_equal(times, truth(name)[0])
    np.testing.assert_allclose(values, truth(name)[1], rtol=1e-12)


@pytest.mark.parametrize("name", ["german_wide.csv", "calendar.csv", "epoch.csv"])
def test_text_is_written_as_it_came(name):
    found = examined(name)
    file = io.StringIO()
    std = np.full(len(found.readings.y), 0.5)
    write_csv(found.table, found.schema, {f"{found.schema.target}_std": std}, file)
    encoding = "latin-1" if "german" in name else "utf-8"
    came = Path(name).read_bytes().decode(encoding).splitlines()
    came = came[3:] if "german" in name else came
    delimiter = found.table.delimiter
    more = 3 if found.table.wide else 1
    text = "0,5" if "german" in name else "0.5"
    assert [row.split(delimiter)[-more:] for row in file.getvalue().splitlines()][
        1:
    ] == [[text] * more] * (len(came) - 1)
    kept = [row.split(delimiter)[:-more] for row in file.getvalue().splitlines()]
    assert kept == [row.split(delimiter) for row in came]


@pytest.mark.parametrize("name", [name for name in SAID if name != "stations.nc"])
def test_rows_are_added_in_their_place_and_writing(name):
    found = examined(name)
    times = truth(name)[0]
    later = np.array([times[-1] + 3600.0, times[0] - 3600.0])
    longer = add_rows(found.table, found.schema, ["001", "south pier"], later)
    rows = read_more(
        longer, found.schema, found.sensors, MISSING.get(name, ())
    ).readings
    per_time = 3 if found.table.wide else 1
    assert len(rows.y) == len(found.readings.y) + 2 * per_time
    new = np.isin(rows.x[:, 0], later)
    assert new.sum() == 2 * per_time
    assert np.isnan(rows.y[new]).all()
    assert (np.diff(rows.x[:, 0]) >= 0).all()
    if not found.table.wide:
        assert [found.sensors.names[i] for i in rows.sensor[new]] == [
            "south pier",
            "001",
        ]


def test_rows_are_added_sensor_by_sensor():
    columns = {
        "station": ["b", "b", "a", "a"],
        "time": ["2024-01-01", "2024-01-03", "2024-01-01", "2024-01-03"],
        "t_C": [1.0, 2.0, 3.0, 4.0],
    }
    found = examine(columns)
    absent = np.full(2, found.readings.x[0, 0] + 86400.0)
    longer = add_rows(found.table, found.schema, ["a", "b"], absent)
    assert longer.cells("station").tolist() == ["b"] * 3 + ["a"] * 3
    assert longer.cells("time").tolist() == [f"2024-01-0{d}" for d in (1, 2, 3)] * 2


def test_rows_are_added_below_where_there_is_no_order():
    columns = {"time": ["2024-01-03", "2024-01-01"], "a": [1.0, 2.0], "b": [3.0, 4.0]}
    found = examine(columns, None, Asked(wide=True))
    longer = add_rows(found.table, found.schema, ["a"], found.readings.x[:1, 0] - 86400)
    days = [f"2024-01-0{d}" for d in (3, 1, 2)]
    assert longer.origin.cells("time").tolist() == days
    assert longer.cells("time").tolist() == np.repeat(days, 2).tolist()


def test_a_longer_table_is_written_in_one_form():
    found = examined("german_wide.csv")
    later = np.array([truth("")[0][-1] + 3600.0])
    longer = add_rows(found.table, found.schema, ["001"], later)
    file = io.StringIO()
    std = np.zeros(longer.n_rows)
    write_csv(longer, found.schema, {"value_std": std}, file)
    last = list(csv.reader(io.StringIO(file.getvalue()), delimiter=";"))[-1]
    assert last == ["31.03.2024 22:00", "", "", "", "0", "0", "0"]


def test_a_netcdf_file_keeps_what_it_was():
    xarray = pytest.importorskip("xarray")
    found = examined("stations.nc")
    n = len(found.readings.y)
    added = {"temperature_std": np.ones(n), "temperature_fqc": np.zeros(n, np.int8)}
    flags = {"temperature_fqc": {"flag_values": [0, 1], "flag_meanings": "read filled"}}
    write_table(found.table, found.schema, added, Path("f.nc"), None, flags)
    before, after = (xarray.load_dataset(path) for path in ("stations.nc", "f.nc"))
    assert set(after) - set(before) == set(added)
    assert after["temperature_std"].attrs["units"] == "degC"
    assert after["temperature_fqc"].attrs["flag_meanings"] == "read filled"
    assert "temperature_std" in after["temperature"].attrs["ancillary_variables"]
    assert after.attrs["featureType"] == "timeSeries"


def test_a_file_of_text_becomes_stations():
    xarray = pytest.importorskip("xarray")
    found = examined("logger.txt")
    std = np.ones(len(found.readings.y))
    write_table(
        found.table, found.schema, {"degC_std": std}, Path("f.nc"), found.sensors
    )
    made = xarray.load_dataset("f.nc")
    assert made.attrs["featureType"] == "timeSeries"
    assert made["site"].attrs["cf_role"] == "timeseries_id"
    assert made["lat"].dims == ("station",)
    again = examine("f.nc", None, Asked(target="degC"), [-999.0])
    np.testing.assert_array_equal(as_grid(again)[1], truth("")[1])


@pytest.mark.parametrize("name", FILES)
def test_doctor_says_it_in_words(capsys, name):
    answers = [
        text
        for option, answer in ANSWERS.get(name, {}).items()
        for text in (f"--{option}", answer if isinstance(answer, str) else answer[0])
    ]
    for code in MISSING.get(name, ()):
        answers += ["--missing", f"{code:g}"]
    answers = ["--dates", "dmy", "--decimal", "comma"] if "unclear" in name else answers
    chart = [] if "unclear" in name else ["--sensors", "sensors.csv"]
    if answers:
        code = main(["doctor", name, *chart])
        assert code == 1 or name in ANSWERS
        said = capsys.readouterr().out
        assert (
            any(word in said for word in answers if word.startswith("--")) or code == 0
        )
    assert main(["doctor", name, *chart, *answers]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_what_means_nothing_is_remembered():
    found = examined("logger.txt")
    again = read_more("logger.txt", found.schema, found.sensors)
    np.testing.assert_array_equal(again.readings.y, found.readings.y)
    saved = type(found.schema).from_dict(found.schema.as_dict())
    assert saved == found.schema
