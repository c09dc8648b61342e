"""Tables of cells and of claims: what they show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from halk._validation import require

__all__ = ["Cell", "ClaimRow", "ClaimTable", "Table", "Verdict"]

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of cells. Floats are shown with three digits, None as a dash.

    Parameters
    ----------
    caption : str
    columns : sequence of str
        Headers, with units.
    rows : sequence of sequences of str, int, float or None
    align : str of "l", "c" and "r", one per column, optional
        By default numbers stand right, text left.
    highlight_rows : numbers of rows
        Set in bold, on a tint.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    align: str | None = None
    highlight_rows: Sequence[int] = ()

    def __post_init__(self) -> None:
        n_columns = len(self.columns)
        for n, row in enumerate(self.rows):
            rule = f"have {n_columns} cells"
            require(len(row) == n_columns, f"row {n}", rule, len(row))
        if self.align is not None:
            fits = len(self.align) == n_columns and set(self.align) <= set("lcr")
            rule = f"be {n_columns} letters of 'l', 'c', 'r'"
            require(fits, "align", rule, self.align)


class Verdict(NamedTuple):
    """Whether a claim holds (None: not computed) and the numbers seen."""

    holds: bool | None
    text: str = ""


@dataclass(frozen=True)
class ClaimRow:
    """A claim in a sentence, where it was made, and a verdict for every column."""

    sentence: str
    source: str
    verdicts: Sequence[Verdict | tuple[bool | None, str]]


@dataclass(frozen=True)
class ClaimTable:
    """Claims against what was seen; ``columns`` name the settings judged."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[ClaimRow]

    def __post_init__(self) -> None:
        for n, row in enumerate(self.rows):
            rule = f"have {len(self.columns)} verdicts"
            fits = len(row.verdicts) == len(self.columns)
            require(fits, f"claim {n}", rule, len(row.verdicts))
