"""Artificial gaps like the table's own: what methods are judged by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Vector
from halk.data.readings import Readings
from halk.data.schema import Schema
from halk.sensors.order import Line, Track, find_line, hash_rows, sort_rows, uniform

KINDS = ("points", "blocks", "outages", "tail")
"""Single readings; runs of one sensor; of most at once; the beginning or the end."""

SHARE, MOST = 0.1, 20_000
"""Readings to hide in a draw: a tenth, and no more than so many."""

PRIOR = 0.04
"""Share of cells that count as missing in points, and as many in blocks, beside the
table's own gaps: what is drawn shall not turn on a handful of gaps."""

LONGEST = 48
"""Steps of a block where the table has none: between 2 and so many, short ones more
often; a tenth of a sensor's readings in short tables."""

MANY = 0.5
"""Share of the sensors that a gap at once is an outage of."""

LARGEST = 20_000_000
"""Steps from the first to the last beyond which outages are not looked for."""

WINDOWS = 200
"""Parts of the time, some of which get the gaps that other times have."""

ALMOST = 0.9
"""Readings, beside those of the median part, that such a part has at least."""

FAR = 12
"""Steps without readings at an end of the table from which on they are a tail."""


class Pattern(NamedTuple):
    """The gaps of a table.

    Attributes
    ----------
    sensor, start, length, kind : array (n,)
        Of every gap: whose it is, the place of the last reading before it, how many
        steps are missing, and 0, 1 or 2 of ``KINDS``.
    tails : int array
        Lengths of tails, ascending.
    shares : array (4,)
        Of all cells, missing by kind of gap; without ``PRIOR``.
    is_copied : bool
        Whether readings are at regular times, so that gaps can be copied to others.
    typical : int
        Readings of a sensor.
    """

    sensor: Indices
    start: Vector
    length: Indices
    kind: Indices
    tails: Indices
    shares: Vector
    is_copied: bool
    typical: int

    @property
    def weights(self) -> Vector:
        """Share of the hidden readings by kind of gap."""
        found = self.shares + np.array([PRIOR, PRIOR, 0.0, 0.0])
        weights: Vector = found / found.sum()
        return weights

    def as_dict(self) -> dict[str, Any]:
        """Return the pattern for JSON: shares, median and longest length."""
        found: dict[str, Any] = {}
        for k, kind in enumerate(KINDS):
            found[kind] = {
                "share_missing": float(self.shares[k]),
                "share_drawn": float(self.weights[k]),
            }
            lengths = self.tails if kind == "tail" else self.length[self.kind == k]
            if len(lengths):
                found[kind]["median_steps"] = float(np.median(lengths))
                found[kind]["longest_steps"] = int(lengths.max())
        return found


class Hidden(NamedTuple):
    """Readings that are withheld in a draw.

    Attributes
    ----------
    row : int array (n,)
        Ascending, of the sorted readings.
    kind : int array (n,)
        Of ``KINDS``.
    gap : int array (n,)
        Which gap of the draw each is in.
    """

    row: Indices
    kind: Indices
    gap: Indices


def find_pattern(schema: Schema, rows: Readings) -> Pattern:
    """Return the gaps of a table: absent times or depths, and rows without a value."""
    known = sort_rows(rows)
    line, n_sensors = find_line(schema, known), int(rows.sensor.max(initial=0)) + 1
    each = np.bincount(known.sensor, minlength=n_sensors)
    typical = int(np.median(each[each > 0])) if each.any() else 0
    track = Track(line, known)
    is_regular = _is_regular(track)
    sensor, start, length = _absent(track) if is_regular else _empty_rows(line, rows)
    is_copied = is_regular and line.is_time
    tails = _tails(track) if is_copied else np.zeros(0, np.int64)
    kind = np.where(length > 1, 1, 0)
    kind[_are_outages(track, sensor, start, length)] = 2
    missing = np.bincount(kind, length, minlength=4)
    missing[3] = tails.sum()
    n_cells = max(len(known.y) + missing.sum(), 1.0)
    return Pattern(
        sensor, start, length, kind, tails, missing / n_cells, is_copied, typical
    )


def _is_regular(track: Track) -> bool:
    """Return whether readings are at whole numbers of steps."""
    apart = np.diff(track.place)[np.diff(track.sensor) == 0]
    if not len(apart) or (len(track.line.knots) == 2 and not track.line.is_time):
        return False
    is_whole = (np.abs(apart - np.rint(apart)) < 0.2) & (apart > 0.5)
    return bool(is_whole.mean() > 0.7)


def _absent(track: Track) -> tuple[Indices, Vector, Indices]:
    """Return sensor, place of the last reading before, and length of gaps."""
    apart = np.where(np.diff(track.sensor) == 0, np.diff(track.place), 0.0)
    last = np.flatnonzero(apart > 1.5)
    length = np.rint(apart[last]).astype(np.int64) - 1
    return track.sensor[last], track.place[last], length


