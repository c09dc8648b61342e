"""Every mistake in a table has its message, with the place and what to do."""

import gzip
import os
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from halk.errors import HalkError
from halk.streams import DataError, read_ocean_table, read_table

HEADER = "node,lat,lon,depth_m,temp\n"
GOOD = HEADER + "a,29,-90,0,24.5\nb,25,-90,0,26\n"
WHERE = r"readings.csv, line 4, sensor 'b': "


def write(folder, content, name="readings.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path, message, **options):
    with pytest.raises(DataError, match=f"(?s){message}") as caught:
        read_table(path, **({"target": "temp"} | options))
    return str(caught.value)


CELLS = {
    "text": (
        "b,25,-90,deep,1",
        WHERE + "depth_m must be a finite number, got 'deep'; correct it",
    ),
    "text as target": ("b,25,-90,5,x", WHERE + "temp must be a finite number, got 'x'"),
    "empty input": (
        "b,25,-90,,1",
        WHERE + "depth_m must be .* got an empty cell; .*fill",
    ),
    "empty position": ("b,,-90,5,1", WHERE + "lat must be .* got an empty cell"),
    "empty sensor": (
        ",25,-90,5,1",
        "line 4: node must name a sensor, got an empty cell; fill it",
    ),
    "nan": (
        "b,25,-90,5,nan",
        WHERE + "temp must be .* got 'nan'; leave the target empty",
    ),
    "NA": ("b,25,-90,5,NA", WHERE + "temp must be .* got 'NA'; leave the target empty"),
    "infinite": (
        "b,25,-90,inf,1",
        WHERE + "depth_m must be a finite number, got 'inf'",
    ),
    "underscore": ("b,25,-90,1_0,1", WHERE + "depth_m must be .* got '1_0'"),
    "decimal comma": (
        'b,25,-90,"0,5",1',
        WHERE + ".* got '0,5'; write decimals with a",
    ),
    "date": (
        "b,25,-90,2020-01-31,1",
        WHERE + ".* got '2020-01-31'; write times as num",
    ),
    "latitude": (
        "c,95,-90,0,1",
        r"line 4, sensor 'c': lat must be within \[-90, 90\], got 95; .*swapped",
    ),
    "longitude": ("c,5,-190,0,1", r"lon must be within \[-180, 360\], got -190"),
    "moved": (
        "b,25,-91,5,1",
        WHERE
        + r"position must stay at \(25, -90\) of line 3, got \(25, -91\); correct",
    ),
    "repeated": (
        "b,25,-90,0.0,27",
        WHERE + "depth_m must differ from line 3, got 0 in both; keep one, take their",
    ),
    "repeated with the same value": ("b,25,-90,0,26", WHERE + "depth_m must differ"),
    "too many cells": (
        "b,25,-90,5,1,1",
        "line 4: row must have 5 cells, got 6; add or",
    ),
    "too few cells": ("b,25,-90,5", "line 4: row must have 5 cells, got 4; add or"),
    "open quote": ('b,25,-90,5,"1', "line 4: row must be CSV, .*is a quote left open"),
}


@pytest.mark.parametrize(("line", "message"), CELLS.values(), ids=CELLS.keys())
def test_broken_rows(tmp_path, line, message):
    refused(write(tmp_path, GOOD + line + "\n"), message)


HEADERS = {
    "typo": (
        GOOD,
        r"must hold 'tmp' \(target=, did you mean 'temp'\?\); got node,",
    ),
    "no target": (GOOD, r"header must hold a target \(give target=\); got node, lat"),
    "no sensor": (
        "q" + GOOD[1:],
        r"hold a sensor \(node, sensor,.*give sensor=\); got q",
    ),
    "no position": (
        GOOD.replace("lon", "l"),
        r"positions \(lat and lon, or x and y, or give position= or map=\); got",
    ),
    "no input": (
        GOOD.replace("depth_m", "d"),
        r"an input \(depth or time, or give inputs=\); got node, lat, lon, d",
    ),
    "all at once": (
        "a,b\n1,2\n",
        "hold a target .*; a sensor .*; positions .*; an input",
    ),
    "no header": (
        GOOD.removeprefix(HEADER),
        "first line must name the columns, got a, 29, -90, 0, 24.5; put a header above",
    ),
    "twice": (
        GOOD.replace("depth_m", "lat"),
        "columns must have different names, got twice 'lat'",
    ),
}


@pytest.mark.parametrize(("key", "content"), [(k, v[0]) for k, v in HEADERS.items()])
def test_broken_headers(tmp_path, key, content):
    target = {"typo": "tmp", "no target": None, "all at once": None}.get(key, "temp")
    refused(write(tmp_path, content), HEADERS[key][1], target=target)


def test_the_target_is_no_position(tmp_path):
    path = write(tmp_path, "node,time,x,y\na,1,2,3\nb,1,2,4\n")
    refused(path, "header must hold positions", target="y")


def test_a_name_that_only_begins_alike_is_another(tmp_path):
    path = write(tmp_path, GOOD.replace("depth_m", "depths"))
    refused(path, "header must hold an input")


@pytest.mark.parametrize("option", ["sensor", "target", "inputs"])
def test_columns_that_are_not_there(tmp_path, option):
    hint = r", did you mean 'depth_m'\?"
    message = rf"header must hold 'dpth_m' \({option}={hint}\); got"
    refused(write(tmp_path, GOOD), message, **{option: "dpth_m"})


FILES = {
    "empty": (b"", "readings.csv must not be empty, got 0 bytes"),
    "blank": (b" \n\n", "must not be empty"),
    "header only": (HEADER, "table must have rows, got a header only"),
    "comments only": (b"# nothing\n", "must begin with a header, got comments only"),
    "one sensor": (
        HEADER + "a,29,-90,0,1\na,29,-90,5,2\n",
        "a network must have at least two sensors, got one, 'a'",
    ),
    "no reading": (
        HEADER + "a,29,-90,0,\nb,25,-90,0,\n",
        "column temp must hold readings, got empty cells only",
    ),
    "binary": (GOOD.encode() + b"\0\1\2", "must be text, got a zero byte in line 4"),
    "latin-1": (
        GOOD.encode() + "é,25,-90,5,1".encode("latin-1"),
        "must be text in UTF-8, got byte 0xe9 in line 4; save it as UTF-8",
    ),
    "UTF-16": (GOOD.encode("utf-16"), "got text in UTF-16; save it as UTF-8"),
    "spreadsheet": (b"PK\x03\x04...", "got a spreadsheet or zip archive; save .* CSV"),
    "NetCDF": (b"CDF\x01...", "got a NetCDF file; give it to read"),
    "half a gzip": (
        gzip.compress(GOOD.encode())[:-9],
        "must be a whole gzip file, got:",
    ),
    "empty gzip": (gzip.compress(b""), "must not be empty, got an empty file in gzip"),
    "not Parquet": (b"PAR1 and more", "must be a Parquet file, got:"),
}


@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES.keys())
def test_broken_files(tmp_path, content, message):
    refused(write(tmp_path, content), message)


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    path = write(tmp_path, GOOD)
    near = tmp_path / "reading.csv"
    refused(near, r"must exist, got no such file, did you mean 'readings.csv'\?")
    refused(tmp_path / "no" / "file.csv", "must exist, got no folder .*no")
    refused(tmp_path, "must be a file, got a folder")

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    refused(path, "readings.csv must be readable, got: Permission denied")


