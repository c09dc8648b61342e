"""Times of readings as seconds since 1970, from however people write them, and back."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector, require
from halk.data.naming import CALENDAR
from halk.data.table import Cells, Words, filled_words, to_words

HOUR, DAY, WEEK, YEAR = 3600.0, 86400.0, 604800.0, 31556952.0
"""In seconds; a year is that of the calendar, on average."""

PERIODS = {"hour": DAY, "weekday": WEEK, "day": YEAR}
"""What comes round again: the hour of the day, the weekday, the day of the year."""

PARTS = ("seconds", *PERIODS)
"""What a time can become."""

DMY, MDY = "dmy", "mdy"
"""Orders of dates: 31/12/2024, 12/31/2024."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
           "dec"]  # fmt: skip
_MINUTES = r":(?P<min>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<f>\d+))?)?"
_HALF = r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s*(?P<zone>[Zz]|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?"
_DATE = (
    r"(?:(?P<y>\d{4})(?P<iso>[-/.])(?P<m>\d{1,2})(?:(?P=iso)(?P<d>\d{1,2}))?"
    r"|(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<y2>\d{4}|\d{2})"
    r"|(?P<d3>\d{1,2})[- ]?(?P<mon>[A-Za-z]{3,9})\.?[-, ]*(?P<y3>\d{4})"
    r"|(?P<mon4>[A-Za-z]{3,9})\.? (?P<d4>\d{1,2}),? (?P<y4>\d{4}))"
)
_HOUR = r"(?P<h>\d{1,2})"
_WHEN = re.compile(
    rf"{_DATE}(?:(?:\s*[Tt,]\s*|\s+){_HOUR}(?:{_MINUTES})?{_HALF}{_ZONE})?"
)
_CLOCK = re.compile(rf"{_HOUR}{_MINUTES}{_HALF}")


def seconds(cell: Any, order: str = "") -> float:
    """Return a time as seconds since 1970, NaN if it is none.

    A time without a zone counts as UTC, a month from its first day. ``order`` says
    what 1/2/2024 is; without it such dates are none.

    Examples
    --------
    >>> seconds("1970-01-02"), seconds("1970-01-01 01:00+01:00"), seconds("soon")
    (86400.0, 0.0, nan)
    >>> seconds("2.1.1970"), seconds("1/2/1970", "mdy"), seconds("Jan 2, 1970 6:00 PM")
    (86400.0, 86400.0, 151200.0)
    """
    if isinstance(cell, str):
        if cell[4:5] == "-" and len(cell) >= len("2024-01-01"):
            try:
                return _since_epoch(datetime.fromisoformat(cell))
            except ValueError:
                pass
        found = _WHEN.fullmatch(cell)
        return nan if found is None else _of_match(found, order)
    if isinstance(cell, datetime):
        return _since_epoch(cell)
    if isinstance(cell, date):
        return float((cell - _EPOCH.date()).days) * DAY
    return nan


def _since_epoch(when: datetime) -> float:
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return float((when - _EPOCH).total_seconds())


def _of_match(found: re.Match[str], order: str) -> float:
    h, m, s, fraction, half, zone = found.group("h", "min", "s", "f", "half", "zone")
    hour, minute, second = int(h or 0), int(m or 0), int(s or 0)
    if half:
        if not 1 <= hour <= 12:
            return nan
        hour = hour % 12 + 12 * (half[0] in "Pp")
    micro = int(fraction[:6].ljust(6, "0")) if fraction else 0
    at_end = hour == 24 and not (minute or second)  # midnight at the end of a day
    clock = (0 if at_end else hour, minute, second, micro)
    try:
        when = datetime(*_day(found, order), *clock, _zone(zone))
        return _since_epoch(when + timedelta(days=at_end))
    except (ValueError, OverflowError):
        return nan


def _day(found: re.Match[str], order: str) -> tuple[int, int, int]:
    """Return year, month and day; zeros if they are unclear."""
    if found["y"]:
        return int(found["y"]), int(found["m"]), int(found["d"] or 1)
    if found["mark"]:
        a, b, y = int(found["a"]), int(found["b"]), int(found["y2"])
        if len(found["y2"]) == 2:
            if found["mark"] == "-":  # 24-01-02 has its year first as often as last
                return 0, 0, 0
            y += 2000 if y < 70 else 1900
        order = DMY if found["mark"] == "." else order
        return (y, b, a) if order == DMY else (y, a, b) if order == MDY else (0, 0, 0)
    name = (found["mon"] or found["mon4"])[:3].casefold()
    month = _MONTHS.index(name) + 1 if name in _MONTHS else 0
    return int(found["y3"] or found["y4"]), month, int(found["d3"] or found["d4"])


def _zone(text: str | None) -> timezone:
    if text is None or text[0] not in "+-":
        return UTC
    away = timedelta(hours=int(text[1:3]), minutes=int(text[3:].strip(":") or 0))
    return timezone(away if text[0] == "+" else -away)


def is_date(cell: str) -> bool:
    """Return whether text is a date as people write them, perhaps with a time."""
    return _WHEN.fullmatch(cell) is not None and len(cell) > len("1.2.24")


_LENGTHS = {"s": 1.0, "min": 60.0, "h": HOUR, "d": DAY, "w": WEEK, "y": YEAR}


def to_duration(name: str, value: Any) -> float:
    """Return a length of time in seconds, from seconds or from text such as "6h".

    Examples
    --------
    >>> to_duration("every", "1.5h"), to_duration("every", "10 min")
    (5400.0, 600.0)
    """
    found = re.fullmatch(r"\s*(\d*\.?\d+)\s*(s|min|h|d|w|y)\s*", str(value))
    length = value if isinstance(value, int | float) else nan
    if found:
        length = float(found[1]) * _LENGTHS[found[2]]
    require(
        isfinite(length) and length > 0, name,
        "be a length of time such as 30min, 6h or 1d", value,
    )  # fmt: skip
    return float(length)


def format_duration(seconds: float) -> str:
    """Return a length of time as people read it.

    Examples
    --------
    >>> format_duration(5400), format_duration(86400 * 2)
    ('1.5 h', '2 d')
    """
    for unit in ("y", "d", "h", "min"):
        if seconds >= _LENGTHS[unit]:
            return f"{seconds / _LENGTHS[unit]:.3g} {unit}"
    return f"{seconds:.3g} s"


def is_clock(cell: str) -> bool:
    """Return whether text is a time of day: 14:00."""
    return _CLOCK.fullmatch(cell) is not None


def find_order(words: Iterable[str]) -> str:
    """Return how dates such as 1/2/2024 are to be read, by all of them.

    "dmy" or "mdy"; "" if there are none; "unclear" if nothing tells; "mixed" if
    different dates tell different things.

    Examples
    --------
    >>> find_order(["1/2/2024", "13/2/2024"]), find_order(["1/2/2024"])
    ('dmy', 'unclear')
    """
    is_first = is_second = is_any = False
    for word in words:
        if "/" not in word and ("-" not in word or word[4:5] == "-"):
            continue  # nothing to be told, at a tenth of the time
        found = _WHEN.fullmatch(word)
        if found is None or found["mark"] not in ("/", "-"):
            continue
        is_any = True
        is_first |= int(found["a"]) > 12
        is_second |= int(found["b"]) > 12
    if is_first and is_second:
        return "mixed"
    return DMY if is_first else MDY if is_second else "unclear" if is_any else ""


def are_times(column: Cells) -> bool:
    """Return whether what is filled among the first cells is mostly times."""
    if not isinstance(column, Words):
        return bool(column.dtype.kind == "M")
    known = filled_words(column)
    return bool(known) and 2 * sum(map(is_date, known)) > len(known)


def to_seconds(column: Cells, order: str = "") -> Vector:
    """Return a column of times as seconds since 1970, NaN where there is none."""
    if isinstance(column, Words):
        return column.map(lambda word: seconds(word, order), np.float64)
    if column.dtype.kind != "M":  # numbers are no times
        return np.full(len(column), nan)
    whole: Vector = column.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(column), nan, whole)


