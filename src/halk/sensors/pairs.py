"""Neighbours, and how much they have to do with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.network import Network
from halk.sensors.curves import Rows

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

CLOSE = 3
"""Neighbours of a sensor by correlation."""

CAREFUL = 20
"""Readings of two sensors at the same times that it takes to compare them."""


class Pairs(NamedTuple):
    """Neighbours, each pair once, and how much they have to do with each other."""

    what: str
    pairs: Indices  # (P, 2)
    values: Vector  # (P,)

    def find_closest(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the closest neighbour of every sensor, with the value."""
        found = {}
        for k in np.argsort(self.values, kind="stable").tolist():
            i, j = self.pairs[k].tolist()
            for one, other in ((i, j), (j, i)):
                found[names[one]] = f"{names[other]} ({self.values[k]:.2f})"
        return found

    @property
    def limits(self) -> tuple[float, float] | None:
        """Where colours begin and end; None if they begin at 0."""
        if self.what == "multiplier":
            return None
        return float(np.floor(10 * self.values.min() - 1e-9)) / 10, 1.0

    def along(self, net: Network) -> Vector:
        """Return the values per directed edge of a network of these pairs."""
        keys = self.pairs.min(axis=1) * net.n_agents + self.pairs.max(axis=1)
        order = np.argsort(keys)
        wanted = net.edges.min(axis=1) * net.n_agents + net.edges.max(axis=1)
        found: Vector = self.values[order][np.searchsorted(keys[order], wanted)]
        return found


def find_pairs(model: SensorModel, rows: Rows | None) -> Pairs | None:
    """Return pairs of neighbours by multiplier or correlation; None if there are none.

    Those of the field model by its multipliers; of readings in time by correlation.
    """
    learner = getattr(model.method, "learner", None)
    if learner is not None and learner.network.n_edges:
        net = learner.network
        once = net.edges[:, 0] < net.edges[:, 1]
        both = np.maximum(learner.multipliers, learner.multipliers[net.reverse])
        return Pairs("multiplier", net.edges[once], both[once])
    if rows is None or rows.values.shape[1] < 2:
        return None
    alike = correlate(rows.values)
    ranked = np.argsort(-np.nan_to_num(alike, nan=-2.0), axis=1, kind="stable")[
        :, :CLOSE
    ]
    who = np.repeat(np.arange(len(alike)), ranked.shape[1])
    pairs = np.unique(np.sort(np.column_stack([who, ranked.ravel()]), axis=1), axis=0)
    values = alike[pairs[:, 0], pairs[:, 1]]
    known = np.isfinite(values) & (pairs[:, 0] != pairs[:, 1])
    return Pairs("correlation", pairs[known], values[known]) if known.any() else None


def correlate(values: Matrix) -> Matrix:
    """Return correlations of readings at the same times; NaN where they are few."""
    known = np.isfinite(values)
    w = known.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(known, values - np.nansum(values, axis=0) / w.sum(axis=0), 0.0)
        common, total = w.T @ w, z.T @ w
        cross = z.T @ z - total * total.T / common
        square = (z * z).T @ w - total**2 / common
        alike = cross / np.sqrt(square * square.T)
    alike = np.where(common >= CAREFUL, np.clip(alike, -1, 1), np.nan)
    np.fill_diagonal(alike, np.nan)
    return alike
