"""The report of the demo: map, profiles, and how learning went."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np

from halk._validation import Vector
from halk._version import __version__
from halk.demo.learn import N_STEPS, RADIUS, SHARE, Learned
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

STYLES = {"halk-exact": "blue", "alone": "vermilion", "polk": "black", "nlms": "grey"}
N_PROFILES = 6


def page(methods: Sequence[Learned], seconds: float) -> Page:
    """Return the report; the first method is HALK, the second sensors alone."""
    together, alone = methods[0], methods[1]
    field = together.task.field
    headline = [
        Headline("error together", f"{together.error:.2f}", "°C"),
        Headline("error alone", f"{alone.error:.2f}", "°C"),
        Headline("atoms a sensor", f"{together.trace['order_mean'][-1]:.0f}", ""),
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
            _who(methods),
            _map(together, alone),
            _profiles(together, alone),
            _course(methods),
        ],
        headline,
    )


def _who(methods: Sequence[Learned]) -> Section:
    rows: list[list[Cell]] = [
        [
            one.label,
            one.error,
            float(one.trace["order_mean"][-1]),
            float(one.trace["bytes"].mean()),
            float(one.trace["seconds"][-1]),
        ]
        for one in methods
    ]
    columns = ["who", "error on withheld readings, °C", "atoms or features a sensor"]
    columns += ["bytes a sensor and step", "seconds"]
    text = (
        "Each sensor holds a small model of its own and learns it from a few readings. "
        "Together they also ask each other what they would predict; alone they do not. "
        "POLK sends every reading to one place and learns one model for all; the plain "
        "linear filter is what one would try first. One model for all does better "
        "still on this smooth sea, where every reading may be sent to one place."
    )
    table = Table(f"After one pass of {N_STEPS} steps", columns, rows, None, [0])
    return Section("Who is how good", "who", [text, table])


def _map(together: Learned, alone: Learned) -> Section:
    network = together.model.network
    text = (
        "An edge joins sensors that talk. Its colour is the price of their tolerance: "
        "where it is high, two sensors would rather disagree, and learning holds them "
        "together. The larger a marker, the larger the sensor's error."
    )
    figure = MapFigure(
        "network",
        f"{network.n_agents} sensors, {network.n_edges // 2} pairs within "
        f"{RADIUS:.0f} km; those with a number are the ones of the next figure.",
        network,
        values=together.model.multipliers,
        value_label="multiplier",
        labels=_shown(together, alone),
        node_values=_errors(together),
        node_label="error of a sensor, °C",
    )
    return Section("Who talks to whom", "map", [text, figure])


def _errors(one: Learned) -> Vector:
    """Return the error of every sensor on its withheld readings, in degrees."""
    field, away = one.task.field, one.task.is_withheld
    errors = np.zeros(field.n_agents)
    for i in range(field.n_agents):
        mine = away & (field.agent == i)
        if mine.any():
            miss = one.profile(i, field.x[mine, 0]) - field.y[mine]
            errors[i] = np.sqrt(np.mean(miss**2))
    return errors


def _shown(together: Learned, alone: Learned) -> list[int]:
    """Return sensors for the profiles: from most helped to least, evenly spread."""
    helped = _errors(alone) - _errors(together)
    order = np.argsort(-helped, kind="stable")
    places = np.linspace(0, len(order) - 1, N_PROFILES).astype(int)
    return [int(i) for i in order[places]]


def _profiles(together: Learned, alone: Learned) -> Section:
    text = (
        "Filled dots are the readings a sensor has seen, open ones those withheld. "
        "Alone, a sensor can only guess between and below its own readings; together "
        "it knows what its neighbours know."
    )
    panels = [_profile(i, together, alone) for i in _shown(together, alone)]
    caption = "Fitted profiles, from the sensor that talking helps most to the least."
    figure = Figure("profiles", caption, panels, columns=3)
    return Section("What they learned", "profiles", [text, figure])


def _profile(i: int, together: Learned, alone: Learned) -> Panel:
    field, away = together.task.field, together.task.is_withheld
    mine = field.agent == i
    seen, hidden = mine & ~away, mine & away
    depth = np.linspace(0.0, float(field.x[mine, 0].max()), 200)
    items: list[Line | Points] = [
        Line("together", together.profile(i, depth), depth, style="blue"),
        Line("alone", alone.profile(i, depth), depth, style="vermilion"),
        Points("seen", field.y[seen], field.x[seen, 0]),
        Points("withheld", field.y[hidden], field.x[hidden, 0], is_open=True),
    ]
    lat, lon = field.positions[i]
    title = f"Sensor {field.names[i]} ({lat:g}° N, {-lon:g}° W)"
    return Panel(title, "temperature, °C", "depth, m", items, invert_y=True)


def _course(methods: Sequence[Learned]) -> Section:
    kernel = [one for one in methods if one.key != "nlms"]
    panels = [
        Panel(
            "Loss", "step", "mean loss, °C²", _lines(methods, "loss", True), log_y=True
        ),
        Panel(
            "Violation",
            "step",
            "mean of h − tolerance, °C²",
            _lines([methods[0]], "violation_mean", True),
        ),
        Panel("Model order", "step", "atoms a sensor", _lines(kernel, "order_mean")),
    ]
    figure = Figure("course", "How learning went on.", panels)
    text = (
        "Loss before each reading is learned, running mean of how far neighbours "
        "exceed their tolerance, and the number of atoms, kept small by compression. "
        "The loss is that of the few readings seen, which a sensor alone learns by "
        "heart; the table above counts the withheld ones."
    )
    return Section("How it went", "course", [text, figure])


def _lines(
    methods: Sequence[Learned], column: str, is_square: bool = False
) -> list[Line]:
    return [
        Line(
            one.label,
            one.trace["step"],
            one.trace[column] * (one.task.spread**2 if is_square else 1.0),
            style=STYLES[one.key],
        )
        for one in methods
    ]
