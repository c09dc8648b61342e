"""Files as text and packed: dialects, line numbers, and what is no table."""

import gzip
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from halk.data import Asked, DataError, examine, read_table
from halk.data.files import find_delimiter
from halk.data.table import decimal_of, word_values

GOOD = "station,time,t_C\nnorth,2024-01-01,1.5\nsouth,2024-01-02,2.5\n"


def write(folder, content, name="readings.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def unpadded(text):
    return text.replace(",", " , ")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace(",", "|"),
        lambda text: text.replace(",", "  "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("north", '"north"'),
        lambda text: text.replace("\n", ",\n").replace("t_C,", "t_C"),
        lambda text: "# one\n\n# two\n" + text,
        lambda text: "# " + text,
        lambda text: "A network; exported by hand\nin January\n\n" + text,
        lambda text: text.replace("t_C\n", "t_C\n,UTC,degC\n", 1),
        lambda text: text.replace("t_C\n", "t_C\n-,-,[°C]\n", 1),
        lambda text: gzip.compress(text.encode()),
        unpadded,
    ],
)
def test_dialects(tmp_path, change):
    if change("x") == "# x":  # a header that is commented out has data below it
        text = GOOD.replace("north", "7").replace("south", "8")
    else:
        text = GOOD
    found = examine(write(tmp_path, change(text)))
    assert found.findings.of("error") == []
    assert found.schema.sensor == "station"
    np.testing.assert_array_equal(found.readings.y, [1.5, 2.5])


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a;b\n1,5;2,5\n1,5;2,5\n", ";"), ("a b\n1 2\n", " "), ("a\n1\n", ","),
        ('a,b\n"1;2;3",4\n"1;2",5\n', ","), ("x: 1, y: 2\na|b|c\n1|2|3\n1|2|3\n", "|"),
    ],
)  # fmt: skip
def test_what_separates(text, mark):
    assert find_delimiter(text) == mark


@pytest.mark.parametrize(
    ("words", "mark", "values"),
    [
        (["1.234,5", "2,5"], "comma", [1234.5, 2.5]),
        (["1,234.5", "12"], "point", [1234.5, 12]),
        (["3.5", "1,5"], "", [3.5, np.nan]),
        (["1,234", "2,50"], "comma", [1.234, 2.5]),
        (["1,234", "-12,345"], "unclear", [np.nan, np.nan]),
        (["0,123"], "comma", [0.123]),
        (["1e-3", "5"], "", [1e-3, 5]),
    ],
)
def test_decimals(words, mark, values):
    assert decimal_of(words) == mark
    np.testing.assert_array_equal(word_values(words), values)


def test_another_column_tells_what_a_comma_is(tmp_path):
    text = "station;time;flow;depth_m\na;2024-01-01;1,234;0,5\nb;2024-01-02;2,345;1,5\n"
    found = examine(write(tmp_path, text), None, Asked(target="flow"))
    assert found.readings.y.tolist() == [1.234, 2.345]
    found = examine(write(tmp_path, text.replace("0,5", "0.5").replace("1,5", "1.5")),
                    None, Asked(target="flow"))  # fmt: skip
    assert found.readings.y.tolist() == [1234, 2345]


def test_words_that_mean_nothing_are_asked_about(tmp_path):
    text = GOOD + "north,2024-01-03,ERR\nsouth,2024-01-03,ERR\nsouth,2024-01-04,3\n"
    path = write(tmp_path, text)
    (finding,) = examine(path).findings.of("error")
    assert "if ERR means no reading, add --missing ERR" in finding.advice
    found = examine(path, missing=["err"])
    assert found.findings.of("error") == []
    assert found.readings.is_gap.sum() == 2


def test_flags_of_a_wide_table(tmp_path):
    text = (
        "time,a,a_qc,b,b_qc\n2024-01-01,1,1,2,1\n2024-01-02,2,4,3,1\n"
        "2024-01-03,3,1,4,1\n"
    )
    asked = Asked(flags="_qc", good=("1",))
    found = examine(write(tmp_path, text), None, asked)
    assert found.sensors.names == ("a", "b")
    np.testing.assert_array_equal(found.readings.y, [1, 2, np.nan, 3, 3, 4])


