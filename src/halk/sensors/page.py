"""A model as people see it: one page, and a table in a notebook."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from halk import report
from halk._places import measure_distances
from halk._version import __version__
from halk.data.findings import counted
from halk.data.schema import TIME
from halk.data.times import format_times
from halk.network import Network
from halk.report import Bars, Bullets, Figure, Headline, MapFigure, Page, Section, Table
from halk.sensors import curves
from halk.sensors.calibrate import Fit
from halk.sensors.comparison import ALL, Judged
from halk.sensors.curves import Rows, call_sensor
from halk.sensors.method import BINS
from halk.sensors.notices import DRIFT, KINDS, SHIFT, STUCK, SUSPECT
from halk.sensors.order import EDGES
from halk.sensors.pairs import Pairs, find_pairs
from halk.sensors.summary import SensorRow, sensor_rows

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

STEPS, WIDE = 240, 8.4
"""Steps of a series that a panel shows, and its width in inches."""

LISTED, PAIRS, BAD = 200, 12, 10
"""Sensors, pairs of them, and notices of a kind, in tables."""

FEW_NAMES, FEW_HIDDEN = 20, 10
"""Sensors of which a map names all; hidden readings that tell a sensor's cover."""

_WORDS = {
    "std": "standard deviation of the sensor's readings: how far they are from their "
    "mean, typically",
    "cover": "share of hidden readings that were within their intervals",
    "width": "mean width of the intervals: narrow is good, if they cover",
    "past only": "estimated from what was known at the time: the past, and what the "
    "other sensors read just then",
    "points": "single readings missing",
    "blocks": "several readings of one sensor missing in a row",
    "outages": "most sensors missing at once",
    "tail": "the first or the last readings of a sensor missing",
    "multiplier": "how hard two neighbours pull at each other: 0 where they agree "
    "anyway, large where they are tied and would differ",
    "correlation": "1: readings rise and fall together; 0: they have nothing to do "
    "with each other",
    "goes with": "the sensor whose readings rise and fall with this one's most, and "
    "their correlation",
    "error": "mean absolute error on readings that were hidden from the method",
}
_METHODS = {
    "neighbours": "what the neighbours read at the time, and the sensor itself before "
    "and after (wide: more neighbours, shorter memory)",
    "field": "a smooth function of the inputs for every sensor (together: neighbours "
    "keep each other's alike; independent: every sensor by itself)",
    "kriging": "a weighted mean of readings, by how much they vary with distance",
    "inverse distance": "a weighted mean of readings, the nearest most",
    "linear interpolation": "straight from the reading before to the reading after",
    "sensor mean": "the mean of the sensor's readings",
}
_KINDS = {
    SUSPECT: "Readings that were not believed, and not learned",
    STUCK: "Sensors that were stuck; those readings were not learned",
    DRIFT: "Sensors that drift away from their neighbours",
    SHIFT: "Sensors that went to another level, which is believed",
}


def write_page(model: SensorModel, path: str | PathLike[str]) -> None:
    """Write the page of a model: one HTML file that needs nothing else."""
    report.write(make_page(model), path)


def make_page(model: SensorModel) -> Page:
    """Return what there is to say about a model."""
    rows, listed = curves.find_rows(model), sensor_rows(model)
    pairs = find_pairs(model, rows)
    sections = [
        Section("Error by method", "methods", _list_methods(model)),
        Section("Bad readings", "bad", _list_bad(model, rows)),
        Section("Where the errors are", "map", _draw_map(model, listed)),
        Section(
            "Sensors, the worst predicted first" if len(listed) > 1 else "The sensor",
            "sensors", _list_sensors(model, listed, rows, pairs),
        ),
        Section("Up close", "curves", _draw_sensors(model, listed, rows)),
        Section("Who goes with whom", "pairs", _list_pairs(model, pairs)),
        Section("Remarks on the table", "table", _list_findings(model)),
    ]  # fmt: skip
    what = curves.name_quantity(model.schema.target, model.schema.unit).split(" [")[0]
    what = "readings" if what == "value" else what
    n_sensors = counted(len(model.sensors.names), "sensor")
    facts: list[tuple[str, report.Cell]] = [
        ("halk", __version__), ("method", model.comparison.chosen),
        ("seed", model.site.seed), *_describe_gaps(model),
    ]  # fmt: skip
    return Page(
        f"{what[:1].upper()}{what[1:]} from {n_sensors}",
        f"{counted(len(model.readings.y), 'reading')}{_between(model)}", facts,
        [section for section in sections if section.items], _headline(model),
    )  # fmt: skip


