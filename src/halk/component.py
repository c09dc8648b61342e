"""What kernels, losses, proximities and their like have in common."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halk._validation import array


class Component:
    """A value: parameters of a formula, checked when it is made and never changed.

    Those of halk are frozen dataclasses. A plain class serves too: what it keeps in
    its attributes is compared, hashed and shown.
    """

    _checks: ClassVar[dict[str, Callable[[str, Any], Any]]] = {}
    """What checks an argument, and returns it as it is kept: ``check(name, value)``."""
    _examples: ClassVar[tuple[tuple[Any, ...], ...]] = ((),)
    """Arguments of instances for the conformance tests to run through the laws."""

    def __post_init__(self) -> None:
        for name, check in self._checks.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({listed})"

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the conformance tests to run through the laws."""
        return tuple(cls(*arguments) for arguments in cls._examples)


def subclasses(family: type[Any]) -> list[type[Any]]:
    """Return every public concrete component of ``family``, in order of definition."""
    found: list[type[Any]] = []
    for cls in family.__subclasses__():
        if not cls.__name__.startswith("_"):
            found.append(cls)
        found += [sub for sub in subclasses(cls) if sub not in found]
    return found


def check_result(
    component: Any, values: Any, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return what a formula computed as float64, after checking that it fits.

    Raises
    ------
    ValueError
        That names the component, if shape or dtype are wrong or a value is not finite.
    """
    rule = f"{component!r} must return numbers of shape {shape}"
    try:
        result = np.asarray(values)
    except (TypeError, ValueError) as error:  # ragged, for example
        kind = type(values).__name__
        raise ValueError(f"{rule}, got a {kind} that is no array: {error}") from None
    if result.shape != shape or result.dtype.kind not in "fiub":
        raise ValueError(f"{rule}, got {result.dtype} of shape {result.shape}")
    result = np.ascontiguousarray(result, dtype=np.float64)
    if not np.isfinite(result).all():
        bad = result[~np.isfinite(result)][0]
        raise ValueError(f"{component!r} must return finite numbers, got {bad}")
    return result


def evaluate(component: Any, first: Any, second: Any) -> Any:
    """Return a component's ``value`` at arrays that broadcast, after checking them."""
    a, b = np.broadcast_arrays(np.asarray(first), np.asarray(second))
    flat = (array("value", np.array(np.ravel(v)), (None,)) for v in (a, b))
    values = check_result(component, component.value(*flat), (a.size,))
    return np.reshape(values, a.shape)[()]
