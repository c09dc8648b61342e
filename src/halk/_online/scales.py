"""Offset and spread of columns, taken from the first readings and then left alone."""

import numpy as np

from halk._validation import Indices, Matrix, Vector


class Scales:
    """Standardises columns; NaN, a value that is missing, becomes the mean.

    Scales that moved for ever would move the atoms of a kernel model under its feet,
    so they rest once a column has had ``n_wanted`` values.

    Attributes
    ----------
    count, mean, squares : arrays (p,)
        Of the values so far: their number, mean, and sum of squared deviations.
    """

    def __init__(self, n_columns: int, n_wanted: int, is_used: bool) -> None:
        self.n_wanted = n_wanted
        self.is_used = is_used
        self.count: Indices = np.zeros(n_columns, np.int64)
        self.mean: Vector = np.zeros(n_columns)
        self.squares: Vector = np.zeros(n_columns)
        self.rests = np.zeros(n_columns, np.bool_)

    def widen(self, n_columns: int) -> None:
        """Add columns that have had no value."""
        more = n_columns - len(self.count)
        self.count = np.concatenate([self.count, np.zeros(more, np.int64)])
        self.mean = np.concatenate([self.mean, np.zeros(more)])
        self.squares = np.concatenate([self.squares, np.zeros(more)])
        self.rests = np.concatenate([self.rests, np.zeros(more, np.bool_)])

    def set_from(self, X: Matrix) -> None:
        """Take the statistics of these rows, and of nothing before them."""
        known = ~np.isnan(X)
        self.count = known.sum(axis=0)
        self.mean = np.where(known, X, 0.0).sum(axis=0) / np.maximum(self.count, 1)
        # Large numbers squared, minus each other, would leave nothing but rounding.
        away = np.where(known, X - self.mean, 0.0)
        self.squares = (away**2).sum(axis=0)

    def close(self) -> None:
        """Let every column that has had a value rest."""
        self.rests = self.count > 0

    @property
    def is_settled(self) -> bool:
        """Whether no value to come can change a scale."""
        return not self.is_used or bool(self.rests.all())

    def observe(self, x: Vector) -> None:
        """Take in one row, in the columns that do not rest yet (Welford)."""
        moves = ~self.rests & ~np.isnan(x)
        self.count[moves] += 1
        away = x[moves] - self.mean[moves]
        self.mean[moves] += away / self.count[moves]
        self.squares[moves] += away * (x[moves] - self.mean[moves])
        self.rests |= self.count >= self.n_wanted

    @property
    def spread(self) -> Vector:
        """Standard deviation of every column, 1 where it is zero."""
        spread = np.sqrt(self.squares / np.maximum(self.count, 1))
        tiny = 1e-12 * np.abs(self.mean)  # what rounding makes of a constant
        return np.where(spread > tiny, spread, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the rows standardised, and without gaps.

        A column that has had no value has no scale yet, and counts as missing.
        """
        if not self.is_used:
            return np.where(np.isnan(X), 0.0, X)
        Z = (X - self.mean) / self.spread
        return np.where(np.isnan(Z) | (self.count == 0), 0.0, Z)

    def undo(self, Z: Matrix) -> Matrix:
        """Return standardised rows in their own units."""
        return Z * self.spread + self.mean if self.is_used else Z
