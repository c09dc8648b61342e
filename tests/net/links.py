"""Transports over Zenoh on this machine, for the tests of this folder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from socket import socket
from time import monotonic, sleep
from typing import Any

import pytest

from halk.net.identity import Identity
from halk.net.zenoh import ZenohTransport
from halk.net.zenoh.config import configuration

zenoh = pytest.importorskip("zenoh", reason="needs eclipse-zenoh", exc_type=ImportError)

PATIENCE = 120.0
"""Seconds until something that should happen counts as not happening."""


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], Any], what: str = "it happens") -> None:
    """Wait for a condition."""
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end, f"waited {PATIENCE:g} s until {what}"
        sleep(0.005)


class Places:
    """Endpoints by name, and what is open, to be closed at the end."""

    def __init__(self, stack: ExitStack, folder: Path | None = None) -> None:
        self.folder, self._stack = folder, stack
        self._ports: dict[str, int] = {}

    def at(self, name: str) -> list[str]:
        port = self._ports.setdefault(name, free_port())
        return [f"{'tls' if self.folder else 'tcp'}/127.0.0.1:{port}"]

    def identity(self, name: str, folder: Path | None = None) -> Identity | None:
        folder = folder or self.folder
        if folder is None:
            return None
        authority = folder / "authority.pem"
        return Identity(folder / f"{name}.pem", folder / f"{name}.key", authority)

    def open(self, name: str, *neighbours: str, **options: Any) -> ZenohTransport:
        """Return a transport that connects to its neighbours."""
        known = {other: self.at(other) for other in neighbours}
        transport = ZenohTransport(
            name, self.at(name), known, self.identity(name), **options
        )
        self._stack.callback(transport.close)
        return transport

    def rogue(
        self,
        name: str,
        *neighbours: str,
        listens: bool = False,
        change: Any = None,
        folder: Path | None = None,
    ) -> Any:
        """Return a bare session that holds itself to no rules."""
        known = {other: self.at(other) for other in neighbours}
        identity = self.identity(name, folder)
        listen = self.at(name) if listens else []
        config = configuration(name, listen, known, identity, "halk", {})
        config.pop("access_control", None)
        if change is not None:
            change(config)
        session = zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
        self._stack.callback(session.close)
        return session


def blocking(session: Any) -> Callable[[str, bytes], None]:
    """Return what puts bytes under a key and drops none by itself."""
    return partial(session.put, congestion_control=zenoh.CongestionControl.BLOCK)


@contextmanager
def places(folder: Path | None = None) -> Iterator[Places]:
    with ExitStack() as stack:
        yield Places(stack, folder)


def all_alive(*transports: ZenohTransport) -> bool:
    return all(all(transport.alive().values()) for transport in transports)


def received(transport: ZenohTransport, n: int) -> list[tuple[str, bytes]]:
    """Return what arrives, once it is so many."""
    found: list[tuple[str, bytes]] = []

    def poll() -> bool:
        transport.wait(0.05)
        found.extend(transport.poll())
        return len(found) >= n

    until(poll, f"{n} messages are there")
    return found


def peers(transport: ZenohTransport) -> set[str]:
    return {str(zid) for zid in transport._session.info.peers_zid()}


def identifier(transport: ZenohTransport) -> str:
    return str(transport._session.zid())


@contextmanager
def child(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program in another Python; kill it in the end."""
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