def to_datetimes(values: Vector) -> NDArray[Any]:
    """Return seconds since 1970 as times, NaT where there are none."""
    micro = np.where(np.isnan(values), 0, np.round(values * 1e6)).astype(np.int64)
    times = micro.view("datetime64[us]")
    times[np.isnan(values)] = np.datetime64("NaT")
    return times


def has_zone(cell: str) -> bool:
    """Return whether a time says in which zone it is: Z, or +01:00."""
    if cell[-1:].isdigit() and "+" not in cell and "-" not in cell[8:]:
        return False  # most have none: no need to look at them twice
    found = _WHEN.fullmatch(cell)
    return found is not None and found["zone"] is not None


_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_COMPACT = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_SINCE, _UNTIL = 3e8, 4.2e9  # 1979 to 2103


def as_epoch(column: Cells) -> tuple[Vector, str]:
    """Return numbers as seconds since 1970 and what they are, "" if no times.

    Examples
    --------
    >>> as_epoch(np.array([1.7e12, 1.7000001e12]))
    (array([1.7000000e+09, 1.7000001e+09]), 'milliseconds since 1970')
    """
    codes: NDArray[Any]
    if isinstance(column, Words):
        digits = (re.fullmatch(r"\d+(\.\d*)?", word) for word in column.words)
        values = np.array([nan if d is None else float(d[0]) for d in digits])
        codes = column.codes
    elif column.dtype.kind == "f":
        values, codes = np.unique(column, return_inverse=True)
    else:
        return column, ""
    known = values[np.isfinite(values)]
    if not len(known):
        return values[codes], ""
    size = len(f"{known[0]:.0f}")
    if size in _COMPACT and isfinite(_compact(known[0], size)):
        made = np.array([_compact(value, size) for value in values.tolist()])
        if np.isfinite(made).sum() == len(known):
            return made[codes], f"dates such as {known[0]:.0f}"
    for unit, scale in _UNITS.items():
        if known.min() / scale >= _SINCE and known.max() / scale <= _UNTIL:
            return values[codes] / scale, f"{unit} since 1970"
    return values[codes], ""


