"""Simulator: all agents of one process in one compiled loop over flat arrays."""

from halk.simulator.arrays import Readings, Record, State
from halk.simulator.executor import Simulator
from halk.simulator.pooled import Pooled
from halk.simulator.traffic import DOUBLE, divergence

__all__ = [
    "DOUBLE",
    "Pooled",
    "Readings",
    "Record",
    "Simulator",
    "State",
    "divergence",
]
