"""Rows from files, standard input and topics, and what is wrong with some."""

import os

import pytest

from halk.data import DataError
from halk.deploy.feeds import CsvFeed, StdinFeed, TopicFeed
from halk.deploy.settings import Source

COLUMNS = {"inputs": ("time", "depth_m"), "value": "t_C"}


def drained(feed):
    found = []
    while (row := feed.row()) is not None:
        found.append(row)
    return found


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for end in ends:
        if end is not None:
            os.close(end)


def test_rows_of_csv(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "depth_m,note,t_C,time\n"
        '5,"a, b",20.5,1970-01-02\n'
        "6,,,1970-01-02T00:00:01\n"
        "\n"
        "deep,,20,1970-01-02\n"
        "7,20,1970-01-02\n"
        "8,,inf,10\n"
        ",,20,10\n"
        "9,,21,11"
    )
    feed = CsvFeed(Source("csv", path=path, **COLUMNS))
    rows = drained(feed)
    assert [row.number for row in rows] == [2, 3, 5, 6, 7, 8, 9]
    assert [(row.x, row.y) for row in rows if not row.wrong] == [
        ((86400.0, 5.0), 20.5),
        ((86401.0, 6.0), None),
        ((11.0, 9.0), 21.0),
    ]
    assert [row.wrong for row in rows if row.wrong] == [
        "depth_m must be a finite number, got 'deep'",
        "has 3 cells, not 4",
        "t_C must be a finite number, got 'inf'",
        "depth_m must be a finite number, got nothing",
    ]
    assert feed.is_over
    feed.close()


def test_another_dialect_goes_on_after_a_restart(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time;depth_m;t_C\n02.01.1970;5;20,5\n03.01.1970;5;-0,25\n")
    source = Source("csv", path=path, **COLUMNS)
    feed = CsvFeed(source)
    assert feed.row()[1:3] == ((86400.0, 5.0), 20.5)
    later = CsvFeed(source)
    later.seek(feed.position())
    assert later.row()[1:3] == ((172800.0, 5.0), -0.25)
    feed.close()
    later.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,depht_m,t_C\n1,2,3\n", "no column 'depth_m', did you mean 'depht_m'?; "),
        ("1,2,3\n4,5,6\n", "no column 'time'; its first line is 1, 2, 3"),
    ],
)
def test_a_file_without_the_columns_is_refused(tmp_path, text, words):
    path = tmp_path / "log.csv"
    path.write_text(text)
    feed = CsvFeed(Source("csv", path=path, **COLUMNS))
    with pytest.raises(DataError) as caught:
        feed.row()
    assert f"{path}: there is {words}" in str(caught.value)
    feed.close()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "north.csv").touch()
    with pytest.raises(DataError, match=r"no such file, did you mean 'north\.csv'"):
        CsvFeed(Source("csv", path=tmp_path / "nort.csv", **COLUMNS))


def test_standard_input_in_csv(pipe):
    feed = StdinFeed(Source("stdin", **COLUMNS), pipe[0])
    assert feed.row() is None
    os.write(pipe[1], b"\ntime,depth_m,t_C\n1,2,3\n4,5")
    assert [row.y for row in drained(feed)] == [3.0]
    assert not feed.is_over
    os.write(pipe[1], b",6\n7,8,9")
    assert [row.y for row in drained(feed)] == [6.0]
    os.close(pipe[1])
    pipe[1] = None
    assert [(row.number, row.y) for row in drained(feed)] == [(5, 9.0)]
    assert feed.is_over


def test_standard_input_in_json(pipe):
    feed = StdinFeed(Source("stdin", **COLUMNS), pipe[0])
    os.write(pipe[1], b'{"time": "1970-01-02", "depth_m": 2, "t_C": 3, "more": []}\n')
    os.write(pipe[1], b'{"time": 1, "depth_m": 2}\n{"time": 1\n[1]\n')
    os.write(pipe[1], b'{"time": 1, "depth_m": true, "t_C": 1}\n')
    rows = drained(feed)
    assert [(row.x, row.y) for row in rows[:2]] == [
        ((86400.0, 2.0), 3.0),
        ((1.0, 2.0), None),
    ]
    assert rows[2].wrong.startswith("is not JSON: ")
    assert rows[3].wrong == "is not a JSON object"
    assert rows[4].wrong == "depth_m must be a finite number, got True"


def test_a_topic():
    class Topic:
        def __init__(self):
            huge = b'{"time": 1, "depth_m": %s, "t_C": 3}' % (b"1" * 400)
            self.payloads = [b'{"time": 1, "depth_m": 2, "t_C": 3}', b"\xff", huge]

        def poll(self):
            found, self.payloads = self.payloads, []
            return found

    feed = TopicFeed(Source("topic", key="k", **COLUMNS), Topic())
    rows = drained(feed)
    assert rows[0].y == 3.0
    assert rows[1].wrong.startswith("is not JSON")
    assert rows[2].wrong.startswith("depth_m must be a finite number, got 111")
    assert not feed.is_over
