"""Files of a user, opened with messages that say what to do."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from halk.streams.errors import DataError

PathLike = str | os.PathLike[str]

LISTED = 5
"""How many problems of one kind a message lists."""

_FOREIGN = {
    b"PK\x03\x04": "a spreadsheet or zip archive; save the table as CSV",
    b"PAR1": "a Parquet file; give it to read or read_table",
    b"CDF": "a NetCDF file; give it to read or read_atlas",
    b"\x89HDF": "a NetCDF file; give it to read or read_atlas",
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
}


class Source(NamedTuple):
    """A file in memory."""

    path: str
    data: bytes
    sha256: str  # of the file as it is on the disk

    def text(self) -> str:
        """Return the content as text, or say why it is none."""
        for magic, kind in _FOREIGN.items():
            if self.data.startswith(magic):
                raise DataError(f"{self.path} must be a text file, got {kind}")
        if b"\0" in self.data:
            line = self.data[: self.data.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{self.path} must be text, got a zero byte in line {line}")
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            got = f"byte 0x{self.data[error.start]:02x} in line {line}"
            raise DataError(
                f"{self.path} must be text in UTF-8, got {got}; save it as UTF-8"
            ) from None


def opened(path: PathLike) -> Source:
    """Read a file whole, unpacked if gzip packed it."""
    try:
        packed = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return source_of(os.fspath(path), packed)


def source_of(path: str, packed: bytes) -> Source:
    """Return what a file holds, unpacked if gzip packed it."""
    if not packed.strip():
        raise DataError(f"{path} must not be empty, got {len(packed)} bytes")
    return Source(path, _unpacked(path, packed), _sha256(packed))


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


def _unpacked(path: PathLike, data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        unpacked = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} must be a whole gzip file, got: {error}") from None
    if not unpacked.strip():
        raise DataError(f"{path} must not be empty, got an empty file in gzip")
    return unpacked


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
