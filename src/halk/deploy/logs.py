"""Logs: one line an event on standard error, as JSON or as text."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TextIO

BURST = 10
"""Lines of one kind that are written in a minute; the rest is counted."""

_PERIOD = 60.0


class _Format(logging.Formatter):
    """Time, level, event and fields of a record."""

    def __init__(self, agent: str, is_json: bool) -> None:
        super().__init__()
        self._agent, self._is_json = agent, is_json

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        level, event = record.levelname.lower(), record.getMessage()
        fields = {k: _plain(v) for k, v in getattr(record, "fields", {}).items()}
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        if self._is_json:
            head = {"time": time, "level": level, "agent": self._agent, "event": event}
            return json.dumps(head | fields, ensure_ascii=False)
        listed = " ".join(f"{k}={v}" for k, v in fields.items())
        return f"{time} {level:<7} {self._agent}: {event} {listed}".rstrip()


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a number that is none is null."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if isfinite(value) else None
    return value if isinstance(value, str | int | dict | list | None) else str(value)


class Log:
    """The log of one agent. Events of one kind are not written without end.

    Parameters
    ----------
    agent : str
        Its name.
    level : {"debug", "info", "warning", "error"}
    is_json : bool
    stream : text file, optional
        Standard error by default.
    """

    def __init__(
        self,
        agent: str,
        level: str = "info",
        is_json: bool = True,
        stream: TextIO | None = None,
    ) -> None:
        handler = logging.StreamHandler(stream or sys.stderr)
        handler.setFormatter(_Format(agent, is_json))
        self._logger = logging.Logger(f"halk.agent.{agent}", level.upper())
        self._logger.addHandler(handler)
        self._written: dict[str, list[float]] = {}
        self._silent: dict[str, int] = {}

    def say(self, level: str, event: str, now: float = 0.0, **fields: Any) -> None:
        """Write an event, unless it has been written often enough of late.

        What was left out is counted, and said with the next one that is written.
        """
        times = [t for t in self._written.get(event, []) if t > now - _PERIOD]
        if len(times) >= BURST:
            self._silent[event] = self._silent.get(event, 0) + 1
            return
        self._written[event] = [*times, now]
        silent = self._silent.pop(event, 0)
        more = {"left_out": silent} if silent else {}
        number = logging.getLevelName(level.upper())
        self._logger.log(number, event, extra={"fields": fields | more})

    def failed(self, event: str) -> None:
        """Write an event with the trace of the error that is being handled."""
        self._logger.exception(event)
