"""From nothing to the first finished step, in a new process."""

from tempfile import TemporaryDirectory

from benchmarks.children import timed_start
from benchmarks.plan import Plan
from benchmarks.results import Row

__all__ = ["start"]

PROGRAM = """
import numpy as np
from halk import HALK, Network, kernels
model = HALK(Network.ring(10, tolerance=0.01), kernel=kernels.Gaussian(0.1))
model.learn_one(np.zeros((10, 1)), np.ones(10))
print("done", flush=True)
"""


def start(plan: Plan) -> list[Row]:
    """Return the seconds with an empty cache and with a filled one."""
    with TemporaryDirectory() as cache:
        plan.tell("new process, empty cache (compiles)")
        cold = timed_start(PROGRAM, cache)
        plan.tell("new process, filled cache")
        warm = [timed_start(PROGRAM, cache) for _ in range(plan.pick(2, 5))]
    best = min(one.seconds for one in warm)
    says = [line for line in cold.said.splitlines() if "compil" in line.lower()]
    what = "new process to first finished step"
    return [
        Row("start-warm", f"{what}, warm cache", "s", best),
        Row("start-cold", f"{what}, cold cache", "s", cold.seconds),
        Row(
            name="start-says",
            what="the first use says that it compiles",
            unit="messages",
            measured=float(len(says)),
            note=says[0] if says else "",
        ),
    ]
