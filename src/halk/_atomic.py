"""Files that are replaced whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a new file to write, which takes the place of ``path`` when all is well.

    The new file is on the disk before it gets its name, so a crash or a full disk at
    any moment leaves either the old file or the new one, and no half of either.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"1 2 3")
    >>> path.read_bytes()
    b'1 2 3'
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(f"folder {target.parent} must exist, to save {path}")
    temporary = target.with_name(f".halk-{os.urandom(8).hex()}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        error.add_note(f"Nothing was saved: what {path} held before, it still holds.")
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    """Bring the new name to the disk too, where the system can."""
    with suppress(OSError):  # Windows and some network disks cannot
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
