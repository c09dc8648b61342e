"""Steps to step size, and the units of compression."""

from math import isqrt, sqrt
from typing import NamedTuple

from halk._validation import integer, nonnegative, positive, real, require


def inverse_root(n_steps: int) -> float:
    """Return ``T^(-1/2)``, for a T beyond the floats too."""
    T = integer("n_steps", n_steps, 1)
    return 1 / (sqrt(T) if T.bit_length() < 1000 else isqrt(T))


class Compression(NamedTuple):
    """How much a step may prune: one number in three units, see `compression`."""

    epsilon: float
    parsimony: float
    alpha: float


def compression(
    step_size: float,
    *,
    epsilon: float | None = None,
    parsimony: float | None = None,
    alpha: float | None = None,
) -> Compression:
    """Return epsilon, parsimony and alpha from the one that is given.

    ``epsilon = P eta^(3/2)``, ``alpha = epsilon / eta``: the distance
    that a step may lose (S7), the paper's constant P, and what the theorems speak of.

    Examples
    --------
    >>> compression(0.01, parsimony=40)
    Compression(epsilon=0.04, parsimony=40.0, alpha=4.0)
    """
    eta = positive("step_size", step_size)
    power = positive("step_size^(3/2)", eta * sqrt(eta))
    units = {"epsilon": 1.0, "parsimony": power, "alpha": eta}
    values = {"epsilon": epsilon, "parsimony": parsimony, "alpha": alpha}
    given = {name: value for name, value in values.items() if value is not None}
    rule = "be given as exactly one of epsilon, parsimony and alpha"
    require(len(given) == 1, "compression", rule, given)
    ((name, value),) = given.items()
    distance = nonnegative(name, value) * units[name]
    same = {unit: distance / scale for unit, scale in units.items()}
    same[name] = float(value)
    return Compression(*(real(unit, number) for unit, number in same.items()))
