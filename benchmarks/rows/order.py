"""Larger models: how the time of a step grows with the atoms of one agent."""

import numpy as np

from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.workloads import Against, Workload, against_floor

__all__ = ["exponent", "order"]

_SMALL = 0.01
"""The budget: new atoms are kept until there is hardly room between the old ones."""

_MORE = 1.22
"""How many times more atoms that makes than the usual budget."""


def order(plan: Plan) -> list[Row]:
    """Return the exponent of the time of a step against the number of atoms."""
    sizes = plan.pick([10, 30, 100, 300], [10, 30, 100, 300, 1000])
    found = []
    for M in sizes:
        plan.tell(f"one agent with {M:,} atoms")
        found.append(_one(M, plan.pick(3, 5)))
    orders = np.array([one.order for one in found])
    seconds = np.array([one.engine.median for one in found])
    local = np.diff(np.log(seconds)) / np.diff(np.log(orders))
    return [
        Row(
            name="order",
            what=f"one agent, M = {orders[0]:.0f} to {orders[-1]:,.0f}",
            unit="exponent of M",
            measured=exponent(orders, seconds),
            note=f"{1e6 * seconds[0]:.1f} to {1e6 * seconds[-1]:,.0f} us a step; "
            f"steepest between two sizes {local.max():.2f}",
            details={
                "orders": orders.tolist(),
                "microseconds": (1e6 * seconds).tolist(),
                "floor_microseconds": [1e6 * one.floor.median for one in found],
            },
        )
    ]


def _one(M: int, repeats: int) -> Against:
    running = Workload(1, degree=0, order=round(M / _MORE)).started(
        n_even=8 * M // 5, n_drawn=100, epsilon=_SMALL
    )
    return against_floor(running, max(20, 2000 // M), repeats)


def exponent(sizes: np.ndarray, seconds: np.ndarray) -> float:
    """Return b of the power law ``a sizes^b`` that fits best.

    Examples
    --------
    >>> round(exponent(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0])), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
