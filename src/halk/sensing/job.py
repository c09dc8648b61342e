"""Learning a whole table: the choices of the search, and the last word on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from halk.data.readings import Readings
from halk.sensing.choices import Choices
from halk.sensing.encoding import Part
from halk.sensing.model import SensorModel
from halk.sensing.problem import ATOMS, Problem, Size
from halk.sensing.search import Search
from halk.sensing.trials import Trial, Trials

Progress = Callable[[str, float], None]
"""Told what is done, and which share of it is."""

GROWTH = 1.5
"""How much larger models of a whole table may be than those of its part."""

COARSER = 1.1
"""By how much the budget grows while a model is too large, every thousand steps."""

MARGIN = 0.02
"""Share of the error that sensors must save by learning apart."""


class Job(NamedTuple):
    """A table to learn.

    Parameters
    ----------
    problem : Problem
    coverage : float
    may_widen : bool
        Whether the budget may grow for a model that becomes too large.
    progress : function
    """

    problem: Problem
    coverage: float
    may_widen: bool
    progress: Progress

    def best(self, start: Choices, tried: Trials, parts: list[Part]) -> SensorModel:
        """Return a model of the best choices, of sensors together or apart.

        A part of the table, on which choices are tried, has fewer readings of a sensor
        than the whole, so neighbours seem worth more than they are: which of the two is
        better is decided by models of the whole table.
        """
        choices = Search(tried, parts).run(start)
        self.progress("choosing", 1.0)
        is_open = "together" not in tried.fixed and np.isfinite(choices.tolerance)
        if not is_open or not self.problem.learner(choices).network.n_edges:
            return self.learned(choices)
        alone = replace(tried, fixed=tried.fixed | {"together"}, made=[])
        apart = Search(alone, parts).run(replace(start, tolerance=np.inf))
        models = [self.learned(choices), self.learned(apart, "comparing")]
        spread = self.problem.spread
        for answer, model in zip(("together", "apart"), models, strict=True):
            tried.made.append(Trial("together", answer, model.learned.error / spread))
        together, separate = models
        if separate.learned.error < (1 - MARGIN) * together.learned.error:
            tried.made[:] = alone.made + tried.made[-2:]
            return separate
        return together

    def learned(self, choices: Choices, what: str = "learning") -> SensorModel:
        """Return a model that has learned.

        A part of a table does not tell how large models of all of it become: where they
        become too large, the budget grows.
        """
        problem = self.problem
        learner = problem.learner(choices)
        model = SensorModel(
            problem.schema, problem.sensors, problem.graph, choices, self.coverage,
            learner, problem.spread,
        )  # fmt: skip
        size = Size(learner, problem.agent, GROWTH * ATOMS, COARSER)

        def told(share: float) -> None:
            if self.may_widen:
                size.check(share)
            self.progress(what, share)

        model.learn(Readings(problem.agent, problem.x, problem.y), told)
        model.choices = replace(choices, budget=learner.epsilon)
        return model
