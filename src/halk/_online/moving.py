"""Learners taken out of their state and put together again, also with more features."""

from typing import Any

import numpy as np

from halk.arena import Arena, dictionary_of
from halk.learners import HALK


def packed(learner: HALK) -> tuple[int, int | None, Any]:
    """Return steps made, number of features and state: all that a learner learned."""
    return learner.n_steps, learner.n_features, learner.state


def unpack(fresh: HALK, contents: tuple[int, int | None, Any]) -> None:
    """Put into a learner, which has learned nothing, what ``packed`` returned.

    Arrays are copied: those of a file mapped into memory cannot be written to.
    """
    n_steps, n_features, state = contents
    if n_features is not None:
        fresh.restore(n_steps, n_features, lambda _: _copied(state))


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value)(*map(_copied, value))
    return np.array(value)


def widen(fresh: HALK, learner: HALK, n_features: int) -> None:
    """Put into ``fresh`` the functions of a learner of fewer features.

    Their atoms are zero in the features on top; points that are too have the values
    they had.
    """
    n_steps, known, state = packed(learner)
    if known is not None:
        wide = state._replace(arena=_widened(state.arena, n_features))
        unpack(fresh, (n_steps, n_features, wide))


def _widened(old: Arena, n_features: int) -> Arena:
    p = int(old.tail[2])
    tail = old.tail.copy()
    tail[2] = n_features
    atoms = np.zeros(len(old.atoms) // p * n_features)
    new = old._replace(atoms=atoms, tail=tail)
    for i, m in enumerate(old.order.tolist()):
        dictionary_of(new, i).atoms[:p, :m] = dictionary_of(old, i).atoms[:, :m]
    return new
