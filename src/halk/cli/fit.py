"""``halk fit`` and ``halk update``: learn from a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Insisted, Missing, Quiet, Source, Table
from halk.cli.talk import Bars, console, known, put_json, say, size_of, writable
from halk.errors import HalkError


def fit(
    readings: Source,
    *,
    sensors: Path | None = None,
    graph: Path | None = None,
    out: Annotated[Path, cyclopts.Parameter(alias="-o")] = Path("model.halk"),
    table: Table = Table(),  # noqa: B008
    coverage: float = 0.9,
    choices: Insisted = Insisted(),  # noqa: B008
    json: Annotated[bool, Flag] = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model of every sensor from a table of readings.

    Several methods fill artificial gaps like those of the table; the best one learns
    all readings.

    Parameters
    ----------
    readings
        CSV, Excel, Parquet or NetCDF, with a row per reading or a column per sensor;
        - for standard input.
    sensors
        A table of the sensors: names, places (lat and lon, or x and y), attributes.
    graph
        Who is whose neighbour, instead of the nearest: edge list (CSV) or GraphML.
    out
        Where the model goes; an earlier one is replaced when all is well.
    coverage
        Share of readings that intervals are to cover.
    json
        Print the summary for machines.
    quiet
        Print nothing but errors.
    """
    from halk.sensors import fit as learn
    from halk.sensors import summary

    writable(out, "--out")
    try:
        with Bars(quiet or json) as bars:
            model = learn(
                readings, sensors, graph, **table.answers(), missing=table.missing,
                skip_bad=table.skip_bad, coverage=coverage, **choices.options(),
                progress=bars.tell,
            )  # fmt: skip
    except (TypeError, ValueError) as error:
        if isinstance(error, HalkError):
            raise
        raise HalkError(str(error)) from None
    model.save(out)
    if json:
        put_json(summary.as_dict(model) | {"model": str(out)})
    elif not quiet:
        _tell_fit(model, readings, out)


def _tell_fit(model: Any, readings: str, out: Path) -> None:
    from halk.cli.findings import told
    from halk.cli.words import show_model

    screen = console()
    told(console(is_error=True), model.findings.sorted)
    show_model(screen, model)
    screen.print(f"Saved: {out} ({size_of(out)})", markup=False)
    if sys.stdout.isatty():
        name = "readings.csv" if readings == "-" else readings
        screen.print(
            f"Next:  halk fill {out} {name} -o filled.csv   or   halk inspect {out}",
            markup=False,
        )


def update(
    model: Path,
    readings: Source | None = None,
    *,
    sensors: Path | None = None,
    undo: Annotated[bool, Flag] = False,
    out: Annotated[Path | None, cyclopts.Parameter(alias="-o")] = None,
    missing: Missing = (),
    skip_bad: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
    quiet: Quiet = False,
) -> None:
    """Go on learning from more readings, or take the last update back.

    Readings that the model has already are recognised and left out.

    Parameters
    ----------
    model
        What halk fit made.
    readings
        A table with the columns that the first one had; - for standard input.
    sensors
        A table with rows of new sensors, which join without a new fit.
    undo
        Go back to what the model was before its last update.
    out
        Where the model goes; by default it takes the place of the old one.
    missing
        What means no reading, separated by commas.
    skip_bad
        Leave out rows that cannot be used.
    json
        Print what came of it for machines.
    quiet
        Print nothing but errors.
    """
    from halk.sensors import SensorModel

    target = out or model
    writable(target, "--out")
    if (readings is None) != undo:
        raise HalkError("update needs a table of readings, or --undo")
    learner = SensorModel.load(model)
    if readings is None:
        n_now = len(learner.readings.y)
        learner.undo()
        learner.save(target)
        n_gone = n_now - len(learner.readings.y)
        if json:
            put_json({"model": str(target), "undone": n_gone})
        elif not quiet:
            console().print(f"{n_gone} readings undone. Saved: {target}", markup=False)
        return
    with Bars(quiet or json) as bars:
        bars.tell("learning", 0.0)
        came = learner.update(readings, sensors, missing=missing, skip_bad=skip_bad)
    learner.save(target)
    if json:
        put_json(
            {
                "model": str(target), "learned": came.n_new,
                "known_before": came.n_known, "new_sensors": list(came.new_sensors),
                "error": known(came.error), "cover": known(came.cover),
                "findings": [finding.as_dict() for finding in came.findings.sorted],
            }
        )  # fmt: skip
    elif not quiet:
        from halk.cli.findings import told

        told(console(is_error=True), came.findings.sorted)
        _tell_update(learner, came, target)


def _tell_update(learner: Any, came: Any, target: Path) -> None:
    from halk.data.findings import counted

    before = f", {came.n_known} known before" if came.n_known else ""
    screen = console()
    screen.print(f"{counted(came.n_new, 'new reading')} learned{before}.", markup=False)
    if came.new_sensors:
        names = ", ".join(came.new_sensors)
        n = counted(len(came.new_sensors), "new sensor")
        screen.print(f"{n}: {names}", markup=False)
    if came.error == came.error:
        is_covered = came.cover == came.cover
        cover = f"; {came.cover:.0%} were within their intervals" if is_covered else ""
        screen.print(
            f"Forecast before they were learned: error {learner.shown(came.error)}"
            f"{cover}.",
            markup=False,
        )
    screen.print(f"Saved: {target} ({size_of(target)})", markup=False)
    if came.n_new:
        say(f"halk: to take this back: halk update {target} --undo")
