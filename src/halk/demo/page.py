"""The report of the demo: errors, profiles with bands, a map, and how learning went."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np

from halk._validation import Vector
from halk._version import __version__
from halk.demo.learn import RADIUS, SHARE, Learned
from halk.report import (
    Cell,
    Figure,
    Headline,
    Line,
    MapFigure,
    Page,
    Panel,
    Points,
    Section,
    Table,
)

STYLES = {"together": "blue", "alone": "vermilion", "pooled": "black"}
N_PROFILES = 6


def page(methods: Sequence[Learned], seconds: float) -> Page:
    """Return the report; the first method is NewtonHALK, the second sensors alone."""
    together, alone = methods[0], methods[1]
    field = together.task.field
    headline = [
        Headline("error together", f"{together.error:.2f}", "°C"),
        Headline("error alone", f"{alone.error:.2f}", "°C"),
        Headline("readings per sensor", f"{_n_seen(together) / field.n_agents:.0f}"),
    ]
    facts = [
        ("data", field.source),
        ("made by", f"halk {__version__}, Python {platform.python_version()}"),
        ("command", "halk demo"),
        ("took", f"{seconds:.0f} s"),
    ]
    return Page(
        "Sensors that fill in what they did not measure",
        f"{field.n_agents} sensors of the Gulf of Mexico, temperature over depth, "
        f"{SHARE:.0%} of the readings withheld",
        facts,
        [
            _errors(methods),
            _profiles(together, alone),
            _map(together, alone),
            _course(methods),
        ],
        headline,
    )


def _n_seen(one: Learned) -> int:
    return len(one.task.order)


def _errors(methods: Sequence[Learned]) -> Section:
    rows: list[list[Cell]] = [
        [one.label, one.error, round(one.size), one.n_messages] for one in methods
    ]
    columns = ["method", "error on withheld readings, °C", "atoms per model"]
    columns += ["messages"]
    text = (
        "Each sensor holds a small model of its own and learns it from its few "
        "readings, each of them once. Together they also ask their neighbours what "
        "they would predict; alone they do not. Length scales and noise are found "
        "from the readings seen."
    )
    simple = (
        "The last three methods send every reading to one place: one pooled model that "
        "learns online like the sensors do, a linear regression, and the Gaussian "
        "process of all readings at once, which is the ceiling. On this smooth sea "
        "pooling is cheap and good, where it is allowed."
    )
    caption = f"{_n_seen(methods[0])} readings seen; root-mean-square errors"
    table = Table(caption, columns, rows, None, [0])
    return Section("Error by method", "errors", [text, table, simple])


def _profiles(together: Learned, alone: Learned) -> Section:
    text = (
        "Filled dots are the readings a sensor has seen, open ones those withheld. "
        "Alone, a sensor can only guess between and below its own readings; together "
        "it knows what its neighbours know. Bands are meant to hold 90 % of the "
        f"readings; of those withheld they hold {together.coverage:.0%} together and "
        f"{alone.coverage:.0%} alone."
    )
    panels = [_profile(i, together, alone) for i in _shown(together, alone)]
    caption = (
        "Predicted profiles with bands of 1.64 standard deviations, from the sensor "
        "that talking helps most to the one it helps least."
    )
    figure = Figure("profiles", caption, panels, columns=3)
    return Section("Profiles of six sensors", "profiles", [text, figure])


def _profile(i: int, together: Learned, alone: Learned) -> Panel:
    field, away = together.task.field, together.task.is_withheld
    mine = field.agent == i
    seen, hidden = mine & ~away, mine & away
    depth = np.linspace(0.0, float(field.x[mine, 0].max()), 200)
    items: list[Line | Points] = []
    for one in (together, alone):
        values, half = one.profile(i, depth), one.band(i, depth)
        style, band = STYLES[one.key], (values - half, values + half)
        items.append(Line(one.key, values, depth, *band, style, is_upright=True))
    items += [
        Points("seen", field.y[seen], field.x[seen, 0]),
        Points("withheld", field.y[hidden], field.x[hidden, 0], is_open=True),
    ]
    lat, lon = field.positions[i]
    title = f"Sensor {field.names[i]} ({lat:g}° N, {-lon:g}° W)"
    return Panel(title, "temperature, °C", "depth, m", items, invert_y=True)


def _map(together: Learned, alone: Learned) -> Section:
    network = together.model.network
    text = (
        "A line joins sensors that talk. Its colour is the multiplier of their "
        "tolerance: where it is high, the two would rather disagree, and learning "
        "holds them together. The larger a marker, the larger the sensor's error."
    )
    figure = MapFigure(
        "network",
        f"{network.n_agents} sensors, {network.n_edges // 2} pairs within "
        f"{RADIUS:.0f} km; those with a number are the ones with a profile above.",
        network,
        values=together.model.multipliers,
        value_label="multiplier",
        labels=_shown(together, alone),
        node_values=_errors_by_sensor(together),
        node_label="error of a sensor, °C",
    )
    return Section("Map of the network", "map", [text, figure])


def _errors_by_sensor(one: Learned) -> Vector:
    """Return the error of every sensor on its withheld readings, in degrees."""
    agent = one.task.field.agent[one.task.is_withheld]
    V = one.task.field.n_agents
    total = np.bincount(agent, one.misses() ** 2, V)
    errors: Vector = np.sqrt(total / np.maximum(np.bincount(agent, minlength=V), 1))
    return errors


def _shown(together: Learned, alone: Learned) -> list[int]:
    """Return sensors for the profiles: from most helped to least, evenly spread."""
    helped = _errors_by_sensor(alone) - _errors_by_sensor(together)
    order = np.argsort(-helped, kind="stable")
    places = np.linspace(0, len(order) - 1, N_PROFILES).astype(int)
    return [int(i) for i in order[places]]


def _course(methods: Sequence[Learned]) -> Section:
    panels = [
        Panel(
            "Error on withheld readings", "readings seen, of all sensors", "error, °C",
            _lines(methods, "test_error"), log_y=True,
        ),
        Panel(
            "Size of a model", "readings seen, of all sensors", "atoms per model",
            _lines(methods, "order_mean"),
        ),
    ]  # fmt: skip
    figure = Figure("course", "What was reached after how many readings.", panels)
    text = (
        "Readings come in one at a time, in random order. Steps in the curves are "
        "where the sensors have found better length scales and learn anew."
    )
    return Section("Error while readings come in", "course", [text, figure])


def _lines(methods: Sequence[Learned], column: str) -> list[Line]:
    found = []
    for one in methods:
        if one.trace is not None:
            steps, values = one.trace["step"], one.trace[column]
            found.append(Line(one.label, steps, values, style=STYLES[one.key]))
    return found
