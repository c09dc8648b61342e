"""Options that commands share, and how they are read from a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.errors import HalkError

Flag = cyclopts.Parameter(negative="", show_default=False)
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
Parameters = cyclopts.Group("Choices (searched for if not given)", sort_key=3)


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


@cyclopts.Parameter(name="*", group=Parameters)
@dataclass(frozen=True)
class Choices:
    """Choices that are not searched for.

    Parameters
    ----------
    config
        A TOML file with any of the options of this group.
    use
        Inputs to use, by name, separated by commas: columns, place, attributes.
    kernel
        gaussian, laplacian, matern32 or matern52.
    scaling
        What is removed from values: common mean and spread, each sensor's own mean
        (offset), or its own mean and spread (own).
    neighbours
        Nearest sensors that each talks to.
    radius
        Instead: sensors within this distance, in km (or the unit of x and y).
    tolerance
        How far neighbours may differ, in the unit of the values; or apart.
    step_size
        Of functions.
    budget
        What compression may lose in a step.
    width
        How far readings tell of each other in an input: depth_m=50, time=6h, place=100.
    """

    config: Path | None = None
    use: Names | None = None
    kernel: str | None = None
    scaling: str | None = None
    neighbours: int | None = None
    radius: float | None = None
    tolerance: str | None = None
    step_size: float | None = None
    budget: float | None = None
    width: Names | None = None

    def options(self) -> Any:
        """Return the options: those of the file, and over them those of flags."""
        from halk.sensing.options import ALONE, OptionError, Options

        made = Options() if self.config is None else Options.from_toml(self.config)
        tolerance: Any = self.tolerance
        if tolerance is not None and tolerance != ALONE:
            try:
                tolerance = float(tolerance)
            except ValueError:
                raise OptionError(
                    f"tolerance must be a number or {ALONE}, got {tolerance}"
                ) from None
        widths = dict(made.widths)
        for text in self.width or ():
            name, mark, length = text.rpartition("=")
            if not mark:
                raise OptionError(f"width must be NAME=LENGTH, got {text}")
            widths[name] = length
        return made.with_changes(
            use=self.use, kernel=self.kernel, scaling=self.scaling,
            neighbours=self.neighbours, radius=self.radius, tolerance=tolerance,
            step_size=self.step_size, budget=self.budget, widths=widths or None,
        )  # fmt: skip
