"""What kernels, losses and proximities have in common."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from halk._validation import array


class Component:
    """Mixin of immutable, validated named tuples: parameters of a formula.

    Constructing is validating. Tuples compare by value alone; components of different
    type are different, even with equal parameters.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        same = tuple.__eq__(self, other)  # type: ignore[operator]
        return type(self) is type(other) and bool(same)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), tuple(self)))  # type: ignore[arg-type]

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the conformance tests to run through the laws."""
        return (cls(),)


def subclasses(family: type[Any]) -> list[type[Any]]:
    """Return every public concrete component of ``family``, in order of definition."""
    found: list[type[Any]] = []
    for cls in family.__subclasses__():
        if not cls.__name__.startswith("_"):
            found.append(cls)
        found += [sub for sub in subclasses(cls) if sub not in found]
    return found


def elementwise(
    fill: Callable[..., None], component: Any, first: Any, second: Any
) -> tuple[Any, Any]:
    """Return values and slopes of a formula of two numbers, element by element.

    ``fill(component, a, b, values, slopes)`` is the compiled loop over flat arrays.
    """
    a, b = np.broadcast_arrays(np.asarray(first), np.asarray(second))
    shape = a.shape
    a, b = (array("value", np.array(np.ravel(v)), (None,)) for v in (a, b))
    values, slopes = np.empty_like(a), np.empty_like(a)
    fill(component, a, b, values, slopes)
    return values.reshape(shape)[()], slopes.reshape(shape)[()]
