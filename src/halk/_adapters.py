"""What the estimators of scikit-learn and river share: one learner per output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

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
"""Losses of regressors by name."""

PASSED_ON = (
    "kernel", "length_scale", "noise", "forgetting", "max_atoms", "novelty", "robust",
    "standardize", "exchange", "identity",
)  # fmt: skip
"""Parameters that go to the learners as they are, if an estimator has them."""

ONE_AGENT = Network(1)


class Adapter:
    """Mixin of estimators: parameters stored untouched, and the learners they make.

    A regressor has one learner; a classifier has one per class, or one for two classes.
    Only regressors have a parameter ``loss``, classes have the logistic one.
    """

    learners_: list[NewtonHALK]

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Keep ``locals()`` of a constructor, each argument under its own name."""
        for name, value in arguments.items():
            if name != "self":
                setattr(self, name, value)

    def _make_learner(self, network: Network = ONE_AGENT) -> NewtonHALK:
        """Return a learner with the estimator's parameters, before any reading."""
        given = vars(self)
        parameters = {name: given[name] for name in PASSED_ON if name in given}
        loss = find_loss(given["loss"]) if "loss" in given else losses.Logistic()
        return NewtonHALK(network, loss=loss, **parameters)

    def _learn_rows(self, X: Matrix, Y: Matrix, agents: Indices | None = None) -> None:
        """Let every learner learn its column of ``Y`` (n, n_outputs), row by row.

        In which portions rows come does not matter: nothing is searched for at the end.
        """
        agents = np.zeros(len(X), np.int64) if agents is None else agents
        pairs = list(zip(self.learners_, Y.T, strict=True))
        for learner, y in pairs:  # all of them, so that none learns what one refuses
            check_readings("X y", X, y, learner.loss, has_agents=False)
        for learner, y in pairs:
            learner.observe(list_single(agents, X, y, learner.loss))

    def _predict_rows(self, X: Matrix, agents: Indices | None = None) -> Matrix:
        """Return the outputs (n, n_outputs) at the rows of ``X``."""
        agents = np.zeros(len(X), np.int64) if agents is None else agents
        outputs = [each.predict_readings(agents, X) for each in self.learners_]
        return np.array(outputs).reshape(-1, len(X)).T

    def _fitted_learners(self) -> list[NewtonHALK]:
        return self.learners_

    @property
    def n_atoms_(self) -> int:
        """Number of points that the model is made of."""
        return sum(learner.n_atoms for learner in self._fitted_learners())

    @property
    def length_scale_(self) -> Any:
        """Length scales in use, one or one per feature; a list if of several classes.

        None for kernels that have their own.
        """
        found = [learner.length_scale_ for learner in self._fitted_learners()]
        return found[0] if len(found) == 1 else found

    @property
    def noise_(self) -> Any:
        """Noise in use; a list if of several classes."""
        found = [learner.noise_ for learner in self._fitted_learners()]
        return found[0] if len(found) == 1 else found


def find_loss(loss: Any) -> Loss:
    """Return the loss of a regressor, given by name or as it is."""
    if isinstance(loss, str):
        return LOSSES[choice("loss", loss, LOSSES)]
    if as_loss(loss).takes_labels:
        raise ValueError(f"loss must be one of numbers, got {loss!r}")
    return as_loss(loss)


def log_probabilities(log_odds: Matrix) -> Matrix:
    """Return logarithms of probabilities (n, n_classes) from log odds.

    Logistic values; of several classes these are divided by their sum. One column is
    that of the second class of two.
    """
    if log_odds.shape[1] == 1:
        log_odds = np.column_stack([-log_odds, log_odds])
    logs = log_expit(log_odds)  # where all are unlikely, their sum would be 0
    result: Matrix = logs - logsumexp(logs, axis=1, keepdims=True)
    return result
