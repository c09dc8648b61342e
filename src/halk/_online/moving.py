"""Learners taken out of their state and put together again, also with more features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk.learners import HALK

Contents = tuple[int, int | None, dict[str, NDArray[Any]]]


def pack(learner: HALK) -> Contents:
    """Return steps made, number of features and state: all that a learner learned."""
    return learner.n_steps, learner.n_features, learner.state_dict()


def unpack(fresh: HALK, contents: Contents) -> None:
    """Put into a learner, which has learned nothing, what ``pack`` returned."""
    n_steps, n_features, state = contents
    if n_features is not None:
        fresh.load_state_dict(n_steps, n_features, state)


def widen(fresh: HALK, learner: HALK, n_features: int) -> None:
    """Put into ``fresh`` the functions of a learner of fewer features.

    Their atoms are zero in the features on top; points that are too have the values
    they had.
    """
    n_steps, known, state = pack(learner)
    if known is not None:
        state["atoms"] = np.pad(state["atoms"], ((0, 0), (0, n_features - known)))
        unpack(fresh, (n_steps, n_features, state))
