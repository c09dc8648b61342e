"""From a field to the steps that learners take.

Learners eat dense arrays: inputs ``X`` (T, V, p) and targets ``Y`` (T, V). Where an
agent has no reading at all, both are NaN.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, integer, real, require
from halk.data.field import Field

__all__ = ["Arrivals", "draw_arrivals", "draw_steps", "withhold"]

Seed = int | np.random.Generator


class Arrivals(NamedTuple):
    """Readings that arrive one after another."""

    X: NDArray[np.float64]
    Y: Matrix
    is_new: NDArray[np.bool_]


def draw_steps(
    field: Field, n_steps: int, seed: Seed
) -> tuple[NDArray[np.float64], Matrix]:
    """Draw one reading of every agent in each step, at random and with replacement.

    Returns
    -------
    X : array (n_steps, V, p)
    Y : array (n_steps, V)

    Examples
    --------
    >>> from halk.data import gulf
    >>> X, Y = draw_steps(gulf(), n_steps=100, seed=0)
    >>> X.shape, Y.shape
    ((100, 50, 1), (100, 50))
    """
    n_steps = integer("n_steps", n_steps, minimum=1)
    rng = np.random.default_rng(seed)
    size = (n_steps, field.n_agents)
    rank = rng.integers(0, np.maximum(field.counts, 1), size=size)
    return _taken(field, np.argsort(field.agent, kind="stable"), rank)


def withhold(field: Field, share: float, seed: Seed) -> NDArray[np.bool_]:
    """Choose readings to withhold, about the same share of every sensor's.

    Parameters
    ----------
    field : Field
    share : float, at least 0 and below 1
    seed : int
        With the same seed, what a smaller share withholds a larger one withholds too.

    Returns
    -------
    bool array (R,)
        Of a sensor's n readings ``share * n`` are withheld, rounded up or down at
        random, but at least one is left.

    Examples
    --------
    >>> from halk.data import gulf
    >>> field = gulf()
    >>> mask = withhold(field, 0.5, seed=0)
    >>> training, test = field.subset(~mask), field.subset(mask)
    >>> training.n_readings, test.n_readings
    (388, 386)
    """
    share = real("share", share)
    require(0 <= share < 1, "share", "be at least 0 and below 1", share)
    rng = np.random.default_rng(seed)
    order = _shuffled(field, rng)
    # One threshold a sensor whatever the share: rounding must not undo the nesting.
    quota = np.floor(share * field.counts + rng.random(field.n_agents))
    quota = np.minimum(quota, field.counts - 1)
    agent = field.agent[order]
    mask = np.empty(field.n_readings, dtype=np.bool_)
    mask[order] = np.arange(len(order)) - _starts(field)[agent] < quota[agent]
    return mask


def draw_arrivals(field: Field, n_steps: int, seed: Seed) -> Arrivals:
    """Let each sensor's readings arrive one after another, in random order.

    Arrivals are spread evenly over the steps, the first at step 0. In a step in which
    none arrives, one of those that have arrived is drawn at random. A learner that is
    scored where ``is_new``, before it learns, is scored on readings it has never seen,
    each of them once.

    Parameters
    ----------
    field : Field
    n_steps : int, at least 1
        A sensor with more readings than steps gets a new one each step, and the rest
        never arrive.
    seed : int

    Returns
    -------
    Arrivals
        ``X`` (T, V, p), ``Y`` (T, V) and ``is_new``, a bool array (T, V).

    Examples
    --------
    >>> from halk.data import gulf
    >>> X, Y, is_new = draw_arrivals(gulf(), n_steps=100, seed=0)
    >>> int(is_new.sum()), bool(is_new[0].all())
    (774, True)
    """
    n_steps = integer("n_steps", n_steps, minimum=1)
    rng = np.random.default_rng(seed)
    order = _shuffled(field, rng)
    n = np.minimum(field.counts, n_steps)
    # Reading k arrives at step floor(k T / n): at t, ceil((t + 1) n / T) are there.
    t = np.arange(-1, n_steps)[:, None]
    arrived = -(-(t + 1) * n // n_steps)
    is_new = arrived[1:] > arrived[:-1]
    old = rng.integers(0, np.maximum(arrived[1:], 1))
    rank = np.where(is_new, arrived[1:] - 1, old)
    return Arrivals(*_taken(field, order, rank), is_new)


def _shuffled(field: Field, rng: np.random.Generator) -> Indices:
    """Return the readings sensor by sensor, those of each in random order."""
    return np.lexsort((rng.random(field.n_readings), field.agent))


def _starts(field: Field) -> Indices:
    """Return where each sensor's readings begin when they are put sensor by sensor."""
    return np.cumsum(field.counts) - field.counts


def _taken(
    field: Field, order: Indices, rank: Indices
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the readings of given ``rank`` (T, V) among each sensor's in ``order``."""
    X = np.full((*rank.shape, len(field.inputs)), np.nan)
    Y = np.full(rank.shape, np.nan)
    has = field.counts > 0
    index = order[_starts(field)[has] + rank[:, has]]
    X[:, has], Y[:, has] = field.x[index], field.y[index]
    return X, Y