def _empty_rows(line: Line, rows: Readings) -> tuple[Indices, Vector, Indices]:
    """Return the same of rows without a value, counted in rows."""
    used = Readings(*(part[rows.is_usable] for part in vars(rows).values()))
    place = line.place(used.x)
    order = np.lexsort((place, used.sensor))
    is_empty, sensor = np.isnan(used.y[order]), used.sensor[order]
    is_new = np.diff(sensor, prepend=-1) != 0
    begins = np.flatnonzero(is_empty & (is_new | ~np.roll(is_empty, 1)))
    run = np.cumsum(is_empty & (is_new | ~np.roll(is_empty, 1))) - 1
    length = np.bincount(run[is_empty], minlength=len(begins)).astype(np.int64)
    return sensor[begins], place[order][begins] - 1, length


def _tails(track: Track) -> Indices:
    """Return how many steps are missing at the ends of the table, sensor by sensor."""
    if not len(track.y):
        return np.zeros(0, np.int64)
    is_first = np.diff(track.sensor, prepend=-1) != 0
    is_last = np.roll(is_first, -1)
    missing = np.concatenate(
        [track.place[is_first] - track.low, track.high - track.place[is_last]]
    )
    found = np.sort(np.rint(missing).astype(np.int64))
    return found[found >= FAR]


def _are_outages(
    track: Track, sensor: Indices, start: Vector, length: Indices
) -> NDArray[np.bool_]:
    """Return which gaps are, for most of their length, of many sensors at once."""
    none = np.zeros(len(length), bool)
    n = len(np.unique(track.sensor))
    if n < 3 or not len(length) or not track.line.is_time:
        return none
    first = np.rint(start - track.low).astype(np.int64) + 1
    size = int((first + length).max()) + 1
    if size > LARGEST:
        return none
    opened = np.bincount(first, minlength=size)
    closed = np.bincount(first + length, minlength=size)
    is_out = np.cumsum(opened - closed) >= max(MANY * n, 3)
    total = np.concatenate([[0], np.cumsum(is_out)])
    return np.asarray(total[first + length] - total[first] > length / 2)


# drawing


def draw_gaps(
    names: tuple[str, ...],
    line: Line,
    rows: Readings,
    pattern: Pattern,
    seed: int,
    most: int = MOST,
) -> Hidden:
    """Return readings to hide: the same ones, whatever happens to other rows.

    Parameters
    ----------
    names : names of the sensors
    line : Line
    rows : Readings
        Sorted by :func:`halk.sensors.order.sort_rows`.
    pattern : Pattern
    seed : int
    most : int
        Readings to hide at most.
    """
    drawer = _Drawer(names, line, rows, pattern, seed)
    shares, n = pattern.shares, min(SHARE * len(rows.y), most)
    own = shares.sum() + 2 * PRIOR
    drawer.tails(round(n * shares[3] / own))
    if pattern.is_copied:
        drawer.copy_gaps(round(n * shares[:3].sum() / own))
        shares = np.zeros(4)
    drawer.blocks(round(n * (shares[1:3].sum() + PRIOR) / own))
    drawer.points(round(n * (shares[0] + PRIOR) / own))
    row = np.flatnonzero(drawer.kind >= 0)
    return Hidden(row, drawer.kind[row], drawer.gap[row])


