"""Whether anything near a point was learned: an interval would else be a guess."""

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.learners import HALK

NEAR = 0.8
"""How near to an atom a point must be, in what all but a few readings are to theirs."""

FEW = 0.01
"""The share of few."""


def nearness(learner: HALK, agent: Indices, Z: Matrix) -> Vector:
    """Return the kernel value of points to the nearest atom of their sensor."""
    found = np.zeros(len(agent))
    order = np.argsort(agent, kind="stable")
    bounds = np.searchsorted(agent[order], np.arange(learner.network.n_agents + 1))
    for i in np.unique(agent).tolist():
        rows = order[bounds[i] : bounds[i + 1]]
        function = learner.function(i)
        if len(function.weights):
            values = function.kernel(Z[rows], function.atoms)
            found[rows] = values.max(axis=1)
    return found


def threshold(learner: HALK, agent: Indices, Z: Matrix) -> float:
    """Return the least nearness of points that are near, from that of readings."""
    return NEAR * float(np.quantile(nearness(learner, agent, Z), FEW))
