"""A file that grows is read the same however it grows, and wherever one stopped."""

import os
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from halk.deploy.feeds import CsvFeed
from halk.deploy.settings import Source
from halk.deploy.tail import Tail

CELLS = st.sampled_from(["1", "2.5", "", "x", "-3e2", '"4"', "2024-01-01", " 7 "])
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n"])


def source(path, follow=True):
    return Source("csv", ("a",), "b", path, follow)


def drained(feed):
    found = []
    while (row := feed.row()) is not None:
        found.append(row)
    return found


def bytes_of(rows, end="\n"):
    lines = ["a,b", *(f"{a},{b}" for a, b in rows)]
    return "".join(line + end for line in lines).encode()


def pieces(data, cuts):
    bounds = [0, *sorted(c % (len(data) + 1) for c in cuts), len(data)]
    return [data[i:j] for i, j in pairwise(bounds)]


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


@given(ROWS, ENDS, st.lists(st.integers(0, 999), max_size=8))
def test_any_chopping_gives_the_same_rows(tmp_path_factory, rows, end, cuts):
    folder = tmp_path_factory.mktemp("tail")
    data = bytes_of(rows, end)
    whole = folder / "whole.csv"
    whole.write_bytes(data)
    once = CsvFeed(source(whole, follow=False))
    wanted = drained(once)
    assert once.is_over
    assert len(wanted) == sum(bool(f"{a},{b}") for a, b in rows)
    path = folder / "grows.csv"
    feed, got = CsvFeed(source(path)), []
    for piece in pieces(data, cuts):
        append(path, piece)
        got += drained(feed)
    assert got == wanted
    assert feed.happened() == []
    feed.close()
    once.close()


@given(ROWS, st.lists(st.integers(0, 999), max_size=5), st.lists(st.booleans()))
def test_a_restart_anywhere_neither_repeats_nor_skips(
    tmp_path_factory, rows, cuts, stops
):
    path = tmp_path_factory.mktemp("tail") / "grows.csv"
    data = bytes_of(rows)
    feed, got, stops = CsvFeed(source(path)), [], list(stops)
    for piece in pieces(data, cuts):
        append(path, piece)
        while (row := feed.row()) is not None:
            got.append(row)
            if stops and stops.pop():
                place = feed.position()
                feed.row()  # is lost, and must be read again
                feed.close()
                feed = CsvFeed(source(path))
                feed.seek(place)
    feed.close()
    whole = CsvFeed(source(path, follow=False))
    assert got == drained(whole)
    whole.close()


@settings(max_examples=20)
@given(ROWS, ROWS, st.booleans(), st.booleans(), st.booleans())
def test_rotation(tmp_path_factory, before, after, has_header, stops, is_late):
    path = tmp_path_factory.mktemp("tail") / "log.csv"
    path.write_bytes(bytes_of(before))
    feed = CsvFeed(source(path))
    got = drained(feed) if not is_late else [r for r in [feed.row()] if r]
    path.rename(path.with_name("log.csv.1"))
    got += drained(feed)
    if stops:
        place = feed.position()
        feed.close()
        feed = CsvFeed(source(path))
        feed.seek(place)
    data = bytes_of(after)
    path.write_bytes(data if has_header else data.partition(b"\n")[2])
    got += drained(feed)
    feed.close()
    values = [(row.x, row.y, bool(row.wrong)) for row in got]
    wanted = []
    for rows in (before, after):
        whole = CsvFeed(source(_file(path, rows), follow=False))
        wanted += [(row.x, row.y, bool(row.wrong)) for row in drained(whole)]
        whole.close()
    assert values == wanted


def _file(path, rows):
    other = path.with_name("other.csv")
    other.write_bytes(bytes_of(rows))
    return other


def test_a_line_goes_on_in_the_old_file_until_the_new_one_has_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"a,b\n1,2\n3,")
    feed = CsvFeed(source(path))
    assert [row.y for row in drained(feed)] == [2.0]
    old = path.rename(tmp_path / "log.csv.1")
    path.write_bytes(b"a,b\n")  # made, but nobody writes to it yet
    path.write_bytes(b"")
    assert drained(feed) == []
    append(old, b"4\n")
    assert [row.y for row in drained(feed)] == [4.0]
    append(path, b"a,b\n5,6\n")
    assert [row.y for row in drained(feed)] == [6.0]
    assert feed.happened() == ["replaced"]
    feed.close()


def test_truncation_begins_anew_even_if_it_has_grown_again(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(bytes_of([("1", "2"), ("3", "4")]))
    feed = CsvFeed(source(path))
    assert len(drained(feed)) == 2
    os.truncate(path, 0)
    append(path, bytes_of([("5", "6")]))
    assert [row.y for row in drained(feed)] == [6.0]
    place = feed.position()
    os.truncate(path, 0)
    append(path, bytes_of([("7", "8"), ("9", "10"), ("11", "12")]))
    assert [row.y for row in drained(feed)] == [8.0, 10.0, 12.0]
    assert feed.happened() == ["cut short", "cut short"]
    feed.close()
    feed = CsvFeed(source(path))
    feed.seek(place)  # of bytes that are no more
    assert [row.y for row in drained(feed)] == [8.0, 10.0, 12.0]
    assert feed.happened() == ["replaced"]
    feed.close()


def test_a_large_file_is_read_in_pieces(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,b\n" + b"".join(b"%d,1\n" % k for k in range(60_000)))
    feed = CsvFeed(source(path, follow=False))
    assert [row.x[0] for row in drained(feed)] == list(range(60_000))
    feed.close()


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path):
    tail = Tail(tmp_path / "later.csv", follow=True)
    assert tail.line() is None
    (tmp_path / "later.csv").write_bytes(b"one\ntw")
    assert (tail.line(), tail.line()) == (b"one", None)
    tail.close()


def test_what_was_rotated_away_unread_is_read_after_a_restart(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(bytes_of([("1", "2"), ("3", "4"), ("5", "6")]))
    feed = CsvFeed(source(path))
    assert feed.row().y == 2.0
    place = feed.position()
    feed.close()
    path.rename(tmp_path / "log.csv.1")
    path.write_bytes(bytes_of([("7", "8")]))
    feed = CsvFeed(source(path))
    feed.seek(place)
    assert [row.y for row in drained(feed)] == [4.0, 6.0, 8.0]
    feed.close()
