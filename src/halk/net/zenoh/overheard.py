"""Handshakes that failed, overheard: Zenoh tells of them in its log, and nowhere else.

The log goes to the standard output of the process and cannot be sent elsewhere, so that
is read here and passed on without the lines about handshakes. For a process that is an
agent and nothing else; :class:`ZenohTransport` by itself leaves the output alone.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from halk.net.zenoh.session import zenoh_module

__all__ = ["overhearing"]

_STDOUT = 1
_FILTER = "off,zenoh_link_tls::unicast=warn"
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_WARNING = re.compile(rb"\S+ +WARN .*?\bzenoh_link_tls::unicast: (.*)")
_OF_LINKS = ("Unable to set", "Cannot monitor")
"""How warnings begin that are about links which did come about."""
_HINT = ". Hint:"
"""What follows is about open files, whatever was wrong."""
_LONGEST = 4096
_PATIENCE = 2.0


@contextmanager
def overhearing(tell: Callable[[str], None]) -> Iterator[bool]:
    """Read Zenoh's log, and tell what was wrong with every handshake that failed.

    Yields whether it can be read. With ``RUST_LOG`` in the environment somebody else
    wants to, and without standard output there is none.
    """
    # Python knows whether there was one when the process began; its number may be that
    # of another file by now
    has_output = sys.__stdout__ is not None and "RUST_LOG" not in os.environ
    try:
        output = os.dup(_STDOUT) if has_output else -1
    except OSError:
        output = -1
    if output < 0:
        yield False
        return
    ear, mouth = os.pipe()
    listener = Thread(
        target=_listen, args=(ear, output, tell), name="overheard", daemon=True
    )
    listener.start()
    _turn_output_to(mouth)
    os.close(mouth)
    try:
        zenoh_module().init_log_from_env_or(_FILTER)
        yield True
    finally:
        _turn_output_to(output)  # the pipe ends, and with it the thread
        listener.join(_PATIENCE)
        if not listener.is_alive():  # a child process that has the pipe keeps it so
            os.close(output)


def _turn_output_to(file: int) -> None:
    # Python may have none, or one that is closed
    with suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
    os.dup2(file, _STDOUT)


def _listen(ear: int, output: int, tell: Callable[[str], None]) -> None:
    with open(ear, "rb") as pipe:
        while line := pipe.readline(_LONGEST):
            wrong = heard(line)
            if wrong is None:
                with suppress(OSError):  # nobody reads it; Zenoh must not wait for that
                    os.write(output, line)
            elif not wrong.startswith(_OF_LINKS):
                tell(wrong)


def heard(line: bytes) -> str | None:
    """Return what a line says about a handshake; None if it is about something else."""
    found = _WARNING.match(_COLOUR.sub(b"", line))
    if found is None:
        return None
    said = found[1].decode("utf-8", "replace").partition(_HINT)[0].strip()
    return ": ".join(said.split(": ")[:2])  # what follows has times and other details
