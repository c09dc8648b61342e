"""A table back with predictions where values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Vector
from halk.data.doctor import read_more
from halk.data.findings import Findings
from halk.data.sources import add_to_frame, is_frame
from halk.data.table import Table, plain
from halk.data.write import with_added

if TYPE_CHECKING:
    from halk.sensing.model import SensorModel


class Filled(NamedTuple):
    """Predictions beside the rows of a table; NaN where none was asked for."""

    table: Table
    value: Vector
    low: Vector
    high: Vector
    is_gap: NDArray[np.bool_]
    findings: Findings

    def columns(self, target: str) -> dict[str, Vector]:
        """Return the columns to add, by name."""
        return {
            f"{target}_predicted": self.value,
            f"{target}_low": self.low,
            f"{target}_high": self.high,
        }

    @property
    def n_filled(self) -> int:
        """Gaps that have a prediction now."""
        return int((self.is_gap & ~np.isnan(self.value)).sum())

    @property
    def n_far(self) -> int:
        """Predictions without an interval: nothing near them was learned."""
        return int((~np.isnan(self.value) & np.isnan(self.low)).sum())


def filled(
    model: SensorModel,
    readings: Any,
    *,
    everywhere: bool = False,
    missing: Sequence[float | str] = (),
    skip_bad: bool = False,
) -> Filled:
    """Predict where a table has no value, or everywhere.

    Parameters
    ----------
    readings : path, "-", frame, dataset or dict of columns
        As for :meth:`SensorModel.update`; without the column of values, every row is
        a gap.
    """
    examined = read_more(readings, model.schema, model.sensors, missing, skip_bad)
    table, rows = examined.table, examined.readings
    assert table is not None
    assert rows is not None
    asked = rows.is_usable if everywhere else rows.is_gap
    found = model.predicted(rows.sensor[asked], rows.x[asked])
    full = np.full((len(found), len(rows.y)), np.nan)
    full[:, asked] = found
    return Filled(table, full[0], full[1], full[2], rows.is_gap, examined.findings)


def fill(
    model: SensorModel, readings: Any, *, everywhere: bool = False, **options: Any
) -> Any:
    """Return the table with predictions: a frame as a frame, all else as columns."""
    made = filled(model, readings, everywhere=everywhere, **options)
    added = made.columns(model.schema.target)
    pairs = with_added(made.table, model.schema, added)
    if is_frame(readings):
        n_new = len(added) * max(len(made.table.wide), 1)
        return add_to_frame(readings, dict(pairs[-n_new:]))
    return {
        name or f"column_{k}": plain(cells) for k, (name, cells) in enumerate(pairs)
    }
