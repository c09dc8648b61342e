"""Estimators in the manner of scikit-learn: one agent, or a network of sensors.

Needs scikit-learn: ``pip install 'halk[sklearn]'``.
"""

from halk.sklearn.estimators import KernelClassifier, KernelRegressor
from halk.sklearn.network import NetworkClassifier, NetworkRegressor

__all__ = [
    "KernelClassifier",
    "KernelRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
]
