"""From a table of readings to a model of every sensor: fit, fill, predict, update."""

from halk.sensing import summary  # noqa: F401
from halk.sensing.choices import Choices
from halk.sensing.filling import Filled, fill, filled
from halk.sensing.fitting import fit
from halk.sensing.learned import Learned
from halk.sensing.model import Prediction, SensorModel, Update
from halk.sensing.options import OptionError, Options
from halk.sensing.reasons import Reason

__all__ = [
    "Choices",
    "Filled",
    "Learned",
    "OptionError",
    "Options",
    "Prediction",
    "Reason",
    "SensorModel",
    "Update",
    "fill",
    "filled",
    "fit",
]