def make_table(model: SensorModel) -> str:
    """Return a small HTML table, for notebooks."""
    said = [
        ("what", curves.label(model)), ("readings", f"{len(model.readings.y):,}"),
        *((one.label, f"{report.number(one.value)} {one.unit}")
          for one in _headline(model)),
    ]  # fmt: skip
    side = "style='text-align: left'"
    cells = (
        f"<tr><th {side}>{escape(name)}</th>"
        f"<td {side}>{escape(value.strip())}</td></tr>"
        for name, value in said
    )
    return f"<table>{''.join(cells)}</table>"


def _between(model: SensorModel) -> str:
    """Return from when to when readings are."""
    times = [k for k, one in enumerate(model.schema.inputs) if one.kind == TIME]
    if not times or not len(model.readings.y):
        return ""
    x = model.readings.x[:, times[0]]
    first, last = format_times(np.array([x.min(), x.max()]), "%-d %B %Y")
    return f", {first} to {last}" if first != last else f" on {first}"


def _headline(model: SensorModel) -> list[Headline]:
    comparison, unit = model.comparison, model.schema.unit
    used, found = comparison.find(comparison.chosen), []
    if used is not None:
        said = f"mean error of {used.name}"
        found.append(Headline(said, _known(used.error), unit))
        simple = [one for one in comparison.judged if not one.is_model]
        if used.is_model and simple:
            said = f"that of {simple[0].name}, the best simple method"
            found.append(Headline(said, _known(simple[0].error), unit))
        said = f"of hidden readings were within {model.coverage:.0%} intervals"
        found.append(Headline(said, _share(comparison.cover(used.name))))
    n_bad, V = sum(n.kind == SUSPECT for n in model.notices), len(model.sensors.names)
    found.append(Headline("sensor" if V == 1 else "sensors", V))
    said = "suspect reading" if n_bad == 1 else "suspect readings"
    return [*found, Headline(said, n_bad)]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _share(value: float) -> str | None:
    return f"{value:.0%}" if np.isfinite(value) else None


def _hint(word: str, shown: str = "") -> str:
    """Return a word that explains itself under the pointer."""
    return f"[{shown or word}](?{_WORDS[word]})"


def _with_unit(what: str, unit: str) -> str:
    return f"{what} [{unit}]" if unit else what


# methods


def _list_methods(model: SensorModel) -> list[report.Item]:
    comparison, unit = model.comparison, model.schema.unit
    reason = comparison.reason
    items: list[report.Item] = [f"{reason[:1].upper()}{reason[1:]}."]
    if not comparison.judged:
        return items
    items.append(
        "Readings were hidden in gaps like those of the table, and every method "
        "estimated them from the rest."
    )
    names = comparison.methods
    is_timed = any(one.now for one in comparison.judged)
    groups = ["Error by method", "Error by method, from the past only"][: 1 + is_timed]
    values = [
        [comparison.error(name, causal=causal) for name in names]
        for causal in (False, True)[: len(groups)]
    ]
    if len(names) > 1 and np.isfinite(values).any():
        looks = [
            "blue" if one.name == comparison.chosen
            else "sky" if one.is_model else "grey"
            for one in comparison.judged
        ]  # fmt: skip
        caption = "Mean absolute error on hidden readings. Blue: used here; pale blue: "
        items.append(
            Bars(
                "methods", caption + "other models; grey: simple methods.", groups,
                names, np.array(values), _with_unit("error", unit), looks, columns=2,
            )
        )  # fmt: skip
    timed = [_hint("past only")] if is_timed else []
    columns = [
        "method", "all gaps", *map(_hint, comparison.kinds), *timed, _hint("cover"),
        _hint("width", "width of intervals"),
    ]  # fmt: skip
    table = [_list_method(model, one, is_timed) for one in comparison.judged]
    best = [k for k, name in enumerate(names) if name == comparison.chosen]
    caption = f"Mean absolute errors{f', {unit}' if unit else ''}, by kind of gap."
    items.append(Table(caption, columns, table, "l" + "r" * len(columns[1:]), best))
    items += _list_intervals(model)
    heads = dict.fromkeys(name.split(", ")[0] for name in names)
    said = [f"{name}: {_METHODS[name]}" for name in heads if name in _METHODS]
    said += [f"not tried: {name} ({why})" for name, why in comparison.skipped.items()]
    return [*items, "What the methods estimate by:", Bullets(said)]


def _list_method(model: SensorModel, one: Judged, is_timed: bool) -> list[report.Cell]:
    comparison = model.comparison
    errors = [comparison.error(one.name, kind) for kind in (ALL, *comparison.kinds)]
    errors += [comparison.error(one.name, causal=True)] * is_timed
    width = _known(one.intervals[ALL].width) if ALL in one.intervals else None
    return [one.name, *map(_known, errors), _share(comparison.cover(one.name)), width]


