"""Find out which x86-64 level this machine runs: ``python _cpu.py`` prints it."""

import platform
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")

# What levels have beyond the one below, by the names of Linux.
V3 = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
V4 = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}


def find_level() -> str:
    """Return ``"v4"``, ``"v3"``, ``"v2"`` (also if unknown), or ``"any"`` elsewhere."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "any"
    try:
        with CPUINFO.open(encoding="utf-8") as lines:
            line = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return "v2"
    flags = set(line.split())
    return "v4" if flags >= V3 | V4 else "v3" if flags >= V3 else "v2"


if __name__ == "__main__":
    print(find_level())  # noqa: T201
