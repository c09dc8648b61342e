"""Figures of curves: what they show, without how it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from halk._validation import Vector, integer, require
from halk.report._values import assign, check_name, column
from halk.report.style import known

__all__ = ["Figure", "Line", "Panel", "Points"]


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, with a band around it if ``low`` and ``high`` are given.

    Parameters
    ----------
    label : str
        For the legend, where the same label appears once; empty: not in the legend.
    x, y, low, high : array (n,)
        NaN and infinity leave a gap. The band lies along x: low and high are values
        of y.
    is_upright : bool, default False
        Whether the curve is one of x over y: low and high are values of x.
    style : key of ``PALETTE``, optional
        Give the same key to the same method in every figure.

    Examples
    --------
    >>> Line("ours", [1, 2], [0.5, 0.25], style="blue").y
    array([0.5 , 0.25])
    """

    label: str
    x: Vector
    y: Vector
    low: Vector | None = None
    high: Vector | None = None
    style: str | None = None
    is_upright: bool = False

    def __init__(
        self,
        label: str,
        x: ArrayLike,
        y: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        style: str | None = None,
        is_upright: bool = False,
    ) -> None:
        x = column("x", x)
        require((low is None) == (high is None), "low", "come with high", low)
        assign(self, label=label, x=x, y=column("y", y, len(x)), style=known(style))
        assign(self, is_upright=is_upright)
        for name, bound in (("low", low), ("high", high)):
            value = None if bound is None else column(name, bound, len(x))
            assign(self, **{name: value})


@dataclass(frozen=True, eq=False)
class Points:
    """Readings as dots: filled, or open circles for those withheld.

    Parameters
    ----------
    label : str
    x, y : array (n,)
    is_open : bool
        Open circles.
    style : key of ``PALETTE``, optional
        For the colour; dark grey by default, so that curves stand out.
    is_cross : bool
        Crosses, on top of all else: what is wrong.
    """

    label: str
    x: Vector
    y: Vector
    is_open: bool = False
    style: str | None = None
    is_cross: bool = False

    def __init__(
        self,
        label: str,
        x: ArrayLike,
        y: ArrayLike,
        is_open: bool = False,
        style: str | None = None,
        is_cross: bool = False,
    ) -> None:
        x = column("x", x)
        assign(self, label=label, x=x, y=column("y", y, len(x)))
        assign(self, is_open=is_open, style=known(style), is_cross=is_cross)


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes; units go into the labels.

    ``note`` is a small line below. ``y_limits`` keep one curve that runs away from
    flattening the others: say so in the note. With ``is_dated``, x are seconds since
    1970 and the axis shows dates.
    """

    title: str
    xlabel: str
    ylabel: str
    items: Sequence[Line | Points]
    log_y: bool = False
    log_x: bool = False
    invert_y: bool = False
    note: str = ""
    y_limits: tuple[float, float] | None = None
    is_dated: bool = False


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels side by side, (a), (b), (c), with one legend below them.

    Parameters
    ----------
    name : str
        Of the files; letters, digits, dots, hyphens and underscores.
    caption : str
    panels : sequence of Panel, at least one
    columns : int, positive
        Panels in a row; more panels make more rows.
    height : float
        Of a panel, in inches.
    width : float, optional
        Of all, in inches; by default what the number of columns needs.
    """

    name: str
    caption: str
    panels: Sequence[Panel]
    columns: int = 3
    height: float = 3.0
    width: float | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        require(len(self.panels) > 0, "panels", "not be empty", self.panels)
        integer("columns", self.columns, minimum=1)
