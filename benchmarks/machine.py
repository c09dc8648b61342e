"""The machine and the versions that numbers belong to; no names, no paths."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import halk

__all__ = ["machine"]

_PACKAGES = (
    "numpy", "scipy", "numba", "llvmlite", "scikit-learn", "river", "padasip",
    "matplotlib",
)  # fmt: skip


def machine() -> dict[str, Any]:
    """Return processor, system, versions and revision."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "halk": halk.__version__,
        "revision": _revision(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _cpu() -> str:
    """Return the name of the processor, or what the system knows of it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    """Return the commit of the sources, with a plus if they were changed since."""
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        return commit + ("+" if _git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()
