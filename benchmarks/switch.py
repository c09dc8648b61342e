"""Hosts on one machine: namespaces, and a switch between them that can misbehave.

Every host is a namespace with one TUN device. The switch, a thread of ours, reads
IP packets from all devices and writes them to the one they are for; on the way it may
lose them, hold them back, or cut two hosts off from each other. TCP above it meets
loss and delay as it does in the field.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import selectors
import shutil
import struct
import subprocess
import threading
import time
from typing import Any

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x1001
_TUN = "/dev/net/tun"


def why_not() -> str:
    """Return why there can be no switch here, or nothing."""
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the command ip is not installed"
    try:
        os.close(_device("halkprobe"))
    except OSError as error:
        return f"there is no TUN device: {error}"
    probe = f"halkprobe{os.getpid()}"
    add = ["ip", "netns", "add", probe]
    if subprocess.run(add, capture_output=True, check=False).returncode:
        return "network namespaces cannot be made"
    subprocess.run(["ip", "netns", "del", probe], check=True)
    return ""


def _device(name: str) -> int:
    device = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    try:
        request = struct.pack("16sH22x", name.encode(), _TUN_WITHOUT_HEADER)
        fcntl.ioctl(device, _TUNSETIFF, request)
    except OSError:
        os.close(device)
        raise
    return device


class Switch:
    """Hosts ``0`` to ``n - 1`` and what lies between them; a context manager."""

    def __init__(self, n_hosts: int, seed: int = 0) -> None:
        self.n_hosts = n_hosts
        self.loss = 0.0
        self.delay = 0.0
        """Seconds that a packet takes, half as much more at random."""
        self.cut: set[frozenset[int]] = set()
        self.n_carried = self.n_lost = 0
        self._rng = random.Random(seed)
        self._devices: list[int] = []
        self._held: list[tuple[float, int, int, bytes]] = []
        self._is_open = True
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Switch:
        for host in range(self.n_hosts):
            device, space = f"halk{os.getpid() % 10000}x{host}", self.space(host)
            self._devices.append(_device(device))
            inside = ["ip", "netns", "exec", space, "ip"]
            for command in (
                ["ip", "netns", "add", space],
                ["ip", "link", "set", device, "netns", space],
                [*inside, "address", "add", f"{self.address(host)}/24", "dev", device],
                [*inside, "link", "set", device, "up"],
                [*inside, "link", "set", "lo", "up"],
            ):
                subprocess.run(command, check=True, capture_output=True)
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._is_open = False
        self._thread.join(timeout=10)
        for host in range(self.n_hosts):
            command = ["ip", "netns", "del", self.space(host)]
            subprocess.run(command, check=False, capture_output=True)
        for device in self._devices:
            os.close(device)

    def space(self, host: int) -> str:
        """Return the namespace of a host."""
        return f"halk-{os.getpid()}-{host}"

    def address(self, host: int) -> str:
        """Return the address of a host."""
        return f"10.77.0.{host + 1}"

    def inside(self, host: int, command: list[str]) -> list[str]:
        """Return a command that runs on a host."""
        return ["ip", "netns", "exec", self.space(host), *command]

    def isolate(self, *hosts: int) -> None:
        """Cut some hosts off from all others, not from each other."""
        others = set(range(self.n_hosts)) - set(hosts)
        self.cut = {frozenset((a, b)) for a in hosts for b in others}

    def heal(self) -> None:
        """Let everything through, at once."""
        self.cut, self.loss, self.delay = set(), 0.0, 0.0

    def _work(self) -> None:
        with selectors.DefaultSelector() as selector:
            for host, device in enumerate(self._devices):
                selector.register(device, selectors.EVENT_READ, host)
            while self._is_open:
                for key, _ in selector.select(timeout=self._patience()):
                    self._take(key.data)
                while self._held and self._held[0][0] <= time.monotonic():
                    _, _, host, packet = heapq.heappop(self._held)
                    self._put(host, packet)

    def _patience(self) -> float:
        if not self._held:
            return 0.05
        return min(0.05, max(0.0, self._held[0][0] - time.monotonic()))

    def _take(self, sender: int) -> None:
        try:
            packet = os.read(self._devices[sender], 65536)
        except OSError:
            return
        if len(packet) < 20 or packet[0] >> 4 != 4 or packet[16:19] != b"\x0a\x4d\x00":
            return  # IPv6 chatter, multicast
        receiver = packet[19] - 1
        is_cut = frozenset((sender, receiver)) in self.cut
        if receiver >= self.n_hosts or is_cut or self._rng.random() < self.loss:
            self.n_lost += 1
            return
        self.n_carried += 1
        if self.delay:
            due = time.monotonic() + self.delay * (1 + 0.5 * self._rng.random())
            heapq.heappush(self._held, (due, self.n_carried, receiver, packet))
        else:
            self._put(receiver, packet)

    def _put(self, host: int, packet: bytes) -> None:
        try:
            os.write(self._devices[host], packet)
        except OSError:
            self.n_lost += 1
