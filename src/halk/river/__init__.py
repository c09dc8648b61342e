"""Estimators in the manner of river: one reading, a dict of features, at a time.

Needs river: ``pip install 'halk[river]'``.
"""

from halk.river.estimators import KernelClassifier, KernelRegressor

__all__ = ["KernelClassifier", "KernelRegressor"]
