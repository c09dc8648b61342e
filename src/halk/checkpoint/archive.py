"""The file itself: a zip of arrays with a header, every byte under a checksum."""

import json
import zipfile
from io import BytesIO
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from halk._version import __version__

FORMAT = "halk-checkpoint"
VERSION = 2

Members = dict[str, NDArray[Any]]

_RESTORE = "take an older copy, or learn again"
_KINDS = ("<f8", "<i8", "|u1")


class RefusedError(Exception):
    """What is wrong, and what to do about it; the path is added outside."""


def refuse(wrong: str, advice: str = _RESTORE) -> NoReturn:
    """Raise a :class:`RefusedError`."""
    raise RefusedError(f"{wrong}; {advice}")


def write(file: BinaryIO, header: dict[str, Any], members: Members) -> None:
    """Write header and members to an open file."""
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "halk": __version__} | header
    )
    values = {"header": np.frombuffer(text.encode(), np.uint8)} | members
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, value in values.items():
            content = BytesIO()
            np.lib.format.write_array(content, value, (1, 0), allow_pickle=False)
            # without a date: equal models make equal files
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getbuffer())


def read(file: BinaryIO) -> tuple[dict[str, Any], Members]:
    """Return header and members of an open file, or refuse it."""
    first = file.read(4)
    if not first:
        refuse("is empty")
    if first != b"PK\x03\x04":
        _refuse_foreign()
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive)
    except RefusedError:
        raise
    except Exception as error:
        # zipfile and numpy answer damage with errors of many kinds
        refuse(f"is damaged or cut short ({type(error).__name__}: {error})")
    return _header(members.pop("header")), members


def _refuse_foreign() -> NoReturn:
    refuse("is not a halk checkpoint", "give a file that save has written")


def _members(archive: zipfile.ZipFile) -> Members:
    infos = archive.infolist()
    names = [info.filename.removesuffix(".npy") for info in infos]
    if "header" not in names:
        _refuse_foreign()
    if len(set(names)) < len(names):
        refuse("is damaged: a member is there twice")
    return {
        name: _member(archive, info) for name, info in zip(names, infos, strict=True)
    }


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    if info.compress_type != zipfile.ZIP_STORED:
        refuse(f"is damaged: {info.filename} is compressed")
    content = archive.read(info)  # to the end, where the checksum is compared
    file = BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        refuse(f"is damaged: {info.filename} is no array of format 1.0")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if is_fortran or dtype.str not in _KINDS:
        refuse(f"is damaged: {info.filename} is an array of another kind ({dtype})")
    # takes no memory: an array that claims to be larger than its bytes fails here
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)


def _header(content: NDArray[Any]) -> dict[str, Any]:
    try:
        header = json.loads(content.tobytes())
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        _refuse_foreign()
    version, maker = header.pop("version", None), header.pop("halk", "unknown")
    if type(version) is not int or version != VERSION:
        refuse(
            f"has format version {version!r}, written by halk {maker}; this is halk "
            f"{__version__}, which reads version {VERSION}",
            "use the halk that wrote it, or a newer one",
        )
    return header
