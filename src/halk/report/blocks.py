"""What the template shows of each item: plain dictionaries, numbered and formatted."""

from functools import singledispatch
from itertools import count
from numbers import Real
from typing import Any

from halk.report.charts import Bars, MapFigure
from halk.report.pages import Bullets
from halk.report.panels import Figure
from halk.report.tables import ClaimRow, ClaimTable, Table
from halk.report.text import number

__all__ = ["Block", "Numbers", "block"]

Block = dict[str, Any]

# A mark, a word and a class: the verdict is readable without colour.
_BADGES = {
    True: ("✓", "reproduced", "yes"),
    False: ("✗", "not reproduced", "no"),
    None: ("○", "no verdict", "unknown"),
}
_SIDES = {"l": "left", "c": "centre", "r": "right"}


class Numbers:
    """Numbers of figures and tables through a page."""

    def __init__(self) -> None:
        self.figures = count(1)
        self.tables = count(1)


@singledispatch
def block(item: Any, numbers: Numbers) -> Block:
    """Return what the template needs of one item of a section."""
    raise TypeError(f"items must be text, figures or tables, got {item!r}")


@block.register
def _(item: str, numbers: Numbers) -> Block:
    return {"kind": "paragraph", "text": item}


@block.register
def _(item: Bullets, numbers: Numbers) -> Block:
    return {"kind": "bullets", "lines": list(item.items)}


@block.register(Figure)
@block.register(MapFigure)
@block.register(Bars)
def _(item: Figure | MapFigure | Bars, numbers: Numbers) -> Block:
    label = f"Figure {next(numbers.figures)}"
    content = {"name": item.name, "caption": item.caption, "label": label}
    return {"kind": "figure", **content}


@block.register
def _(item: Table, numbers: Numbers) -> Block:
    sides = [
        _SIDES[item.align[n]] if item.align else _side([row[n] for row in item.rows])
        for n in range(len(item.columns))
    ]
    return {
        "kind": "table",
        "label": f"Table {next(numbers.tables)}",
        "caption": item.caption,
        "columns": list(zip(item.columns, sides, strict=True)),
        "rows": [
            {
                "is_highlighted": n in item.highlight_rows,
                "cells": list(zip(map(number, row), sides, strict=True)),
            }
            for n, row in enumerate(item.rows)
        ],
    }


def _side(cells: list[Any]) -> str:
    """Stand numbers right, also among a few words such as "diverged"."""
    n_numbers = sum(isinstance(cell, Real) for cell in cells)
    n_words = sum(isinstance(cell, str) for cell in cells)
    return "right" if n_numbers > n_words else "left"


@block.register
def _(item: ClaimTable, numbers: Numbers) -> Block:
    return {
        "kind": "claims",
        "label": f"Table {next(numbers.tables)}",
        "caption": item.caption,
        "columns": list(item.columns),
        "tally": _tally(item),
        "rows": [_claim(row, item) for row in item.rows],
    }


def _claim(row: ClaimRow, table: ClaimTable) -> Block:
    verdicts = [
        {"column": column, "badge": _BADGES[_truth(holds)], "text": text}
        for column, (holds, text) in zip(table.columns, row.verdicts, strict=True)
    ]
    return {"sentence": row.sentence, "source": row.source, "verdicts": verdicts}


def _tally(table: ClaimTable) -> list[tuple[int, tuple[str, str, str]]]:
    """Return how often each verdict was given, without those never given."""
    given = [_truth(holds) for row in table.rows for holds, _ in row.verdicts]
    counts = [(given.count(holds), badge) for holds, badge in _BADGES.items()]
    return [(times, badge) for times, badge in counts if times]


def _truth(holds: Any) -> bool | None:
    return None if holds is None else bool(holds)  # NumPy's truth is no key
