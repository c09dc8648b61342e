"""What the fill-in came to: claims, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halk.experiments.claims import Claim, Judge, Numbers, Statement, shown, verdict
from halk.experiments.fill_in_methods import LABELS
from halk.experiments.runs import Result, Results
from halk.report import Bars, Table

SHARES = (20, 50, 80)
"""Per cent of the readings withheld."""

TARGET, STRETCH = 0.65, 0.45  # degrees, temperature, 80 % withheld


def error_of(result: Result) -> float:
    """Return the error on withheld readings; infinite for a run that diverged."""
    error = result.numbers["error"]
    return float("inf") if error is None else float(error)


def _at_most(bound: float) -> Judge:
    def judge(halk: Result) -> tuple[bool, Numbers]:
        return error_of(halk) <= bound, {"error, °C": error_of(halk)}

    return judge


def _third(halk: Result, alone: Result) -> tuple[bool, Numbers]:
    own, other = error_of(halk), error_of(alone)
    return own < other / 3, {"HALK, °C": own, "alone, °C": other}


def _less(halk: Result, other: Result) -> tuple[bool, Numbers]:
    own, their = error_of(halk), error_of(other)
    return own < their, {"HALK, °C": own, "other, °C": their}


def claims(experiment: str, results: Results) -> list[Claim]:
    """Return what we claim, for temperature with 80 % withheld."""

    def of(key: str) -> list[Result]:
        return results.where(variable="temperature", method=key, share=80)

    return [
        Claim(f"{experiment}/{said.name}", said.sentence, said.source, {
            "exact": verdict(said.judge, *(of(key) for key in said.methods))
        })
        for said in _STATEMENTS
    ]  # fmt: skip


_STATEMENTS = (
    Statement(
        "below-target",
        f"HALK fills in temperature with 80 % withheld to {TARGET} °C or better",
        "target, WOA18 network",
        ("halk-exact",),
        _at_most(TARGET),
    ),
    Statement(
        "below-stretch",
        f"... and to {STRETCH} °C or better",
        "hoped for, WOA18 network",
        ("halk-exact",),
        _at_most(STRETCH),
    ),
    Statement(
        "third-of-alone",
        "... with less than a third of the error of sensors alone",
        "target, WOA18 network",
        ("halk-exact", "alone"),
        _third,
    ),
    Statement(
        "below-paper-coupling",
        "the exact coupling fills in better than the paper's",
        "ours",
        ("halk-exact", "halk-paper"),
        _less,
    ),
    Statement(
        "below-filter",
        "HALK fills in better than the plain linear filter",
        "ours",
        ("halk-exact", "nlms"),
        _less,
    ),
)


def _mean_error(results: Results, variable: str, key: str, share: int) -> float | None:
    found = results.where(variable=variable, method=key, share=share)
    if not found:
        return None
    return float(np.mean([error_of(result) for result in found]))


def bars(results: Results, variable: str, unit: str) -> Bars:
    """Return the errors of all methods, a chart for each share withheld."""
    errors = [
        [_mean_error(results, variable, key, share) for key in LABELS]
        for share in SHARES
    ]
    return Bars(
        f"fill-in-{variable}",
        f"Error on withheld readings of {variable}, root mean square, mean over seeds.",
        groups=[f"{share} % withheld" for share in SHARES],
        series=list(LABELS.values()),
        values=np.array(errors, dtype=float),
        xlabel=f"error, {unit}",
        log_x=True,
    )


def table(results: Results, variable: str, unit: str) -> Table:
    """Return errors, sizes and traffic of all methods."""
    rows = []
    for key, label in LABELS.items():
        errors = [_mean_error(results, variable, key, share) for share in SHARES]
        cells: list[Any] = ["diverged" if e == np.inf else e for e in errors]
        worst = results.where(variable=variable, method=key, share=80)
        cells.append(max((error_of(result) for result in worst), default=None))
        cells += [
            _last(worst, "order_mean"),
            _last(worst, "bytes"),
            _last(worst, "seconds"),
        ]
        rows.append([label, *cells])
    columns = ["method", *(f"{share} % withheld, {unit}" for share in SHARES)]
    columns += [
        f"worst seed at 80 %, {unit}",
        "atoms or features",
        "bytes a step",
        "seconds",
    ]
    caption = (
        f"{variable.capitalize()}: error on withheld readings; size and traffic at 80 %"
    )
    return Table(caption, columns, rows)


def _last(found: Sequence[Result], column: str) -> float | None:
    values = [r.trace[column][-1] for r in found if column in r.trace and len(r.trace)]
    return float(np.mean(values)) if values else None


def chosen(results: Results) -> Table:
    """Return the hyper-parameters that the first seed's search came to."""
    rows = []
    for result in results.where(share=None, seed=0):
        listed = ", ".join(
            f"{k} {shown(v)}" for k, v in result.numbers["choice"].items()
        )
        rows.append(
            [result.settings["variable"], LABELS[result.settings["method"]], listed]
        )
    return Table(
        "Chosen by progressive validation, first seed",
        ["field", "method", "choice"],
        rows,
    )
