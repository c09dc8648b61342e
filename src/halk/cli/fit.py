"""``halk fit`` and ``halk update``: learn from a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Choices, Flag, Missing, Names, Source, Table
from halk.cli.talk import Bars, console, known, put_json, say, size_of, writable

WORST = 8
"""Sensors, and pairs of them, that are shown."""


def fit(
    readings: Source,
    *,
    sensors: Path | None = None,
    graph: Path | None = None,
    out: Annotated[Path, cyclopts.Parameter(alias="-o")] = Path("model.halk"),
    table: Table = Table(),  # noqa: B008
    time: Names | None = None,
    coverage: float = 0.9,
    quick: Annotated[bool, Flag] = False,
    choices: Choices = Choices(),  # noqa: B008
    json: Annotated[bool, Flag] = False,
    quiet: Annotated[
        bool, cyclopts.Parameter(alias="-q", negative="", show_default=False)
    ] = False,
) -> None:
    """Learn a model of every sensor from a table of readings.

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
    time
        What becomes of times: seconds, hour, weekday, day (of the year).
    coverage
        Share of readings that intervals are to cover.
    quick
        Do not search: take what the scales of the readings suggest.
    json
        Print the summary for machines.
    quiet
        Print nothing but errors.
    """
    from halk.sensing import fit as learn
    from halk.sensing import summary

    writable(out, "--out")
    with Bars(quiet or json) as bars:
        model = learn(
            readings, sensors, graph, **table.answers(), time=time,
            missing=table.missing, skip_bad=table.skip_bad, coverage=coverage,
            quick=quick, options=choices.options(), progress=bars.tell,
        )  # fmt: skip
    model.save(out)
    if json:
        put_json(summary.as_dict(model) | {"model": str(out)})
    elif not quiet:
        _tell_fit(model, readings, out)


def _tell_fit(model: Any, readings: str, out: Path) -> None:
    from halk.cli.findings import told
    from halk.cli.words import chosen, learned

    screen = console()
    told(console(is_error=True), model.findings.sorted)
    screen.print(chosen(model))
    learned(screen, model, WORST)
    screen.print(f"Saved: {out} ({size_of(out)})", markup=False)
    if sys.stdout.isatty():
        name = "readings.csv" if readings == "-" else readings
        screen.print(
            f"Next:  halk fill {out} {name} -o filled.csv   or   halk inspect {out}",
            markup=False,
        )


def update(
    model: Path,
    readings: Source,
    *,
    out: Annotated[Path | None, cyclopts.Parameter(alias="-o")] = None,
    missing: Missing = (),
    skip_bad: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
    quiet: Annotated[
        bool, cyclopts.Parameter(alias="-q", negative="", show_default=False)
    ] = False,
) -> None:
    """Go on learning from more readings.

    Readings that the model has learned before are known again and left out.

    Parameters
    ----------
    model
        What halk fit made.
    readings
        A table with the columns that the first one had; - for standard input.
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
    from halk.sensing import SensorModel

    target = out or model
    writable(target, "--out")
    learner = SensorModel.load(model)
    with Bars(quiet or json) as bars:
        came = learner.update(
            readings, missing=missing, skip_bad=skip_bad,
            tell=lambda share: bars.tell("learning", share),
        )  # fmt: skip
    learner.save(target)
    gained = came.learned
    if json:
        put_json(
            {
                "model": str(target), "learned": gained.n_readings,
                "known_before": came.n_known, "error": known(gained.error),
                "error_before": known(came.error_before),
                "coverage": known(gained.coverage),
                "findings": [finding.as_dict() for finding in came.findings.sorted],
            }
        )  # fmt: skip
    elif not quiet:
        from halk.cli.findings import told

        told(console(is_error=True), came.findings.sorted)
        _tell_update(learner, came, target)


def _tell_update(learner: Any, came: Any, target: Path) -> None:
    from halk.data.findings import counted

    gained = came.learned
    before = f", {came.n_known} known before" if came.n_known else ""
    say_to = console()
    new = counted(gained.n_readings, "new reading")
    say_to.print(f"{new} learned{before}.", markup=False)
    if gained.n_readings:
        say_to.print(
            f"Error before learning them: {learner.shown(gained.error)} "
            f"(until then {learner.shown(came.error_before)})"
            f"{_covered(gained.coverage)}.",
            markup=False,
        )
        is_wider = any(finding.code == "wider" for finding in came.findings.sorted)
        is_unlike = gained.error > 2 * came.error_before and gained.n_readings >= 20
        if is_unlike and not is_wider:  # which says why
            say("halk: these readings are unlike the earlier ones; look at them")
    say_to.print(f"Saved: {target} ({size_of(target)})", markup=False)


def _covered(coverage: float) -> str:
    """Return how many were within intervals, nothing where there were no intervals."""
    is_known = coverage == coverage
    return f"; {coverage:.0%} were within their intervals" if is_known else ""