def test_a_few_problems_are_listed_at_once(tmp_path):
    lines = "".join(f"b,25,-90,deep{k},1\n" for k in range(9))
    message = refused(write(tmp_path, GOOD + lines), "deep0")
    assert [part in message for part in ("deep4", "deep5", "line 8", "line 9")] == [
        *(True, False, True, False)
    ]
    assert message.splitlines()[5:] == [
        "... and 4 more",
        "correct it, or remove the row",
    ]


def test_lines_are_numbered_as_an_editor_does(tmp_path):
    text = "# a comment\n\n" + HEADER + '"a\nA",29,-90,0,1\n\nb,25,-90,x,1\n'
    refused(write(tmp_path, text), "line 7, sensor 'b'")
    refused(write(tmp_path, text.replace("\n", "\r\n")), "line 7, sensor 'b'")
    text = text.replace("90,0,1", "90,?,1")
    refused(write(tmp_path, text), r"line 4, sensor 'a\\nA'")


def test_rows_of_parquet_are_numbered_from_one(tmp_path):
    columns = {"node": ["a", "b"], "x": [0, 1], "y": [0, 1], "temp": [1.0, 2.0]}
    columns["time"] = [0.0, float("nan")]
    path = tmp_path / "readings.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, "readings.parquet, row 2, sensor 'b': time must be a finite number")
    columns["time"] = pyarrow.array([0, 1], pyarrow.timestamp("s"))
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, r"row 1, sensor 'a': time must be .*datetime.*write times as numbers")
    columns["time"] = pyarrow.array([1, 2], pyarrow.timestamp("ns"))
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, "row 1, sensor 'a': time must be a finite number, got .*1970-01-01 ")
    columns["time"] = [True, False]
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, "time must be a finite number, got True")
    names = ["node", "x", "y", "temp", "x"]
    table = pyarrow.Table.from_arrays([pyarrow.array([1, 2])] * 5, names=names)
    pyarrow.parquet.write_table(table, path)
    refused(path, "columns must have different names, got twice 'x'")


