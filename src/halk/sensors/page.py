"""A model as people see it: one page, and a table in a notebook."""

from __future__ import annotations

from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from halk import report
from halk._places import measure_distances
from halk._validation import Indices, Matrix, Vector
from halk._version import __version__
from halk.data.findings import counted
from halk.data.schema import TIME
from halk.data.times import format_duration, format_times
from halk.network import Network
from halk.report import Bars, Bullets, Figure, MapFigure, Page, Section, Table
from halk.sensors.comparison import ALL, Judged
from halk.sensors.curves import (
    Rows,
    find_rows,
    find_window,
    label,
    make_panel,
    name_quantity,
)
from halk.sensors.notices import DRIFT, KINDS, SHIFT, STUCK, SUSPECT
from halk.sensors.summary import SensorRow, sensor_rows

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

STEPS = 240
"""Steps of a series that a panel of the page shows."""

PAIRS, CLOSE = 12, 3
"""Pairs in the table of neighbours; neighbours of a sensor that are drawn."""

LISTED, BAD = 200, 25
"""Sensors, and notices of a kind, in tables."""

FEW, CAREFUL = 10, 20
"""Hidden readings below which a sensor's cover says nothing; readings of two sensors at
the same times that it takes to compare them."""

_WORDS = {
    "std": "standard deviation of the sensor's readings: how far they are from their "
    "mean, typically",
    "cover": "share of hidden readings that were within their intervals",
    "width": "mean width of the intervals: narrow is good, if they cover",
    "past only": "estimated from what was known at that time: the past of the sensor, "
    "and what the others read just then",
    "points": "single readings missing",
    "blocks": "several readings of one sensor missing in a row",
    "outages": "most sensors missing at once",
    "tail": "the first or the last readings of a sensor missing",
    "multiplier": "how hard two neighbours pull at each other: 0 where they agree "
    "anyway, large where they are tied and would differ",
    "correlation": "1: their readings rise and fall together; 0: they have nothing to "
    "do with each other",
    "closest": "the sensor whose readings rise and fall with this one's most, and the "
    "correlation",
    "error": "mean absolute error on readings that were hidden from the method",
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
    rows, listed = find_rows(model), sensor_rows(model)
    pairs = find_pairs(model, rows)
    made = [
        Section("Error by method", "methods", _list_methods(model)),
        Section("Bad readings", "bad", _list_bad(model, rows)),
        Section("Where the errors are", "map", _draw_map(model, listed)),
        Section("Sensors, the worst predicted first", "sensors",
                _list_sensors(model, listed, rows, pairs)),
        Section("Sensors up close", "curves", _draw_sensors(model, listed, rows)),
        Section("Who goes with whom", "pairs", _list_pairs(model, pairs)),
        Section("Remarks on the table", "table", _list_findings(model)),
    ]  # fmt: skip
    V, n = len(model.sensors.names), len(model.readings.y)
    what = name_quantity(model.schema.target, model.schema.unit).split(" [")[0]
    title = f"{what[:1].upper()}{what[1:]}, read by {counted(V, 'sensor')}"
    facts = [("halk", __version__), ("method", model.comparison.chosen),
             ("seed", model.site.seed), *_describe_gaps(model)]  # fmt: skip
    return Page(
        title, f"{counted(n, 'reading')}{_between(model)}", facts,
        [section for section in made if section.items], _headline(model),
    )  # fmt: skip


def make_table(model: SensorModel) -> str:
    """Return a small HTML table, for notebooks."""
    said = [(item.label, f"{report.number(item.value)} {item.unit}".strip())
            for item in _headline(model)]  # fmt: skip
    said[:0] = [("what", label(model)), ("readings", f"{len(model.readings.y):,}"),
                ("method", model.comparison.chosen)]  # fmt: skip
    side = "text-align: left"
    cells = (
        f'<tr><th style="{side}">{escape(name)}</th>'
        f'<td style="{side}">{escape(value)}</td></tr>'
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


def _headline(model: SensorModel) -> list[report.Headline]:
    comparison, unit = model.comparison, model.schema.unit
    found = []
    if comparison.judged:
        error = comparison.error(comparison.chosen)
        found.append(report.Headline("mean error", _known(error), unit))
        simple = [one for one in comparison.judged if not one.is_model]
        used = comparison.find(comparison.chosen)
        if used is not None and used.is_model and simple:
            said = f"that of {simple[0].name}, the best simple method"
            found.append(report.Headline(said, _known(simple[0].error), unit))
        cover = comparison.cover(comparison.chosen)
        said = f"of hidden readings were within {model.coverage:.0%} intervals"
        found.append(report.Headline(said, _share(cover)))
    found.append(report.Headline("sensors", len(model.sensors.names)))
    n_bad = sum(notice.kind == SUSPECT for notice in model.notices)
    return [*found, report.Headline("suspect readings", n_bad)]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _share(value: float) -> str | None:
    return f"{value:.0%}" if np.isfinite(value) else None


def _hint(word: str, shown: str = "") -> str:
    """Return a word that explains itself under the pointer."""
    return f"[{shown or word}](?{_WORDS[word]})"


# methods


def _list_methods(model: SensorModel) -> list[report.Item]:
    comparison, unit = model.comparison, model.schema.unit
    if not comparison.judged:
        return [_sentence(comparison.reason)]
    items: list[report.Item] = [
        _sentence(comparison.reason),
        "Readings were hidden in gaps like those of the table, and every method "
        "estimated them from the rest.",
    ]
    names, kinds = comparison.methods, comparison.kinds
    is_timed = any(one.now for one in comparison.judged)
    groups = ["any reading may be used"] + ["past only"] * is_timed
    values = [[comparison.error(name, causal=causal) for name in names]
              for causal in (False, True)[: len(groups)]]  # fmt: skip
    if len(names) > 1 and np.isfinite(values).any():
        caption = "Mean absolute error on hidden readings; shorter is better."
        looks = ["blue" if name == comparison.chosen
                 else "sky" if one.is_model else "grey"
                 for name, one in zip(names, comparison.judged, strict=True)]  # fmt: skip
        items.append(
            Bars("methods", f"{caption} Blue: used here; pale blue: other models; grey: "
                 "simple methods.", groups, names, np.array(values),
                 f"error [{unit}]" if unit else "error", looks, columns=1)
        )  # fmt: skip
    timed = [_hint("past only")] if is_timed else []
    columns = ["method", "all", *(_hint(kind) for kind in kinds), *timed,
               _hint("cover"), _hint("width", "width of intervals")]  # fmt: skip
    table = [_list_method(model, one, is_timed) for one in comparison.judged]
    best = [k for k, name in enumerate(names) if name == comparison.chosen]
    caption = f"Mean absolute errors{f', {unit}' if unit else ''}, by kind of gap."
    align = "l" + "r" * (len(columns) - 1)
    items.append(Table(caption, columns, table, align, best))
    if comparison.skipped:
        not_tried = [f"{name}: {why}" for name, why in comparison.skipped.items()]
        items += ["Not tried:", Bullets(not_tried)]
    return items


def _list_method(model: SensorModel, one: Judged, is_timed: bool) -> list[Any]:
    comparison = model.comparison
    errors = [
        _known(comparison.error(one.name, kind)) for kind in ("", *comparison.kinds)
    ]
    now = [_known(comparison.error(one.name, causal=True))] * is_timed
    width = _known(one.intervals[ALL].width) if ALL in one.intervals else None
    return [one.name, *errors, *now, _share(comparison.cover(one.name)), width]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _describe_gaps(model: SensorModel) -> list[tuple[str, str]]:
    """Return how much of the table is missing, by kind of gap."""
    found = []
    for kind, one in model.comparison.gaps.items():
        if one["share_missing"] > 0 and "median_steps" in one:
            said = f"{one['share_missing']:.1%} of readings; {one['median_steps']:.0f} "
            said += f"steps typically, {one['longest_steps']:,} at most"
            found.append((f"missing in {kind}", said))
    return found


# sensors


def _draw_map(model: SensorModel, listed: list[SensorRow]) -> list[report.Item]:
    if model.sensors.positions is None:
        return []
    V = len(model.sensors.names)
    error = _by_sensor(model, [(row.name, row.error) for row in listed])
    worst = [row.name for row in listed[: V if V <= 20 else 10]]
    unit = f" [{model.schema.unit}]" if model.schema.unit else ""
    caption = "Error of each sensor. Dark and large: predicted badly"
    caption += (
        "; white: nothing of it could be hidden." if np.isnan(error).any() else "."
    )
    drawn = MapFigure(
        "errors", caption, _make_network(model), labels=worst, node_values=error,
        node_label=f"error{unit}", is_geographic=model.sensors.is_geographic,
        title="Error by sensor",
    )  # fmt: skip
    return [drawn]


def _by_sensor(model: SensorModel, pairs: list[tuple[str, float]]) -> Vector:
    known = dict(pairs)
    return np.array([known.get(name, np.nan) for name in model.sensors.names])


def _make_network(model: SensorModel, pairs: Any = ()) -> Network:
    sensors = model.sensors
    return Network(len(sensors.names), pairs, names=sensors.names,
                   positions=sensors.positions)  # fmt: skip


def _list_sensors(
    model: SensorModel, listed: list[SensorRow], rows: Rows | None, pairs: Pairs | None
) -> list[report.Item]:
    unit = f", {model.schema.unit}" if model.schema.unit else ""
    columns = ["", "sensor", "readings", _hint("std", f"std{unit}"),
               _hint("error", f"error{unit}"), "error / std", _hint("cover")]  # fmt: skip
    is_close = pairs is not None and pairs.what == "correlation"
    closest = pairs.find_closest(model.sensors.names) if is_close and pairs else {}
    if closest:
        columns.append(_hint("closest", "goes with"))
    if rows is not None:
        columns.insert(3, "missing")
        gone = _by_number(model, np.isnan(rows.values).mean(axis=0))
    hidden = _by_number(model, _count_hidden(model))
    table: list[list[Any]] = []
    for k, row in enumerate(listed[:LISTED]):
        cells = [k + 1, row.name, row.readings, _known(row.std), _known(row.error),
                 _share(row.error / row.std),
                 _share(row.cover if hidden[row.name] >= FEW else np.nan)]  # fmt: skip
        if rows is not None:
            cells.insert(3, _share(gone[row.name]))
        table.append(cells + ([closest.get(row.name, "")] if closest else []))
    more = len(listed) - LISTED
    caption = "By error in standard deviations of the sensor, the largest first."
    caption += f" {more:,} more: `halk inspect --json`." if more > 0 else ""
    align = "rl" + "r" * (len(columns) - 2 - bool(closest)) + "l" * bool(closest)
    return [Table(caption, columns, table, align)]


def _count_hidden(model: SensorModel) -> Vector:
    """Return how many readings of every sensor were hidden."""
    found, errors = np.zeros(len(model.sensors.names)), model.comparison.errors
    found[: len(errors)] = errors[: len(found), 2]
    return found


def _by_number(model: SensorModel, values: Vector) -> dict[str, float]:
    return dict(zip(model.sensors.names, values.tolist(), strict=True))


def _draw_sensors(
    model: SensorModel, listed: list[SensorRow], rows: Rows | None
) -> list[report.Item]:
    """Return the curves of the worst, a middling and the best predicted sensor."""
    read = [row for row in listed if row.readings]
    known = [row for row in read if np.isfinite(row.error)] or read
    if not known:
        return []
    chosen = {0: "predicted worst", len(known) // 2: "in the middle",
              len(known) - 1: "predicted best"}  # fmt: skip
    panels = []
    for k, word in chosen.items():
        row = known[k]
        i = model.sensors.names.index(row.name)
        window = (0, 0)
        if rows is not None:
            window = find_window(rows.values[:, i], np.zeros(0, np.int64), STEPS)
        error = f", error {model.shown(row.error)}" if np.isfinite(row.error) else ""
        title = f"{row.name}, {word}{error}" if len(known) > 1 else f"{row.name}{error}"
        panels.append(make_panel(model, i, title, rows, window))
    said = "Dots: readings. Blue: estimates where there are none"
    if rows is None or model.comparison.chosen.startswith("field"):
        said = "Dots: readings. Blue: estimates"
    said += f", with {model.coverage:.0%} intervals. Crosses: suspect readings."
    columns = 3 if rows is None else 1
    height = 3.4 if rows is None else 2.6
    return [Figure("curves", said, panels, columns, height)]


# neighbours


class Pairs(NamedTuple):
    """Neighbours, each pair once, and how much they have to do with each other."""

    what: str
    pairs: Indices  # (P, 2)
    values: Vector  # (P,)

    def find_closest(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the closest neighbour of every sensor, with the value."""
        found = {}
        for k in np.argsort(self.values, kind="stable").tolist():
            i, j = self.pairs[k].tolist()
            for one, other in ((i, j), (j, i)):
                found[names[one]] = f"{names[other]} ({self.values[k]:.2f})"
        return found


def find_pairs(model: SensorModel, rows: Rows | None) -> Pairs | None:
    """Return pairs of neighbours by multiplier or correlation; None if there are none.

    Those of the field model by its multipliers; of readings in time by correlation.
    """
    learner = getattr(model.method, "learner", None)
    if learner is not None and learner.network.n_edges:
        net = learner.network
        once = net.edges[:, 0] < net.edges[:, 1]
        both = np.maximum(learner.multipliers, learner.multipliers[net.reverse])
        return Pairs("multiplier", net.edges[once], both[once])
    if rows is None or rows.values.shape[1] < 2:
        return None
    alike = _correlate(rows.values)
    ranked = np.argsort(-np.nan_to_num(alike, nan=-2.0), axis=1, kind="stable")[
        :, :CLOSE
    ]
    who = np.repeat(np.arange(len(alike)), ranked.shape[1])
    pairs = np.unique(np.sort(np.column_stack([who, ranked.ravel()]), axis=1), axis=0)
    values = alike[pairs[:, 0], pairs[:, 1]]
    known = np.isfinite(values) & (pairs[:, 0] != pairs[:, 1])
    return Pairs("correlation", pairs[known], values[known]) if known.any() else None


def _correlate(values: Matrix) -> Matrix:
    """Return correlations of readings at the same times; NaN where they are few."""
    known = np.isfinite(values)
    w = known.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(known, values - np.nansum(values, axis=0) / w.sum(axis=0), 0.0)
        common, total = w.T @ w, z.T @ w
        cross = z.T @ z - total * total.T / common
        square = (z * z).T @ w - total**2 / common
        alike = cross / np.sqrt(square * square.T)
    alike = np.where(common >= CAREFUL, np.clip(alike, -1, 1), np.nan)
    np.fill_diagonal(alike, np.nan)
    return alike


def _list_pairs(model: SensorModel, pairs: Pairs | None) -> list[report.Item]:
    if pairs is None:
        return []
    sensors, names = model.sensors, model.sensors.names
    items: list[report.Item] = []
    if sensors.positions is not None:
        net = _make_network(model, pairs.pairs)
        known = {(i, j): v for (i, j), v in
                 zip(pairs.pairs.tolist(), pairs.values.tolist(), strict=True)}  # fmt: skip
        edges = [known[min(i, j), max(i, j)] for i, j in net.edges.tolist()]
        items.append(
            MapFigure("pairs", f"Pairs of neighbours by {pairs.what}: {_WORDS[pairs.what]}.",
                      net, np.array(edges), pairs.what, title=f"Neighbours by {pairs.what}",
                      labels=names if len(names) <= 20 else (),
                      is_geographic=sensors.is_geographic)
        )  # fmt: skip
    order = np.argsort(-pairs.values, kind="stable")[:PAIRS]
    table: list[list[Any]] = [
        [names[i], names[j], float(pairs.values[k])]
        for k, (i, j) in ((k, pairs.pairs[k].tolist()) for k in order.tolist())
    ]
    columns = ["sensor", "and", _hint(pairs.what)]
    if sensors.positions is not None:
        metric = "haversine" if sensors.is_geographic else "euclidean"
        i, j = pairs.pairs[order].T
        apart = measure_distances(sensors.positions[i], sensors.positions[j], metric)
        columns.append("apart, km" if sensors.is_geographic else "apart")
        for row, far in zip(table, apart.tolist(), strict=True):
            row.append(far)
    caption = f"The {len(table)} pairs with the largest {pairs.what}."
    return [*items, Table(caption, columns, table)]


# what is wrong


def _list_bad(model: SensorModel, rows: Rows | None) -> list[report.Item]:
    items: list[report.Item] = []
    for kind in KINDS:
        found = [one for one in model.notices if one.kind == kind]
        if not found:
            continue
        found.sort(key=lambda one: -abs(np.nan_to_num(one.deviation)))
        table = [[one.sensor, one.text(model)] for one in found[:BAD]]
        more = f" (the {BAD} worst of {len(found):,})" if len(found) > BAD else ""
        items.append(
            Table(f"{_KINDS[kind]}{more}.", ["sensor", "what was seen"], table)
        )
    worst: dict[str, float] = {}
    for one in sorted(model.notices, key=lambda n: -abs(np.nan_to_num(n.deviation))):
        worst.setdefault(one.sensor, one.start)
    panels = []
    for name, start in list(worst.items())[:3] if rows is not None else ():
        assert rows is not None
        i = model.sensors.names.index(name)
        near = np.array([np.argmin(np.abs(rows.times - start))])
        window = find_window(rows.values[:, i], near, STEPS)
        panels.append(make_panel(model, i, name, rows, window))
    if panels:
        said = (
            "What was noticed, in its surroundings. Crosses: suspect readings; blue: "
        )
        said += f"estimates in their place, with {model.coverage:.0%} intervals."
        items.append(Figure("bad", said, panels, 1, 2.6))
    return items


def _list_findings(model: SensorModel) -> list[report.Item]:
    found = model.findings.sorted
    lines = [f"{one.message}{f': {one.advice}' if one.advice else ''}" for one in found]
    return [Bullets(lines)] if lines else []
