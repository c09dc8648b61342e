"""Hyper-parameters chosen by progressive validation, with the same effort for all.

Readings arrive one after another, spread over the steps. Each is predicted when it
arrives, before anybody has learned from it, and the score is the error of those
predictions over the second half of the run. Nothing but training readings is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from halk._validation import Matrix
from halk.data import Field, draw_arrivals
from halk.errors import DivergenceError
from halk.experiments.fill_in_methods import Choice, Entry
from halk.experiments.filling import arriving_once, prepared, scale
from halk.experiments.runs import Tell
from halk.learners.base import Learner
from halk.network import Network


class Effort(NamedTuple):
    """How much is tried for every method."""

    n_trials: int  # at first, drawn at random
    short: int  # steps of each
    n_best: int  # of them go on
    long: int  # to this many steps


class Trial(NamedTuple):
    """Hyper-parameters, and the score they came to."""

    choice: Choice
    n_steps: int
    score: float


def tuned(
    entry: Entry, field: Field, network: Network, effort: Effort, seed: int, tell: Tell
) -> list[Trial]:
    """Return all trials for a method on training readings; the last one is the choice.

    Many short runs with hyper-parameters drawn at random; the best go on for the whole
    length; the best of these is chosen.
    """
    rng = np.random.default_rng([seed, 2])
    choices = [entry.drawn(rng) for _ in range(effort.n_trials)]
    work = effort.n_trials * effort.short + effort.n_best * effort.long
    shares = _shares(effort, work)
    trials = []
    for choice in choices:
        score = _score(entry, field, network, choice, effort.short, seed)
        trials.append(Trial(choice, effort.short, score))
        tell(next(shares))
    best = sorted(trials, key=lambda trial: trial.score)[: effort.n_best]
    longer = []
    for trial in best:
        score = _score(entry, field, network, trial.choice, effort.long, seed)
        longer.append(Trial(trial.choice, effort.long, score))
        tell(next(shares))
    return trials + sorted(longer, key=lambda trial: -trial.score)


def _shares(effort: Effort, work: int) -> Iterator[float]:
    done = 0
    for length in [effort.short] * effort.n_trials + [effort.long] * effort.n_best:
        done += length
        yield done / work


def _score(
    entry: Entry,
    field: Field,
    network: Network,
    choice: Choice,
    n_steps: int,
    seed: int,
) -> float:
    """Return the error at arrivals over the second half, in spreads of the target."""
    data = prepared(field, choice, *scale(field))
    scaled = replace(field, x=data.x, y=data.y)
    stream = arriving_once if entry.is_one_pass else draw_arrivals
    X, Y, is_new = stream(scaled, n_steps, np.random.default_rng([seed, 3]))
    model = entry.make(network, choice, seed)
    try:
        misses = _misses(model, X, Y)
    except DivergenceError:
        return float("inf")
    late = is_new & (np.arange(len(Y)) >= len(Y) // 2)[:, None]
    if not late.any():  # too few readings to say
        return float("inf")
    return float(np.sqrt(np.mean(misses[late] ** 2)))


def _misses(model: Learner, X: Matrix, Y: Matrix) -> Matrix:
    """Return the error of every prediction before learning, (T, V)."""
    misses = np.full(Y.shape, np.nan)
    first = 0
    for part in model.dense_pieces(X, Y):
        n = len(part.start) - 1
        step = first + np.repeat(np.arange(n), np.diff(part.start))
        misses[step, part.agent] = model.observe(part).prediction - part.y
        first += n
    return misses
