"""halk: sensors that learn together without a server."""

from halk import (
    bandwidth,
    checks,
    evaluate,
    features,
    kernels,
    learners,
    losses,
    proximity,
    reference,
    theory,
)
from halk._version import __version__
from halk.errors import CheckpointError, DivergenceError, HalkError, LawError
from halk.learners import HALK
from halk.network import Network
from halk.trace import Trace

__all__ = [
    "HALK",
    "CheckpointError",
    "DivergenceError",
    "HalkError",
    "LawError",
    "Network",
    "Trace",
    "__version__",
    "bandwidth",
    "checks",
    "evaluate",
    "features",
    "kernels",
    "learners",
    "losses",
    "proximity",
    "reference",
    "theory",
]
