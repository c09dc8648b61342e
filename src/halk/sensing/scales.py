"""What is removed from values before learning, and put back in predictions.

One mean and spread for all comes from the first readings and rests: tolerances are told
in it. What is each sensor's own the learner takes online, with every reading, beside it
(``standardize`` of :class:`halk.HALK`); who has no readings takes its neighbours'.
"""

from typing import NamedTuple

from halk._validation import Vector

SCALINGS = {
    "common": "one mean and spread for all sensors",
    "offset": "one spread for all, each sensor's own mean",
    "own": "each sensor's own mean and spread",
}
"""What can be removed. With "own", neighbours compare what is unusual for each."""

STANDARDIZE: dict[str, bool | str] = {"common": False, "offset": "offset", "own": True}
"""What the learner does about it."""


class Scale(NamedTuple):
    """Mean and spread of all values."""

    offset: float = 0.0
    spread: float = 1.0

    def removed(self, y: Vector) -> Vector:
        """Return values as learners see them."""
        return (y - self.offset) / self.spread

    def restored(self, z: Vector) -> Vector:
        """Return what learners predict in the unit of the values."""
        return z * self.spread + self.offset


def spread_of(y: Vector) -> float:
    """Return the spread of values; 1 if they are all the same."""
    return float(y.std()) or 1.0


def scale_of(y: Vector, spread: float | None = None) -> Scale:
    """Return the scale of values, from readings that no error is judged by.

    ``spread`` of all values, if tolerances are told in it.
    """
    return Scale(float(y.mean()), spread or spread_of(y))
