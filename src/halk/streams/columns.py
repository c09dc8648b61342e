"""Which column of a table is what."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from halk._validation import require
from halk.streams import naming
from halk.streams.cells import number
from halk.streams.errors import DataError
from halk.streams.files import meant
from halk.streams.rows import Table


class Asked(NamedTuple):
    """What the user said about the columns; None is to be recognised."""

    sensor: str | None = None
    position: Sequence[str] | None = None
    inputs: Sequence[str] | str | None = None
    target: str | None = None
    name: str | None = None
    season: str | None = None


class Roles(NamedTuple):
    """The columns found, as the header spells them."""

    sensor: str
    position: tuple[str, ...]  # empty if a map has them
    inputs: tuple[str, ...] = ()
    target: str = ""


def roles(table: Table, asked: Asked, has_map: bool = False) -> Roles:
    """Find the columns of readings, or say which are missing and what there is."""
    finder = _Finder(table.header)
    target = finder.target(asked)
    sensor = finder.sensor(asked.sensor)
    position: tuple[str, ...] = ()
    if not has_map:
        position = finder.position(asked.position, but=(sensor, target))
    inputs = finder.inputs(asked.inputs, but=(sensor, target, *position))
    finder.check(table.path)
    require(target not in inputs, "inputs", "not hold the target", target)
    return Roles(sensor, position, inputs, target)


def map_roles(table: Table, asked: Asked) -> Roles:
    """Find the columns of a map of sensors."""
    finder = _Finder(table.header)
    is_named = asked.sensor is not None and asked.sensor in table.header
    sensor = finder.sensor(asked.sensor if is_named else None)
    position = finder.position(asked.position, but=(sensor,))
    finder.check(table.path)
    return Roles(sensor, position)


class _Finder:
    """A header that is searched, and what was not found in it."""

    def __init__(self, header: Sequence[str]) -> None:
        self.header = [name for name in header if name]
        self.missing: list[str] = []

    def named(self, name: str, option: str) -> str:
        """Return the column that the user named."""
        if name in self.header:
            return name
        found = naming.alike(self.header, [name])
        if not found:
            hint = meant(name, self.header)
            self.missing.append(f"{name!r} ({option}={hint})")
        return found

    def recognised(self, known: Sequence[str], but: Sequence[str] = ()) -> str:
        return naming.alike([name for name in self.header if name not in but], known)

    def sensor(self, asked: str | None) -> str:
        if asked is not None:
            return self.named(asked, "sensor")
        known = naming.SENSOR + tuple(f"{word}_id" for word in naming.SENSOR)
        found = self.recognised(known)
        if not found:
            listed = ", ".join(naming.SENSOR)
            self.missing.append(f"a sensor ({listed}, or give sensor=)")
        return found

    def position(
        self, asked: Sequence[str] | None, but: Sequence[str]
    ) -> tuple[str, ...]:
        if asked is not None:
            is_pair = not isinstance(asked, str) and len(asked) == 2
            require(is_pair, "position", "be the names of two columns", asked)
            return tuple(self.named(name, "position") for name in asked)
        for pair in ((naming.LATITUDE, naming.LONGITUDE), (("x",), ("y",))):
            found = tuple(self.recognised(known, but) for known in pair)
            if all(found):
                return found
        listed = "lat and lon, or x and y, or give position= or map="
        self.missing.append(f"positions ({listed})")
        return ()

    def inputs(
        self, asked: Sequence[str] | str | None, but: Sequence[str]
    ) -> tuple[str, ...]:
        if asked is not None:
            names = [asked] if isinstance(asked, str) else asked
            require(len(names) > 0, "inputs", "not be empty", names)
            return tuple(self.named(name, "inputs") for name in names)
        depth = [name for name in self.header if naming.is_about(name, "depth")]
        time = [name for name in self.header if naming.is_about(name, "time")]
        found = self.recognised([*naming.INPUTS, *depth, *time], but)
        if not found:
            self.missing.append("an input (depth or time, or give inputs=)")
        return (found,)

    def target(self, asked: Asked) -> str:
        if asked.target is not None:
            return self.named(asked.target, "target")
        if asked.name is None:
            self.missing.append("a target (give target=)")
            return ""
        found = naming.of_variable(self.header, asked.name, asked.season)
        if len(found) == 1:
            return found[0]
        what = " ".join(word for word in (asked.season, asked.name) if word)
        if found:
            what = f"one column of {what}, not {', '.join(found)} (give target="
        else:
            what = f"a column of {what} (or give target="
            what += meant(asked.name, self.header)
        self.missing.append(f"{what})")
        return ""

    def check(self, path: str) -> None:
        """Raise if something was not found."""
        if not self.missing:
            return
        there = ", ".join(self.header)
        if any(isfinite(number(name)) for name in self.header):
            advice = "put a header above it"
            raise DataError(
                f"{path}: first line must name the columns, got {there}; {advice}"
            )
        listed = "; ".join(self.missing)
        raise DataError(f"{path}: header must hold {listed}; got {there}")
