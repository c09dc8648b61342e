"""A Zenoh session: opened with clear errors, closed whatever happens."""

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from halk.net.transport import TransportError

__all__ = ["direct", "open_session", "zenoh_module"]


def zenoh_module() -> Any:
    """Return the module zenoh, or say how to get it."""
    try:
        return import_module("zenoh")
    except ImportError:
        message = "agents on a network need Zenoh: pip install 'halk[net]'"
        raise ImportError(message) from None


def direct(callback: Callable[[Any], None]) -> Any:
    """Return a handler that Zenoh calls in the thread that reads the link.

    With a thread of its own for the callback, which is the default, a process that does
    not close its session never ends. A callback must not wait for anything.
    """
    return import_module("zenoh.handlers").Callback(callback, indirect=False)


def open_session(config: dict[str, Any], listen: Sequence[str]) -> Any:
    """Return a session with a configuration that listens on these endpoints."""
    zenoh = zenoh_module()
    try:
        return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
    except zenoh.ZError as error:
        where = ", ".join(listen) or "nothing"
        raise TransportError(
            f"cannot listen on {where}: {_reason(str(error))}"
        ) from None


def _reason(text: str) -> str:
    """Return the part of Zenoh's message that says something to a user."""
    for known in ("Address already in use", "Cannot assign requested address"):
        if known in text:
            return f"{known.lower()}; is another agent running there?"
    return text
