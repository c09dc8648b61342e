"""From dicts of features that come and go to columns that stay."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import isinf
from typing import Any

import numpy as np

from halk._validation import Matrix


def numbers(X: Any) -> tuple[list[Hashable], Matrix]:
    """Return names and values (n, p) of one reading, a dict, or of a pandas frame."""
    if not hasattr(X, "columns"):
        row = [_number(name, value) for name, value in X.items()]
        return list(X), np.array(row, np.float64)[None]
    values = np.empty((len(X), len(X.columns)))
    for k, name in enumerate(X.columns):
        values[:, k] = [_number(name, value) for value in X[name].tolist()]
    return list(X.columns), values


def _number(name: Hashable, value: Any) -> float:
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


class Columns:
    """Gives every feature a column, for good, when it is first learned from.

    Features that are new in the same reading are ordered by name, so that the order of
    a dict does not matter.
    """

    def __init__(self) -> None:
        self.number: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.number)

    def add(self, names: Iterable[Hashable]) -> None:
        """Give those features columns that have none."""
        new = [name for name in names if name not in self.number]
        for name in sorted(new, key=lambda name: (str(name), type(name).__name__)):
            self.number[name] = len(self.number)

    def placed(self, names: list[Hashable], values: Matrix) -> Matrix:
        """Return values in their columns; those of features without one are left out.

        What is missing is NaN.
        """
        placed = np.full((len(values), len(self.number)), np.nan)
        for k, name in enumerate(names):
            at = self.number.get(name)
            if at is not None:
                placed[:, at] = values[:, k]
        return placed
