"""What kernels, losses, proximities and their like have in common."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from halk._validation import array, nonnegative


class Component:
    """A value: parameters of a formula, checked when it is made and never changed.

    Those of halk are frozen dataclasses. A plain class serves too: what it keeps in
    its attributes is compared, hashed and shown.
    """

    _checks: ClassVar[dict[str, Callable[[str, Any], Any]]] = {}
    """What checks an argument, and returns it as it is kept: ``check(name, value)``."""
    _examples: ClassVar[tuple[tuple[Any, ...], ...]] = ((),)
    """Arguments of instances for the conformance tests to run through the laws."""
    _native: ClassVar[str]
    """The name of the formula in the core, if it has one."""

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

    @property
    def native_name(self) -> str | None:
        """The name of the formula in the core; None if it has to call back."""
        # of this very class: a derived one may have another formula
        return vars(type(self)).get("_native")

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the conformance tests to run through the laws."""
        return tuple(cls(*arguments) for arguments in cls._examples)


def find_arguments(value: Any) -> dict[str, Any] | None:
    """Return what the constructor of an object was given, by name.

    None for a plain class that does not keep it as attributes of the same names.
    """
    names = inspect.signature(type(value)).parameters
    if not all(hasattr(value, name) for name in names):
        return None
    return {name: getattr(value, name) for name in names}


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
    try:
        result, got = np.asarray(values), ""
    except (TypeError, ValueError):  # ragged, for example
        got = f"a {type(values).__name__} that NumPy can make no array of"
        result = np.zeros(0, object)
    if result.shape != shape or result.dtype.kind not in "fiub":
        got = got or f"{result.dtype} of shape {result.shape}"
        rule = f"must return numbers of shape {shape}"
        raise ValueError(f"{component!r} {rule}, got {got}")
    result = np.ascontiguousarray(result, dtype=np.float64)
    if not np.isfinite(result).all():
        bad = result[~np.isfinite(result)][0]
        raise ValueError(f"{component!r} must return finite numbers, got {bad}")
    return result


class Formula(Component):
    """A convex function of two numbers: what losses and proximities have in common."""

    curvature: float = 0.0
    """A bound on the second derivative in the first argument (S9)."""
    _kinds: ClassVar[tuple[str, ...]]
    """The formulas of the core in its order; those in Python come after them."""

    def value(self, a: Any, b: Any) -> Any:
        """Return the value at ``a`` and ``b``, for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method value")

    def slope(self, a: Any, b: Any) -> Any:
        """Return a subgradient in ``a`` (``loss'`` and ``d1h`` of S3), for arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no method slope")

    def __call__(self, first: Any, second: Any) -> Any:
        """Return the values at arrays that broadcast, after checking them."""
        a, b = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        flat = (array("value", np.array(np.ravel(v)), (None,)) for v in (a, b))
        values = check_result(self, self.value(*flat), (a.size,))
        return np.reshape(values, a.shape)[()]

    def _native_arguments(self) -> tuple[int, float, float]:
        """Return what the core makes the formula of: its kind, number and curvature."""
        curvature = nonnegative("curvature", self.curvature)
        if self.native_name is None:
            return len(self._kinds), 0.0, curvature
        number = float(next(iter(vars(self).values()), 0.0))
        return self._kinds.index(self.native_name), number, curvature


F = TypeVar("F", bound=Formula)


@dataclass(frozen=True)
class Borrowed(Formula):
    """The formula of an object that has ``value`` and ``slope``, and is no component.

    To be derived from together with the family that it shall belong to.
    """

    formula: Any

    def __post_init__(self) -> None:
        for name in ("value", "slope", "curvature", "takes_labels"):
            if hasattr(self.formula, name):
                object.__setattr__(self, name, getattr(self.formula, name))


def as_formula(
    value: Any, family: type[F], borrow: Callable[[Any], F], example: str
) -> F:
    """Return a component of ``family`` as it is; what has its methods is made one."""
    if isinstance(value, family):
        return value
    has_both = all(callable(getattr(value, name, None)) for name in ("value", "slope"))
    if has_both and not isinstance(value, type | Component):
        return borrow(value)
    name = family.__name__.lower()
    raise TypeError(f"{name} must be a {name} such as {example}, got {value!r}")
