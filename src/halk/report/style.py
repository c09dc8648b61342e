"""One palette for every figure: colour with dash or marker, never colour alone."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import NamedTuple

from halk._validation import choice

__all__ = ["PALETTE", "Style", "styles"]


class Style(NamedTuple):
    """How a curve looks."""

    colour: str
    dash: tuple[float, ...] = ()
    """Lengths of dashes and gaps in line widths; empty for a solid line."""

    marker: str = ""
    width: float = 1.5


_DASHED, _DOTTED, _MIXED = (4.5, 1.6), (1.2, 1.5), (6.0, 1.5, 1.2, 1.5)

# Okabe and Ito's colours, which people with any colour vision tell apart; their yellow,
# too pale on paper, gives way to brown and grey. Print without colour keeps the dashes.
PALETTE = MappingProxyType(
    {
        "blue": Style("#0072B2", width=2.4),
        "vermilion": Style("#D55E00", _DASHED, width=1.8),
        "green": Style("#009E73", _MIXED, width=1.8),
        "orange": Style("#E69F00", marker="o"),
        "purple": Style("#CC79A7", marker="s"),
        "sky": Style("#56B4E9", _DASHED, marker="^"),
        "black": Style("#222222", _DOTTED, width=1.8),
        "brown": Style("#8C5A2B", _MIXED, marker="D"),
        "grey": Style("#8A8A8A", _DASHED, marker="v"),
        "reference": Style("#555555", (2.0, 2.0), width=1.0),
        "ink": Style("#444444", width=0.9),
    }
)
"""Styles by key. ``"blue"`` is the heaviest: give it to the method in question.
``"reference"`` is for truths and bounds, ``"ink"`` joins readings; neither is assigned
by itself."""

_AUTOMATIC = tuple(key for key in PALETTE if key not in ("reference", "ink"))


def styles(labelled: Iterable[tuple[str, str | None]]) -> dict[str, Style]:
    """Return a style for every label, given pairs of a label and a key or None.

    A label without a key takes the next one that nobody asked for. A key given to a
    label once holds for it everywhere.

    Examples
    --------
    >>> found = styles([("ours", None), ("theirs", "blue"), ("ours", None)])
    >>> found["ours"] == PALETTE["vermilion"], found["theirs"] == PALETTE["blue"]
    (True, True)
    """
    keys: dict[str, str | None] = {}
    for label, key in labelled:
        keys[label] = key or keys.get(label)
    free = [key for key in _AUTOMATIC if key not in keys.values()] or list(_AUTOMATIC)
    unasked = [label for label, key in keys.items() if key is None]
    turns = {label: free[n % len(free)] for n, label in enumerate(unasked)}
    return {label: PALETTE[key or turns[label]] for label, key in keys.items()}


def known(style: str | None) -> str | None:
    """Return a key of the palette, or None, as given."""
    return style if style is None else str(choice("style", style, PALETTE))
