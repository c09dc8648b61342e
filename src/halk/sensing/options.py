"""What a user decides instead of the search."""

import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from halk._validation import choice, integer, positive
from halk.data.findings import suggest
from halk.errors import HalkError
from halk.learners.newton import FAMILIES
from halk.sensing.choices import Choices
from halk.sensing.encoding import Part
from halk.sensing.lengths import width_of
from halk.sensing.scales import SCALINGS

ALONE = "apart"
"""The tolerance of sensors that do not learn from each other."""


class OptionError(HalkError, ValueError):
    """An option cannot be used; the message says what it may be."""


@dataclass(frozen=True)
class Options:
    """Choices made by the user; what is None is searched for.

    Parameters
    ----------
    use : sequence of str, optional
        Inputs to use, by name: columns, "place", attributes of sensors.
    kernel : {"gaussian", "laplacian", "matern32", "matern52"}
    scaling : {"common", "offset", "own"}
    neighbours : int
    radius : float
        In kilometres, or the unit of the positions.
    tolerance : float or "apart"
        In the unit of the values; with scaling "own", in spreads of each sensor.
    step_size, budget : float
    widths : dict of name to length
        In the unit of the input; times as "6 h".
    """

    use: tuple[str, ...] | None = None
    kernel: str | None = None
    scaling: str | None = None
    neighbours: int | None = None
    radius: float | None = None
    tolerance: float | str | None = None
    step_size: float | None = None
    budget: float | None = None
    widths: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self._check()
        except (TypeError, ValueError) as error:
            raise OptionError(str(error)) from None

    def _check(self) -> None:
        if self.kernel is not None:
            choice("kernel", self.kernel, FAMILIES)
        if self.scaling is not None:
            choice("scaling", self.scaling, SCALINGS)
        if self.neighbours is not None:
            integer("neighbours", self.neighbours, minimum=1)
            if self.radius is not None:
                raise ValueError("neighbours and radius exclude each other: give one")
        for name in ("radius", "step_size", "budget"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if self.tolerance is not None and self.tolerance != ALONE:
            positive("tolerance", self.tolerance)

    @classmethod
    def from_dict(cls, found: dict[str, Any], where: str = "options") -> "Options":
        """Return options by name; unknown ones are refused."""
        known = [one.name for one in fields(cls)]
        for name in found:
            if name not in known:
                listed = ", ".join(known)
                raise OptionError(
                    f"{where}: there is no option {name!r}{suggest(name, known)}; "
                    f"options are {listed}"
                )
        use = found.get("use")
        use = [use] if isinstance(use, str) else use
        if use is not None:
            if not isinstance(use, list | tuple) or not all(
                isinstance(name, str) for name in use
            ):
                raise OptionError(f"{where}: use must be a list of names, got {use!r}")
            found = found | {"use": tuple(use)}
        if not isinstance(found.get("widths", {}), dict):
            raise OptionError(f"{where}: widths must be a table of names and lengths")
        return cls(**found)

    @classmethod
    def from_toml(cls, path: str | Path) -> "Options":
        """Return the options of a TOML file."""
        try:
            return cls.from_dict(tomllib.loads(Path(path).read_text()), str(path))
        except OSError as error:
            raise OptionError(f"{path} must be readable: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise OptionError(f"{path} must be a TOML file, got: {error}") from None

    def with_changes(self, **changes: Any) -> "Options":
        """Return the options with those changed that are not None."""
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, **given)

    def fixed(self, parts: list[Part]) -> frozenset[str]:
        """Return the questions that need not be asked."""
        names = ("kernel", "scaling", "tolerance", "step_size", "budget")
        found = {name for name in names if getattr(self, name) is not None}
        if self.neighbours is not None or self.radius is not None:
            found.add("neighbours")
        if "tolerance" in found:
            found.add("together")
            if self.tolerance != ALONE:  # a number is in the unit of one scaling
                found.add("scaling")
        given = [p.name for p in parts if {p.name, p.source} & set(self.widths)]
        found |= {f"{what} {name}" for name in given for what in ("width", "form")}
        return frozenset(found)

    def applied(self, start: Choices, parts: list[Part], spread: float) -> Choices:
        """Return the choices to begin with, with those of the user made."""
        names = [part.name for part in parts]
        for name in (*(self.use or ()), *self.widths):
            if not any(name in (part.name, part.source) for part in parts):
                raise OptionError(
                    f"there is no input {name!r}{suggest(name, names)}; inputs are "
                    f"{', '.join(names)}"
                )
        chosen = list(start.parts)
        if self.use is not None:
            chosen = [p for p in parts if p.name in self.use or p.source in self.use]
        found = replace(start, parts=tuple(map(self.widened, chosen)))
        for name in (
            "kernel",
            "scaling",
            "neighbours",
            "radius",
            "step_size",
            "budget",
        ):
            value = getattr(self, name)
            found = found if value is None else replace(found, **{name: value})
        if self.tolerance is not None:
            is_apart = self.tolerance == ALONE
            unit = 1.0 if found.scaling == "own" else spread
            own = float("inf") if is_apart else float(self.tolerance) / unit
            found = replace(found, tolerance=own)
        return found

    def widened(self, part: Part) -> Part:
        """Return a part with the width that was given, if one was."""
        length = self.widths.get(part.name, self.widths.get(part.source))
        if length is None:
            return part
        try:
            return replace(part, width=width_of(part, length), is_given=True)
        except ValueError as error:
            raise OptionError(str(error)) from None
