"""From dicts of features that come and go to columns that stay."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import isinf, isnan, sqrt
from typing import Any

import numpy as np
from river import stats

from halk._validation import Matrix, Vector


def read_features(X: Any) -> tuple[list[Hashable], Matrix]:
    """Return names and values (n, p) of one reading, a dict, or of a pandas frame."""
    if not hasattr(X, "columns"):
        row = [_read_number(name, value) for name, value in X.items()]
        return list(X), np.array(row, np.float64)[None]
    values = np.empty((len(X), len(X.columns)))
    for k, name in enumerate(X.columns):
        values[:, k] = [_read_number(name, value) for value in X[name].tolist()]
    return list(X.columns), values


def _read_number(name: Hashable, value: Any) -> float:
    """Return a feature's value as a float, NaN for None."""
    try:
        number = float("nan" if value is None else value)
    except (TypeError, ValueError):
        raise TypeError(
            f"feature {name!r} must be a number, got {value!r}; "
            f"put a river.preprocessing.OneHotEncoder before"
        ) from None
    if isinf(number):
        raise ValueError(f"feature {name!r} must be finite, got {value!r}")
    return number


class FeatureColumns:
    """Gives every feature a column, for good, and knows its mean and std.

    Features that are new in the same reading are ordered by name, so that the order of
    a dict does not matter.
    """

    def __init__(self) -> None:
        self.number: dict[Hashable, int] = {}
        self._variances: dict[Hashable, stats.Var] = {}

    def __len__(self) -> int:
        return len(self.number)

    def observe(self, names: list[Hashable], row: Vector) -> list[Hashable]:
        """Take in a reading; return its features that have no column yet."""
        waiting = []
        for name, value in zip(names, row.tolist(), strict=True):
            if isnan(value):
                continue
            if name not in self.number:
                waiting.append(name)
            if name not in self._variances:
                self._variances[name] = stats.Var(ddof=0)
            self._variances[name].update(value)
        return sorted(waiting, key=lambda name: (str(name), type(name).__name__))

    def add(self, names: Iterable[Hashable]) -> None:
        """Give features columns."""
        for name in names:
            self.number[name] = len(self.number)

    def summarize(self, name: Hashable) -> tuple[float, float, float]:
        """Return count, mean and std of a feature's values."""
        variance = self._variances[name]
        return variance.mean.n, variance.mean.get(), sqrt(variance.get())

    def place(self, names: list[Hashable], values: Matrix) -> Matrix:
        """Return values in their columns; those of features without one are left out.

        What is missing is the mean of the feature so far.
        """
        means = [self._variances[name].mean.get() for name in self.number]
        placed = np.tile(np.array(means, np.float64), (len(values), 1))
        for k, name in enumerate(names):
            at = self.number.get(name)
            if at is not None:
                value = values[:, k]
                placed[:, at] = np.where(np.isnan(value), placed[:, at], value)
        return placed
