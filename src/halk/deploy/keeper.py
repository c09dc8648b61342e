"""The checkpoint of an agent: when it is written, and what becomes of a full disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

from halk.errors import CheckpointError
from halk.net import load, save

RETRY = 10.0
"""Seconds after which a file that could not be written is tried again, at most."""


class Keeper:
    """Writes a node's file at an interval, and goes on if that fails.

    Parameters
    ----------
    node : FieldNode or StepNode
    path : Path, optional
        Without one nothing is kept.
    every : float
        Seconds between two files, by the clock that ``now`` is from.
    wall : callable
        Returns the time of day, in seconds since 1970; for the file to tell.
    """

    def __init__(
        self,
        node: Any,
        path: Path | None,
        every: float,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.node, self.path, self.every, self._wall = node, path, every, wall
        self.n_saved = 0
        self.n_failed = 0
        self.error = ""
        """Why the last attempt failed; nothing if it did not."""
        self.saved_at = -inf
        """When the file was written last, by the clock of ``now``."""
        self.step = -1
        """The step that the file is from."""
        self._due = -inf

    def brought_back(self) -> bool:
        """Let the node go on from its file; return whether there was one.

        Raises
        ------
        CheckpointError
            If the file is damaged or of another agent. It stays as it is.
        """
        if self.path is None or not self.path.exists():
            return False
        try:
            load(self.path, self.node)
        except CheckpointError as error:
            raise CheckpointError(
                f"{self.path}: {error}; or move the file away, and the agent begins "
                "untaught"
            ) from None
        except OSError as error:
            raise CheckpointError(
                f"{self.path} must be readable and writable, before an agent may speak "
                f"again: {error.strerror or error}"
            ) from None
        self.step = self.node.step
        return True

    @property
    def is_current(self) -> bool:
        """Whether the file, if one is wanted, has the last step."""
        return self.path is None or self.step == self.node.step

    def is_due(self, now: float) -> bool:
        """Return whether it is time to write."""
        return self.path is not None and now >= self._due

    def keep(self, now: float) -> bool:
        """Write the file; return whether it is written. The old one stays if not."""
        if self.path is None:
            return True
        before, self.node.diary.saved_at = self.node.diary.saved_at, self._wall()
        try:
            save(self.node, self.path)
        except OSError as error:
            self.node.diary.saved_at = before
            self.n_failed += 1
            self.error = error.strerror or str(error)
            self._due = now + min(self.every, RETRY)
            return False
        self.n_saved += 1
        self.error, self.saved_at, self.step = "", now, self.node.step
        self._due = now + self.every
        return True

    def age(self, now: float) -> float:
        """Return seconds since the file was written; infinite if never by this run."""
        return now - self.saved_at

    def size(self) -> int:
        """Return the bytes of the file."""
        with suppress(OSError):
            return self.path.stat().st_size if self.path else 0
        return 0
