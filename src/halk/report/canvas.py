"""Matplotlib without its global state: one look, and the same bytes each time."""

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from halk.report.text import superscript

__all__ = ["blank", "dates", "encoded", "settings", "ticks", "wrapped"]

Axes = Any  # Matplotlib is optional, and so are its types
Canvas = Any

_INK, _FAINT = "#333333", "#E4E4E4"
_LOOK = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.labelcolor": _INK,
    "axes.labelsize": 9.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": _INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.12,
    "font.family": ["DejaVu Sans"],  # comes with Matplotlib
    "font.size": 9.5,
    "grid.color": _FAINT,
    "grid.linewidth": 0.7,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "legend.labelcolor": _INK,
    "svg.fonttype": "path",
    "svg.hashsalt": "halk",
    "text.color": _INK,
    "text.parse_math": False,  # a dollar sign in a label is a dollar sign
    "xtick.color": "#888888",
    "xtick.labelcolor": _INK,
    "xtick.labelsize": 8.5,
    "ytick.color": "#888888",
    "ytick.labelcolor": _INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def settings() -> Iterator[None]:
    """Hold our settings, over the defaults and not over the user's; then put back his.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
        matplotlib = import_module("matplotlib")
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'halk[demo]'") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_LOOK)
        yield


def blank(width: float, height: float) -> Canvas:
    """Return an empty Matplotlib figure, in inches, that lays itself out."""
    figure = import_module("matplotlib.figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    return figure


def encoded(figure: Canvas, kind: str) -> bytes:
    """Return the file of a figure, "png" or "svg", without date and version."""
    buffer = io.BytesIO()
    silent = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(buffer, format=kind, dpi=150, metadata=silent)
    return buffer.getvalue()


def wrapped(text: str, width: int) -> str:
    """Break a text into lines, so that no label is wider than its axes."""
    return "\n".join(textwrap.wrap(text, width))


def ticks(axis: Any, is_log: bool) -> None:
    """Put a few ticks with plain numbers on an axis whose limits are set."""
    low, high = sorted(axis.get_view_interval())
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(5))
    if is_log and high > 3 * low > 0:
        few = (1.0,) if high > 300 * low else (1.0, 3.0)
        subs = few if high > 30 * low else (1.0, 2.0, 5.0)
        axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    # One way of writing on one axis: all plain, or all with powers of ten.
    is_plain = high < 1e6 and (low >= 1e-3 or not is_log) and high - low > 1e-3
    written = _plain if is_plain else _power
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: written(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def dates(axis: Any) -> None:
    """Put dates on an axis in days since 1970: as few words as tell them apart."""
    module = import_module("matplotlib.dates")
    locator = module.AutoDateLocator(minticks=3, maxticks=7)
    axis.set_major_locator(locator)
    axis.set_major_formatter(
        module.ConciseDateFormatter(
            locator, formats=["%Y", "%b", "%-d %b", "%H:%M", "%H:%M", "%S.%f"],
            zero_formats=["", "%b\n%Y", "%-d %b", "%-d %b", "%H:%M", "%H:%M"],
            offset_formats=["", "%Y", "%Y", "%-d %b %Y", "%-d %b %Y", "%-d %b %Y"],
        )
    )  # fmt: skip


def _plain(value: float) -> str:
    return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")


def _power(value: float) -> str:
    """Write 0.00025 as 2.5×10⁻⁴ and 1000 as 10³."""
    if value == 0:
        return "0"
    mantissa, power = f"{value:.6e}".split("e")
    front = f"{float(mantissa):g}".replace("-", "\N{MINUS SIGN}")
    ten = f"10{superscript(int(power))}"
    return ten if front == "1" else f"{front}×{ten}"