def test_lines_are_numbered_as_an_editor_does(tmp_path):
    text = '# a comment\n\nstation,time,t_C\n"a\nA",2024-01-01,1\n\nb,2024-01-02,x\n'
    for end in ("\n", "\r\n"):
        path = write(tmp_path, text.replace("\n", end))
        (finding,) = examine(path, None, Asked(target="t_C")).findings.of("error")
        assert "line 7, sensor 'b'" in finding.text


def test_rows_of_parquet_are_numbered_from_one(tmp_path):
    columns = {"station": ["a", "b"], "depth": [1.0, np.nan], "t_C": [1.0, 2.0]}
    path = tmp_path / "readings.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    (finding,) = examine(path).findings.of("error")
    assert "row 2, sensor 'b': depth is nan" in finding.text


def test_names_of_sensors_stay_text(tmp_path):
    found = examine(
        write(tmp_path, GOOD.replace("north", "007").replace("south", "08"))
    )
    assert found.sensors.names == ("007", "08")
    found = examine({"station": [7.0, 8.0], "depth": [1, 2], "t_C": [1, 2]})
    assert found.sensors.names == ("7", "8")


FILES = {
    "empty": (b"", "must not be empty, got 0 bytes"),
    "blank": (b" \n\n", "must not be empty"),
    "header only": ("a,b\n", "table must have rows, got a header only"),
    "comments only": (b"# nothing\n", "must begin with a header, got comments only"),
    "binary": (GOOD.encode() + b"\0\1\2", "must be text, got a zero byte in line 4"),
    "archive": (b"PK\x03\x04...", "got a damaged spreadsheet or an archive"),
    "half a gzip": (gzip.compress(GOOD.encode())[:-9], "must be a whole gzip file"),
    "empty gzip": (gzip.compress(b""), "must not be empty, got an empty file in gzip"),
    "not Parquet": (b"PAR1 and more", "must be a Parquet file, got:"),
    "too few cells": (GOOD + "b,2024-01-01", "line 4: row must have 3 cells, got 2"),
    "too many cells": (GOOD + "b,2024-01-01,1,1", "line 4: row must have 3 cells"),
    "open quote": (GOOD + 'b,2024-01-01,"1', "line 4: row must be CSV, got: .*quote"),
    "JSON": ('{"a": [1]}', "must be a table, got JSON; save the table as CSV"),
    "web page": ("<!DOCTYPE html><html>", "must be a table, got a web page; was it"),
    "twice": (
        GOOD.replace("t_C", "time"),
        "must have different names, got twice 'time",
    ),
}


@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES.keys())
def test_what_is_no_table(tmp_path, content, message):
    with pytest.raises(DataError, match=f"readings.csv.*{message}"):
        read_table(write(tmp_path, content))


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    path = write(tmp_path, GOOD)
    for where, message in (
        (tmp_path / "reading.csv", "no such file, did you mean 'readings.csv'"),
        (tmp_path / "no" / "file.csv", "must exist, got no folder .*no"),
        (tmp_path, "must be a file, got a folder"),
    ):
        with pytest.raises(DataError, match=message):
            read_table(where)

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(DataError, match="must be readable, got: Permission denied"):
        read_table(path)


@pytest.mark.parametrize(
    ("module", "data"),
    [("pyarrow", b"PAR1"), ("python_calamine", b"PK\x03\x04"), ("xarray", b"CDF")],
)
def test_what_needs_a_package_names_it(tmp_path, monkeypatch, module, data):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'halk\[(io|grids)\]'"):
        read_table(write(tmp_path, data))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S"])
def test_a_million_rows(tmp_path, form):
    """All times are different, which is slowest."""
    n = 1_000_000
    rng = np.random.default_rng(0)
    stamps = np.arange(n).astype("datetime64[s]").tolist()
    names = [f"s{k:03d}" for k in range(1000)]
    values = rng.normal(10, 3, n)
    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("sensor,time,t_C\n")
        file.writelines(
            f"{names[k % 1000]},{t:{form}},{v:.6f}\n"
            for k, (t, v) in enumerate(zip(stamps, values.tolist(), strict=True))
        )
    begun = time.process_time()
    found = examine(path)
    assert found.readings.is_reading.all()
    assert len(found.readings.y) == n
    assert time.process_time() - begun < 15
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 1024**2
