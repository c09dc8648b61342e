"""Simulator: all agents of one process in one compiled loop over flat arrays."""

from halk.simulator.arrays import Readings, Record, State
from halk.simulator.executor import Simulator

__all__ = ["Readings", "Record", "Simulator", "State"]
