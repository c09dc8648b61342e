"""Rows that one process cannot measure of itself: start, memory, large networks.

``python -m benchmarks.apart PAPER_OR_EXACT SIZE ...`` is the process that times large
networks and prints JSON.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.results import Plan, Row
from benchmarks.timing import time_in_turn
from benchmarks.workloads import Workload

PROGRAM = """
import numpy as np
from halk import HALK, Network, kernels
model = HALK(Network.ring(10, tolerance=0.01), kernel=kernels.Gaussian(0.1))
model.learn_one(np.zeros((10, 1)), np.ones(10))
print(0)
"""

ONE_AGENT = """
import resource, sys
from pathlib import Path
import numpy as np
from halk import HALK, Network, kernels
agent = HALK(Network.ring(10, 0.01), kernel=kernels.Gaussian(0.1)).agent(0, 1)
rng = np.random.default_rng(0)
for x in rng.uniform(size=(1000, 1)):
    agent.ask(x, np.sin(9 * x[0]))
    agent.update()
"""

_JUDGED = 100_000
"""Agents for which the bound on the memory was given."""


def run_python(*arguments: str) -> Any:
    """Run Python in a new process and return what it prints, read as JSON.

    Raises
    ------
    RuntimeError
        If it fails; the last line of its complaint is in the message.
    """
    # our own path, so that the child imports what we import
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"a new process ended with {done.returncode}: {last}")
    return json.loads(done.stdout)


def find_peak_memory() -> int:
    """Return the bytes that this process held at most."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent held before exec
        lines = status.read_text().splitlines()
        line = next(line for line in lines if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def start(plan: Plan) -> list[Row]:
    """Return the seconds to the end of a new process's first step, and its memory."""
    plan.tell("new process")
    seconds = []
    for _ in range(plan.pick(5, 15)):
        began = perf_counter()
        run_python("-c", PROGRAM)
        seconds.append(perf_counter() - began)
    what = "new process that imports, makes one step and ends"
    # by its source: importing this module would count too
    ask = f"{inspect.getsource(find_peak_memory)}\nprint(find_peak_memory())"
    memory = run_python("-c", ONE_AGENT + ask) / 1e6
    return [
        Row("start", what, "s", min(seconds), details={"seconds": seconds}),
        Row("memory", "process of one agent, no transport", "MB at most", memory),
    ]


def size(plan: Plan) -> list[Row]:
    """Return growth from the smallest to the largest network, and peak memory."""
    sizes = plan.pick([1000, 10_000], [1000, 10_000, 100_000])
    rows = []
    for coupling in plan.pick(["paper"], ["paper", "exact"]):
        plan.tell(f"V = {sizes[0]:,} to {sizes[-1]:,}, {coupling} coupling")
        found = run_python("-m", "benchmarks.apart", coupling, *map(str, sizes))
        times, atoms = found["nanoseconds"], f"{found['order']:.1f} atoms"
        is_judged = sizes[-1] >= _JUDGED
        rows += [
            Row(
                f"size-growth-{coupling}",
                f"V = {sizes[-1]:,} against {sizes[0]:,}, {coupling} coupling",
                "ns per agent and step", times[-1], times[0], f"V = {sizes[0]:,}",
                times[-1] / times[0], note=atoms, details={"sizes": sizes, **found},
            ),
            Row(
                f"size-memory-{coupling}",
                f"memory at V = {sizes[-1]:,}, {coupling} coupling",
                "GB at most", found["bytes"] / 1e9,
                note=f"{atoms}, process and stream included",
                missing="" if is_judged else f"not judged: below {_JUDGED:,} agents",
            ),
        ]  # fmt: skip
    return rows


def time_sizes(coupling: str, sizes: list[int]) -> dict[str, Any]:
    """Time networks of these sizes in turn.

    Sixty random steps before, as young functions change their atoms more often than
    old ones, and at most five per block, so that small networks grow hardly older.
    """
    steps = [min(5, max(1, sizes[-1] // V)) for V in sizes]
    largest = Workload(sizes[-1], coupling=coupling).start(n_drawn=60)
    time_in_turn([largest.job(steps[-1])], repeats=1)
    peak = find_peak_memory()  # before the others are made
    others = [Workload(V, coupling=coupling).start(n_drawn=60) for V in sizes[:-1]]
    jobs = [one.job(n) for one, n in zip([*others, largest], steps, strict=True)]
    times = time_in_turn(jobs, repeats=9)
    each = zip(times, steps, sizes, strict=True)
    return {
        "nanoseconds": [1e9 * one.median / (n * V) for one, n, V in each],
        "order": largest.order,
        "bytes": peak,
    }


if __name__ == "__main__":
    found = time_sizes(sys.argv[1], [int(V) for V in sys.argv[2:]])
    sys.stdout.write(json.dumps(found))
