"""Options that commands share, and how they are read from a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.errors import HalkError

Flag = cyclopts.Parameter(negative="", show_default=False)
Quiet = Annotated[bool, cyclopts.Parameter(alias="-q", negative="", show_default=False)]
Source = Annotated[str, cyclopts.Parameter(allow_leading_hyphen=True)]
"""A path, or - for standard input."""


def _listed(type_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Return names separated by commas."""
    names = [part.strip() for token in tokens for part in token.value.split(",")]
    return tuple(name for name in names if name)


def _numbers(type_: Any, tokens: Sequence[Any]) -> tuple[float, ...]:
    try:
        return tuple(float(name) for name in _listed(type_, tokens))
    except ValueError:
        text = tokens[0].value
        raise ValueError(f"must be numbers separated by commas, got {text}") from None


Names = Annotated[
    tuple[str, ...], cyclopts.Parameter(converter=_listed, n_tokens=1, negative="")
]
Numbers = Annotated[
    tuple[float, ...],
    cyclopts.Parameter(
        converter=_numbers, n_tokens=1, negative="", allow_leading_hyphen=True
    ),
]


def _codes(type_: Any, tokens: Sequence[Any]) -> tuple[float | str, ...]:
    """Return numbers and words separated by commas."""
    return tuple(map(_code, _listed(type_, tokens)))


def _code(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


Missing = Annotated[
    tuple[float | str, ...],
    cyclopts.Parameter(
        converter=_codes, n_tokens=1, negative="", allow_leading_hyphen=True
    ),
]
Columns = cyclopts.Group("Which columns are what", sort_key=2)
Choices = cyclopts.Group("Choices (made by artificial gaps if not given)", sort_key=3)


@cyclopts.Parameter(name="*", group=Columns)
@dataclass(frozen=True)
class Table:
    """Which columns are what, if their names do not tell.

    Parameters
    ----------
    sensor
        Column that says which sensor a row belongs to.
    target
        Column of the values.
    inputs
        Columns that values depend on, separated by commas.
    unit
        Unit of the values.
    wide
        Every column is a sensor, every row a time; --long: every row is a reading.
    dates
        dmy if 1/2/2024 is the first of February, mdy if it is the second of January.
    decimal
        comma if 1,234 is a little more than 1, point if it is a thousand and more.
    missing
        What means no reading, such as -999 or ERR, separated by commas.
    range
        The lowest and the highest value that can be, as LOW,HIGH; others are left out.
    flags
        Column of quality flags; of a wide table, what their columns' names end in.
    good
        The flags of good readings, separated by commas.
    skip_bad
        Leave out rows that cannot be used, instead of refusing the table.
    """

    sensor: str | None = None
    target: str | None = None
    inputs: Names | None = None
    unit: str | None = None
    wide: Annotated[
        bool | None, cyclopts.Parameter(negative="--long", show_default=False)
    ] = None
    dates: Literal["dmy", "mdy"] | None = None
    decimal: Literal["comma", "point"] | None = None
    missing: Missing = ()
    range: Numbers = ()
    flags: str | None = None
    good: Names = ()
    skip_bad: Annotated[bool, Flag] = False

    def answers(self) -> dict[str, Any]:
        """Return what is said about the columns, as :func:`halk.fit` takes it."""
        if self.range and not (len(self.range) == 2 and self.range[0] < self.range[1]):
            found = ",".join(f"{value:g}" for value in self.range)
            raise HalkError(f"--range must be LOW,HIGH, got {found}")
        return {
            "sensor": self.sensor, "target": self.target, "inputs": self.inputs,
            "unit": self.unit, "wide": self.wide, "dates": self.dates or "",
            "decimal": self.decimal or "", "flags": self.flags or "",
            "good": self.good, "limits": self.range or None,
        }  # fmt: skip


@cyclopts.Parameter(name="*", group=Choices)
@dataclass(frozen=True)
class Insisted:
    """Choices that the user makes.

    Parameters
    ----------
    method
        Insist on one: neighbours, field, kriging, idw, linear or mean.
    use
        Inputs of the field model, by name, separated by commas: columns, place,
        attributes of sensors.
    together
        Of the field model: sensors learn together, or --independent of each other.
    neighbours
        How many nearest sensors each hears.
    quick
        Compare nothing: take the method that suits the structure of the table.
    seed
        Of everything that is drawn at random.
    """

    method: str | None = None
    use: Annotated[
        Names | None, cyclopts.Parameter(alias="--features", show_default=False)
    ] = None
    together: Annotated[
        bool | None, cyclopts.Parameter(negative="--independent", show_default=False)
    ] = None
    neighbours: int | None = None
    quick: Annotated[bool, Flag] = False
    seed: int = 0

    def options(self) -> dict[str, Any]:
        """Return the choices as :func:`halk.fit` takes them."""
        return {
            "method": self.method, "features": self.use, "together": self.together,
            "neighbours": self.neighbours, "quick": self.quick, "seed": self.seed,
        }  # fmt: skip


def pair(option: str, values: Sequence[float]) -> tuple[float, float]:
    """Return two numbers, or say that there are others."""
    if len(values) != 2:
        found = ",".join(f"{value:g}" for value in values)
        raise HalkError(f"{option} must be two numbers with a comma, got {found}")
    return values[0], values[1]
