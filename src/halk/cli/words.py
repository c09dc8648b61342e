"""What commands print about a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk.cli.talk import table
from halk.data.findings import counted
from halk.sensors.notices import KINDS
from halk.sensors.summary import sensor_rows

WORST = 8
"""Sensors that are shown."""

SHOWN = 5
"""Notices of a kind that are shown."""

_TITLES = {
    "suspect": "Suspect readings, kept out of the model",
    "stuck": "Stuck sensors, kept out of the model meanwhile",
    "drift": "Drifting sensors",
    "shift": "Sensors at another level than before",
}


def show_model(screen: Any, model: Any) -> None:
    """Print methods side by side, what was noticed, and sensors by error."""
    n, V, schema = len(model.readings.y), len(model.sensors.names), model.schema
    what = f"{schema.target}, {schema.unit}" if schema.unit else schema.target
    of = f"{counted(n, 'reading')} of {counted(V, 'sensor')}"
    screen.print(f"{of}: {what}", markup=False)
    if len(model.comparison.methods) > 1:
        screen.print(_methods(model))
    screen.print(sentence(model.comparison.reason), markup=False)
    show_notices(screen, model)
    screen.print(_sensors(model))


def _methods(model: Any) -> Any:
    """Return errors of all methods on artificial gaps, as a table."""
    comparison = model.comparison
    kinds = comparison.kinds
    unit = f", {model.schema.unit}" if model.schema.unit else ""
    is_timed = any(one.now for one in comparison.judged)
    columns = ["method", ">all", *(f">{kind}" for kind in kinds)]
    columns += [">past only"] * is_timed + [">cover"]
    rows = [
        [
            ("* " if name == comparison.chosen else "  ") + name,
            *(number(comparison.error(name, kind)) for kind in ("", *kinds)),
            *([number(comparison.error(name, causal=True))] * is_timed),
            share(comparison.cover(name)),
        ]
        for name in comparison.methods
    ]
    title = f"Mean absolute errors on artificial gaps like the table's own{unit}"
    return table(title, columns, rows)


def show_notices(screen: Any, model: Any) -> None:
    """Print suspect readings, stuck and drifting sensors, new levels."""
    for kind in KINDS:
        found = [notice for notice in model.notices if notice.kind == kind]
        if not found:
            continue
        found.sort(key=lambda notice: notice.weight, reverse=True)
        rows = [[notice.sensor, notice.text(model)] for notice in found[:SHOWN]]
        title = _TITLES[kind]
        if len(found) > SHOWN:
            title += f" ({SHOWN} of {len(found):,}; all with --json)"
        screen.print(table(title, ["sensor", "what was seen"], rows))


def _sensors(model: Any) -> Any:
    rows = sensor_rows(model)
    shown = [
        [row.name, f"{row.readings:,}", number(row.std), number(row.error),
         share(row.error / row.std), share(row.cover)]
        for row in rows[:WORST]
    ]  # fmt: skip
    unit = f", {model.schema.unit}" if model.schema.unit else ""
    title = "Sensors, those that are predicted worst first"
    if len(rows) > WORST:
        title += f" ({WORST} of {len(rows)}; all with --json)"
    columns = [">readings", f">std{unit}", f">error{unit}", ">of its std", ">cover"]
    return table(title, ["sensor", *columns], shown)


def sentence(text: str) -> str:
    """Return text as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def share(value: float) -> str:
    """Return a share in per cent, or a dash if it is not known."""
    return f"{value:.0%}" if np.isfinite(value) else "-"


def number(value: float) -> str:
    """Return a number as tables show it."""
    return f"{value:.3g}" if np.isfinite(value) else "-"
