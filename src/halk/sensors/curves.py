"""The curve of one sensor: what it read, what is estimated, what is not believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector
from halk.data.readings import Readings
from halk.data.schema import TIME
from halk.data.times import format_times, seconds
from halk.errors import DataError
from halk.report import Figure, Line, Panel, Points, plot
from halk.sensors.grid import average_cells, make_grid
from halk.sensors.method import Estimates
from halk.sensors.order import Line as Order
from halk.sensors.order import find_line

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

CURVE = 400
"""Points of a curve that is no series of steps."""

READ, ESTIMATED, BAND, BAD = "reading", "estimate", "band", "suspect"

UPRIGHT = ("depth", "pressure", "altitude", "height", "elevation")
"""Words in the names of inputs that are drawn upwards, the first two downwards."""


class Rows(NamedTuple):
    """A network's readings in rows of one time step, for whoever draws or compares.

    Attributes
    ----------
    times : array (T,)
        Seconds since 1970.
    values : array (T, V)
        Readings that were believed; NaN where there is none.
    column : int
        The input that is the time.
    """

    times: Vector
    values: Matrix
    column: int


def find_rows(model: SensorModel) -> Rows | None:
    """Return the readings in rows of a time step; None if they are no such series."""
    read = model.readings
    if not len(read.y):
        return None
    line = find_line(model.schema, read)
    if not (line.is_time and line.is_only):
        return None
    time = read.x[:, line.column]
    grid = make_grid(read.sensor, time)
    kept = ~model.find_suspects(read)
    shape = grid.n_rows, len(model.sensors.names)
    row = grid.find_rows(time)[kept]
    values, _ = average_cells(row, read.sensor[kept], read.y[kept], shape)
    return Rows(grid.find_times(), values, line.column)


def plot_sensor(
    model: SensorModel, name: str, start: Any = None, end: Any = None
) -> Any:
    """Return the Matplotlib figure of one sensor, between two times if given."""
    if name not in model.sensors.names:
        some = ", ".join(model.sensors.names[:5])
        raise DataError(
            f"sensor must be one of the network's ({some}, ...), got {name!r}"
        )
    rows, i = find_rows(model), model.sensors.names.index(name)
    limits = [_bound(which, at) for which, at in (("start", start), ("end", end))]
    if rows is None and (start, end) != (None, None):
        raise DataError("start and end need readings at times, and no other input")
    first, last = 0, 0
    if rows is not None:
        low, high = (
            np.nan_to_num(limits[0], nan=-np.inf),
            np.nan_to_num(limits[1], nan=np.inf),
        )
        inside = np.flatnonzero((rows.times >= low) & (rows.times <= high))
        if not len(inside):
            raise DataError("start and end must have readings in between, got none")
        first, last = int(inside[0]), int(inside[-1]) + 1
    panel = make_panel(model, i, call_sensor(name), rows, (first, last))
    return plot(Figure("sensor", name, [panel], columns=1, height=3.4, width=8.4))


def _bound(name: str, at: Any) -> float:
    """Return a time in seconds since 1970; NaN if it is not given."""
    if at is None:
        return float("nan")
    found = float(at) if isinstance(at, int | float) else seconds(str(at))
    if np.isnan(found):
        raise DataError(f"{name} must be a time such as 2024-01-31, got {at!r}")
    return found


def make_panel(
    model: SensorModel,
    i: int,
    title: str,
    rows: Rows | None,
    window: tuple[int, int] = (0, 0),
) -> Panel:
    """Return the panel of a sensor, in a window of rows if it is a series."""
    if rows is None:
        return _draw_curve(model, i, title)
    return _draw_series(model, i, title, rows, slice(*window))


def label(model: SensorModel) -> str:
    """Return the value with its unit, for an axis."""
    return name_quantity(model.schema.target, model.schema.unit)


def call_sensor(name: str) -> str:
    """Return a name that can stand alone: "sensor 7" for a number."""
    return f"sensor {name}" if name.isdigit() else name


def name_quantity(column: str, unit: str = "") -> str:
    """Return what a column holds, with its unit.

    Examples
    --------
    >>> name_quantity("temperature_C", "°C"), name_quantity("depth_m", "m")
    ('temperature [°C]', 'depth [m]')
    """
    front, _, end = column.rpartition("_")
    is_said = front and _letters(end) == _letters(unit)
    name = (front if is_said else column).replace("_", " ")
    return f"{name} [{unit}]" if unit else name


def _letters(unit: str) -> str:
    return "".join(c for c in unit.casefold() if c.isalnum())


# series in time


def _draw_series(
    model: SensorModel, i: int, title: str, rows: Rows, shown: slice
) -> Panel:
    times, read = rows.times[shown], rows.values[shown, i]
    if model.comparison.chosen.startswith("field"):
        at = np.linspace(times[0], times[-1], max(CURVE, len(times)))
        found = _estimate(model, i, rows.column, at)
        items: list[Line | Points] = [
            Line(ESTIMATED, at, found.value, found.low, found.high, "blue")
        ]
    else:
        curve, (low, high) = _fill(model, i, rows.column, times, read)
        items = [
            Line(ESTIMATED, times, curve, low, high, "blue"),
            Line("", times, read, style="ink"),
        ]
    items.append(Points(READ, times, read))
    bad = _find_bad(model, i, rows.column, float(times[0]), float(times[-1]))
    limits = _limits(np.concatenate([read, items[0].y]), bad.y)
    if len(bad.y):
        y = bad.y if limits is None else np.clip(bad.y, *limits)
        at = bad.x[:, rows.column]
        items.append(Points(BAD, at, y, style="vermilion", is_cross=True))
    note = "" if limits is None else "crosses at the edge are far outside"
    return Panel(
        title, "", label(model), items, note=note, is_dated=True, y_limits=limits
    )


def _estimate(model: SensorModel, i: int, column: int, times: Vector) -> Estimates:
    own = model.readings.x[model.readings.sensor == i]
    x = np.repeat((own if len(own) else model.readings.x)[:1], len(times), axis=0)
    x[:, column] = times
    return model.estimate(np.full(len(x), i), x)


def _fill(
    model: SensorModel, i: int, column: int, times: Vector, read: Vector
) -> tuple[Vector, tuple[Vector, Vector]]:
    """Return curve and band from the last reading before a gap to the first after."""
    is_gone = np.isnan(read)
    found = _estimate(model, i, column, times[is_gone])
    is_drawn = is_gone.copy()
    is_drawn[1:] |= is_gone[:-1]
    is_drawn[:-1] |= is_gone[1:]
    curves = np.tile(np.where(is_drawn, read, np.nan), (3, 1))
    curves[:, is_gone] = found.value, found.low, found.high
    return curves[0], (curves[1], curves[2])


def _find_bad(
    model: SensorModel, i: int, column: int, start: float, end: float
) -> Readings:
    read = model.readings
    x = read.x[:, column]
    kept = (read.sensor == i) & (x >= start) & (x <= end)
    part = Readings(read.sensor[kept], read.x[kept], read.y[kept])
    bad = model.find_suspects(part)
    return Readings(part.sensor[bad], part.x[bad], part.y[bad])


def _limits(usual: Vector, bad: Vector) -> tuple[float, float] | None:
    """Return limits that suspects do not stretch; None if they would not."""
    usual = usual[np.isfinite(usual)]
    if not len(usual) or not len(bad):
        return None
    low, high = float(usual.min()), float(usual.max())
    room = (high - low) or 1.0
    is_far = (bad < low - 2 * room) | (bad > high + 2 * room)
    return (low - 0.3 * room, high + 0.3 * room) if is_far.any() else None


# curves over any input


def _draw_curve(model: SensorModel, i: int, title: str) -> Panel:
    """Return the panel over one input, all others being fixed where most is read."""
    inputs, read = model.schema.inputs, model.readings
    own = read.sensor == i
    x, y, bad = read.x[own], read.y[own], model.find_suspects(read)[own]
    if not len(y):
        x, y, bad = read.x, np.full(len(read.y), np.nan), np.zeros(len(read.y), bool)
    k, group = _find_slice(x, find_line(model.schema, read))
    at = np.linspace(x[group, k].min(), x[group, k].max(), CURVE)
    asked = np.repeat(np.median(x[group], axis=0)[None], CURVE, axis=0)
    asked[:, k] = at
    found = model.estimate(np.full(CURVE, i), asked)
    fixed = [
        f"{one.name} {_written(one.kind, asked[0, n])}"
        for n, one in enumerate(inputs)
        if n != k and len(np.unique(read.x[:, n])) > 1
    ]
    title = f"{title}, {', '.join(fixed)}" if fixed else title
    name, is_dated = inputs[k].name, inputs[k].kind == TIME
    upright = [word for word in UPRIGHT if word in name.casefold()]
    along, across = (found.value, at) if upright else (at, found.value)
    low, high = found.low, found.high
    items: list[Line | Points] = [
        Line(ESTIMATED, along, across, low, high, "blue", bool(upright))
    ]
    for word, kept in ((READ, ~bad[group]), (BAD, bad[group])):
        dots = x[group, k][kept], y[group][kept]
        dots = dots[::-1] if upright else dots
        if kept.any():
            items.append(
                Points(word, *dots, style="vermilion" if word == BAD else None,
                       is_cross=word == BAD)
            )  # fmt: skip
    below, beside = name_quantity(name, inputs[k].unit), label(model)
    if upright:
        below, beside = beside, below
    return Panel(
        title, "" if is_dated else below, beside, items, is_dated=is_dated,
        invert_y=bool(upright) and upright[0] in UPRIGHT[:2],
    )  # fmt: skip


def _find_slice(x: Matrix, line: Order) -> tuple[int, NDArray[np.bool_]]:
    """Return the input to draw along, and the readings that agree in all others."""
    best: tuple[int, int, NDArray[np.bool_]] | None = None
    for k in sorted(range(x.shape[1]), key=lambda k: k != line.column):
        others = np.delete(x, k, axis=1)
        _, which, counts = np.unique(
            others, axis=0, return_inverse=True, return_counts=True
        )
        n = int(counts.max())
        if np.ptp(x[:, k]) > 0 and (best is None or n > best[0]):
            best = n, k, which.ravel() == counts.argmax()
    if best is None:  # one reading, or several at the same inputs
        return line.column, np.ones(len(x), bool)
    return best[1], best[2] if best[0] > 2 else _find_nearest(x, best[1])


def _find_nearest(x: Matrix, k: int) -> NDArray[np.bool_]:
    """Return the quarter of readings whose other inputs are most usual."""
    others = np.delete(x, k, axis=1)
    away = np.abs(others - np.median(others, axis=0)) / (others.std(axis=0) + 1e-12)
    far: Vector = away.sum(axis=1)
    is_near: NDArray[np.bool_] = far <= np.quantile(far, 0.25)
    return is_near


def _written(kind: str, value: float) -> str:
    if kind != TIME:
        return f"{value:.4g}"
    shown = format_times(np.array([value]))[0].replace("T", " ")
    return shown.removesuffix(":00").removesuffix(" 00:00")


def find_window(read: Vector, around: int | None, most: int) -> tuple[int, int]:
    """Return the rows to show of a series: with gaps, and enough readings beside them.

    Around a given row, if there is one.
    """
    n = len(read)
    if n <= most:
        return 0, n
    if around is not None:
        start = int(np.clip(around - most // 3, 0, n - most))
        return start, start + most
    gone = np.concatenate([[0.0], np.cumsum(np.isnan(read))])
    share = (gone[most:] - gone[:-most]) / most
    change = np.concatenate([[0.0, 0.0], np.cumsum(np.diff(np.isnan(read)))])
    turns = (change[most:] - change[:-most]) / most
    start = int(np.argmax(-np.abs(share - 0.25) + 0.5 * np.minimum(turns, 0.1)))
    return start, start + most
