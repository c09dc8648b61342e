"""Rows about the engine in this process: against its floor, and against itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.floor import count_terms, floor_of
from benchmarks.results import Plan, Point, Row
from benchmarks.timing import Job, Times, ratio, time_in_turn
from benchmarks.workloads import Against, Running, Workload
from halk import HALK, reference
from halk.experiments.methods import METHODS
from halk.experiments.ocean import Temperature
from halk.experiments.runs import Options

COUPLINGS = "paper", "exact"

# A thousand agents, degree eight, thirty atoms


def dense(plan: Plan) -> list[Row]:
    """Return the rows of both couplings for one and for three features."""
    return [_dense(plan, coupling, p) for coupling in COUPLINGS for p in (1, 3)]


def _dense(plan: Plan, coupling: str, p: int) -> Row:
    what = f"V = 1,000, degree 8, p = {p}, {coupling} coupling"
    plan.tell(what)
    running = Workload(1000, 8, p, 30, coupling).start(n_drawn=1000)
    found = running.compare_with_floor(100, plan.pick(5, 15))
    native = ratio(found.engine, found.native)
    return Row.compare(
        f"dense-{coupling}-p{p}", what, "ns per agent and step",
        found.engine, found.floor,
        note=f"{found.order:.1f} atoms; floor: {found.term * 1e9:.2f} ns per term, "
        f"{found.product * 1e9:.0f} per product; {native:.1f} x the floor with all "
        "instructions of this machine",
        missing="" if found.is_about_30 else "not judged: not 27 to 33 atoms",
        details={"order": found.order, "native_ratio": native},
    )  # fmt: skip


# The paper's ocean run: fifty sensors, almost all of them neighbours


class Count(NamedTuple):
    """What a run must evaluate, summed over its steps with the orders it had."""

    terms: float
    products: int
    order: float
    square: float  # mean of the squared orders


def count_run(model: Any, X: Any, Y: Any, length: int = 27) -> Count:
    """Let a fresh model learn, and count terms and products on the way.

    Orders are looked at every ``length`` steps.
    """
    terms, orders, before = 0.0, [], model.model_order
    for t in range(0, len(X), length):
        model.learn_many(X[t : t + length], Y[t : t + length])
        orders.append((before + model.model_order) / 2)
        terms += len(X[t : t + length]) * count_terms(model.network, orders[-1])
        before = model.model_order
    seen = np.array(orders)
    return Count(terms, Y.size, float(seen.mean()), float((seen**2).mean()))


def ocean(plan: Plan) -> list[Row]:
    """Return the row of the whole run, set up as the experiment does it."""
    experiment = Temperature(Options())
    setup, network = experiment.setup(0), experiment.network
    X, Y, _ = experiment.stream(0)
    what = (
        f"ocean, {network.n_agents} sensors, degree {network.degree.mean():.0f}, "
        f"{len(X):,} steps, paper coupling"
    )
    plan.tell(what)
    model: Any = METHODS["halk"].make(setup)
    count = count_run(model, X, Y)
    function = model.function(int(np.abs(model.model_order - count.order).argmin()))
    floor = floor_of(function, X[:, 0], network.n_agents, round(count.square**0.5))
    run = Job(lambda fresh: fresh.learn_many(X, Y), lambda: METHODS["halk"].make(setup))
    jobs = [*floor.jobs, run]
    term, product, engine = time_in_turn(jobs, plan.pick(3, 9), warm_up=False)
    base = floor.times(term, product, count.terms, count.products)
    note = f"{count.order:.1f} atoms; {experiment.field.source}"
    return [Row.compare("ocean", what, "s per run", engine, base, note=note)]


# Larger models, and how cost grows


def order(plan: Plan) -> list[Row]:
    """Return the exponent of the time of a step against the atoms of one agent."""
    sizes = plan.pick([10, 30, 100, 300], [10, 30, 100, 300, 1000])
    found = []
    for M in sizes:
        plan.tell(f"one agent with {M:,} atoms")
        # this budget makes 1.22 times more atoms than the usual one
        workload = Workload(1, degree=0, order=round(M / 1.22))
        running = workload.start(n_even=8 * M // 5, n_drawn=100, epsilon=0.01)
        found.append(running.compare_with_floor(max(20, 2000 // M), plan.pick(3, 5)))
    orders = np.array([one.order for one in found])
    seconds = np.array([one.engine.median for one in found])
    steepest = (np.diff(np.log(seconds)) / np.diff(np.log(orders))).max()
    return [
        Row(
            name="order",
            what=f"one agent, M = {orders[0]:.0f} to {orders[-1]:,.0f}",
            unit="exponent of M",
            measured=fit_exponent(orders, seconds),
            note=f"{1e6 * seconds[0]:.1f} to {1e6 * seconds[-1]:,.0f} us per step; "
            f"steepest between two sizes {steepest:.2f}",
            details={"orders": orders.tolist(), "seconds": seconds.tolist()},
        )
    ]


def fit_exponent(sizes: Any, seconds: Any) -> float:
    """Return b of the power law ``a sizes^b`` that fits best.

    Examples
    --------
    >>> round(fit_exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


class Growth(NamedTuple):
    """What grows from a workload: a field of it, and the values it takes."""

    title: str
    label: str
    field: str
    start: Workload
    note: str
    values: tuple[int, ...]
    more: tuple[int, ...]  # in a full run


GROWTHS = (
    Growth("Agents", "agents V", "n_agents", Workload(1000),
           "degree 8, 30 atoms, p = 1", (100, 1000, 10_000), (100_000,)),
    Growth("Atoms", "atoms per agent M", "order", Workload(20),
           "V = 20, degree 8, p = 1", (10, 30, 100), (300,)),
    Growth("Neighbours", "degree", "degree", Workload(500),
           "V = 500, 30 atoms, p = 1", (2, 8, 32), (4, 16, 64)),
    Growth("Features", "features p", "n_features", Workload(500),
           "V = 500, degree 8, 30 atoms", (1, 3, 8), (2, 5)),
)  # fmt: skip


def scaling(plan: Plan) -> list[Point]:
    """Return the points of the figure, for both couplings."""
    points = []
    for growth in GROWTHS:
        for value in sorted(growth.values + plan.pick((), growth.more)):
            for coupling in COUPLINGS:
                plan.tell(f"{growth.label} = {value:,}, {coupling} coupling")
                changes: dict[str, Any] = {growth.field: value, "coupling": coupling}
                workload = replace(growth.start, **changes)
                found = _fill_and_compare(workload, plan.pick(5, 7))
                # atoms are what came of it; everything else is what was asked for
                x = found.order if growth.field == "order" else value
                times = found.engine.median * 1e9, found.floor.median * 1e9
                points.append(
                    Point(growth.title, float(x), coupling, *times, found.order)
                )
    return points


def _fill_and_compare(workload: Workload, repeats: int) -> Against:
    """Warm up until the dictionaries are full, and time blocks of 10,000 steps."""
    running = workload.start(max(48, 8 * workload.order // 5), n_drawn=12)
    n_steps = 10_000 // workload.n_agents // max(1, workload.order // 30)
    return running.compare_with_floor(max(1, n_steps), repeats)


# Few readings at a time


def report(plan: Plan) -> list[Row]:
    """Return the time of a step in which one sensor of a large network reports."""
    V, n_calls = plan.pick(10_000, 100_000), plan.pick(500, 2000)
    what = f"one sensor of {V:,} reports"
    plan.tell(what)
    running = Workload(V, coupling="exact").start(n_drawn=4)
    learn = running.model.learn_readings
    job = Job(lambda few: learn(*few), lambda: running.fields.draw_single(n_calls))
    many, base = running.time_one_reading(job, n_calls, repeats=5)
    agents, X, Y = running.fields.draw_single(n_calls)
    seconds = []
    for n, agent in enumerate(agents.tolist()):
        began = perf_counter()
        learn([agent], X[n : n + 1], Y[n : n + 1])
        seconds.append(perf_counter() - began)
    calls = Times(tuple(seconds[n_calls // 10 :]))  # the first tenth is a warm-up

    def row(name: str, how: str, times: Times) -> Row:
        mean = float(np.mean(times.seconds))  # hides no slow call
        note = f"mean; median {times.median * 1e6:.1f}; {running.order:.1f} atoms"
        return Row.compare(
            name, f"{what}, exact coupling, {how}", "us per step", times, base,
            measured=mean * 1e6, ratio=mean / base.median, note=note,
        )  # fmt: skip

    return [
        row("report-calls", "a Python call each", calls),
        row("report-many", f"{n_calls:,} in one call", many),
    ]


def single(plan: Plan) -> list[Row]:
    """Return the time of ``learn_one`` for one agent with thirty atoms."""
    plan.tell("learn_one of a single agent")
    running, n_calls = Workload(1, degree=0).start(), 1000
    learn_one = running.model.learn_one

    def run(block: Any) -> None:
        for x, y in zip(*block, strict=True):
            learn_one(x, y)

    job = Job(run, lambda: running.fields.draw(n_calls))
    calls, base = running.time_one_reading(job, n_calls, plan.pick(5, 15))
    what, note = (
        "learn_one of a single agent, from Python",
        f"{running.order:.0f} atoms",
    )
    return [Row.compare("single", what, "us per call", calls, base, note=note)]


# Against halk.reference, the same algorithm written plainly


def compare_with_reference(plan: Plan) -> list[Row]:
    """Return how many times faster the engine makes the same steps."""
    return [_compare_with_reference(plan, coupling) for coupling in COUPLINGS]


def _compare_with_reference(plan: Plan, coupling: str) -> Row:
    V, n_steps = plan.pick(12, 20), plan.pick(2, 4)
    what = f"against halk.reference, V = {V}, degree 8, {coupling} coupling"
    plan.tell(what)
    running = Workload(V, coupling=coupling).start()
    X, Y = running.fields.draw(n_steps)
    learned: list[Any] = []

    def learn(model: Any) -> None:
        model.learn_many(X, Y)
        learned.append(model)

    def step(plain: Any) -> None:
        for x, y in zip(X, Y, strict=True):
            plain.step(x, y)
        learned.append(plain)

    jobs = [
        Job(learn, lambda: _copy(running.model)),
        Job(step, lambda: make_twin(running.model)),
    ]
    times = time_in_turn(jobs, plan.pick(2, 3), warm_up=False)
    engine, plain = (one.scale(1 / (V * n_steps)) for one in times)
    apart = learned[0].predict(0, X[-1]) - learned[1].predict(0, X[-1])
    return Row.compare(
        f"reference-{coupling}", what, "us per agent and step", engine, plain,
        against="reference", ratio=ratio(plain, engine),
        note=f"{running.order:.1f} atoms; the same {n_steps} steps; predictions then "
        f"differ by {np.abs(apart).max():.0e}",
    )  # fmt: skip


def _copy(model: HALK) -> HALK:
    """Return the model once more, after its first call, which makes its workspace."""
    copy = deepcopy(model)
    copy.learn_readings([], np.empty((0, copy.n_features or 1)), [])
    return copy


def make_twin(model: HALK) -> reference.HALK:
    """Return the reference in the state of a model with a Gaussian kernel."""
    length_scale = getattr(model.kernel, "length_scale")  # noqa: B009
    plain = reference.HALK(
        model.network.n_agents,
        [(int(i), int(j)) for i, j in model.network.edges],
        model.network.tolerance,
        int(model.n_features or 1),
        lambda A, B: reference.gaussian(A, B, length_scale),
        reference.LOSSES["squared"](),
        reference.PROXIMITIES["squared"](),
        step_size=model.step_size,
        regularization=model.regularization,
        dual_regularization=model.dual_regularization,
        epsilon=model.epsilon,
        coupling="exact" if model.coupling == "exact" else "paper",
    )
    plain.atoms = [function.atoms.copy() for function in model.functions]
    plain.weights = [function.weights.copy() for function in model.functions]
    plain.multipliers = model.multipliers.copy()
    return plain


# Two threads


def threads(plan: Plan) -> list[Row]:
    """Return the gain of a second thread, and how many numbers differ."""
    V, cores = plan.pick(10_000, 100_000), os.cpu_count() or 1
    what = f"two threads, V = {V:,}, degree 8, exact coupling"
    plan.tell(what)
    workload = Workload(V, coupling="exact")
    models = [workload.start(n_drawn=4, n_jobs=n) for n in (1, 2)]
    n_steps = plan.pick(5, 1)
    times = time_in_turn([one.job(n_steps) for one in models], plan.pick(5, 9))
    one, two = (each.scale(1 / (V * n_steps)) for each in times)
    n_different = count_different(models)
    return [
        Row.compare(
            "threads-speed", what, "ns per agent and step", two, one,
            against="one thread", ratio=ratio(one, two),
            note=f"{cores} cores, load {os.getloadavg()[0]:.1f}",
            missing="" if cores > 1 else "not judged: one core only",
        ),
        Row("threads-bits", f"{what}: all state", "numbers differ", float(n_different)),
    ]  # fmt: skip


def count_different(models: Sequence[Running]) -> int:
    """Return how many numbers of two models' states are not the same bits."""
    first, second = (running.model.state_dict() for running in models)
    return sum(
        int((first[name] != second[name]).sum())
        if first[name].shape == second[name].shape
        else max(first[name].size, second[name].size)
        for name in first
    )
