"""What a learner needs of whoever runs its agents."""

from collections.abc import Mapping
from typing import Any, Protocol

from halk._validation import Indices, Matrix, Vector
from halk.simulator import Readings, Record


class Executor(Protocol):
    """Runs all agents of a network for inputs of one length."""

    n_features: int

    @property
    def steps_made(self) -> int:
        """How many steps of the last stream were made."""

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way."""

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""

    @property
    def model_order(self) -> Indices:
        """Number of atoms or features that every agent predicts with, (V,)."""

    @property
    def n_atoms(self) -> int:
        """Number of atoms or features held in all."""

    @property
    def multipliers(self) -> Vector:
        """Multiplier of every tolerance, (E,)."""

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge, (E,); 0 for one never asked."""

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step needs to know, as arrays."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises ``ValueError`` if it does not fit."""

    @property
    def bytes_sent(self) -> int:
        """Bytes of all messages so far; headers do not count."""
