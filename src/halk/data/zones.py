"""Zones of times: what is said if only some of them have one."""

from typing import Any

import numpy as np

from halk.data.cells import Column
from halk.data.findings import WARNING, Findings, counted
from halk.streams.rows import Table


def has_zone(cell: Any) -> bool:
    """Return whether a time says in which zone it is: Z, or +01:00.

    Examples
    --------
    >>> has_zone("2024-01-01T00:00Z"), has_zone("2024-01-01 00:00-06:00")
    (True, True)
    >>> has_zone("2024-01-01T00:00"), has_zone("2024-01-01")
    (False, False)
    """
    if not isinstance(cell, str):
        return getattr(cell, "tzinfo", None) is not None
    clock = cell[len("2024-01-01") :]
    return any(sign in clock for sign in "Zz+-")


def warn_of_mixed_zones(table: Table, column: Column, findings: Findings) -> None:
    """Warn of times of which only some say their zone: the others count as UTC."""
    cells = table.cells(column.name)
    if isinstance(cells, np.ndarray):
        return  # all are of one type
    known = np.flatnonzero(column.is_known).tolist()
    zoned = [has_zone(cells[row]) for row in known]
    if not any(zoned) or all(zoned):
        return
    without = [row for row, is_so in zip(known, zoned, strict=True) if not is_so]
    findings.add(
        WARNING, "mixed-zones",
        f"{table.path}: column {column.name} has times with a zone and "
        f"{counted(len(without), 'row')} without, which count as UTC",
        "write all times with their zone, such as 2024-05-31T12:00+02:00",
        [f"{table.where(row)}: {cells[row]}" for row in without],
    )  # fmt: skip
