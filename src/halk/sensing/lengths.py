"""Widths of inputs in units that people use."""

import re
from math import pi
from typing import Any

from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.data.times import DAY, HOUR, PERIODS
from halk.sensing.encoding import Part
from halk.sensing.problem import Problem

_TIMES = {"s": 1.0, "min": 60.0, "h": HOUR, "d": DAY, "y": 365.2425 * DAY}
_CYCLES = {"hour": "h", "weekday": "d", "day": "d"}


def shown(part: Part, schema: Schema, sensors: Sensors) -> str:
    """Return how far readings tell of each other: "3.2 h", "210 km"."""
    if part.kind in PERIODS:
        # a circle of radius one; its circumference is the period
        return _shown_time(part.length / (2 * pi) * PERIODS[part.kind])
    if part.kind == "seconds":
        return _shown_time(part.length)
    if part.kind == "log":
        # around its middle, in the unit of the source
        unit = f" {_unit(part, schema)}".rstrip()
        return (
            f"{2 * part.offset * part.length:.3g}{unit} around {part.offset:.3g}{unit}"
        )
    unit = _unit(part, schema)
    if part.kind == "place":
        unit = "km" if sensors.is_geographic else ""
    return f"{part.length:.3g} {unit}".strip()


def _unit(part: Part, schema: Schema) -> str:
    return next((one.unit for one in schema.inputs if one.name == part.source), "")


def _shown_time(seconds: float) -> str:
    for unit in ("y", "d", "h", "min"):
        if seconds >= 1.5 * _TIMES[unit]:
            return f"{seconds / _TIMES[unit]:.3g} {unit}"
    return f"{seconds:.3g} s"


def shown_tolerance(tolerance: float, scaling: str, problem: Problem) -> str:
    """Return a tolerance in the unit of the values, or in each sensor's spreads."""
    if scaling == "own":
        return f"{tolerance:.3g} of a sensor's spread"
    return f"{tolerance * problem.unit:.3g} {problem.schema.unit}".strip()


def width_of(part: Part, length: Any) -> float:
    """Return the width of a part whose length a user gave, as a number or "6 h".

    Examples
    --------
    >>> width_of(Part("t: seconds", "t", "seconds", spread=7200.0), "1 h")
    0.5
    """
    number, unit = _split(part, length)
    is_time = part.kind == "seconds" or part.kind in PERIODS
    if unit and (not is_time or unit not in _TIMES):
        known = ", ".join(_TIMES) if is_time else "none"
        raise ValueError(
            f"width of {part.name} must have a unit of {known}, got {unit}"
        )
    if part.kind in PERIODS:
        factor = _TIMES[unit or _CYCLES[part.kind]]
        return 2 * pi * number * factor / PERIODS[part.kind] / part.spread
    return number * _TIMES.get(unit, 1.0) / part.spread


def _split(part: Part, length: Any) -> tuple[float, str]:
    found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*([a-z]*)\s*", str(length))
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    if found is None or not 0 < number < float("inf"):
        raise ValueError(
            f"width of {part.name} must be a positive number, perhaps with s, min, h "
            f"or d, got {length!r}"
        )
    return number, found[2]
