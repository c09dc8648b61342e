"""What an experiment is: runs, claims about them, and a section of the report."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from halk.errors import DivergenceError
from halk.evaluate import progressive
from halk.experiments.claims import Claim
from halk.experiments.runs import Options, Result, Results, Run, Tell
from halk.learners.base import Learner
from halk.report import Section
from halk.trace import Trace

N_ROWS = 100
"""Rows of a trace, and so points of a curve."""


class Experiment(ABC):
    """An experiment with its options.

    Subclasses list their runs, carry one out, and judge what came of all of them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    """One line, for the list of experiments."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @abstractmethod
    def runs(self) -> list[Run]:
        """Return all runs, those that others need before them."""

    @abstractmethod
    def execute(self, run: Run, earlier: Result | None, tell: Tell) -> Result:
        """Carry out a run; ``earlier`` is the result of the run it comes after."""

    @abstractmethod
    def claims(self, results: Results) -> list[Claim]:
        """Return the claims with their verdicts."""

    @abstractmethod
    def section(self, results: Results, claims: Sequence[Claim]) -> Section:
        """Return what the report says."""

    def facts(self) -> dict[str, Any]:
        """Return what the manifest says of the data; JSON."""
        return {}


def learned(
    run: Run,
    model: Learner,
    X: Any,
    Y: Any,
    tell: Tell,
    test: tuple[Any, Any, Any] | None = None,
) -> Result:
    """Let a model learn a stream, and return the trace; divergence is a result too."""
    n_steps, began = len(Y), time.perf_counter()
    every = max(1, n_steps // N_ROWS)

    def progress(row: dict[str, Any]) -> None:
        tell(row["step"] / n_steps)

    numbers: dict[str, Any] = {"diverged_at": None}
    try:
        trace = progressive(model, X, Y, every, test, progress, agents=True)
    except DivergenceError as error:
        trace = error.trace
        numbers["diverged_at"] = model.n_steps
    return Result(run, trace, numbers, time.perf_counter() - began)


def window(result: Result, column: str, first: float, last: float) -> float:
    """Return the mean of a column over a part of the run, given as shares of it.

    Infinite for a run that diverged, whatever the part: it is no method to use.
    """
    if result.numbers.get("diverged_at") is not None:
        return float("inf")
    values = result.trace[column]
    n = len(values)
    part = values[int(np.floor(first * n)) : max(int(np.ceil(last * n)), 1)]
    return float(np.nanmean(part))


def steady(result: Result, column: str = "loss") -> float:
    """Return the mean of a column over the last fifth of a run."""
    return window(result, column, 0.8, 1.0)


def early(result: Result, column: str = "loss") -> float:
    """Return the mean of a column over the first tenth of a run."""
    return window(result, column, 0.0, 0.1)


def final(result: Result, column: str) -> float:
    """Return the last entry of a column; infinite for a run that diverged."""
    return window(result, column, 1.0 - 1.0 / max(len(result.trace), 1), 1.0)


def combined(results: Sequence[Result]) -> Any:
    """Return the traces of many runs as one Arrow table, a row a run and step."""
    arrow = import_module("pyarrow")
    tables = []
    for result in results:
        trace: Trace = result.trace
        n, keys = len(trace), result.settings
        named: dict[str, Any] = {
            "experiment": [result.run.experiment] * n,
            "run": [result.run.name] * n,
        }
        for key, value in keys.items():
            if isinstance(value, str | int | float):  # not nested ones, not None
                named[f"setting.{key}"] = [value] * n
        tables.append(arrow.table(named | {k: trace[k] for k in trace.columns}))
    return arrow.concat_tables(tables, promote_options="permissive")


def stable_json(value: Any) -> Any:
    """Return settings as they read back from a file: tuples are lists."""
    return json.loads(json.dumps(value))
