"""Where readings come from: a file that may grow, standard input, or a topic.

A feed hands out rows when they are there and never waits for one.
"""

from __future__ import annotations

import os
import select
import sys
from collections import deque
from typing import Any, Protocol

from halk.data.files import unreadable
from halk.data.lines import Columns, CsvLines, Row
from halk.deploy.settings import Source
from halk.deploy.tail import Tail
from halk.errors import HalkError

_CHUNK = 65536


class Feed(Protocol):
    """What an agent asks for readings."""

    @property
    def is_over(self) -> bool:
        """Whether there will be no more rows."""

    def row(self) -> Row | None:
        """Return the next row, None if there is none now."""

    def happened(self) -> list[str]:
        """Return what happened to the source since the last call, for the log."""

    def position(self) -> dict[str, Any]:
        """Return where it is, as JSON: after the last row handed out."""

    def seek(self, position: dict[str, Any]) -> None:
        """Go on from a position."""

    def close(self) -> None:
        """Let go of the source."""


class CsvFeed:
    """The rows of a CSV file; with ``follow`` also those that are yet to come."""

    def __init__(self, source: Source) -> None:
        if source.path is None:
            raise ValueError("path must be given")
        self._tail = Tail(source.path, source.follow)
        columns = Columns(source.inputs, source.value)
        self._lines = CsvLines(columns, str(source.path))
        if not source.follow and not source.path.is_file():
            raise unreadable(source.path, FileNotFoundError())

    @property
    def is_over(self) -> bool:
        """Whether the end was read, of a file that is not followed."""
        return self._tail.is_over

    def row(self) -> Row | None:
        """Return the next row, None if no line is complete."""
        while (line := self._tail.line()) is not None:
            row = self._lines.row(self._tail.n_lines, line)
            if row is not None:
                return row
        return None

    def happened(self) -> list[str]:
        """Return what became of the file: cut short, replaced."""
        found, self._tail.happened = self._tail.happened, []
        return found

    def position(self) -> dict[str, Any]:
        """Return file, place in it and header, as JSON."""
        lines = self._lines
        held = {"header": lines.header, "delimiter": lines.delimiter}
        return self._tail.position() | held

    def seek(self, position: dict[str, Any]) -> None:
        """Go on in the same file, or begin anew if there is another."""
        if "offset" in position:
            self._lines.header = [str(name) for name in position["header"]]
            self._lines.delimiter = str(position["delimiter"])
            self._tail.seek(position)

    def close(self) -> None:
        """Close the file."""
        self._tail.close()


class _Live:
    """A source whose readings come once: there is no place to go back to."""

    def happened(self) -> list[str]:
        """Return nothing: nothing is known to happen to it."""
        return []

    def position(self) -> dict[str, Any]:
        """Return nothing: what was read cannot be read again."""
        return {}

    def seek(self, position: dict[str, Any]) -> None:
        """Stay where it is."""

    def close(self) -> None:
        """Leave it to who opened it."""


class StdinFeed(_Live):
    """Lines of standard input: CSV with a header, or a JSON object each."""

    def __init__(self, source: Source, descriptor: int | None = None) -> None:
        self._descriptor = _standard_input() if descriptor is None else descriptor
        self._columns = Columns(source.inputs, source.value)
        self._csv = CsvLines(self._columns, "standard input")
        self._is_json: bool | None = None
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._n_lines = 0
        self._is_closed = False

    @property
    def is_over(self) -> bool:
        """Whether the input was closed and all of it read."""
        return self._is_closed and not self._lines

    def row(self) -> Row | None:
        """Return the next row, None if no line is complete."""
        while self._lines or self._fill():
            line = self._lines.popleft()
            self._n_lines += 1
            row = self._parsed(line)
            if row is not None:
                return row
        return None

    def _fill(self) -> bool:
        while not self._is_closed and not self._lines:
            if not select.select([self._descriptor], [], [], 0)[0]:
                return False
            chunk = os.read(self._descriptor, _CHUNK)
            self._is_closed = not chunk
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines.extend(whole)
            if self._is_closed and self._rest:
                self._lines.append(self._rest)
        return bool(self._lines)

    def _parsed(self, line: bytes) -> Row | None:
        if not line.strip():
            return None
        if self._is_json is None:
            self._is_json = line.lstrip().startswith(b"{")
            if not self._is_json:
                return self._csv.row(1, line)  # the header, after empty lines too
        if self._is_json:
            return self._columns.from_json(self._n_lines, line)
        return self._csv.row(max(2, self._n_lines), line)


def _standard_input() -> int:
    if sys.stdin is None:
        raise HalkError('standard input must be open for source = "stdin", got none')
    return sys.stdin.fileno()


class TopicFeed(_Live):
    """JSON objects that somebody puts under a key of the transport."""

    def __init__(self, source: Source, topic: Any) -> None:
        self._columns = Columns(source.inputs, source.value)
        self._topic = topic
        self._waiting: deque[bytes] = deque()
        self._n = 0
        self.is_over = False

    def row(self) -> Row | None:
        """Return the next row, None if nothing has come."""
        if not self._waiting:
            self._waiting.extend(bytes(data) for data in self._topic.poll())
        if not self._waiting:
            return None
        self._n += 1
        return self._columns.from_json(self._n, self._waiting.popleft())


def feed_of(source: Source, transport: Any) -> Feed:
    """Return the feed of a source; a topic is one of the transport's."""
    if source.source == "csv":
        return CsvFeed(source)
    if source.source == "stdin":
        return StdinFeed(source)
    return TopicFeed(source, transport.topic(source.key))
