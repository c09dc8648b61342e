"""No garbage collection while the compiler runs.

It makes a great many objects that live, and looking through them for garbage again and
again takes a twentieth of a first start.
"""

import gc
from typing import Any

from numba.core import event


class _Pause(event.Listener):
    """Switches collection off from the first compilation to the last one around it."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_on = False

    def on_start(self, _: Any) -> None:
        """Remember whether it was on. Compilation holds a lock: nobody interferes."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, _: Any) -> None:
        """Leave it as it was found."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


event.register("numba:compile", _Pause())
