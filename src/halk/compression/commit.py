"""What is left of a union, moved into the dictionary."""

from math import inf, sqrt

from halk._jit import compiled, internal, padded
from halk.compression.drift import AT_ONCE, BELIEVED, drift_of_committed
from halk.compression.panels import pack
from halk.compression.workspace import Block, Dictionary, Workspace


@internal
def commit(D: Dictionary, m: int, block: Block, ws: Workspace, n_kept: int) -> float:
    """Move the kept atoms into the dictionary, in the order in which they came.

    Returns ``max |K Q - I|``, and leaves it in ``ws.drift``: the bound that stands
    there, or measured where that is large; infinite where there are many atoms.
    """
    places, kept, members = ws.places, ws.kept, ws.members
    for k in range(len(places)):
        places[k] = 0
    for a in range(n_kept):
        places[kept[a]] = 1
    place = 0
    for k in range(len(places)):
        if places[k] == 1:
            places[k] = place
            place += 1
    for a in range(n_kept):
        members[places[kept[a]]] = a
    _move_atoms(D, m, block, ws, n_kept)
    pack(ws.inverse, members, n_kept, D.inverse)
    pad(D, n_kept)
    if not ws.drift[0] <= BELIEVED:
        ws.drift[0] = drift_of_committed(D, n_kept, ws) if n_kept <= AT_ONCE else inf
    return float(ws.drift[0])


@internal
def _move_atoms(
    D: Dictionary, m: int, block: Block, ws: Workspace, n_kept: int
) -> None:
    """Write points, weights and what goes with them; atoms move to the front only."""
    K, Q, kept, members, start = ws.gram, ws.inverse, ws.kept, ws.members, ws.weights
    atoms, points, weights, norms = D.atoms, block.points, D.weights, D.norms
    diagonal = D.diagonal
    for place in range(n_kept):
        a = members[place]
        source = kept[a]
        for f in range(len(atoms)):
            is_new = source >= m
            atoms[f, place] = points[f, source - m] if is_new else atoms[f, source]
        weights[place] = start[a]
        norms[place] = sqrt(K[source, source])
        diagonal[place] = Q[a, a]


@compiled
def pad(D: Dictionary, m: int) -> None:
    """Fill vectors up to full lanes behind the first ``m``."""
    for k in range(m, padded(m)):
        D.weights[k] = 0.0
        D.diagonal[k] = -1.0
        D.norms[k] = 0.0
        for f in range(len(D.atoms)):
            D.atoms[f, k] = 0.0
