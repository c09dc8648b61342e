"""Networks of any size in which everybody has as many neighbours."""

import numpy as np

from halk import Network

__all__ = ["regular"]


def regular(
    n_agents: int, degree: int = 8, tolerance: float = 0.02, seed: int = 0
) -> Network:
    """Return a network in which every agent has ``degree`` neighbours, at random.

    Agents in a circle are joined with those at ``degree / 2`` random distances to both
    sides, and then numbered at random: neighbours lie anywhere in the memory.

    Parameters
    ----------
    n_agents : int, above ``degree``
    degree : int, even

    Examples
    --------
    >>> regular(100, 8)
    Network(100 agents, 800 edges)
    """
    if degree % 2 or not 0 <= degree < n_agents:
        raise ValueError(f"degree must be even and below {n_agents}, got {degree}")
    rng = np.random.default_rng(seed)
    below_half = np.arange(1, (n_agents - 1) // 2 + 1)
    distances = rng.choice(below_half, degree // 2, replace=False)
    number = rng.permutation(n_agents)
    pairs = [np.column_stack((number, np.roll(number, -d))) for d in distances]
    return Network(n_agents, np.concatenate(pairs) if pairs else [], tolerance)
