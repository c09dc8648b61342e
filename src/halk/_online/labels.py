"""Classes as labels -1 and +1, and values of functions as probabilities."""

from typing import Any

import numpy as np

from halk._validation import Matrix


def coded(y: Any, classes: Any) -> Matrix:
    """Return labels (n, 1) of the second of two classes, or (n, n_classes) of each."""
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y must hold classes among {list(classes)!r}, got {y[unknown][0]!r}"
        )
    kept = classes[1:] if len(classes) == 2 else classes
    return np.where(np.asarray(y)[:, None] == kept, 1.0, -1.0)


def log_shares(values: Matrix) -> Matrix:
    """Return logarithms of probabilities (n, n_classes) of functions' values.

    Each value is a logistic one; of several classes these are divided by their sum.
    One column is that of the second class of two.
    """
    if values.shape[1] == 1:
        values = np.column_stack([-values, values])
    # On the log scale classes that are all unlikely divide no 0 by 0.
    logs = -np.logaddexp(0.0, -values)
    logs -= logs.max(axis=1, keepdims=True)
    result: Matrix = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return result