def test_broken_maps(tmp_path):
    readings = write(tmp_path, "node,depth,temp\na,0,1\nB,0,2\nnorht,0,1\nB,5,3\n")
    chart = write(tmp_path, "node,x,y\na,0,0\nb,0,1\nnorth,0,2\n", "map.csv")
    message = refused(
        readings,
        r"readings.csv, line 3: sensor must be one of the map .*map.csv, got 'B'.*"
        r"line 4: .* got 'norht', did you mean 'north'\?.*add it to the map",
        map=chart,
    )
    assert "line 5" not in message
    chart = write(tmp_path, "node,x,y\na,0,0\na,0,1\n", "map.csv")
    refused(readings, r"map.csv, line 3, sensor 'a': position must stay", map=chart)
    refused(readings, "nap.csv must exist", map=tmp_path / "nap.csv")
    chart = write(tmp_path, "node,x\na,0\nb,0\n", "map.csv")
    refused(readings, "map.csv: header must hold positions", map=chart)


def test_seasons_are_not_taken_for_each_other(tmp_path):
    text = "node,lat,lon,depth,t_annual,t_annual_sd,s_winter\na,1,2,3,4,5,6\n"
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=r"hold a column of annual s \(or give target="):
        read_ocean_table(path, "s")
    with pytest.raises(
        DataError, match="one column of annual t, not t_annual, t_annual"
    ):
        read_ocean_table(path, "t")
    with pytest.raises(
        ValueError, match=r"season must be one of 'annual', .* 'monsoon'"
    ):
        read_ocean_table(path, "t", "monsoon")
    with pytest.raises(
        TypeError, match=r"options of a table must be among .*got n_agents"
    ):
        read_ocean_table(path, "t", n_agents=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": "xy"}, "position must be the names of two columns, got 'xy'"),
        ({"inputs": []}, r"inputs must not be empty, got \[\]"),
        ({"inputs": ["temp"]}, "inputs must not hold the target, got 'temp'"),
    ],
)
def test_broken_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, GOOD), target="temp", **options)


def test_parquet_needs_a_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need pyarrow: pip install 'halk\[io\]'"):
        read_table(write(tmp_path, b"PAR1"), target="temp")


def test_one_exception_for_all_of_them():
    assert issubclass(DataError, HalkError)
    assert issubclass(DataError, ValueError)
    assert not issubclass(DataError, os.error)
