"""Files of a user in memory, with messages that say what to do."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from halk.errors import DataError

PathLike = str | os.PathLike[str]

LISTED = 5
"""How many problems of one kind a message lists."""


class Content(NamedTuple):
    """A file in memory."""

    path: str
    data: bytes
    sha256: str  # of the file as it is on the disk

    @property
    def is_netcdf(self) -> bool:
        """Whether it begins as NetCDF files do, in their old or their new format."""
        return self.data.startswith((b"CDF", b"\x89HDF"))

    def text(self) -> str:
        """Return the content as text, or say why it is none."""
        return self.decode()[0]

    def decode(self) -> tuple[str, str]:
        """Return the content as text, and the encoding if it had to be guessed."""
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return self.data.decode("utf-16", "replace"), ""
        if b"\0" in self.data:
            line = self.data[: self.data.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{self.path} must be text, got a zero byte in line {line}")
        try:
            return self.data.decode("utf-8-sig"), ""
        except UnicodeDecodeError:
            return self.data.decode("cp1252", "replace"), "Latin-1"


def open_file(path: PathLike) -> Content:
    """Read a file whole, unpacked if gzip packed it."""
    try:
        packed = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return unpack(os.fspath(path), packed)


def unpack(path: str, packed: bytes) -> Content:
    """Return what a file holds, unpacked if gzip packed it."""
    if not packed.strip():
        raise DataError(f"{path} must not be empty, got {len(packed)} bytes")
    digest = hashlib.sha256(packed).hexdigest()
    if not packed.startswith(b"\x1f\x8b"):
        return Content(path, packed, digest)
    try:
        data = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} must be a whole gzip file, got: {error}") from None
    if not data.strip():
        raise DataError(f"{path} must not be empty, got an empty file in gzip")
    return Content(path, data, digest)


def unreadable(path: PathLike, error: OSError) -> DataError:
    """Return what to raise for a file that the system does not give."""
    where = Path(path)
    if where.is_dir():
        return DataError(f"{path} must be a file, got a folder")
    if not isinstance(error, FileNotFoundError):
        reason = error.strerror or str(error)
        return DataError(f"{path} must be readable, got: {reason}")
    if not where.parent.is_dir():
        return DataError(f"{path} must exist, got no folder {where.parent}")
    there = sorted(file.name for file in where.parent.iterdir())
    hint = meant(where.name, there)
    return DataError(f"{path} must exist, got no such file{hint}")


def meant(name: str, known: Sequence[str]) -> str:
    """Return a hint at the nearest of the ``known`` names, or nothing.

    Examples
    --------
    >>> meant("depht_m", ["node", "depth_m"])
    ", did you mean 'depth_m'?"
    """
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def problems(found: Sequence[str], advice: str) -> DataError:
    """Return what to raise for problems of one kind, of which a few are listed."""
    lines = list(found[:LISTED])
    more = len(found) - len(lines)
    lines += [f"... and {more} more"] if more else []
    return DataError("\n".join(lines) + ("; " if len(lines) == 1 else "\n") + advice)
