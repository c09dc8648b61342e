"""Compile what is needed last in another process, while this one compiles the rest.

The compiler takes one core. A first start takes seconds, and most machines have a
second core: there another interpreter compiles into the cache on disk, from where this
one loads. Where that cannot be, or goes wrong, everything is compiled here.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from numba import config
from numba.core.caching import FunctionCache

from halk._jit.compilation import IS_INTERPRETED

# one line for each part, so that whoever waits for the first does not wait for all
_WORK = """
import sys
sys.path[:] = {path!r}
from importlib import import_module
for part in getattr(import_module({module!r}), {name!r})():
    print(part, flush=True)
"""


class Helper:
    """Another interpreter that compiles the parts of one module.

    Parameters
    ----------
    module, name : str
        A function of no arguments that compiles part after part, yielding their names.
    """

    def __init__(self, module: str, name: str) -> None:
        self._work = _WORK.format(path=sys.path, module=module, name=name)
        self._process: subprocess.Popen[str] | None = None
        self._is_done = False

    def is_at_work(self, function: Callable[..., Any]) -> bool:
        """Return whether it compiles ``function``, or begins to.

        It does not where ``function`` is in the cache, or nothing is gained.
        """
        if self._process is None and not self._is_done:
            self._is_done = not self._begin(function)
        return not self._is_done

    def wait_for(self, part: str) -> None:
        """Return when it has compiled ``part``, or has stopped."""
        output = None if self._process is None else self._process.stdout
        if output is not None and not self._is_done:
            while line := output.readline():
                if line.strip() == part:
                    return
            self.stop()

    def stop(self) -> None:
        """End the process; what it compiled stays."""
        self._is_done = True
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _begin(self, function: Callable[..., Any]) -> bool:
        if IS_INTERPRETED or _cores() < 2 or _is_cached(function):
            return False
        environment = dict(os.environ)
        if config.CACHE_DIR:  # perhaps set in Python
            environment["NUMBA_CACHE_DIR"] = config.CACHE_DIR
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", self._work],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                text=True,
            )
        except (OSError, ValueError):  # no interpreter, no process allowed
            return False
        atexit.register(self.stop)
        return True


def _cores() -> int:
    if getattr(sys, "frozen", False) or not sys.executable:
        return 1  # no interpreter to start
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_cached(function: Callable[..., Any]) -> bool:
    """Return whether it has been compiled before, or cannot be cached at all."""
    try:
        return bool(FunctionCache(function)._cache_file._load_index())  # noqa: SLF001
    except (RuntimeError, OSError):
        return True
