"""Sensors of a network: from tables to models, and back to tables without gaps."""

from halk.sensors.comparison import Comparison
from halk.sensors.fill import Filled, fill_table
from halk.sensors.fitting import fit
from halk.sensors.forecast import Forecast
from halk.sensors.method import Estimates, Graph, Method, Site
from halk.sensors.model import Prediction, SensorModel, Update

__all__ = [
    "Comparison",
    "Estimates",
    "Filled",
    "Forecast",
    "Graph",
    "Method",
    "Prediction",
    "SensorModel",
    "Site",
    "Update",
    "fill_table",
    "fit",
]
