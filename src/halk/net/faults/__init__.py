"""Networks of nodes under faults, in one process, the same for the same seed.

A :class:`World` has a clock of its own and one random generator. It drops, delays,
doubles, overtakes and corrupts messages, cuts links, and kills nodes and starts them
again from their last file. After every event the laws of :mod:`halk.net.faults.laws`
are checked; a broken one names the seed, and the seed brings it back.
"""

from halk.net.faults.delays import Delay, delay_of
from halk.net.faults.laws import BrokenLawError, Ledger
from halk.net.faults.plan import CALM, Faults, faults_of
from halk.net.faults.world import World

__all__ = [
    "CALM",
    "BrokenLawError",
    "Delay",
    "Faults",
    "Ledger",
    "World",
    "delay_of",
    "faults_of",
]
