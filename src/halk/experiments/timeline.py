"""Experiments in which every method learns the same stream: what they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from halk._validation import Matrix
from halk.experiments.claims import COUPLINGS, Claim, Statement, verdict
from halk.experiments.experiment import (
    Experiment,
    final,
    learned,
    stable_json,
    steady,
    window,
)
from halk.experiments.methods import METHODS, Setup
from halk.experiments.runs import Result, Results, Run, Tell
from halk.report import (
    Bullets,
    ClaimRow,
    ClaimTable,
    Figure,
    Line,
    Panel,
    Section,
    Table,
)


class Timeline(Experiment):
    """Every method on the same stream, for both couplings, several seeds."""

    methods: ClassVar[tuple[str, ...]]
    choices: ClassVar[tuple[str, ...]]
    """What the paper leaves open, and what was done."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return the numbers of the experiment, as JSON."""

    @abstractmethod
    def size(self) -> str:
        """Say how large it is: sensors, pairs."""

    @abstractmethod
    def setup(self, seed: int) -> Setup:
        """Return what all methods are given."""

    @abstractmethod
    def stream(self, seed: int) -> tuple[Any, Any, Any]:
        """Return inputs, targets, and points to be tested at (or None)."""

    @abstractmethod
    def statements(self) -> Sequence[Statement]:
        """Return what the paper says of the figure."""

    @abstractmethod
    def panels(self, results: Results, coupling: str) -> list[Panel]:
        """Return the three panels of the figure."""

    def runs(self) -> list[Run]:
        """Return one run for each seed, method and coupling."""
        found = []
        for seed in range(self.options.seeds):
            for key in self.methods:
                method = METHODS[key]
                for coupling in COUPLINGS if method.has_coupling else ("none",):
                    after = f"halk-{coupling}-{seed}" if method.counts_centres else None
                    found.append(self._run(key, coupling, seed, after))
        return found

    def _run(self, key: str, coupling: str, seed: int, after: str | None) -> Run:
        settings = self.settings() | {
            "method": key,
            "coupling": coupling,
            "seed": seed,
        }
        name = f"{key}-{coupling}-{seed}"
        return Run(self.name, name, stable_json(settings), after)

    def execute(self, run: Run, earlier: Result | None, tell: Tell) -> Result:
        """Let one method learn the stream of its seed."""
        seed, coupling = run.settings["seed"], run.settings["coupling"]
        setup = self.setup(seed)
        if coupling != "none":
            setup = replace(setup, coupling=coupling)
        if earlier is not None:
            n = (
                round(float(earlier.trace["order_mean"][-1]))
                if len(earlier.trace)
                else 1
            )
            setup = replace(setup, n_centres=max(n, 1))
        method = METHODS[run.settings["method"]]
        model = method.make(setup)
        X, Y, test = self.stream(seed)
        Y = _thinned(Y, seed) if method.reads_one else Y
        result = learned(run, model, X, Y, tell, test)
        result.numbers["start_bandwidth"] = setup.bandwidth
        return result

    def claims(self, results: Results) -> list[Claim]:
        """Judge every statement for both couplings."""
        return [
            Claim(
                f"{self.name}/{said.name}",
                said.sentence,
                said.source,
                {
                    c: verdict(said.judge, *(of(results, k, c) for k in said.methods))
                    for c in COUPLINGS
                },
                said.note,
            )
            for said in self.statements()
        ]

    # the report

    def section(self, results: Results, claims: Sequence[Claim]) -> Section:
        """Return figure, claims, table and choices."""
        steps = max((len_of(result) for result in results), default=0)
        what = f"{self.summary} Here: {self.size()}, {steps} steps."
        items: list[Any] = [what, claim_table(self.title, claims)]
        for coupling in COUPLINGS:
            panels = self.panels(results, coupling)
            items.append(
                Figure(f"{self.name}-{coupling}", self._caption(coupling), panels)
            )
        items += [summary_table(results), "Where the paper leaves something open:"]
        return Section(self.title, self.name, [*items, Bullets(self.choices)])

    def _caption(self, coupling: str) -> str:
        update = {
            "paper": "the paper's own update (plain step)",
            "exact": "the exact coupling (normalized step)",
        }[coupling]
        return (
            f"{self.title}, with {update}. Means over the seeds "
            f"({self.options.seeds}); bands from the smallest to the largest. All "
            f"methods are in the table below."
        )


