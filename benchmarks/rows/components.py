"""Other kernels, losses and bandwidth rules: nothing may fall off a cliff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.floor import Floor, floor_of
from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import in_turn, ratio
from benchmarks.workloads import Workload
from halk.bandwidth import LeaveOneOut, LossFollowing
from halk.component import subclasses
from halk.expansion import Expansion
from halk.kernels import Gaussian, Kernel
from halk.losses import Loss, Squared

__all__ = ["adaptive", "fitting", "kernels", "losses"]

_ATOMS = 40
_QUICK = ("Huber",)
_KINDS = {"loss": "loss", "adaptive": "bandwidth rule"}
_NARROW: dict[str, Any] = {"narrowest": 0.8, "widest": 1.25}
"""Bandwidths stay near the start, so that there are as many atoms as without a rule."""


def fitting(n_features: int) -> Iterator[tuple[str, Kernel]]:
    """Yield an example of every kernel, and one with a bandwidth for every feature."""
    for cls in subclasses(Kernel):
        examples = [k for k in cls.examples() if _takes(k, n_features)]
        yield cls.__name__, examples[0]
        for kernel in examples:
            if isinstance(getattr(kernel, "bandwidth", None), tuple):
                yield f"{cls.__name__} by feature", kernel


def _takes(kernel: Kernel, n_features: int) -> bool:
    try:
        kernel.check_features(n_features)
    except ValueError:
        return False
    return True


def _summed(kernel: Kernel, n_features: int) -> Floor:
    rng = np.random.default_rng(0)
    atoms = rng.uniform(size=(_ATOMS, n_features))
    function = Expansion(kernel, atoms, rng.normal(size=_ATOMS))
    return floor_of(function, rng.uniform(size=(1000, n_features)), 1)


def kernels(plan: Plan) -> list[Row]:
    """Return the time of a term of every kernel against the Gaussian's."""
    rows = []
    for p in (1, 3):
        gaussian = _summed(Gaussian(0.3), p)
        for name, kernel in fitting(p):
            plan.tell(f"kernel {name}, p = {p}")
            other = _summed(kernel, p)
            base, own = in_turn([gaussian.term, other.term], plan.pick(5, 15))
            unit = 1e9 / other.n_terms
            rows.append(
                Row(
                    name=f"kernel-{name}-p{p}",
                    what=f"a term of {name}, p = {p}, {_ATOMS} atoms",
                    unit="ns",
                    measured=own.median * unit,
                    base=base.median * unit,
                    against="Gaussian",
                    ratio=ratio(own, base),
                )
            )
    return rows


def losses(plan: Plan) -> list[Row]:
    """Return the time of a step with every loss against the squared one."""
    others = [cls for cls in subclasses(Loss) if cls is not Squared]
    return [
        _step(plan, "loss", cls.__name__, "Squared", loss=cls())
        if not plan.is_quick or cls.__name__ in _QUICK
        else _left_out("loss", cls.__name__)
        for cls in others
    ]


def adaptive(plan: Plan) -> list[Row]:
    """Return the time of a step with either bandwidth rule against none."""
    rules = [LeaveOneOut(**_NARROW), LossFollowing(**_NARROW)]
    return [
        _step(plan, "adaptive", type(rule).__name__, "fixed", bandwidth=rule)
        if not plan.is_quick or rule is rules[0]
        else _left_out("adaptive", type(rule).__name__)
        for rule in rules
    ]


def _left_out(kind: str, name: str) -> Row:
    what = f"{_KINDS[kind]} {name}"
    return Row(f"{kind}-{name}", what, missing="full run only: compiles")


def _step(plan: Plan, kind: str, name: str, against: str, **changes: Any) -> Row:
    what = f"{_KINDS[kind]} {name}"
    plan.tell(f"{what} (compiles, once)")
    workload, n_steps = Workload(200, coupling="exact"), 20
    usual, other = workload.started(), workload.started(**changes)
    base, own = in_turn([usual.job(n_steps), other.job(n_steps)], plan.pick(5, 11))
    unit = 1e9 / (n_steps * workload.n_agents)
    return Row(
        name=f"{kind}-{name}",
        what=f"{what}, V = {workload.n_agents}, exact coupling",
        unit="ns an agent-step",
        measured=own.median * unit,
        base=base.median * unit,
        against=against,
        ratio=ratio(own, base),
        note=f"{other.order:.1f} atoms; {usual.order:.1f} without",
    )