def _list_intervals(model: SensorModel) -> list[report.Item]:
    """Return how intervals cover, by the distance to the nearest own reading."""
    one = model.comparison.find(model.comparison.chosen)
    bins = [str(b) for b in range(BINS) if one and str(b) in one.intervals]
    if one is None or len(bins) < 2:
        return []
    words = [f"up to {EDGES[0] - 0.5:.0f}"]
    words += [f"{a + 0.5:.0f} to {b - 0.5:.0f}" for a, b in pairwise(EDGES)]
    words += [f"over {EDGES[-1] - 0.5:.0f}"]
    now = [_hint("past only", "cover, past only")] if one.now_intervals else []
    table: list[list[report.Cell]] = []
    for b in bins:
        fit, past = one.intervals[b], one.now_intervals.get(b)
        table.append([words[int(b)], fit.cells, _cover(fit), _known(fit.width)])
        table[-1] += [_cover(past)] * len(now)
    columns = [
        "steps to the nearest reading", "hidden readings", _hint("cover"),
        _hint("width", "width of intervals"), *now,
    ]  # fmt: skip
    caption = f"{model.coverage:.0%} intervals of {one.name}, by how far the nearest "
    caption += "reading of the same sensor is."
    return [Table(caption, columns, table, "l" + "r" * len(columns[1:]))]


def _cover(fit: Fit | None) -> str | None:
    """Return which share is covered, unless too few say so."""
    return _share(fit.cover) if fit and fit.cells >= FEW_HIDDEN else None


def _describe_gaps(model: SensorModel) -> list[tuple[str, str]]:
    """Return how much of the table is missing, by kind of gap."""
    found = []
    for kind, one in model.comparison.gaps.items():
        if one["share_missing"] > 0 and "median_steps" in one:
            share, longest = one["share_missing"], one["longest_steps"]
            said = f"{share:.1%} of readings" if share >= 0.001 else "a few readings"
            if longest > 1:
                said += f"; {one['median_steps']:.0f} steps typically, {longest:,} at "
                said += "most"
            found.append((f"missing in {kind}", said))
    return found


# sensors


def _draw_map(model: SensorModel, listed: list[SensorRow]) -> list[report.Item]:
    sensors, known = model.sensors, {row.name: row.error for row in listed}
    error = np.array([known[name] for name in sensors.names])
    if sensors.positions is None or np.isnan(error).all():
        return []
    white = "; white: nothing of it was hidden" if np.isnan(error).any() else ""
    shown = listed if len(listed) <= FEW_NAMES else listed[:8]
    drawn = MapFigure(
        "errors", f"Error of each sensor. Dark and large: predicted badly{white}.",
        _make_network(model), labels=[row.name for row in shown], node_values=error,
        node_label=_with_unit("error", model.schema.unit), title="Error by sensor",
        is_geographic=sensors.is_geographic,
    )  # fmt: skip
    return [drawn]


def _make_network(model: SensorModel, pairs: Any = ()) -> Network:
    names, places = model.sensors.names, model.sensors.positions
    return Network(len(names), pairs, names=names, positions=places)


def _list_sensors(
    model: SensorModel, listed: list[SensorRow], rows: Rows | None, pairs: Pairs | None
) -> list[report.Item]:
    names = model.sensors.names
    said = f", {model.schema.unit}" if model.schema.unit else ""
    columns = [
        "", "sensor", _hint("error", f"error{said}"), "error / std", _hint("cover"),
        _hint("std", f"std{said}"), "readings", *["missing"] * (rows is not None),
    ]  # fmt: skip
    align = "rl" + "r" * len(columns[2:])
    hidden = dict(zip(names, model.comparison.errors[:, 2].tolist(), strict=False))
    closest = {}
    if pairs is not None and pairs.what == "correlation":
        closest = pairs.find_closest(names)
        columns, align = [*columns, _hint("goes with")], f"{align}l"
    if rows is not None:
        share = np.isnan(rows.values).mean(axis=0).tolist()
        missing = dict(zip(names, map(_share, share), strict=True))
    table: list[list[report.Cell]] = []
    for k, row in enumerate(listed[:LISTED]):
        cover = row.cover if hidden.get(row.name, 0) >= FEW_HIDDEN else np.nan
        cells: list[report.Cell] = [
            k + 1, row.name, _known(row.error), _share(row.error / row.std),
            _share(cover), _known(row.std), row.readings,
        ]  # fmt: skip
        cells += [missing[row.name]] if rows is not None else []
        table.append(cells + [closest.get(row.name, "")] * bool(closest))
    more = len(listed) - LISTED
    caption = "By error in standard deviations of the sensor, the largest first."
    caption += f" {more:,} more: `halk inspect --json`." if more > 0 else ""
    return [Table(caption, columns, table, align)]


