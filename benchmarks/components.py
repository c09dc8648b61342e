"""Other kernels, losses and adaptations: nothing may fall off a cliff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.results import Plan, Row
from benchmarks.timing import Job, time_in_turn
from benchmarks.workloads import LENGTH_SCALES, Workload
from halk.bandwidth import LeaveOneOut, LossFollowing
from halk.component import subclasses
from halk.kernels import Custom, Gaussian, Kernel
from halk.losses import Loss, Squared

_ATOMS, _POINTS, _ROUNDS = 40, 1000, 20


def examples(n_features: int) -> Iterator[tuple[str, Kernel]]:
    """Yield an example of every native kernel, and one with a length scale per feature.

    By name. A user's own kernel has a row of its own.
    """
    for cls in subclasses(Kernel):
        fitting = [k for k in cls.examples() if _takes(k, n_features)]
        for kernel in fitting:
            is_by_feature = isinstance(getattr(kernel, "length_scale", None), tuple)
            if cls is not Custom and (is_by_feature or kernel is fitting[0]):
                yield cls.__name__ + " by feature" * is_by_feature, kernel


def _takes(kernel: Kernel, n_features: int) -> bool:
    try:
        kernel.check_features(n_features)
    except ValueError:
        return False
    return True


def _matrix_job(kernel: Kernel, n_features: int) -> Job:
    rng, native = np.random.default_rng(0), kernel.native(n_features)
    X, Y = (rng.uniform(size=(n, n_features)) for n in (_POINTS, _ATOMS))

    def run(_: Any) -> None:
        for _round in range(_ROUNDS):
            native.matrix(X, Y)

    return Job(run)


def kernels(plan: Plan) -> list[Row]:
    """Return the time of a Gram matrix's entry of every kernel against the Gaussian's.

    About 0.4 ns of each, the time of ``Constant``, is making and copying the matrix, so
    the formulas alone differ by more.
    """
    what = "a user's kernel in NumPy"
    rows = [_step(plan, "own-kernel", what, "Gaussian", kernel=numpy_gaussian)]
    for p in (1, 3):
        named = dict(examples(p))
        plan.tell(f"{len(named)} kernels, p = {p}")
        jobs = [_matrix_job(kernel, p) for kernel in (Gaussian(0.3), *named.values())]
        times = time_in_turn(jobs, plan.pick(5, 15))
        base, *others = (one.scale(1 / (_ATOMS * _POINTS * _ROUNDS)) for one in times)
        rows += [
            Row.compare(
                f"kernel-{name}-p{p}", f"a value of {name}, p = {p}, {_ATOMS} atoms",
                "ns", own, base, against="Gaussian",
            )
            for name, own in zip(named, others, strict=True)
        ]  # fmt: skip
    return rows


def numpy_gaussian(X: Any, Y: Any) -> Any:
    """Return the Gaussian of the workload, as a user writes a kernel of one feature."""
    return np.exp(-0.5 * ((X - Y.T) / LENGTH_SCALES[1]) ** 2)


def losses(plan: Plan) -> list[Row]:
    """Return the time of a step with every loss against the squared one."""
    others = [cls for cls in subclasses(Loss) if cls is not Squared]
    return [
        _step(plan, f"loss-{name}", f"loss {name}", "Squared", loss=cls())
        for cls in others
        for name in [cls.__name__]
    ]


def adaptive(plan: Plan) -> list[Row]:
    """Return the time of a step with either adaptation against none."""
    rows = []
    for cls in (LeaveOneOut, LossFollowing):
        # length scales stay near the start, for as many atoms as without
        rule, name = cls(narrowest=0.8, widest=1.25), cls.__name__
        what = f"adaptation {name}"
        rows.append(_step(plan, f"adaptive-{name}", what, "Fixed", adaptation=rule))
    return rows


def _step(plan: Plan, name: str, what: str, against: str, **changes: Any) -> Row:
    plan.tell(what)
    workload, n_steps = Workload(200, coupling="exact"), 20
    usual, other = workload.start(), workload.start(**changes)
    jobs = [usual.job(n_steps), other.job(n_steps)]
    times = time_in_turn(jobs, plan.pick(5, 11))
    base, own = (one.scale(1 / (n_steps * workload.n_agents)) for one in times)
    return Row.compare(
        name, f"{what}, V = {workload.n_agents}, exact coupling",
        "ns per agent and step", own, base, against=against,
        note=f"{other.order:.1f} atoms; {usual.order:.1f} without",
    )  # fmt: skip
