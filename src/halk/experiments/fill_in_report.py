"""What the fill-in came to: claims, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halk.experiments.claims import shown
from halk.experiments.fill_in_claims import error_of
from halk.experiments.fill_in_methods import LABELS
from halk.experiments.runs import Result, Results
from halk.report import Bars, Table

SHARES = (20, 50, 80)
"""Per cent of the readings withheld."""


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
        rows.append([label, *cells, _last(worst, "order_mean"), _mean(worst, "bytes")])
    columns = ["method", *(f"{share} % withheld, {unit}" for share in SHARES)]
    columns += [f"worst seed at 80 %, {unit}", "atoms or features", "bytes a step"]
    caption = (
        f"{variable.capitalize()}: error on withheld readings, mean over seeds; size "
        f"at the end and bytes sent, of one sensor, at 80 %. POLK sends readings to "
        f"the centre; its model would have to be sent back."
    )
    return Table(caption, columns, rows)


def _last(found: Sequence[Result], column: str) -> float | None:
    values = [r.trace[column][-1] for r in found if column in r.trace and len(r.trace)]
    return float(np.mean(values)) if values else None


def _mean(found: Sequence[Result], column: str) -> float | None:
    with_rows = [r.trace for r in found if column in r.trace and len(r.trace)]
    values = [trace[column].mean() for trace in with_rows]
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