def _draw_sensors(
    model: SensorModel, listed: list[SensorRow], rows: Rows | None
) -> list[report.Item]:
    """Return the curves of the worst, a middling and the best predicted sensor."""
    read = [row for row in listed if row.readings]
    known = [row for row in read if np.isfinite(row.error)] or read
    if not known:
        return []
    last = len(known) - 1
    chosen = {last // 2: "like most"} | {0: "worst", last: "best"} if last else {0: ""}
    panels = []
    for k, word in sorted(chosen.items()):
        row = known[k]
        title = call_sensor(row.name) + (f", predicted {word}" if word else "")
        if np.isfinite(row.error):
            title += f", error {model.shown(row.error)}"
        panels.append(_draw(model, row.name, title, rows))
    is_field = rows is None or model.comparison.chosen.startswith("field")
    said = (
        f"Dots: readings. Blue: estimates{'' if is_field else ' where there is none'}"
    )
    said += f", with {model.coverage:.0%} intervals. Crosses: suspect readings."
    if rows is None:
        return [Figure("curves", said, panels, 3, 3.4)]
    return [Figure("curves", said, panels, 1, 2.4, WIDE)]


def _draw(
    model: SensorModel,
    name: str,
    title: str,
    rows: Rows | None,
    at: float | None = None,
) -> report.Panel:
    i, window = model.sensors.names.index(name), (0, 0)
    if rows is not None:
        near = None if at is None else int(np.argmin(np.abs(rows.times - at)))
        window = curves.find_window(rows.values[:, i], near, STEPS)
    return curves.make_panel(model, i, title, rows, window)


# neighbours


def _list_pairs(model: SensorModel, pairs: Pairs | None) -> list[report.Item]:
    if pairs is None:
        return []
    sensors, names = model.sensors, model.sensors.names
    order = np.argsort(-pairs.values, kind="stable")[:PAIRS]
    columns = ["sensor", "and", _hint(pairs.what)]
    table: list[list[report.Cell]] = [
        [names[i], names[j], value]
        for (i, j), value in zip(
            pairs.pairs[order].tolist(), pairs.values[order].tolist(), strict=True
        )
    ]
    caption = f"The {counted(len(table), 'pair')} with the largest {pairs.what}."
    if sensors.positions is None:
        return [Table(caption, columns, table)]
    net = _make_network(model, pairs.pairs)
    drawn = MapFigure(
        "pairs", f"Lines by {pairs.what}: {_WORDS[pairs.what]}.", net,
        pairs.along(net), pairs.what, value_limits=pairs.limits,
        labels=names if len(names) <= FEW_NAMES else (),
        title=f"Neighbours by {pairs.what}", is_geographic=sensors.is_geographic,
    )  # fmt: skip
    metric = "haversine" if sensors.is_geographic else "euclidean"
    i, j = pairs.pairs[order].T
    apart = measure_distances(sensors.positions[i], sensors.positions[j], metric)
    columns.append("apart, km" if sensors.is_geographic else "apart")
    for row, far in zip(table, apart.tolist(), strict=True):
        row.append(far)
    return [drawn, Table(caption, columns, table)]


# what is wrong


def _list_bad(model: SensorModel, rows: Rows | None) -> list[report.Item]:
    items: list[report.Item] = []
    worst: dict[str, float] = {}
    notices = model.notices
    for kind in KINDS:
        found = [one for one in notices if one.kind == kind]
        found.sort(key=lambda one: -one.weight)
        for one in found[:3]:
            worst.setdefault(one.sensor, one.start)
        if found:
            table = [[one.sensor, one.text(model)] for one in found[:BAD]]
            most = "longest" if kind == STUCK else "largest"
            more = f" (the {BAD} {most} of {len(found):,})" if len(found) > BAD else ""
            caption = f"{_KINDS[kind]}{more}."
            items.append(Table(caption, ["sensor", "what was seen"], table))
    if rows is not None and worst:
        panels = [
            _draw(model, name, call_sensor(name), rows, start)
            for name, start in list(worst.items())[:4]
        ]
        said = (
            "What was noticed, in its surroundings. Crosses: suspect readings; blue: "
        )
        said += f"estimates in their place, with {model.coverage:.0%} intervals."
        items.append(Figure("bad", said, panels, 1, 2.4, WIDE))
    return items


def _list_findings(model: SensorModel) -> list[report.Item]:
    found = model.findings.sorted
    lines = [f"{one.message}{f': {one.advice}' if one.advice else ''}" for one in found]
    return [Bullets(lines)] if lines else []
