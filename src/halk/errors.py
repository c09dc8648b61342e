"""The exceptions of halk.

::

    HalkError
    +-- DivergenceError     learning left the finite numbers (plain step too large)
    +-- CheckpointError     a file cannot be read back as a model
    +-- DataError           a table of readings cannot be used as it is
    +-- LawError            a component breaks one of the laws of ``halk.checks``
    +-- ProtocolError       bytes are no message of ``halk.net``, which defines it
    +-- TransportError      an agent cannot join the network; of ``halk.net`` as well

Wrong arguments raise the built-in ``ValueError`` and ``TypeError``.
"""

from typing import Any

__all__ = ["CheckpointError", "DataError", "DivergenceError", "HalkError", "LawError"]


class HalkError(Exception):
    """Base class of everything that halk raises by itself."""


class DivergenceError(HalkError, ArithmeticError):
    """Learning left the finite numbers; the model keeps its last finite state."""

    n_steps: int = 0
    """Steps of the call that were made before."""

    trace: Any = None
    """What was recorded before, if a trace was being made."""


class CheckpointError(HalkError, ValueError):
    """A checkpoint file is damaged, truncated, foreign or of another version."""


class DataError(HalkError, ValueError):
    """A file of readings cannot be used as it is.

    The message names the file, the line, the sensor and the column, and says what to
    do about it.
    """


class LawError(HalkError, AssertionError):
    """A kernel, loss, proximity or learner breaks a law that the theory needs."""
