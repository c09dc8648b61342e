"""What the paper says of its ocean figures, and what that means in numbers."""

from __future__ import annotations

import numpy as np

from halk.bandwidth import LeaveOneOut
from halk.experiments.claims import Judge, Numbers, Statement, below
from halk.experiments.experiment import early, final, steady, window
from halk.experiments.runs import Result

NEAR, SETTLED = 0.2, 0.1
"""Relative distance that counts as near, and as settled."""


def _falls(result: Result) -> tuple[bool, Numbers]:
    first, last = early(result), steady(result)
    start, end = early(result, "test_error"), steady(result, "test_error")
    numbers = {
        "loss early": first,
        "loss late": last,
        "test error early": start,
        "test error late": end,
    }
    return last < first and end < start, numbers


def _atoms(result: Result) -> float:
    return final(result, "order_mean")


def _settles(adaptive: Result) -> tuple[bool, Numbers]:
    """Judge bandwidths; one that is held at a bound of ours does not settle itself."""
    if adaptive.numbers["diverged_at"] is not None:
        names = ("share of agents steady", "share at a bound")
        return False, dict.fromkeys(names, float("inf"))
    width, guard = adaptive.trace.agents["length_scale"], LeaveOneOut()
    late = width[int(0.8 * len(width)) :]
    apart = np.abs(late / late.mean(axis=0) - 1.0).max(axis=0)
    ratio = late[-1] / adaptive.numbers["start_bandwidth"]
    at_bound = (ratio >= guard.widest * (1 - SETTLED)) | (
        ratio <= guard.narrowest * (1 + SETTLED)
    )
    steady_share, bound_share = float((apart <= SETTLED).mean()), float(at_bound.mean())
    numbers = {"share of agents steady": steady_share, "share at a bound": bound_share}
    return steady_share == 1.0 and bound_share == 0.0, numbers


def _comparable(adaptive: Result, fixed: Result) -> tuple[bool, Numbers]:
    own, other = steady(adaptive, "disagreement"), steady(fixed, "disagreement")
    return own <= 1.1 * other, {"adaptive": own, "fixed": other}


def _attenuates(*results: Result) -> tuple[bool | None, Numbers]:
    holds, numbers = True, Numbers()
    for name, result in zip(("fixed", "adaptive"), results, strict=True):
        first = window(result, "violation_excess", 0.05, 0.15)
        last = window(result, "violation_excess", 0.95, 1.0)
        numbers |= {f"{name}, at a tenth": first, f"{name}, at the end": last}
        holds = holds and last < first
    was_violated = any(numbers.values())
    return holds if was_violated else None, numbers


def _tradeoff(coarse: Result, fine: Result) -> tuple[bool, Numbers]:
    losses = steady(coarse), steady(fine)
    atoms = final(coarse, "order_mean"), final(fine, "order_mean")
    numbers = {"loss P = 40": losses[0], "P = 0.4": losses[1]}
    numbers |= {"atoms P = 40": atoms[0], "atoms P = 0.4": atoms[1]}
    return losses[0] > losses[1] and atoms[0] < atoms[1], numbers


def _near(wanted: float) -> Judge:
    def judge(result: Result) -> tuple[bool, Numbers]:
        order = final(result, "order_mean")
        holds = abs(order - wanted) <= NEAR * wanted
        return holds, {"atoms an agent": order, "paper": wanted}

    return judge


def _total(fine: Result, pooled: Result) -> tuple[bool, Numbers]:
    own, other = final(fine, "order_total"), final(pooled, "order_total")
    return own < other, {"network": own, "pooled model": other}


def _overtaken(rbf: Result, halk: Result) -> tuple[bool, Numbers]:
    numbers = {
        "early RBF": early(rbf), "early HALK": early(halk),
        "late RBF": steady(rbf), "late HALK": steady(halk),
    }  # fmt: skip
    first, second, third, fourth = numbers.values()
    return first < second and third > fourth, numbers


PACED = "POLK given one reading a step, as an agent is"


