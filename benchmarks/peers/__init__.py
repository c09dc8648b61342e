"""Peers: other online learners on the same streams, by time and by error.

A fast bad learner is no peer, so both numbers stand side by side. Everybody chooses
from sixteen settings, on a stream apart.
"""

from benchmarks.peers.race import peers

__all__ = ["peers"]
