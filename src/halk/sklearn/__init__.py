"""Estimators in the manner of scikit-learn: one agent, or a network of sensors.

Needs scikit-learn: ``pip install 'halk[sklearn]'``.
"""

from halk.sklearn.classifier import KernelClassifier
from halk.sklearn.network_classifier import NetworkClassifier
from halk.sklearn.network_regressor import NetworkRegressor
from halk.sklearn.regressor import KernelRegressor

__all__ = [
    "KernelClassifier",
    "KernelRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
]
