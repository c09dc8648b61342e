"""What commands print about a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk.cli.talk import table
from halk.data.findings import counted
from halk.sensing.summary import disagreements, sensor_rows, unit_of


def chosen(model: Any) -> Any:
    """Return the choices as a table."""
    rows = [[reason.name, reason.value, reason.because] for reason in model.reasons]
    return table(
        "What was chosen, and why", ["", "", "error of readings not seen"], rows
    )


def learned(screen: Any, model: Any, most: int) -> None:
    """Print what a model learned: errors by sensor, and who disagrees."""
    came, unit = model.learned, model.schema.unit
    n, V = came.n_readings, len(model.sensors.names)
    of = f"{counted(n, 'reading')} of {counted(V, 'sensor')}"
    what = f"{model.schema.target}, {unit}" if unit else model.schema.target
    screen.print(f"{of}: {what}", markup=False)
    explained = f"{share(came.explained)} of the variance"
    covered = f"{model.intervals.coverage:.0%} intervals covered {share(came.coverage)}"
    screen.print(
        f"Error at readings not seen: {model.shown(came.error)} ({explained} within "
        f"sensors; {covered})",
        markup=False,
    )
    rows = sensor_rows(model)
    shown = [
        [row.name, f"{row.readings}", number(row.error), number(row.interval),
         f"{row.atoms}"]
        for row in rows[:most]
    ]  # fmt: skip
    in_unit = f", {unit}" if unit else ""
    columns = ["sensor", ">readings", f">error{in_unit}", f">interval ±{in_unit}"]
    title = "Sensors, the largest errors first"
    if len(rows) > most:
        title += f" ({most} of {len(rows)}; all with --json)"
    screen.print(table(title, [*columns, ">atoms"], shown))
    of_pairs = unit_of(model)
    _pairs(screen, model, most, f", {of_pairs}" if of_pairs else "")


def _pairs(screen: Any, model: Any, most: int, in_unit: str) -> None:
    pairs = disagreements(model)
    if not model.learner.network.n_edges:
        return
    if not pairs:
        screen.print("All neighbours are within their tolerances, at no price.")
        return
    shown = [
        [f"{pair.one} - {pair.other}", number(pair.difference), number(pair.tolerance),
         number(pair.price)]
        for pair in pairs[:most]
    ]  # fmt: skip
    columns = [f">differ by{in_unit}", f">tolerance{in_unit}", ">price"]
    title = "Who disagrees with whom, and what holding them together costs"
    if len(pairs) > most:
        title += f" ({most} of {len(pairs)} pairs)"
    screen.print(table(title, ["neighbours", *columns], shown))


def share(value: float) -> str:
    """Return a share in per cent, or a dash if it is not known."""
    return f"{value:.1%}" if np.isfinite(value) else "-"


def number(value: float) -> str:
    """Return a number as tables show it."""
    return f"{value:.3g}" if np.isfinite(value) else "-"
