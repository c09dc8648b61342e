"""Made-up experiments and results, to test what happens around real ones."""

import numpy as np

from halk.experiments.claims import Claim, below, verdict
from halk.experiments.experiment import Experiment, final, stable_json
from halk.experiments.runs import Result, Run
from halk.experiments.timeline import claim_table
from halk.report import Section
from halk.trace import Trace


class Watcher:
    """Remembers what it was told; interrupts when asked to."""

    def __init__(self, stop_after=None, stop_at_start=None):
        self.begun, self.started, self.finished, self.shares = [], [], [], []
        self.stop_after, self.stop_at_start = stop_after, stop_at_start

    def begin(self, experiment, n_runs, n_finished):
        self.begun.append((experiment.name, n_runs, n_finished))

    def start(self, run):
        self.started.append(run.name)
        if len(self.started) == self.stop_at_start:
            raise KeyboardInterrupt

    def tell(self, share):
        self.shares.append(share)

    def finish(self, result):
        self.finished.append(result.run.name)
        if len(self.finished) == self.stop_after:
            raise KeyboardInterrupt


class Toy(Experiment):
    """Two methods, the second of which needs the first; over at once."""

    name, title, summary = "toy", "A toy", "Numbers at random."
    executed = ()  # names of runs, of all toys of a class
    rate = 1.0

    def runs(self):
        found = []
        for seed in range(self.options.seeds):
            for method in ("first", "second"):
                settings = {
                    "method": method, "coupling": "exact", "seed": seed,
                    "rate": self.rate, "scale": self.options.scale,
                }  # fmt: skip
                after = f"first-{seed}" if method == "second" else None
                name = f"{method}-{seed}"
                found.append(Run(self.name, name, stable_json(settings), after))
        return found

    def execute(self, run, earlier, tell):
        type(self).executed += (run.name,)
        tell(0.5)
        start = 0.0 if earlier is None else earlier.trace["loss"][-1]
        loss = start + np.random.default_rng(run.settings["seed"]).random(5)
        trace = Trace({"step": np.arange(1, 6), "loss": self.rate * loss})
        return Result(run, trace, {"diverged_at": None, "sum": float(loss.sum())}, 0.1)

    def claims(self, results):
        pair = (results.where(method=key) for key in ("first", "second"))
        judge = below(lambda one: final(one, "loss"), "first", "second")
        said = verdict(judge, *pair)
        return [Claim(f"{self.name}/order", "first", "here", {"exact": said})]

    def section(self, results, claims):
        return Section(self.title, self.name, [claim_table(self.title, claims)])


def toy(name="toy", rate=1.0):
    """Return a new kind of toy, which counts its own runs."""
    return type(name.title(), (Toy,), {"name": name, "executed": (), "rate": rate})


def settle(monkeypatch, *kinds):
    """Let these be the only experiments there are."""
    named = {kind.name: kind for kind in kinds}
    for module in ("reproduce", "folder"):
        where = f"halk.experiments.{module}.EXPERIMENTS"
        monkeypatch.setattr(where, dict.fromkeys(named, ""))
    made = "halk.experiments.reproduce.experiment"
    monkeypatch.setattr(made, lambda name, options: named[name](options))


def ramp(first, last, n=100):
    """Return a column: ``first`` for a fifth of it, ``last`` for the last fifth."""
    share = np.clip((np.arange(n) / n - 0.2) / 0.6, 0.0, 1.0)
    return first + (last - first) * share


def result(method="halk", coupling="exact", seed=0, agents=None, **columns):
    """Return a run of 100 rows with these columns; a number stands for all rows."""
    run = Run("made-up", f"{method}-{coupling}-{seed}", {
        "method": method, "coupling": coupling, "seed": seed,
    })  # fmt: skip
    filled = {name: np.zeros(100) + value for name, value in columns.items()}
    trace = Trace({"step": np.arange(1, 101)} | filled, agents)
    return Result(run, trace, {"diverged_at": None, "start_bandwidth": 5.0})


def diverged(one):
    """Return a result as it would be if the run had diverged at its first step."""
    trace = Trace({name: one.trace[name][:0] for name in one.trace.columns})
    numbers = one.numbers | {"diverged_at": 0}
    if "error" in numbers:
        numbers["error"] = None
    return Result(one.run, trace, numbers)


def same(one, other):
    """Assert that two results agree bit for bit, but for how long they took."""
    assert one.run == other.run
    assert one.numbers == other.numbers
    assert one.trace.columns == other.trace.columns
    for name in one.trace.columns:
        if name != "seconds":
            np.testing.assert_array_equal(one.trace[name], other.trace[name])
    assert set(one.trace.agents) == set(other.trace.agents)
    for name, values in one.trace.agents.items():
        np.testing.assert_array_equal(values, other.trace.agents[name])


def tree(folder):
    """Return all files of a folder with their content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kept(folder):
    """Return the names of the runs kept in a folder, without their digests."""
    return sorted(path.name.split(".")[0] for path in folder.rglob("runs/*/*.parquet"))
