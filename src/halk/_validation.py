"""Validation of arguments, in one error format.

``name must condition, got value``: what was wrong, where, and what would be right.
Arrays leave here C-contiguous, writable and float64, the only layout that the core
takes.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

_NEVER_NEGATIVE = ("order", "asked", "count", "readings", "multipliers", "sent")
"""Arrays of states: numbers of something, and multipliers."""


def require(condition: bool, name: str, rule: str, value: object) -> None:
    """Raise ``ValueError`` in the common format unless ``condition`` holds."""
    if not condition:
        raise ValueError(f"{name} must {rule}, got {value!r}")


def real(name: str, value: Any) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    require(isfinite(number), name, "be finite", number)
    return number


def positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    number = real(name, value)
    require(number > 0, name, "be positive", number)
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return ``value`` as a finite float of zero or more."""
    number = real(name, value)
    require(number >= 0, name, "not be negative", number)
    return number


def integer(name: str, value: Any, minimum: int = 0) -> int:
    """Return ``value`` as an int of at least ``minimum``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    require(int(value) >= minimum, name, f"be at least {minimum}", int(value))
    return int(value)


def choice(name: str, value: Any, options: Iterable[Any]) -> Any:
    """Return ``value`` if it is one of ``options``."""
    options = tuple(options)
    known = any(type(value) is type(option) and value == option for option in options)
    listed = ", ".join(repr(option) for option in options)
    require(known, name, f"be one of {listed}", value)
    return value


def array(name: str, value: Any, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Return ``value`` as a contiguous float64 array of ``shape``.

    ``None`` in ``shape`` admits any length. NaN is let through, for the caller to
    give it a meaning or to refuse it; infinity is refused here.
    """
    if np.ma.isMaskedArray(value):  # what is masked is not known
        value = np.ma.filled(value.astype(np.float64), np.nan)
    try:
        result = np.require(np.asarray(value), requirements=["C"])
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array of numbers") from None
    if result.dtype.kind not in "fiub":
        hint = "; use NaN for what is missing" if result.dtype.kind == "O" else ""
        raise TypeError(
            f"{name} must hold real numbers, got dtype {result.dtype}{hint}"
        )
    fits = result.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, result.shape, strict=True)
    )
    wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
    require(fits, name, f"have shape {wanted}", result.shape)
    result = result.astype(np.float64, copy=not result.flags.writeable)
    _refuse_first(name, result, np.isinf(result))
    return result


def without_nan(name: str, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``value`` if it holds no NaN."""
    _refuse_first(name, value, np.isnan(value))
    return value


def _refuse_first(name: str, value: NDArray[np.float64], bad: Any) -> None:
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        got = float(value[where])
        raise ValueError(f"{name} must be finite, got {got} at index {where}")


def finite_array(
    name: str, value: Any, shape: tuple[int | None, ...]
) -> NDArray[np.float64]:
    """Return ``value`` as :func:`array` does; NaN is refused too."""
    return without_nan(name, array(name, value, shape))


def check_state(state: Mapping[str, NDArray[Any]]) -> None:
    """Raise ``ValueError`` if a saved state holds what no state may hold."""
    for name, values in state.items():
        require_each(name, "be finite", values, np.isfinite(values))
        if name in _NEVER_NEGATIVE:
            require_each(name, "not be negative", values, values >= 0)


def require_each(name: str, rule: str, values: Any, is_right: Any) -> None:
    """Raise ``ValueError`` for the first of ``values`` that is not right."""
    if not is_right.all():
        where = tuple(int(k) for k in np.argwhere(~is_right)[0])
        raise ValueError(f"{name} must {rule}, got {values[where]} at {where}")


def per_item(name: str, value: Any, n_items: int, item: str) -> Vector:
    """Return a number, or one number for each of ``n_items``, as a vector.

    ``item`` names what is counted, for the message: "agent" or "edge".
    """
    if np.ndim(value) == 0:
        return np.full(n_items, real(name, value))
    vector = array(name, value, (None,))
    if len(vector) != n_items:
        rule = f"be a number or have one entry per {item} ({n_items})"
        raise ValueError(f"{name} must {rule}, got {len(vector)} entries")
    return without_nan(name, vector).copy()
