"""The state of all agents in arrays without spare room, and back.

A state is a named tuple of arrays. One of them may be an arena of dictionaries, which
is packed to the atoms in use.
"""

from typing import Any

import numpy as np

from halk._validation import Indices, Vector
from halk.arena import Arena, arena, dictionary_of
from halk.checkpoint.archive import Members, refuse
from halk.compression import square, write_square
from halk.kernels import Kernel, rescaled
from halk.step import SPREAD

_PREFIX = "state."
_DICTIONARY = ("atoms", "weights", "norms", "inverse")
_SAMPLE = 32
"""Atoms at which a kernel is compared with the one that was saved."""

_NOT_NEGATIVE = ("order", "asked", "readings", "multipliers", "sent")


def _flat(state: Any) -> list[str]:
    return [field for field in state._fields if field != "arena"]


def packed(state: Any) -> Members:
    """Return the members that hold a state; matrices are order x order an agent."""
    members = _packed_arena(state.arena) if hasattr(state, "arena") else {}
    members |= {name: getattr(state, name) for name in _flat(state)}
    for name, value in members.items():
        kind = "<i8" if value.dtype.kind == "i" else "<f8"
        members[name] = np.ascontiguousarray(value, dtype=kind)
    _check_values(members)
    return {_PREFIX + name: value for name, value in members.items()}


def _packed_arena(source: Arena) -> Members:
    parts: dict[str, list[Any]] = {name: [] for name in _DICTIONARY}
    for i, m in enumerate(source.order.tolist()):
        D = dictionary_of(source, i)
        parts["atoms"].append(D.atoms[:, :m].T)
        parts["weights"].append(D.weights[:m])
        parts["norms"].append(D.norms[:m])
        parts["inverse"].append(square(D.inverse, m).ravel())
    members = {name: np.concatenate(part) for name, part in parts.items()}
    return {"order": source.order} | members


def unpacked(members: Members, fresh: Any) -> Any:
    """Return the state that members hold, taken out of them.

    ``fresh`` is the state of an agent network that has seen nothing: it says what
    arrays and shapes there must be.
    """
    has_arena = hasattr(fresh, "arena")
    names = [*(("order", *_DICTIONARY) if has_arena else ()), *_flat(fresh)]
    wanted = {_PREFIX + name for name in names}
    if wanted - set(members):
        missing = ", ".join(sorted(wanted - set(members)))
        refuse(f"is not consistent: members are missing: {missing}")
    found = {name: members.pop(_PREFIX + name) for name in names}
    if has_arena:
        _check_arena(found, fresh.arena)
    for name in _flat(fresh):
        like = getattr(fresh, name)
        _check_shape(name, found[name], like.shape, like.dtype.kind)
    _check_values(found)
    parts: dict[str, Any] = {
        name: found[name].astype(found[name].dtype.newbyteorder("="))
        for name in _flat(fresh)
    }
    if has_arena:
        parts["arena"] = _unpacked_arena(found)
    return type(fresh)(**parts)


def _unpacked_arena(found: Members) -> Arena:
    order: Indices = found["order"]
    target = arena(order + 2, found["atoms"].shape[1], spare=0.25)
    target.order[:] = order
    row, cell = 0, 0
    for i, m in enumerate(order.tolist()):
        D = dictionary_of(target, i)
        rows, cells = slice(row, row + m), slice(cell, cell + m * m)
        D.atoms[:, :m] = found["atoms"][rows].T
        D.weights[:m] = found["weights"][rows]
        D.norms[:m] = found["norms"][rows]
        Q = found["inverse"][cells].reshape(m, m)
        write_square(D.inverse, Q)
        D.diagonal[:m] = Q.diagonal()
        row, cell = rows.stop, cells.stop
    return target


def kernel_values(state: Any, kernel: Kernel) -> Vector:
    """Return what the kernel of the first agent with atoms makes of them, flat."""
    for i in np.nonzero(state.arena.order)[0][:1]:
        m, D = min(int(state.arena.order[i]), _SAMPLE), dictionary_of(state.arena, i)
        values: Vector = rescaled(kernel, float(state.scale[i]))(D.atoms[:, :m].T)
        return values.ravel()
    return np.zeros(0)


def check_kernel(state: Any, kernel: Kernel, saved: Vector) -> None:
    """Refuse a kernel that has other values at the atoms than the one that learned."""
    values = kernel_values(state, kernel)
    _check_shape("kernel_values", saved, values.shape, "f")
    if not np.allclose(values, saved, rtol=1e-6, atol=1e-9):
        refuse(
            f"was learned with another function than that of {kernel!r}: their values "
            f"at the atoms differ",
            "pass the kernel that was saved",
        )


def _check_arena(found: Members, fresh: Arena) -> None:
    order = found["order"]
    _check_shape("order", order, fresh.order.shape, "i")
    n_atoms, n_cells = int(order.sum()), int((order**2).sum())
    _check_shape("atoms", found["atoms"], (n_atoms, int(fresh.tail[2])), "f")
    _check_shape("weights", found["weights"], (n_atoms,), "f")
    _check_shape("norms", found["norms"], (n_atoms,), "f")
    _check_shape("inverse", found["inverse"], (n_cells,), "f")


def _check_shape(name: str, value: Any, shape: tuple[int, ...], kind: str) -> None:
    if value.shape != shape or value.dtype.kind != kind:
        refuse(
            f"is not consistent: {name} must have shape {shape} of kind {kind}, got "
            f"{value.shape} of kind {value.dtype.kind}"
        )


def _check_values(found: Members) -> None:
    for name, value in found.items():
        _check(name, "be finite", value, np.isfinite(value))
    for name in set(_NOT_NEGATIVE) & set(found):
        _check(name, "not be negative", found[name], found[name] >= 0)
    if "target" in found:
        spread = found["target"][:, SPREAD]
        _check("scale", "be positive", found["scale"], found["scale"] > 0)
        _check("spread", "be positive", spread, spread > 0)


def _check(name: str, rule: str, value: Any, is_right: Any) -> None:
    if not is_right.all():
        where = tuple(int(k) for k in np.argwhere(~is_right)[0])
        refuse(f"is not consistent: {name} must {rule}, got {value[where]} at {where}")