def len_of(result: Result) -> int:
    """Return how many steps a run made."""
    return int(result.trace["step"][-1]) if len(result.trace) else 0


def _thinned(Y: Matrix, seed: int) -> Matrix:
    """Return the readings of one agent a step, drawn at random; NaN for the others."""
    T, V = Y.shape
    chosen = np.random.default_rng([seed, 6]).integers(V, size=(T, 1))
    return np.where(np.arange(V) == chosen, Y, np.nan)


def of(results: Results, method: str, coupling: str) -> list[Result]:
    """Return a method's results under a coupling, or its only ones."""
    own = coupling if METHODS[method].has_coupling else "none"
    return results.where(method=method, coupling=own)


def curve(
    results: Sequence[Result], column: str, label: str, style: str
) -> Line | None:
    """Return the mean of a column over the seeds, with a band; None if all diverged."""
    traces = [r.trace for r in results if column in r.trace and len(r.trace)]
    if not traces:
        return None
    longest = max(traces, key=len)
    values = np.full((len(traces), len(longest)), np.nan)
    for row, trace in zip(values, traces, strict=True):
        row[: len(trace)] = trace[column]  # one that diverged ends early
    mean = values.mean(axis=0)  # of all seeds, as far as all go
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    return Line(label, longest["step"], mean, low, high, style)


def curves(
    results: Results, methods: Sequence[str], coupling: str, column: str
) -> list[Line]:
    """Return one line a method."""
    lines = [
        curve(
            of(results, key, coupling), column, METHODS[key].label, METHODS[key].style
        )
        for key in methods
    ]
    return [line for line in lines if line is not None]


def claim_table(title: str, claims: Sequence[Claim]) -> ClaimTable:
    """Return the claims for the report, one column a coupling."""
    names = {"paper": "paper's coupling", "exact": "exact coupling"}
    columns = [c for c in names if any(c in claim.verdicts for claim in claims)]
    rows = [
        ClaimRow(
            claim.sentence + (f" ({claim.note})" if claim.note else ""),
            claim.source,
            [(said.holds, said.seen) for said in map(claim.verdict, columns)],
        )
        for claim in claims
    ]
    return ClaimTable(f"{title}: claims", [names[c] for c in columns], rows)


def summary_table(results: Results) -> Table:
    """Return a row for each method: how good, how large, how talkative."""
    rows = []
    for key in results.values("method"):
        for coupling in (*COUPLINGS, "none"):
            found = results.where(method=key, coupling=coupling)
            if found:
                rows.append([METHODS[key].label, coupling, *_numbers(found)])
    columns = ["method", "coupling", "loss", "loss, worst seed", "disagreement"]
    columns += ["violation, mean", "atoms an agent", "atoms in all", "bytes a step"]
    caption = (
        "Loss, disagreement and violation (running mean of h - tolerance; negative is "
        "within): means over the last fifth of the steps. "
        "Atoms (or features) at the end; bytes sent by one agent, mean over all steps: "
        "POLK's are readings sent to the centre, its model would have to be sent back."
    )
    return Table(caption, columns, rows)


def _numbers(found: Sequence[Result]) -> list[Any]:
    loss = [steady(result) for result in found]
    numbers: list[float | str] = [float(np.mean(loss)), float(np.max(loss))]
    for column in ("disagreement", "violation_mean"):
        has = all(column in result.trace for result in found)
        numbers.append(
            float(np.mean([steady(r, column) for r in found])) if has else "–"
        )
    numbers += [
        float(np.mean([final(result, column) for result in found]))
        for column in ("order_mean", "order_total")
    ]
    numbers.append(float(np.mean([window(r, "bytes", 0.0, 1.0) for r in found])))
    return ["diverged" if n == np.inf else n for n in numbers]
