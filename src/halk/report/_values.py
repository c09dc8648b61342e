"""What the value objects share: arrays are float64, read-only, unknown as NaN."""

import re
from typing import Any

import numpy as np

from halk._validation import Vector, require


def column(name: str, value: Any, length: int | None = None) -> Vector:
    """Return a curve's coordinates; infinity, which no axis shows, becomes NaN.

    Examples
    --------
    >>> column("y", [1, None, float("inf")]).tolist()
    [1.0, nan, nan]
    """
    result = np.array(value, dtype=np.float64)
    require(result.ndim == 1, name, "have one axis", result.shape)
    if length is not None:
        require(len(result) == length, name, f"have {length} entries", len(result))
    result[~np.isfinite(result)] = np.nan
    result.setflags(write=False)
    return result


def assign(instance: object, **values: Any) -> None:
    """Set attributes of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def check_name(name: str) -> None:
    """Refuse what would not be a file name everywhere, or lead to another folder."""
    fits = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None
    require(fits, "name", "hold letters, digits, dots, hyphens, underscores", name)