class _Drawer:
    """Readings of which some are hidden."""

    def __init__(
        self,
        names: tuple[str, ...],
        line: Line,
        rows: Readings,
        pattern: Pattern,
        seed: int,
    ) -> None:
        self.names, self.seed, self.pattern = names, seed, pattern
        self.rows, self.line, self.place = rows, line, line.place(rows.x)
        self.kind = np.full(len(rows.y), -1)
        self.gap = np.full(len(rows.y), -1)
        self.n_gaps = 0
        # rows are sorted by sensor; along the line only if it is their first input
        self.order = np.lexsort((self.place, rows.sensor))
        self.starts = np.searchsorted(rows.sensor, np.arange(len(names) + 1))

    def _hash(self, purpose: int) -> NDArray[np.uint64]:
        rows, seed = self.rows, self.seed * 8 + purpose
        return hash_rows(self.names, rows.sensor, rows.x, seed)

    def _hide(self, taken: Indices, kind: int) -> int:
        """Hide readings as one gap; return how many were not hidden before."""
        taken = taken[self.kind[taken] < 0]
        self.kind[taken], self.gap[taken] = kind, self.n_gaps
        self.n_gaps += 1
        return len(taken)

    def points(self, wanted: int) -> None:
        free = np.flatnonzero(self.kind < 0)
        order = np.argsort(self._hash(0)[free], kind="stable")
        taken = free[order[:wanted]]
        self.kind[taken] = 0
        self.gap[taken] = self.n_gaps + np.arange(len(taken))
        self.n_gaps += len(taken)

    def blocks(self, wanted: int) -> None:
        pattern, chance = self.pattern, 0.0
        own = np.sort(pattern.length[pattern.length > 1])
        if not pattern.is_copied and len(own):
            chance = pattern.shares[1:3].sum()
            chance /= chance + PRIOR
        longest = int(np.clip(pattern.typical // 10, 3, LONGEST))
        u = uniform(self._hash(1))
        rank = np.empty(len(u), np.int64)  # of a reading among its sensor's
        rank[self.order] = np.arange(len(u)) - self.starts[self.rows.sensor]
        for row in np.argsort(self._hash(2), kind="stable").tolist():
            if wanted <= 0:
                return
            if u[row] < chance:
                length = float(own[int(u[row] / chance * len(own))])
            else:
                within = (u[row] - chance) / (1 - chance)
                length = np.floor(2 * ((longest + 1) / 2) ** within)
            wanted -= self._hide_run(row, int(rank[row]), length, wanted, 1)

    def _hide_run(
        self, row: int, rank: int, length: float, wanted: int, kind: int
    ) -> int:
        """Hide a sensor's readings from a row on, for so many steps."""
        i = self.rows.sensor[row]
        own = self.order[self.starts[i] : self.starts[i + 1]]
        most = min(max(len(own) // 4, 1), wanted)
        near = own[rank : rank + most]
        # where rows are not at whole steps, lengths count in rows
        end = self.place[row] + length - 0.5
        return self._hide(near[self.place[near] < end], kind)

    def copy_gaps(self, wanted: int) -> None:
        """Give parts of the time the gaps that others have.

        Only parts that have most of their readings: where much is missing already, a
        copied outage would be worse than the table's own.
        """
        pattern, place = self.pattern, self.place
        if not len(pattern.length) or wanted <= 0:
            return
        low = float(place.min())
        width = np.ceil((float(place.max()) - low + 1) / WINDOWS)
        source = ((pattern.start - low) // width).astype(np.int64)
        source[(source < 0) | (source >= WINDOWS)] = -1  # rows are a part of the table
        count = np.bincount(((place - low) // width).astype(np.int64), None, WINDOWS)
        sources, target = self._pair_windows(count)
        start = pattern.start + (target[np.maximum(source, 0)] - source) * width
        first, last = self._find_runs(pattern.sensor, start, pattern.length)
        for k in sources:
            gaps = np.flatnonzero(source == k)
            for gap in gaps[np.argsort(pattern.start[gaps], kind="stable")].tolist():
                if wanted <= 0:
                    return
                taken = self.order[first[gap] : last[gap]]
                wanted -= self._hide(taken, int(pattern.kind[gap]))

    def _pair_windows(self, count: Indices) -> tuple[list[int], Indices]:
        """Return windows in the order of their use, and which each goes to.

        Each looks for a free one in an order of its own, so that a window more or less
        that has its readings changes little.
        """
        sources = np.argsort(self._draw(3, WINDOWS), kind="stable").tolist()
        wish = np.argsort(self._draw(4, WINDOWS**2).reshape(WINDOWS, WINDOWS), axis=1)
        is_free = count >= ALMOST * np.median(count)
        target, used = np.zeros(WINDOWS, np.int64), []
        for k in sources:
            free = wish[k][is_free[wish[k]]]
            if len(free):
                target[k] = free[0]
                is_free[free[0]] = False
                used.append(k)
        return used, target

    def _find_runs(
        self, sensor: Indices, start: Vector, length: Indices
    ) -> tuple[Indices, Indices]:
        """Return where in ``order`` the readings of runs after places begin and end."""
        low, high = float(self.place.min()), float(self.place.max())
        width = 2 * (high - low + 1)
        keys = self.rows.sensor[self.order] * width + self.place[self.order] - low
        ends = [
            np.clip(start + away, low - 1, high + 1) for away in (0.5, length + 0.5)
        ]
        first, last = (
            np.searchsorted(keys, sensor * width + end - low) for end in ends
        )
        return first, last

    def _draw(self, purpose: int, n: int) -> Vector:
        """Return random numbers that do not depend on the table."""
        x = np.arange(float(n))[:, None]
        zero = np.zeros(n, np.int64)
        return uniform(hash_rows(("",), zero, x, self.seed * 8 + purpose))

    def tails(self, wanted: int) -> None:
        lengths = self.pattern.tails
        if not len(lengths):
            return
        i = np.arange(len(self.names))
        at = hash_rows(self.names, i, np.zeros((len(i), 1)), self.seed * 8 + 5)
        u = uniform(hash_rows(self.names, i, np.ones((len(i), 1)), self.seed * 8 + 5))
        for k in np.argsort(at, kind="stable")[: (len(i) + 1) // 2].tolist():
            own = self.order[self.starts[k] : self.starts[k + 1]]
            if wanted <= 0 or len(own) < 4:
                continue
            length = lengths[int(u[k] * len(lengths))]
            is_tail = self.place[own] > self.place[own[-1]] - length
            most = min(len(own) // 4, wanted)
            wanted -= self._hide(own[is_tail][-most:], 3)
