"""Round trips between two agents' transports in two processes.

``python -m benchmarks.transport`` prints round trips a second, their median and 99th
percentile in milliseconds, and the memory of a process, over TCP and over mutual TLS.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from socket import socket
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import numpy as np

from halk.net.certs import make_authority, make_certificate
from halk.net.zenoh import Identity, ZenohTransport

_N = 10_000
_N_BYTES = 77  # a query about one feature
_PATIENCE = 1.0


def _port() -> int:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _megabytes() -> float:
    return round(getrusage(RUSAGE_SELF).ru_maxrss / 1024, 1)


def _transport(
    name: str, other: str, ports: dict[str, int], folder: str
) -> ZenohTransport:
    identity, protocol = None, "tcp"
    if folder:
        path, protocol = Path(folder), "tls"
        files = path / f"{name}.pem", path / f"{name}.key", path / "authority.pem"
        identity = Identity(*files)
    ends = {key: [f"{protocol}/127.0.0.1:{port}"] for key, port in ports.items()}
    return ZenohTransport(name, ends[name], {other: ends[other]}, identity)


def _echo(ports: dict[str, int], folder: str) -> None:
    """Send everything back until told to stop."""
    transport = _transport("echo", "caller", ports, folder)
    while True:
        transport.wait(1.0)
        for sender, data in transport.poll():
            if data == b"stop":
                transport.close()
                return
            transport.send(sender, data)


def _round_trips(transport: ZenohTransport, n: int) -> tuple[list[float], int]:
    """Return the seconds of each round trip, and how many were lost."""
    seconds, lost = [], 0
    for k in range(n):
        data = k.to_bytes(8, "little") + bytes(_N_BYTES - 8)
        began = perf_counter()
        transport.send("echo", data)
        while transport.wait(_PATIENCE):
            if any(found == data for _, found in transport.poll()):
                seconds.append(perf_counter() - began)
                break
        else:
            lost += 1
    return seconds, lost


def measured(is_secure: bool, n: int = _N) -> dict[str, float]:
    """Return what two processes do over TCP or TLS."""
    ports = {"echo": _port(), "caller": _port()}
    with TemporaryDirectory() as folder:
        if is_secure:
            make_authority(Path(folder))
            for name in ports:
                make_certificate(Path(folder), name)
        where = folder if is_secure else ""
        command = [sys.executable, "-m", "benchmarks.transport", "--echo"]
        with subprocess.Popen([*command, json.dumps([ports, where])]) as child:
            transport = _transport("caller", "echo", ports, where)
            try:
                while not transport.alive()["echo"]:
                    sleep(0.01)
                _round_trips(transport, n // 10)
                began = perf_counter()
                seconds, lost = _round_trips(transport, n)
                total = perf_counter() - began
                transport.send("echo", b"stop")
                child.wait(10)
            finally:
                transport.close()
                child.kill()
    p50, p99 = 1e3 * np.quantile(seconds, [0.5, 0.99])
    return {
        "round trips a second": round(n / total),
        "p50 ms": round(p50, 3),
        "p99 ms": round(p99, 3),
        "lost": lost,
        "MB": _megabytes(),
    }


def main() -> None:
    """Measure over TCP and over TLS, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--echo", help=argparse.SUPPRESS)
    parser.add_argument("-n", type=int, default=_N, help="round trips")
    arguments = parser.parse_args()
    if arguments.echo:
        _echo(*json.loads(arguments.echo))
        return
    sys.stdout.write(f"imports alone {_megabytes()} MB\n")
    for name, is_secure in (("tcp", False), ("tls", True)):
        sys.stdout.write(f"{name} {json.dumps(measured(is_secure, arguments.n))}\n")


if __name__ == "__main__":
    main()
