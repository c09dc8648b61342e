"""Sections and pages: what a report says."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from halk._validation import require
from halk.report.charts import Bars, MapFigure
from halk.report.panels import Figure
from halk.report.tables import Cell, ClaimTable, Table

__all__ = ["AnyFigure", "Bullets", "Headline", "Item", "Page", "Section"]

AnyFigure = Figure | MapFigure | Bars


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: Sequence[str]


Item = str | Bullets | Figure | MapFigure | Bars | Table | ClaimTable


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it.

    A str is a paragraph: plain text, with `code` in backticks and links written
    [text](https://...) or [text](#anchor). The same holds for captions, bullets,
    claims and verdicts. ``anchor`` is lower case letters, digits and hyphens.
    """

    title: str
    anchor: str
    items: Sequence[Item]

    def __post_init__(self) -> None:
        fits = re.fullmatch(r"[a-z][a-z0-9-]*", self.anchor) is not None
        rule = "be lower case letters, digits and hyphens"
        require(fits, "anchor", rule, self.anchor)


class Headline(NamedTuple):
    """A large number at the top of a page."""

    label: str
    value: Cell
    unit: str = ""


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title, subtitle : str
    facts : sequence of (name, value)
        Versions, seeds, command, hash of the data: how to make the page again.
    sections : sequence of Section
    headline : sequence of (label, value, unit)
    """

    title: str
    subtitle: str
    facts: Sequence[tuple[str, Cell]]
    sections: Sequence[Section]
    headline: Sequence[Headline | tuple[str, Cell, str]] = ()

    def __post_init__(self) -> None:
        anchors = Counter(section.anchor for section in self.sections)
        for anchor, times in anchors.items():
            require(times == 1, "anchors", "be unique", anchor)
        figures = Counter(figure.name for figure in self.figures)
        for name, times in figures.items():
            require(times == 1, "names of figures", "be unique", name)

    @property
    def figures(self) -> tuple[AnyFigure, ...]:
        """All figures, in order."""
        items = [item for section in self.sections for item in section.items]
        return tuple(item for item in items if isinstance(item, AnyFigure))
