"""Batch Gaussian processes: what all readings at once would come to.

Their hyper-parameters maximise the marginal likelihood of the training readings, which
is progressive validation too: the sum of the logarithms of the densities with which
each reading is predicted from those before it.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector

_MOST = 800
"""Readings, at most, that the likelihood is maximised on: it costs their cube."""


def _modules() -> tuple[Any, Any]:
    try:
        return (
            import_module("sklearn.gaussian_process"),
            import_module("sklearn.gaussian_process.kernels"),
        )
    except ImportError:
        raise ImportError(
            "Gaussian processes need scikit-learn: pip install 'halk[experiments]'"
        ) from None


def fitted(x: Matrix, y: Vector, seed: int) -> Any:
    """Return a Gaussian process with a Gaussian kernel, fitted to readings."""
    gp, kernels = _modules()
    start = kernels.ConstantKernel(1.0, (1e-3, 1e3)) * kernels.RBF(
        np.ones(x.shape[1]), (1e-2, 1e2)
    ) + kernels.WhiteKernel(1e-2, (1e-6, 1.0))
    some = np.random.default_rng([seed, 4]).permutation(len(x))[:_MOST]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bound that is reached is no trouble here
        best = gp.GaussianProcessRegressor(start).fit(x[some], y[some])
        if len(some) == len(x):
            return best
        return gp.GaussianProcessRegressor(best.kernel_, optimizer=None).fit(x, y)


def pooled(x: Matrix, y: Vector, at: Matrix, seed: int) -> tuple[Vector, float]:
    """Return predictions with all data in one place, and the log likelihood."""
    model = fitted(x, y, seed)
    return model.predict(at), float(model.log_marginal_likelihood_value_)


def each(
    agent: Indices, x: Matrix, y: Vector, agents: Indices, at: Matrix, seed: int
) -> tuple[Vector, float]:
    """Return predictions by one model for each sensor, and the log likelihood."""
    predictions, likelihood = np.zeros(len(at)), 0.0
    for i in np.unique(agents):
        own, wanted = agent == i, agents == i
        model = fitted(x[own], y[own], seed)
        predictions[wanted] = model.predict(at[wanted])
        likelihood += float(model.log_marginal_likelihood_value_)
    return predictions, likelihood
