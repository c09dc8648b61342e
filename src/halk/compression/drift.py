"""How far an inverse is from one, ``E = K Q - I``, while it changes.

A bound is carried through every change, since to measure takes as long as the change.
It grows: by a small factor each time, by a large one where an atom adds little to the
span. When it has grown too large to be believed, ``E`` is measured.
"""

from halk._jit import internal
from halk.compression.trust import EPSILON, measured_drift
from halk.compression.workspace import Dictionary, Workspace

BELIEVED = 1e-9
"""Up to here a bound on ``|K Q - I|`` is as good as a measurement."""

AT_ONCE = 48
"""Most atoms for which it is measured at once where the bound is larger."""


@internal
def drift_of_grown(ws: Workspace, n_kept: int, k: int, s: float) -> None:
    """Bound ``|E|`` of the inverse that ``greedy.grow`` is about to make.

    With ``u`` the fit of the new atom, ``r`` what it misses of the kernel values and
    ``L = |u|_1``, the old block gets ``r u' / s``, the new column is ``r / s``, the new
    row at most ``|E| L + |Q| |r|_1 + |u| L |r| / s``, and where they meet is
    ``r' u / s``. Rounding comes on top.
    """
    Q, K, kept, fit, missed = ws.inverse, ws.gram, ws.kept, ws.solution, ws.residual
    length, largest, residual, precision, norm = 0.0, 1.0, 0.0, 0.0, K[k, k]
    for a in range(n_kept):
        size = abs(fit[a])
        length, largest = length + size, max(largest, size)
        residual, precision = max(residual, abs(missed[a])), max(precision, Q[a, a])
        norm = max(norm, K[kept[a], kept[a]])
    n, whole = n_kept + 1.0, 1.0 + length
    missing = residual * (whole * largest / s + n * precision)
    sums = n * norm * (precision + largest * largest / s) + whole * whole * K[k, k] / s
    ws.drift[0] = ws.drift[0] * max(1.0, length) + missing + 4.0 * EPSILON * sums


@internal
def drift_of_shrunk(ws: Workspace, n_kept: int, gone: int) -> None:
    """Bound ``|E|`` of what ``greedy.remove`` is about to make.

    From column ``j`` of ``E`` goes its column ``gone`` times ``Q_gj / Q_gg``.
    """
    Q, K, kept, row = ws.inverse, ws.gram, ws.kept, ws.inverse[gone]
    largest, precision, norm = 0.0, 0.0, 0.0
    for a in range(n_kept):
        largest = max(largest, abs(row[a])) if a != gone else largest
        precision, norm = max(precision, Q[a, a]), max(norm, K[kept[a], kept[a]])
    sums = n_kept * norm * precision
    ws.drift[0] = ws.drift[0] * (1.0 + largest / row[gone]) + 4.0 * EPSILON * sums


@internal
def drift_of_committed(D: Dictionary, m: int, ws: Workspace) -> float:
    """Measure ``|E|``; the Gram matrix of the union is moved together."""
    K, kept, members, union = ws.gram, ws.kept, ws.members, ws.places
    for place in range(m):
        union[place] = kept[members[place]]
    first = 0 * m  # what is before stands where it should
    while first < m and union[first] == first:
        first += 1
    for place in range(m):
        row, source = K[place], K[union[place]]
        for c in range(0 if place >= first else first, m):
            row[c] = source[union[c]]
    return measured_drift(D, m, K, ws.inverse)
