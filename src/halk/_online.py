"""What the estimators of scikit-learn and river share: one learner per output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from halk import losses
from halk._validation import Indices, Matrix, choice
from halk.learners import NewtonHALK
from halk.learners.readings import check_readings, list_single
from halk.losses import Loss, as_loss
from halk.network import Network

LOSSES: Mapping[str, Loss] = {
    "squared": losses.Squared(),
    "huber": losses.Huber(),
    "absolute": losses.Absolute(),
    "epsilon_insensitive": losses.EpsilonInsensitive(),
}

LOGISTIC = losses.Logistic()

SHARED = ["kernel", "length_scale", "noise", "forgetting", "max_atoms", "novelty"]
"""Parameters of every estimator that go to its learners as they are."""


def make_learner(estimator: Any, network: Network, **more: Any) -> NewtonHALK:
    """Return a learner with an estimator's parameters that has learned nothing."""
    parameters = {name: getattr(estimator, name) for name in SHARED}
    return NewtonHALK(network, **parameters, **more)


def loss_of_numbers(loss: Any) -> Loss:
    """Return the loss of a regressor, given by name or as it is."""
    if isinstance(loss, str):
        return LOSSES[choice("loss", loss, LOSSES)]
    if as_loss(loss).takes_labels:
        raise ValueError(f"loss must be one of numbers, got {loss!r}")
    return as_loss(loss)


def learn(learners: list[NewtonHALK], agents: Indices, X: Matrix, Y: Matrix) -> None:
    """Let every learner learn its column of ``Y`` (n, n_outputs), row by row.

    In which portions rows come does not matter: nothing is searched for at the end.
    """
    for learner, y in zip(learners, Y.T, strict=True):
        check_readings("X y", X, y, learner.loss, has_agents=False)
    for learner, y in zip(learners, Y.T, strict=True):
        learner.observe(list_single(agents, X, y, learner.loss))


def predict(learners: list[NewtonHALK], agents: Indices, X: Matrix) -> Matrix:
    """Return the outputs (n, n_outputs) of agents at points."""
    outputs = [learner.predict_readings(agents, X) for learner in learners]
    return np.array(outputs).reshape(-1, len(X)).T


# classes


def encode_labels(y: Any, classes: Any) -> Matrix:
    """Return labels (n, 1) of the second of two classes, or (n, n_classes) of each."""
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y must hold classes among {list(classes)!r}, got {y[unknown][0]!r}"
        )
    kept = classes[1:] if len(classes) == 2 else classes
    return np.where(np.asarray(y)[:, None] == kept, 1.0, -1.0)


def log_probabilities(odds: Matrix) -> Matrix:
    """Return logarithms of probabilities (n, n_classes) from log odds.

    Logistic values; of several classes these are divided by their sum. One column is
    that of the second class of two.
    """
    if odds.shape[1] == 1:
        odds = np.column_stack([-odds, odds])
    # On the log scale classes that are all unlikely divide no 0 by 0.
    logs = -np.logaddexp(0.0, -odds)
    logs -= logs.max(axis=1, keepdims=True)
    result: Matrix = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return result