def statements(figure: str, orders: dict[str, float]) -> list[Statement]:
    """Return the claims about a figure; ``orders`` are the model orders it states."""
    names = {"halk": "P = 40", "halk-fine": "P = 0.4"}
    sizes = [
        Statement(
            f"order-{key}",
            f"an average order near {wanted:.0f} at {names[key]}",
            "text",
            (key,),
            _near(wanted),
        )
        for key, wanted in orders.items()
    ]
    return [*_of_error(figure), *_of_bandwidth(figure), *_of_network(figure), *sizes]


def _of_error(figure: str) -> list[Statement]:
    """Return what is said of the error, and of one pooled model."""
    loss, pooled = f"{figure}a", below(steady, "HALK", "POLK")
    return [
        Statement(
            "error-falls", "the error falls with the number of readings", loss,
            ("halk",), _falls,
        ),
        Statement(
            "fixed-below-pooled", "HALK with a fixed bandwidth is below one pooled "
            "model (POLK)", loss, ("halk", "polk"), pooled, "POLK given all readings",
        ),
        Statement(
            "fixed-below-paced", "HALK with a fixed bandwidth is below one pooled "
            "model (POLK)", loss, ("halk", "polk-one"), pooled, PACED,
        ),
        Statement(
            "adaptive-below-pooled", "HALK with an adaptive bandwidth is below one "
            "pooled model (POLK)", loss, ("halk-adaptive", "polk"), pooled,
            "POLK given all readings",
        ),
        Statement(
            "adaptive-below-paced", "HALK with an adaptive bandwidth is below one "
            "pooled model (POLK)", loss, ("halk-adaptive", "polk-one"), pooled, PACED,
        ),
    ]  # fmt: skip


def _of_bandwidth(figure: str) -> list[Statement]:
    """Return what is said of adaptive bandwidths."""
    loss, apart = f"{figure}a", f"{figure}b"
    others = ("halk", "halk-fine", "rbf", "polk-one")
    return [
        Statement(
            "adaptive-best", "adaptive bandwidth has the lowest loss of all", loss,
            ("halk-adaptive", *others),
            below(steady, "adaptive", "fixed P = 40", "fixed P = 0.4", "RBF", "POLK"),
            PACED,
        ),
        Statement(
            "adaptive-fewer-atoms", "adaptive bandwidth needs fewer atoms than fixed, "
            "both at P = 40", "Fig. 3, text", ("halk-adaptive", "halk"),
            below(_atoms, "adaptive", "fixed"),
        ),
        Statement(
            "adaptive-comparable", "adaptive bandwidth has comparable constraint "
            "violation", apart, ("halk-adaptive", "halk"), _comparable,
            "taken as: disagreement at most a tenth above that with fixed bandwidth",
        ),
        Statement(
            "bandwidth-settles", "each agent's bandwidth settles", f"{figure}c",
            ("halk-adaptive",), _settles,
        ),
    ]  # fmt: skip


def _of_network(figure: str) -> list[Statement]:
    """Return what is said of violation, size, and the RBF network."""
    loss, apart = f"{figure}a", f"{figure}b"
    return [
        Statement(
            "violation-attenuates", "the constraint violation attenuates, with fixed "
            "and with adaptive bandwidth", apart, ("halk", "halk-adaptive"),
            _attenuates, "what of the running mean of h - gamma is above zero, mean "
            "over edges",
        ),
        Statement(
            "parsimony-tradeoff", "a larger P costs fit and saves atoms",
            "Fig. 3, text", ("halk", "halk-fine"), _tradeoff,
        ),
        Statement(
            "total-below-pooled", "the network's atoms in all (P = 0.4) are fewer than "
            "the pooled model's", "Fig. 3, text", ("halk-fine", "polk"), _total,
            "a pooled model of depth alone has no more atoms than there are depths",
        ),
        Statement(
            "rbf-overtaken", "the RBF network is ahead early and behind HALK in the "
            "long run", loss, ("rbf", "halk"), _overtaken,
        ),
    ]  # fmt: skip
