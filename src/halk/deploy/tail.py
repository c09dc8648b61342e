"""The complete lines of a file that grows, is cut short, or is replaced.

Lines are handed out when their end is there. The position is that after the last line
handed out, with the last bytes before it, so that a file that was cut and has
grown again is not taken for the one that was read.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

_CHUNK = 65536
_SEEN = 256
"""Bytes before the position that must be the same."""


class Tail:
    """A file from a position on.

    Parameters
    ----------
    path : Path
    follow : bool
        Wait at the end for more. Without it the last line needs no end.
    """

    def __init__(self, path: Path, follow: bool) -> None:
        self.path, self.follow = path, follow
        self.n_lines = 0
        """Lines handed out of the current file."""
        self.is_over = False
        self.happened: list[str] = []
        """What became of the file, for the log."""
        self._file: BinaryIO | None = None
        self._offset = 0
        self._seen = b""
        self._buffer = b""
        self._next = 0  # in the buffer; in the file that is the offset

    def line(self) -> bytes | None:
        """Return the next line, None if none is complete yet."""
        if self.is_over:
            return None
        end = self._buffer.find(b"\n", self._next)
        while end < 0:
            if not self._fill():
                return self._last()
            end = self._buffer.find(b"\n", self._next)
        return self._taken(end + 1)

    def _taken(self, end: int) -> bytes:
        line = self._buffer[self._next : end]
        self._offset += len(line)
        self._seen = (self._seen + line)[-_SEEN:]
        self._next = end
        self.n_lines += 1
        return line.rstrip(b"\r\n")

    def _last(self) -> bytes | None:
        """Return what stands at the end without one, if it will not get one."""
        if self.follow and not self._is_left():
            return None
        if self._next < len(self._buffer):
            return self._taken(len(self._buffer))
        if self.follow:
            self._begin("replaced")
            return self.line()
        self.is_over = True
        return None

    def _fill(self) -> bool:
        """Read on; return whether there was more."""
        if self._file is None and not self._opened(self.path):
            return False
        if self._file is None:  # for the type checker
            return False
        size = os.fstat(self._file.fileno()).st_size
        behind = self._offset + len(self._buffer) - self._next
        if size < behind or (size > behind and self._is_another()):
            self._begin("cut short")
            return self._fill()
        self._file.seek(behind)
        chunk = self._file.read(_CHUNK)
        self._buffer, self._next = self._buffer[self._next :] + chunk, 0
        return bool(chunk)

    def _is_another(self) -> bool:
        """Return whether the bytes before the position have changed."""
        return self._before(self._file) != self._seen

    def _before(self, file: Any) -> bytes:
        file.seek(self._offset - len(self._seen))
        return bytes(file.read(len(self._seen)))

    def _is_left(self) -> bool:
        """Return whether another file with a line has the name now."""
        if self._file is None:
            return False
        try:
            here, there = os.fstat(self._file.fileno()), self.path.stat()
            if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
                return False
            with self.path.open("rb") as other:
                return b"\n" in other.read(_CHUNK)
        except OSError:  # gone, for now
            return False

    def _begin(self, why: str) -> None:
        """Begin the file of the name from its first line."""
        self.happened.append(why)
        self.close()
        self._offset, self.n_lines, self._seen = 0, 0, b""
        self._buffer, self._next = b"", 0

    def _opened(self, path: Path) -> bool:
        try:
            self._file = path.open("rb")
        except FileNotFoundError:
            if not self.follow:
                raise
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def position(self) -> dict[str, Any]:
        """Return where it is, as JSON."""
        found = {"path": str(self.path), "offset": self._offset}
        found |= {"line": self.n_lines, "seen": self._seen.hex()}
        if self._file is not None:
            status = os.fstat(self._file.fileno())
            found |= {"device": status.st_dev, "inode": status.st_ino}
        return found

    def seek(self, position: dict[str, Any]) -> None:
        """Go on where another one was; begin anew if that file is gone.

        A file that was renamed since is looked for in its folder, by its number.
        """
        if position["path"] != str(self.path):
            self.happened.append("replaced")
            return
        self._offset, self.n_lines = int(position["offset"]), int(position["line"])
        self._seen = bytes.fromhex(position["seen"])
        for path in self._candidates(position):
            with suppress(OSError), path.open("rb") as file:
                if self._before(file) == self._seen:
                    self._opened(path)
                    return
        if self._offset:
            self._begin("replaced")

    def _candidates(self, position: dict[str, Any]) -> list[Path]:
        """Return where the file may be now: under its number first."""
        wanted = position.get("device"), position.get("inode")
        found = []
        with suppress(OSError):
            for path in sorted(self.path.parent.iterdir()):
                with suppress(OSError):
                    status = path.stat()
                    if (status.st_dev, status.st_ino) == wanted:
                        found.append(path)
        return [*found, self.path]
