"""A stream of training readings, and the withheld ones to be filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector
from halk.data import Arrivals, Field, draw_arrivals, draw_steps
from halk.experiments.fill_in_methods import HALF_DEPTH, Choice

LOG_SCALE = 100.0  # m: below this depth the logarithm takes over
KILOMETRE = 1000.0  # m


class Prepared(NamedTuple):
    """Readings as the methods get them: inputs over length scales, targets scaled."""

    x: Matrix
    y: Vector


class Filling(NamedTuple):
    """What a method learns from, and where it is tested; targets over ``spread``."""

    X: NDArray[np.float64]
    Y: Matrix
    test: tuple[Any, Matrix, Vector]
    spread: float


def prepared(field: Field, choice: Choice, offset: float, spread: float) -> Prepared:
    """Return inputs (depth, latitude, longitude) over their length scales, centred.

    ``field`` has positions among its inputs, depth first. No centre depends on which
    readings there are: training and withheld ones get the same inputs.
    """
    depth = field.x[:, 0]
    z = np.log1p(depth / LOG_SCALE) if choice["is_log"] else depth / KILOMETRE
    centre = field.positions.mean(axis=0)
    flat = (field.x[:, 1:] - centre) / choice["horizontal"]
    x = np.column_stack([(z - HALF_DEPTH) / choice["vertical"], flat])
    return Prepared(x, (field.y - offset) / spread)


def scale(field: Field) -> tuple[float, float]:
    """Return mean and spread of training readings; a spread of 1 if there is none."""
    return float(field.y.mean()), float(field.y.std()) or 1.0


def arriving_once(field: Field, n_steps: int, rng: np.random.Generator) -> Arrivals:
    """Let every reading arrive once, in random order, spread over the steps."""
    X, Y, is_new = draw_arrivals(field, max(n_steps, int(field.counts.max())), rng)
    return Arrivals(X, np.where(is_new, Y, np.nan), is_new)


def filling(
    field: Field,
    away: NDArray[np.bool_],
    choice: Choice,
    n_steps: int,
    seed: int,
    is_one_pass: bool = False,
) -> Filling:
    """Return the stream of the readings that are not withheld, and those that are."""
    offset, spread = scale(field.subset(~away))
    data = prepared(field, choice, offset, spread)
    train = replace(field, x=data.x, y=data.y).subset(~away)
    X, Y = (arriving_once if is_one_pass else draw_steps)(
        train, n_steps, np.random.default_rng([seed, 5])
    )[:2]
    test = (field.agent[away].tolist(), data.x[away], data.y[away])
    return Filling(X, Y, test, spread)
