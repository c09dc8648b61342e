"""Numbers and short texts as a reader sees them."""

import math
import re
from html import escape
from numbers import Integral, Real
from typing import Any

__all__ = ["inline", "number"]

_DASH = "–"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARKED = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\[(?P<text>[^\]]+)\]\((?P<address>(?:https?://|mailto:|#)[^\s()<>]+)\)"
    r"|\[(?P<word>[^\]]+)\]\(\?(?P<meaning>[^()]+)\)"
)


def number(value: Any, digits: int = 3) -> str:
    """Write a number with a few significant digits; text as it is; None as a dash.

    Examples
    --------
    >>> [number(value) for value in (0.04567, 12.0, 1234567, 1234.5, 3.2e-7, None)]
    ['0.0457', '12.0', '1,234,567', '1,234', '3.20×10⁻⁷', '–']
    """
    if value is None:
        return _DASH
    if isinstance(value, bool) or type(value).__name__ == "bool":  # NumPy's too
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return _minus(f"{int(value):,}")
    if not isinstance(value, Real):
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        return _DASH if math.isnan(value) else _minus(f"{value}".replace("inf", "∞"))
    return _minus(_real(value, digits))


def _real(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if value == 0:
        return "0"
    if -4 < power < 6:
        return f"{value:,.{max(digits - 1 - power, 0)}f}"
    return f"{mantissa}×10{superscript(power)}"


def superscript(power: int) -> str:
    """Return an exponent in raised digits.

    Examples
    --------
    >>> "10" + superscript(-3)
    '10⁻³'
    """
    return str(power).translate(_SUPERSCRIPT)


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def inline(text: str) -> str:
    """Return HTML of a text: all of it escaped, but for code, links and hover texts.

    Examples
    --------
    >>> inline("`a<b` in [the paper](https://example.org/?a=1&b=2) <script>")
    '<code>a&lt;b</code> in <a href="https://example.org/?a=1&amp;b=2"
    rel="noreferrer">the paper</a> &lt;script&gt;'
    >>> inline("[std](?standard deviation)")
    '<abbr title="standard deviation" tabindex="0">std</abbr>'
    """
    parts, at = [], 0
    for match in _MARKED.finditer(text):
        parts.append(escape(text[at : match.start()]))
        parts.append(_marked(match))
        at = match.end()
    return "".join(parts) + escape(text[at:])


def _marked(match: re.Match[str]) -> str:
    code, text, address = match.group("code", "text", "address")
    if code is not None:
        return f"<code>{escape(code)}</code>"
    if match["word"] is not None:
        title = f'title="{escape(match["meaning"])}" tabindex="0"'
        return f"<abbr {title}>{escape(match['word'])}</abbr>"
    return f'<a href="{escape(address)}" rel="noreferrer">{escape(text)}</a>'
