"""halk: sensors that learn together without a server."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from halk._version import __version__

if TYPE_CHECKING:
    from halk import (
        bandwidth,
        checks,
        data,
        evaluate,
        features,
        kernels,
        learners,
        losses,
        proximity,
        reference,
        sensors,
        theory,
    )
    from halk.errors import (
        CheckpointError,
        DataError,
        DivergenceError,
        HalkError,
        LawError,
    )
    from halk.learners import HALK, NewtonHALK
    from halk.network import Network
    from halk.sensors import SensorModel, fit
    from halk.trace import Trace

__all__ = [
    "HALK",
    "CheckpointError",
    "DataError",
    "DivergenceError",
    "HalkError",
    "LawError",
    "Network",
    "NewtonHALK",
    "SensorModel",
    "Trace",
    "__version__",
    "bandwidth",
    "checks",
    "data",
    "evaluate",
    "features",
    "fit",
    "kernels",
    "learners",
    "losses",
    "proximity",
    "reference",
    "sensors",
    "theory",
]

# Names are imported when they are first used: a command that only answers --help, or
# looks at a table, does not wait for the learners.
_HOMES = {
    "HALK": "halk.learners",
    "CheckpointError": "halk.errors",
    "DataError": "halk.errors",
    "DivergenceError": "halk.errors",
    "HalkError": "halk.errors",
    "LawError": "halk.errors",
    "Network": "halk.network",
    "NewtonHALK": "halk.learners",
    "SensorModel": "halk.sensors",
    "Trace": "halk.trace",
    "fit": "halk.sensors",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"halk.{name}")
    else:
        raise AttributeError(f"module 'halk' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
