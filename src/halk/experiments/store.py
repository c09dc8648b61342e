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

from halk import _core
from halk._atomic import replacing
from halk.errors import HalkError
from halk.experiments.runs import Result, Run
from halk.trace import Trace

_OTHER = (
    "report", "cli", "demo", "checks", "reference",
    "experiments/claims.py", "experiments/ocean_claims.py",
    "experiments/fill_in_claims.py", "experiments/fill_in_report.py",
    "experiments/reproduce.py", "experiments/folder.py", "experiments/runner.py",
    "experiments/store.py",
)  # fmt: skip
"""Parts of the package that no result depends on: they judge and show."""


class OutputError(HalkError, OSError):
    """Results cannot be written where they were asked to be."""


@cache
def code_digest() -> str:
    """Return a fingerprint of the sources that results depend on."""
    root = Path(str(resources.files("halk")))
    total = hashlib.sha256(_core.build_info()["digest"].encode())
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_OTHER):
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

    def path(self, run: Run, digest: str) -> Path:
        """Return where the result of a run is kept.

        Other settings or other code have another name: nothing is written over.
        """
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", run.name)
        return self.folder / "runs" / run.experiment / f"{name}.{digest[:8]}.parquet"

    def load(self, run: Run, digest: str) -> Result | None:
        """Return the result that code and settings of this digest made; None if none.

        A damaged file counts as none: the run is made again.
        """
        try:
            trace = Trace.from_parquet(self.path(run, digest))
            about = json.loads(trace.metadata["run"])
            result = Result(run, trace, about["numbers"], about["seconds"], digest)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return result if about.get("digest") == digest else None

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
        path = self.path(result.run, digest)
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
