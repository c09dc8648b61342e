"""The report of a model: map, profiles, multipliers, choices."""

from __future__ import annotations

import platform

import numpy as np

from halk._validation import Vector
from halk._version import __version__
from halk.data.schema import TIME
from halk.data.times import DAY, HOUR, YEAR, format_times
from halk.report import (
    Cell,
    Figure,
    Headline,
    Item,
    Line,
    MapFigure,
    Page,
    Panel,
    Points,
    Section,
    Table,
)
from halk.sensing.model import SensorModel
from halk.sensing.summary import disagreements, sensor_rows, unit_of

N_PROFILES = 6
N_POINTS = 200
N_ROWS = 25
"""Rows of tables; the command with --json has all."""


def page(model: SensorModel, path: str) -> Page:
    """Return the report of a model."""
    learned, unit = model.learned, model.schema.unit
    headline = [
        Headline("error at readings not seen", _known_as(learned.error, ".3g"), unit),
        Headline("covered by intervals", _known_as(learned.coverage, ".1%"), ""),
        Headline("atoms a sensor", f"{model.learner.model_order.mean():.0f}", ""),
    ]
    facts: list[tuple[str, Cell]] = [
        ("model", path),
        ("readings", learned.n_readings),
        ("made by", f"halk {__version__}, Python {platform.python_version()}"),
        ("command", f"halk inspect {path}"),
    ]
    inputs = ", ".join(one.name for one in model.schema.inputs)
    what = f"{model.schema.target} of {len(model.sensors.names)} sensors by {inputs}"
    sections = [_profiles(model), _sensors(model), _choices(model)]
    if model.learner.network.n_edges:
        sections.insert(0, _map(model))
        sections.insert(2, _pairs(model))
    return Page("What the sensors learned", what, facts, sections, headline)


def _known_as(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else "-"


def _in_unit(model: SensorModel, what: str) -> str:
    return f"{what}, {model.schema.unit}" if model.schema.unit else what


def _shown(model: SensorModel) -> list[int]:
    """Return sensors for the profiles: from the largest error to the smallest."""
    errors = model.learned.errors
    order = np.argsort(-np.nan_to_num(errors, nan=-1.0), kind="stable")
    order = order[model.learned.readings[order] > 0]
    places = np.linspace(0, len(order) - 1, min(N_PROFILES, len(order))).astype(int)
    return [int(i) for i in order[np.unique(places)]]


def _map(model: SensorModel) -> Section:
    network = model.learner.network
    text = (
        "An edge joins sensors that talk. Its colour is the price of their tolerance: "
        "where it is high, two sensors would rather disagree, and learning holds them "
        "together. The larger a marker, the larger the sensor's error."
    )
    errors = np.nan_to_num(model.learned.errors)
    is_geographic = model.sensors.is_geographic and network.positions is not None
    figure = MapFigure(
        "network",
        f"{network.n_agents} sensors, {network.n_edges // 2} pairs of neighbours; the "
        f"named ones are those of the profiles.",
        network,
        values=model.learner.multipliers,
        labels=_shown(model),
        node_values=errors,
        node_label=_in_unit(model, "error of a sensor"),
        is_geographic=is_geographic,
    )
    return Section("Who talks to whom", "map", [text, figure])


def _sensors(model: SensorModel) -> Section:
    rows = sensor_rows(model)
    cells: list[list[Cell]] = [
        [row.name, row.readings, _known(row.error), _known(row.interval), row.atoms]
        for row in rows[:N_ROWS]
    ]
    caption = "Errors at readings that were predicted before they were learned."
    if len(rows) > N_ROWS:
        caption += f" The {N_ROWS} largest of {len(rows)}."
    columns = ["sensor", "readings", _in_unit(model, "error")]
    columns += [_in_unit(model, "interval ±"), "atoms"]
    table = Table(caption, columns, cells, "lrrrr")
    return Section("Sensor by sensor", "sensors", [table])


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _profiles(model: SensorModel) -> Section:
    text = (
        "Dots are readings, lines what the sensor would predict, bands its intervals. "
        "Along one input; others are held at the middle of the sensor's readings."
    )
    items: list[Item] = [text]
    for k, one in enumerate(model.schema.inputs):
        panels = [_profile(model, i, k) for i in _shown(model)]
        caption = f"Along {one.name}, from the largest error to the smallest."
        items.append(Figure(f"profiles-{k}", caption, panels, columns=3))
    return Section("What they learned", "profiles", items)


def _profile(model: SensorModel, i: int, k: int) -> Panel:
    mine = model.memory.agent == i
    x, y = model.memory.x[mine], model.memory.y[mine]
    grid = np.linspace(x[:, k].min(), x[:, k].max(), N_POINTS)
    points = np.tile(np.median(x, axis=0), (N_POINTS, 1))
    points[:, k] = grid
    found = model.predicted(np.full(N_POINTS, i), points)
    shown, label = _axis(model, k, grid)
    dots, _ = _axis(model, k, x[:, k], grid)
    style = "blue"
    items: list[Line | Points] = [
        Line("prediction", shown, found.value, found.low, found.high, style=style),
        Points("readings", dots, y),
    ]
    title = f"Sensor {model.sensors.names[i]}"
    return Panel(title, label, _in_unit(model, model.schema.target), items)


def _axis(
    model: SensorModel, k: int, values: Vector, reference: Vector | None = None
) -> tuple[Vector, str]:
    """Return values for an axis, and its label; times count from the first."""
    one = model.schema.inputs[k]
    if one.kind != TIME:
        return values, f"{one.name}, {one.unit}" if one.unit else one.name
    start = float((values if reference is None else reference).min())
    span = float(np.ptp(values if reference is None else reference))
    name, length = "hours", HOUR
    if span > 4 * YEAR:
        name, length = "years", YEAR
    elif span > 4 * DAY:
        name, length = "days", DAY
    day = format_times(np.array([start]))[0].partition("T")[0]
    return (values - start) / length, f"{one.name}: {name} since {day}"


def _pairs(model: SensorModel) -> Section:
    found = disagreements(model)
    text = (
        "Neighbours are to differ by no more than the tolerance. Where they do, a "
        "price grows until they do not: the higher, the more the readings of two "
        "sensors disagree. One that stands out means a local difference, or a fault."
    )
    if not found:
        return Section(
            "Who disagrees", "pairs", [text, "Nobody does: no price is above zero."]
        )
    rows: list[list[Cell]] = [
        [pair.one, pair.other, pair.difference, pair.tolerance, pair.price]
        for pair in found[:N_ROWS]
    ]
    unit = f", {unit_of(model)}" if unit_of(model) else ""
    columns = ["sensor", "neighbour", f"differ by{unit}", f"tolerance{unit}", "price"]
    table = Table(f"The dearest of {len(found)} pairs.", columns, rows, "llrrr")
    return Section("Who disagrees", "pairs", [text, table])


def _choices(model: SensorModel) -> Section:
    rows: list[list[Cell]] = [list(reason) for reason in model.reasons]
    table = Table(
        "Errors are those of readings not seen, for a part of the table.",
        ["choice", "value", "because"],
        rows,
        "lll",
    )
    return Section("What was chosen, and why", "choices", [table])
