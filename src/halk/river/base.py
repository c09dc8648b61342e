"""What both estimators share: learners whose inputs grow with the features seen."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from halk._online import learn
from halk._validation import Matrix
from halk.learners import NewtonHALK
from halk.learners.search import is_auto
from halk.river.columns import Columns, numbers

ENOUGH = 20
"""Values that tell the spread of a feature which comes after the search."""

WIDE = 1.5
"""Its length scale over that spread and the root of the number of features."""


class Online:
    """Mixin: one agent that takes dicts."""

    kernel: Any
    length_scale: Any

    def _prepare(self, n_outputs: int) -> None:
        """Check the parameters and begin with nothing learned."""
        self._columns = Columns()
        self._learners = [self._make_learner() for _ in range(max(n_outputs, 1))]
        del self._learners[n_outputs:]

    def _make_learner(self) -> NewtonHALK:
        """Return a learner that has learned nothing."""
        raise NotImplementedError

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of the model itself, as it is stored.

        River would count the modules that all models share.
        """
        return len(pickle.dumps(self, protocol=5))

    @property
    def n_atoms(self) -> int:
        """Number of points that the model is made of."""
        return sum(learner.n_atoms for learner in self._learners)

    def _learn(self, names: list[Any], values: Matrix, Y: Matrix) -> None:
        columns, begin = self._columns, 0
        rows: list[Matrix] = []
        for at, row in enumerate(values):
            waiting = columns.observe(names, row)
            if waiting:
                self._learn_rows_of(rows, Y[begin:at])
                rows, begin = [], at
                self._add_features([name for name in waiting if self._is_ready(name)])
            rows.append(columns.place(names, row[None]))
        self._learn_rows_of(rows, Y[begin:])

    def _learn_rows_of(self, rows: list[Matrix], Y: Matrix) -> None:
        if rows and len(self._columns):
            agents = np.zeros(len(rows), np.int64)
            learn(self._learners, agents, np.concatenate(rows), Y)

    def _is_ready(self, name: Any) -> bool:
        """Return whether a feature can have a column: its length scale can be told."""
        if not isinstance(self.kernel, str) or not is_auto(self.length_scale):
            return True
        if not all(learner.is_settled for learner in self._learners):
            return True  # the next search will find it
        columns = self._columns
        return columns.count(name) >= ENOUGH and columns.spread(name) > 0.0

    def _add_features(self, names: list[Any]) -> None:
        if not names:
            return
        columns = self._columns
        columns.add(names)
        values = np.array([columns.mean(name) for name in names])
        spread = np.array([columns.spread(name) for name in names])
        scales = WIDE * np.sqrt(len(columns)) * np.where(spread > 0.0, spread, 1.0)
        self._learners = [
            _widen(learner, self._make_learner(), values, scales)
            for learner in self._learners
        ]

    def _values(self, X: Any) -> Matrix:
        """Return rows to predict."""
        return self._columns.place(*numbers(X))


def _widen(
    learner: NewtonHALK, fresh: NewtonHALK, values: Any, scales: Any
) -> NewtonHALK:
    """Return a learner of more features, which had ``values`` in all readings before.

    Where they have them again it predicts what it did.
    """
    if learner.n_features is None:
        return learner
    state = learner.state_dict()
    for name in ("atoms", "kept_x"):
        if name in state:
            same = np.tile(values, (len(state[name]), 1))
            state[name] = np.hstack([state[name], same])
    if "found_length_scale" in state:
        found = [state["found_length_scale"], scales]
        state["found_length_scale"] = np.concatenate(found)
    n_features = learner.n_features + len(values)
    fresh.load_state_dict(learner.n_steps, n_features, state)
    return fresh
