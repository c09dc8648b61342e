"""Fill-in: how well is predicted what was not measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk.data import Field, withhold
from halk.experiments import gaussian_process
from halk.experiments.claims import Claim
from halk.experiments.data import check_fill_in, connected, nearest, ocean, present
from halk.experiments.experiment import Experiment, learned, stable_json
from halk.experiments.fill_in_claims import WOA18, claims
from halk.experiments.fill_in_methods import BATCH, ENTRIES, LABELS, Choice
from halk.experiments.fill_in_report import SHARES, bars, chosen, table
from halk.experiments.filling import filling, prepared, scale
from halk.experiments.runs import Result, Results, Run, Tell
from halk.experiments.timeline import claim_table
from halk.experiments.tuning import Effort, tuned
from halk.network import Network
from halk.report import Bullets, Section
from halk.trace import Trace

N_STEPS = 2430
VARIABLES = ("temperature", "salinity")


class FillIn(Experiment):
    """A share of the readings is withheld, and predicted by every method."""

    name = "fill-in"
    title = "Fill-in (ours)"
    summary = (
        "A share of every sensor's readings is withheld; after one pass each method "
        "predicts them, from depth and the sensor's position."
    )
    choices = (
        "Inputs of every method: depth, latitude and longitude, each over a length "
        "scale; depth in km or as log(1 + depth / 100 m), whichever validates better. "
        "Targets: less the mean of the training readings, over their spread.",
        "Hyper-parameters: for every method the same number of random draws, scored by "
        "progressive validation on training readings only (a reading counts when it "
        "arrives, before it is learned); the best go on for the whole length. Done "
        "for each field and seed at 80 % withheld; what is withheld at 50 and 20 % is "
        "a part of that, so no withheld reading is ever seen. Gaussian processes: "
        "marginal likelihood, and depth or its logarithm by the same.",
        "HALK's tolerance is the same for all edges; the penalty method runs with the "
        "exact coupling too.",
        "The ranges of the search were set after a look at one split of the WOA18 "
        "network (temperature, first seed); other seeds and fields were not looked at.",
        "At every step each sensor draws one of its training readings. Methods of one "
        "pass learn each of them once, in random order, instead, and talk to their 6 "
        "nearest sensors. NewtonHALK's length scales and noise: by the same search, or "
        "found by the learner itself.",
    )

    def fields(self, variable: str) -> Field:
        """Return the readings of a variable, with positions among the inputs."""
        field = ocean(self.options, variable)
        if self.options.is_smoke:
            field = field.choose(range(min(8, field.n_agents)))
        return field.with_positions()

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """What the data have: temperature, salinity, or both."""
        return present(self.options, VARIABLES)

    @cached_property
    def _network(self) -> dict[str, Network]:
        radius = self.options.radius
        return {v: connected(self.fields(v), radius) for v in self.variables}

    def _network_for(self, run: Run) -> Network:
        variable = run.settings["variable"]
        if ENTRIES[run.settings["method"]].is_one_pass:
            return nearest(self.fields(variable))
        return self._network[variable]

    @property
    def effort(self) -> Effort:
        """How much is tried for every method."""
        return (
            Effort(3, 20, 1, 40)
            if self.options.is_smoke
            else Effort(24, 405, 3, N_STEPS)
        )

    @property
    def _n_steps(self) -> int:
        return 60 if self.options.is_smoke else N_STEPS

    def facts(self) -> dict[str, Any]:
        """Return where the readings come from."""
        for variable in self.variables:
            check_fill_in(self.fields(variable))
        field = self.fields(self.variables[0])
        return {
            "data": field.source,
            "sha256": field.sha256,
            "sensors": field.n_agents,
            "readings": field.n_readings,
            "edges": self._network[self.variables[0]].n_edges,
        }

    def runs(self) -> list[Run]:
        """Return the search of every method, and a run for each share withheld."""
        found = []
        for seed in range(self.options.seeds):
            for variable in self.variables:
                for key in LABELS:
                    found += self._runs(variable, key, seed)
        return found

    def _runs(self, variable: str, key: str, seed: int) -> list[Run]:
        field = self.fields(variable)
        settings: dict[str, Any] = {
            "data": field.sha256, "variable": variable, "n_agents": field.n_agents,
            "season": self.options.season or "annual", "radius_km": self.options.radius,
            "method": key, "coupling": "paper" if key == "halk-paper" else "exact",
            "seed": seed, "n_steps": self._n_steps,
        }  # fmt: skip
        runs, search = [], None
        if key in ENTRIES:
            search = f"{variable}-{key}-search-{seed}"
            own = settings | {"effort": self.effort._asdict(), "share": None}
            runs.append(Run(self.name, search, stable_json(own)))
        for share in SHARES:
            name = f"{variable}-{key}-{share}-{seed}"
            own = settings | {"share": share, "effort": self.effort._asdict()}
            runs.append(Run(self.name, name, stable_json(own), search))
        return runs

    def execute(self, run: Run, earlier: Result | None, tell: Tell) -> Result:
        """Search, or learn and fill in."""
        key, share = run.settings["method"], run.settings["share"]
        if share is None:
            return self._searched(run, tell)
        if key in BATCH:
            return self._batch(run)
        assert earlier is not None
        return self._filled(run, earlier.numbers["choice"], tell)

    def _split(self, run: Run) -> tuple[Field, NDArray[np.bool_]]:
        """Return the readings, and which of them are withheld."""
        settings = run.settings
        field = self.fields(settings["variable"])
        share = (settings["share"] or max(SHARES)) / 100
        return field, withhold(field, share, settings["seed"])

    def _searched(self, run: Run, tell: Tell) -> Result:
        began = time.perf_counter()
        field, is_withheld = self._split(run)
        train = field.subset(~is_withheld)
        entry, seed = ENTRIES[run.settings["method"]], run.settings["seed"]
        network = self._network_for(run)
        trials = tuned(entry, train, network, self.effort, seed, tell)
        columns: dict[str, Any] = {"score": [trial.score for trial in trials]}
        columns["step"] = [trial.n_steps for trial in trials]
        for name in trials[0].choice:
            columns[name] = [trial.choice[name] for trial in trials]
        numbers = {"choice": trials[-1].choice, "score": trials[-1].score}
        return Result(run, Trace(columns), numbers, time.perf_counter() - began)

    def _filled(self, run: Run, choice: Choice, tell: Tell) -> Result:
        field, away = self._split(run)
        entry, seed = ENTRIES[run.settings["method"]], run.settings["seed"]
        task = filling(field, away, choice, self._n_steps, seed, entry.is_one_pass)
        model = entry.make(self._network_for(run), choice, seed)
        result = learned(run, model, task.X, task.Y, tell, task.test)
        error = None
        if result.numbers["diverged_at"] is None:
            error = float(result.trace["test_error"][-1]) * task.spread
        result.numbers.update(error=error, choice=choice, spread=task.spread)
        return result

    def _batch(self, run: Run) -> Result:
        """Fill in by a Gaussian process; depth or its logarithm by the likelihood."""
        began = time.perf_counter()
        field, is_withheld = self._split(run)
        train, seed = ~is_withheld, run.settings["seed"]
        offset, spread = scale(field.subset(train))
        found = []
        for is_log in (0.0, 1.0):
            choice = {"is_log": is_log, "vertical": 1.0, "horizontal": 5.0}
            x, y = prepared(field, choice, offset, spread)
            if run.settings["method"] == "gp-pooled":
                values, score = gaussian_process.pooled(
                    x[train], y[train], x[is_withheld], seed
                )
            else:
                values, score = gaussian_process.each(
                    field.agent[train], x[train], y[train],
                    field.agent[is_withheld], x[is_withheld], seed,
                )  # fmt: skip
            error = spread * float(np.sqrt(np.mean((values - y[is_withheld]) ** 2)))
            found.append((score, error, is_log))
        score, error, is_log = max(found)
        linear, logarithmic = found[0][1], found[1][1]
        numbers = {
            "error": error, "choice": {"is_log": is_log}, "diverged_at": None,
            "error_linear": linear, "error_log": logarithmic,
        }  # fmt: skip
        trace = Trace({"step": [0], "test_error": [error / spread]})
        return Result(run, trace, numbers, time.perf_counter() - began)

    def claims(self, results: Results) -> list[Claim]:
        """Return what we claim of the fill-in."""
        field = self.fields(self.variables[0])
        return claims(self.name, results, field.unit, field.sha256 == WOA18)

    def section(self, results: Results, claims: Sequence[Claim]) -> Section:
        """Return errors, sizes, and what was chosen."""
        first = self.fields(self.variables[0])
        pairs = self._network[self.variables[0]].n_edges // 2
        size = f"{first.n_agents} sensors, {pairs} pairs, {self._n_steps} steps"
        what = f"{self.summary} Here: {size}; {', '.join(self.variables)}."
        items: list[Any] = [what, claim_table(self.title, claims)]
        for variable in self.variables:
            unit = self.fields(variable).unit
            items += [bars(results, variable, unit), table(results, variable, unit)]
        items += [chosen(results), "How it was done:", Bullets(self.choices)]
        return Section(self.title, self.name, items)
