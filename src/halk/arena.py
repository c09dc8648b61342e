"""The functions of many agents in a few flat arrays.

Every agent owns one run of each array, as long as its capacity. An agent that needs
more moves to the free tail; when the tail is used up the arena is made anew, larger and
without the holes. So one agent with a large model costs what its model costs, not that
times the number of agents.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from halk._jit import (
    borrowed,
    compiled,
    inlined,
    lined_up,
    matrix_at,
    padded,
    part_of,
    pointer,
)
from halk._validation import Indices, Vector
from halk.compression import PANEL, Dictionary, copy_panels, pad


class Arena(NamedTuple):
    """Flat storage; agent ``i`` has ``order[i]`` atoms in a run of ``capacity[i]``."""

    atoms: Vector  # (rows * p,) every agent's (p, capacity)
    weights: Vector  # (rows,)
    inverse: Vector  # (cells,)
    diagonal: Vector  # (rows,)
    norms: Vector  # (rows,)
    row: Indices  # (V,) where an agent's run of rows begins
    cell: Indices  # (V,) where its square matrices begin
    capacity: Indices  # (V,)
    order: Indices  # (V,)
    tail: Indices  # (3,) first free row and cell; features


@inlined
def run_of(arena: Arena, i: int) -> Dictionary:
    """Return views of agent ``i``'s run; writing to them writes to the arena."""
    c, r, s = arena.capacity[i], arena.row[i], arena.cell[i]
    p = arena.tail[2]
    return Dictionary(
        matrix_at(arena.atoms, p * r, p, c),
        part_of(arena.weights, r, c),
        part_of(arena.inverse, s, c * c),
        part_of(arena.diagonal, r, c),
        part_of(arena.norms, r, c),
    )


@compiled
def dictionary_of(arena: Arena, i: int) -> Dictionary:
    """Return what :func:`run_of` does, to Python."""
    return run_of(arena, i)


@compiled
def roomier(capacity: int, wanted: int) -> int:
    """Return the next capacity: a quarter more, so that growing stays rare."""
    return padded(max(wanted, capacity + capacity // 4))


def make_room(arena: Arena, i: int, wanted: int) -> bool:
    """Move agent ``i`` to the tail with room for ``wanted`` atoms; False if it is full.

    Mutates the arena; the agent's old run becomes a hole.
    """
    new = roomier(arena.capacity[i], wanted)
    row, cell = arena.tail[0], arena.tail[1]
    if row + new > len(arena.weights) or cell + new * new > len(arena.inverse):
        return False
    old = borrowed(run_of(arena, i))
    arena.tail[0] += new
    arena.tail[1] += new * new
    arena.row[i], arena.cell[i], arena.capacity[i] = row, cell, new
    new_place = borrowed(run_of(arena, i))
    copy_dictionary(old, new_place, arena.order[i])
    return True


def _make_none(arena: Arena, i: int, wanted: int) -> bool:
    return False


@cache
def mover_to_tail(can_move: bool) -> Any:
    """Return ``make_room`` as a pointer; or, not to compile it yet, what finds none."""
    example = arena(np.ones(1, np.int64), 1), 1, 1
    return pointer(True, *example)(make_room if can_move else _make_none)


@compiled
def copy_dictionary(source: Dictionary, target: Dictionary, m: int) -> None:
    """Copy the first ``m`` atoms, with their matrices; mutates ``target``."""
    for k in range(m):
        for f in range(len(source.atoms)):
            target.atoms[f, k] = source.atoms[f, k]
        target.weights[k] = source.weights[k]
        target.diagonal[k] = source.diagonal[k]
        target.norms[k] = source.norms[k]
    copy_panels(source.inverse, m, target.inverse)
    pad(target, m)


@compiled
def _copy_all(source: Arena, target: Arena) -> None:
    old, new = borrowed(source), borrowed(target)
    for i in range(len(old.order)):
        source_i = borrowed(run_of(old, i))
        copy_dictionary(source_i, borrowed(run_of(new, i)), old.order[i])


def arena(capacity: Indices, n_features: int, spare: float = 0.0) -> Arena:
    """Return an empty arena with these capacities, and a share of free tail.

    With it comes room for one move of each of the first agents: in a small network a
    share is soon used up, and a larger arena takes milliseconds to lend.
    """
    capacity = -(-capacity // PANEL) * PANEL
    row = np.concatenate([[0], np.cumsum(capacity)]).astype(np.int64)
    cell = np.concatenate([[0], np.cumsum(capacity**2)]).astype(np.int64)
    n_moves = min(len(capacity), 32) if spare else 1
    n_rows = int(row[-1] * (1 + spare)) + 64 * n_moves
    n_cells = int(cell[-1] * (1 + spare)) + 64 * 64 * n_moves
    diagonal = lined_up(n_rows)
    diagonal[:] = -1.0
    return Arena(
        atoms=lined_up(n_rows * n_features),
        weights=lined_up(n_rows),
        inverse=lined_up(n_cells),
        diagonal=diagonal,
        norms=lined_up(n_rows),
        row=row[:-1].copy(),
        cell=cell[:-1].copy(),
        capacity=capacity.astype(np.int64),
        order=np.zeros(len(capacity), dtype=np.int64),
        tail=np.array([row[-1], cell[-1], n_features]),
    )


def enlarged(source: Arena, i: int, wanted: int) -> Arena:
    """Return the arena without holes, with room for agent ``i`` and a longer tail."""
    # agents that are nearly full will ask next: give them room in the same go
    full = source.order + 1 >= source.capacity
    capacity = np.where(full, source.capacity + 4, source.order + 2)
    capacity[i] = roomier(int(source.capacity[i]), wanted)
    target = arena(capacity, int(source.tail[2]), spare=0.25)
    target.order[:] = source.order
    _copy_all(source, target)
    return target
