"""The family of kernels: what a kernel is, and the formulas it can give."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from halk._jit import (
    Lanes,
    compiled,
    generic,
    generic_in_lanes,
    generic_procedure,
    inlined,
    internal,
    packed,
    point_of,
)
from halk._validation import Matrix, Vector, array, without_nan
from halk.component import Component


@generic
def kernel_value(kernel: Any, x: Vector, y: Vector) -> float:
    """Return ``k(x, y)`` for two points: the formula that makes a kernel."""
    raise TypeError("this kernel has no formula: register one with kernel_value")


@generic
def rescaled(kernel: Any, factor: float) -> Any:
    """Return ``kernel`` with its bandwidth multiplied by ``factor``.

    Kernels without a bandwidth come back as they are.
    """
    return kernel


@generic_in_lanes
def kernel_lanes(
    kernel: Any, atoms: Matrix, k: int, m: int, points: Matrix, r: int, scratch: Matrix
) -> Lanes:
    """Return ``k(d, x)`` for as many atoms as there are lanes, from atom ``k`` on.

    Atoms (p, capacity) and points (p, B) are in columns, ``r`` is the point's. This is
    ``kernel_value`` atom by atom, with zeros from atom ``m`` on; a kernel whose speed
    matters registers its own formula, which may return anything finite there. Indices
    of these arrays count from zero: negative ones are not understood.
    """
    return kernel_one_by_one(kernel, atoms, k, m, points, r, scratch)


@inlined
def kernel_one_by_one(
    kernel: Any, atoms: Matrix, k: int, m: int, points: Matrix, r: int, scratch: Matrix
) -> Lanes:
    """Return what :func:`kernel_lanes` does for a kernel without a formula for it."""
    for f in range(len(points)):
        scratch[0, f] = points[f, r]
    return packed(
        _value_at(kernel, atoms, k, m, scratch),
        _value_at(kernel, atoms, k + 1, m, scratch),
        _value_at(kernel, atoms, k + 2, m, scratch),
        _value_at(kernel, atoms, k + 3, m, scratch),
    )


@generic_procedure
def kernel_at_itself(kernel: Any, points: Matrix, r: int, scratch: Matrix) -> float:
    """Return ``k(x, x)`` for point ``r`` of points in columns."""
    for f in range(len(points)):
        scratch[0, f] = points[f, r]
    return float(kernel_value(kernel, point_of(scratch, 0), point_of(scratch, 0)))


@internal
def _value_at(kernel: Any, atoms: Matrix, k: int, m: int, scratch: Matrix) -> float:
    if k >= m:
        return 0.0
    for f in range(len(atoms)):
        scratch[1, f] = atoms[f, k]
    return float(kernel_value(kernel, point_of(scratch, 1), point_of(scratch, 0)))


@compiled
def _fill_gram(kernel: Any, X: Matrix, Y: Matrix, out: Matrix) -> None:
    for i in range(len(X)):
        for j in range(len(Y)):
            out[i, j] = kernel_value(kernel, X[i], Y[j])


class Kernel(Component):
    """A positive semidefinite function of two points, with ``+`` and ``*``.

    Calling a kernel gives the Gram matrix of two sets of points.
    """

    __slots__ = ()
    # a NumPy number on the left of an operator would take the tuple for an array
    __array_ufunc__ = None

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the matrix of ``k(X[i], Y[j])``; ``Y`` defaults to ``X``."""
        X = without_nan("X", array("X", X, (None, None)))
        Y = X if Y is None else without_nan("Y", array("Y", Y, (None, X.shape[1])))
        self.check_features(X.shape[1])
        out = np.empty((len(X), len(Y)))
        _fill_gram(self, X, Y, out)
        return out

    @property
    def at_itself(self) -> float:
        """``k(x, x)`` where it is the same for every ``x``; NaN where it is not known.

        For speed alone: with it nobody has to ask point by point.
        """
        return nan

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` if the kernel cannot take points of this length."""

    def __add__(self, other: Any) -> Any:
        return _combined("Sum", self, other)

    def __radd__(self, other: Any) -> Any:
        return _combined("Sum", other, self)

    def __mul__(self, other: Any) -> Any:
        return _combined("Product", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combined("Product", other, self)


def _combined(kind: str, left: Any, right: Any) -> Any:
    # the composite kernels are kernels themselves, so they can only be known later
    from halk.kernels import composite  # noqa: PLC0415

    return composite.combine(kind, left, right)