def _compact(value: float, size: int) -> float:
    text = f"{value:.0f}"
    if len(text) != size or value % 1:
        return nan
    try:
        when = datetime.strptime(text, _COMPACT[size])
    except ValueError:
        return nan
    return _since_epoch(when) if 1900 <= when.year <= 2100 else nan


def format_times(values: Vector, form: str = "") -> list[str]:
    """Return seconds since 1970 as text in UTC, ISO 8601 to the second by default.

    Examples
    --------
    >>> format_times(np.array([90061.0])), format_times(np.array([0.0]), "%d.%m.%Y")
    (['1970-01-02T01:01:01'], ['01.01.1970'])
    """
    times: NDArray[Any] = np.round(values).astype("datetime64[s]")
    if not form:
        return [str(time) for time in times]
    return [time.strftime(form) for time in times.tolist()]


def form_of(word: str, order: str = "") -> str:
    """Return how a time is written, as ``strftime`` has it; "" if it is none.

    Examples
    --------
    >>> form_of("31.12.2024 14:00"), form_of("2024-12-31T14:00:00Z")
    ('%d.%m.%Y %H:%M', '%Y-%m-%dT%H:%M:%SZ')
    """
    found = _WHEN.fullmatch(word) or _CLOCK.fullmatch(word)
    if found is None:
        return ""
    groups = found.groupdict()
    order = DMY if groups.get("mark") == "." else order
    a, b = ("%m", "%d") if order == MDY else ("%d", "%m")
    year = "%y" if len(groups.get("y2") or "") == 2 else "%Y"
    month = "%b" if len(groups.get("mon") or groups.get("mon4") or "") == 3 else "%B"
    zone = groups.get("zone") or ""
    codes = {
        "y": "%Y", "m": "%m", "d": "%d", "a": a, "b": b, "y2": year, "y3": "%Y",
        "y4": "%Y", "d3": "%d", "d4": "%d", "mon": month, "mon4": month,
        "h": "%I" if groups["half"] else "%H", "min": "%M", "s": "%S", "f": "%f",
        "half": "%p",
    }  # fmt: skip
    if zone[:1] in ("+", "-"):  # what is written is in UTC
        codes["zone"] = "+00:00" if ":" in zone else "+0000"
    there = [(found.span(group), codes[group]) for group in codes if groups.get(group)]
    for (begin, end), code in sorted(there, reverse=True):
        word = word[:begin] + code + word[end:]
    return word


def on_circle(values: Vector, part: str) -> Matrix:
    """Return where times stand in what comes round again, as points of a circle.

    Examples
    --------
    >>> on_circle(np.array([0.0, 6 * HOUR]), "hour").round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    angle = 2 * np.pi * (values / PERIODS[part] % 1.0)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def format_like(column: Cells, name: str, values: Vector, order: str = "") -> Cells:
    """Return times as the cells of a column that has times, or a part of them.

    ``name`` of the column says which part, such as the hour, if it holds numbers.
    """
    if isinstance(column, Words):
        known = filled_words(column)
        first = known[0] if known else ""
        form = next((made for word in known if (made := form_of(word, order))), "")
    elif column.dtype.kind == "M":
        return to_datetimes(values)
    else:
        first, form = f"{np.nanmax(column):.0f}", ""
    what = as_epoch(column)[1]
    if what.startswith("dates"):
        form = _COMPACT[len(first)]
    elif not what:  # or a part of a time, such as the hour
        parts = (part for part, names in CALENDAR.items() if name.casefold() in names)
        form = form or next(parts, "")
    if form or not what:
        texts = format_times(values, form)
    else:
        scale = _UNITS[what.split()[0]]
        texts = [f"{value:.0f}" for value in (values * scale).tolist()]
    return to_words(texts) if isinstance(column, Words) else np.array(texts, np.float64)
