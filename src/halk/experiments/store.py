"""Results on disk: finished runs are found again, nothing is half-written."""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from halk._atomic import replacing
from halk.errors import HalkError
from halk.experiments.runs import Result, Run
from halk.trace import Trace

_OTHER = ("report", "cli", "demo", "checks", "reference")
"""Parts of the package that no result depends on."""


class OutputError(HalkError, OSError):
    """Results cannot be written where they were asked to be."""


@cache
def code_digest() -> str:
    """Return a fingerprint of the sources that results depend on."""
    root = Path(str(resources.files("halk")))
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in _OTHER:
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


class Store:
    """A folder of results.

    Parameters
    ----------
    folder : path
        Made if it is missing.

    Raises
    ------
    OutputError
        If it cannot be made, or not be written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            (folder / "runs").mkdir(parents=True, exist_ok=True)
            (folder / "figures").mkdir(exist_ok=True)
            with replacing(folder / "runs" / ".writable") as file:
                file.write(b"")
            (folder / "runs" / ".writable").unlink()
        except OSError as error:
            raise OutputError(
                f"--out must be a folder that can be written, got {folder}: "
                f"{error.strerror or error}; name another one with --out"
            ) from None

    def path(self, run: Run) -> Path:
        """Return where the result of a run is kept."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", run.name)
        return self.folder / "runs" / run.experiment / f"{name}.parquet"

    def load(self, run: Run, digest: str | None = None) -> Result | None:
        """Return the result of a finished run; None if there is none to go by.

        Only if it was made with the same settings; with a ``digest``, by the same code.
        A damaged file counts as none: the run is made again.
        """
        try:
            trace = Trace.from_parquet(self.path(run))
            about = json.loads(trace.metadata["run"])
            is_same = about["settings"] == run.settings
            if digest is not None:
                is_same = about["digest"] == digest
            numbers, made_by = about["numbers"], about["digest"]
            found = Result(run, trace, numbers, about["seconds"], made_by)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if is_same else None

    def save(self, result: Result, digest: str) -> None:
        """Keep a result."""
        about = {
            "digest": digest,
            "settings": result.settings,
            "numbers": result.numbers,
            "seconds": result.seconds,
        }
        metadata = result.trace.metadata | {"run": json.dumps(about)}
        columns = {name: result.trace[name] for name in result.trace.columns}
        path = self.path(result.run)
        path.parent.mkdir(exist_ok=True)
        Trace(columns, result.trace.agents, metadata).to_parquet(path)

    def read_json(self, name: str) -> Any:
        """Return what a JSON file of the folder holds; None if there is none."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file into the folder."""
        text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
        with replacing(self.folder / name) as file:
            file.write(text.encode() + b"\n")


def explained(error: OSError, folder: str | os.PathLike[str]) -> OutputError:
    """Return an error of the system as one that says what to do."""
    return OutputError(
        f"writing to {folder} failed: {error.strerror or error}; finished runs are "
        f"kept: make room, and give the same command again to go on"
    )
