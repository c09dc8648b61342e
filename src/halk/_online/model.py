"""HALK on numbers that are standardised by what the first readings look like."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk._online.moving import pack, unpack, widen
from halk._online.scales import Scales
from halk._online.settings import Settings
from halk._validation import Indices, Matrix
from halk.kernels import Kernel
from halk.learners import HALK

_ABSENT = -1.0
"""The label of a class that a reading is not of."""

_LARGEST = 1e40
"""As of the learners."""


def _check_size(name: str, values: Matrix) -> None:
    """Refuse what has no finite spread, before anything is learned from it."""
    large = np.abs(values) > _LARGEST
    if large.any():
        raise ValueError(
            f"{name} must be below {_LARGEST:.0e} in size, got {values[large][0]}; "
            f"rescale it"
        )


class Model:
    """Learners side by side, one an output, that share inputs, scales and kernel.

    The first ``warm_up`` readings are kept. Whenever their number is a power of two,
    and at the end, scales and length scale are taken from them and they are learned
    anew; then they are let go, and scales and length scale rest. So the model can
    predict from the first reading on, and in which portions readings come does not
    matter.

    Parameters
    ----------
    settings : Settings
    n_features : int
    n_outputs : int, default 1
    """

    def __init__(self, settings: Settings, n_features: int, n_outputs: int = 1) -> None:
        self.settings = settings
        n, warm_up = n_features, settings.warm_up
        self.inputs = Scales(n, warm_up, settings.standardizes_inputs)
        self.target = Scales(n_outputs, warm_up, settings.standardizes_target)
        self.kernel: Kernel = settings.kernel_for(np.zeros((0, n)))
        self.learners: list[HALK] = []
        self._make_learners(n_outputs)
        self._is_warm = False
        self._agents: Indices = np.zeros(0, np.int64)
        self._X: Matrix = np.zeros((0, n))
        self._Y: Matrix = np.zeros((0, n_outputs))

    def _make_learners(self, n_outputs: int) -> None:
        self.learners = [self.settings.learner(self.kernel) for _ in range(n_outputs)]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"learners": [pack(one) for one in self.learners]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        contents = state["learners"]
        self._make_learners(len(contents))
        for learner, content in zip(self.learners, contents, strict=True):
            unpack(learner, content)

    # learning

    def learn(self, agents: Indices, X: Matrix, Y: Matrix) -> None:
        """Learn readings in their order.

        Parameters
        ----------
        agents : int array (n,)
        X : array (n, n_features)
            NaN where a feature is missing.
        Y : array (n, n_outputs)
        """
        _check_size("X", X)
        _check_size("y", Y)
        n = 0 if self._is_warm else self.settings.warm_up - len(self._X)
        if n > 0:
            self._warm_up(agents[:n], X[:n], Y[:n])
            agents, X, Y = agents[n:], X[n:], Y[n:]
        if self.inputs.is_settled:
            self._learn(agents, X, Y)
            return
        for row in range(len(X)):
            self.inputs.observe(X[row])
            one = slice(row, row + 1)
            self._learn(agents[one], X[one], Y[one])

    def settle(self, X: Matrix, Y: Matrix) -> None:
        """Take scales and length scale from the first of these readings, for good."""
        _check_size("X", X)
        _check_size("y", Y)
        n = self.settings.warm_up
        self._rescale(X[:n], Y[:n])
        self._end_warm_up()

    def _warm_up(self, agents: Indices, X: Matrix, Y: Matrix) -> None:
        before = len(self._X)
        self._agents = np.concatenate([self._agents, agents])
        self._X, self._Y = np.concatenate([self._X, X]), np.concatenate([self._Y, Y])
        n = len(self._X)
        is_over = n == self.settings.warm_up
        last = n if is_over else 1 << (n.bit_length() - 1)  # where to begin anew
        done = before
        if last > before:
            self._rescale(self._X[:last], self._Y[:last])
            done = 0
        self._learn(self._agents[done:], self._X[done:], self._Y[done:])
        if is_over:
            self._end_warm_up()

    def _rescale(self, X: Matrix, Y: Matrix) -> None:
        self.inputs.set_from(X)
        self.target.set_from(Y)
        self.kernel = self.settings.kernel_for(self.inputs.apply(X))
        self._make_learners(Y.shape[1])

    def _end_warm_up(self) -> None:
        self._is_warm = True
        self.inputs.close()
        self._agents, self._X, self._Y = self._agents[:0], self._X[:0], self._Y[:0]

    def _learn(self, agents: Indices, X: Matrix, Y: Matrix) -> None:
        if len(X) == 0:
            return
        Z, targets = self.inputs.apply(X), self.target.apply(Y)
        for learner, target in zip(self.learners, targets.T, strict=True):
            learner.learn_readings(agents, Z, target)

    # predicting

    def predict(self, agents: Indices, X: Matrix) -> Matrix:
        """Return the outputs (n, n_outputs) of agents at points."""
        Z = self.inputs.apply(X)
        outputs = [learner.predict_readings(agents, Z) for learner in self.learners]
        return self.target.undo(np.array(outputs).reshape(-1, len(X)).T)

    # growing

    def add_features(self, n_features: int) -> None:
        """Let inputs have more features; so far, they were missing."""
        old = self._X
        gap = np.full((len(old), n_features - old.shape[1]), np.nan)
        self._X = np.concatenate([old, gap], axis=1)
        self.inputs.widen(n_features)
        narrow = self.learners
        self._make_learners(len(narrow))
        for fresh, learner in zip(self.learners, narrow, strict=True):
            widen(fresh, learner, n_features)

    def add_class(self) -> None:
        """Add an output of labels, of which no reading was so far."""
        self._Y = np.column_stack([self._Y, np.full(len(self._Y), _ABSENT)])
        self.target.widen(len(self.learners) + 1)
        learner = self.settings.learner(self.kernel)
        if len(self._X):
            learner.learn_readings(
                self._agents, self.inputs.apply(self._X), self._Y[:, -1]
            )
        self.learners.append(learner)
