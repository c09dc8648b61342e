"""Say that the compiler runs, when it does: the first step takes seconds then."""

import logging
from typing import Any

from numba.core import event

logger = logging.getLogger("halk")

MESSAGE = "compiling for this machine; what is compiled is cached for the next time"


class _Announcer(event.Listener):
    """Logs once a process, at the first function of ours that is not in the cache."""

    def __init__(self) -> None:
        self.has_spoken = False

    def on_start(self, started: Any) -> None:
        """Say so if it is ours."""
        if not self.has_spoken:
            function = getattr(started.data["dispatcher"], "py_func", None)
            if str(getattr(function, "__module__", "")).startswith("halk."):
                self.has_spoken = True
                logger.warning(MESSAGE)

    def on_end(self, _: Any) -> None:
        """Say nothing."""


announcer = _Announcer()
event.register("numba:compile", announcer)
