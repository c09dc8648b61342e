"""Against ``halk.reference``, the same algorithm written plainly."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import Job, in_turn
from benchmarks.workloads import Running, Workload
from halk import HALK, reference

__all__ = ["reference_row", "twin"]


def reference_row(plan: Plan) -> list[Row]:
    """Return how many times faster the engine makes the same steps."""
    return [_row(plan, coupling) for coupling in ("paper", "exact")]


def _row(plan: Plan, coupling: str) -> Row:
    V, n_steps = plan.pick(12, 20), plan.pick(2, 4)
    what = f"against halk.reference, V = {V}, degree 8, {coupling} coupling"
    plan.tell(what)
    running = Workload(V, coupling=coupling).started()
    X, Y = running.fields.drawn(n_steps)
    learned: list[Any] = []

    def fast(model: Any) -> None:
        model.learn_many(X, Y)
        learned.append(model)

    def slow(plain: Any) -> None:
        for x, y in zip(X, Y, strict=True):
            plain.step(x, y)
        learned.append(plain)

    jobs = [Job(fast, lambda: _copy(running)), Job(slow, lambda: twin(running))]
    engine, plain = in_turn(jobs, plan.pick(2, 3), warm_up=False)
    apart = learned[0].predict(0, X[-1]) - learned[1].predict(0, X[-1])
    unit = 1e6 / (V * n_steps)
    return Row(
        name=f"reference-{coupling}",
        what=what,
        unit="us an agent-step",
        measured=engine.median * unit,
        base=plain.median * unit,
        against="reference",
        ratio=plain.median / engine.median,
        note=f"{running.order:.1f} atoms; the same {n_steps} steps; predictions then "
        f"differ by {np.abs(apart).max():.0e}",
    )


def _copy(running: Running) -> HALK:
    """Return the model once more, after its first call, which makes its workspace."""
    model = deepcopy(running.model)
    model.learn_readings([], np.empty((0, model.n_features or 1)), [])
    return model


def twin(running: Running) -> reference.HALK:
    """Return the reference in the state of a running model."""
    model = running.model
    width = getattr(model.kernel, "bandwidth")  # noqa: B009
    plain = reference.HALK(
        model.network.n_agents,
        [(int(i), int(j)) for i, j in model.network.edges],
        model.network.tolerance,
        int(model.n_features or 1),
        lambda A, B: reference.gaussian(A, B, width),
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
