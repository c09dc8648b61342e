"""The laws of adaptation: what a learner shows whose kernels change."""

from dataclasses import replace
from typing import Any

import numpy as np

from halk._validation import Vector
from halk.bandwidth import Adaptation, Fixed
from halk.checks.law import check_value, law, law_everywhere
from halk.kernels import Gaussian, Kernel
from halk.learners import HALK
from halk.network import Network

_V = 3


def check_adaptation(
    rule: Adaptation, kernel: Kernel | None = None, n_steps: int = 300, seed: int = 0
) -> None:
    """Check that an adaptation changes length scales without harming the function.

    Length scales stay within the rule's bounds, and as they are during the warm-up;
    where one does not change, the step is that of a fixed kernel bit for bit; where one
    does, the function stays where its atoms are, up to a quarter of its size; inputs
    that repeat and inputs far from all others leave everything finite; and it is a
    value (equality, hash, pickle, repr).

    Parameters
    ----------
    rule : Adaptation
    kernel : Kernel, default ``Gaussian(0.2)``
        Of one feature, with a length scale.
    n_steps : int
        Readings per agent.
    seed : int
    """
    if not isinstance(rule, Adaptation):
        raise TypeError(f"rule must be an Adaptation, got {rule!r}")
    check_value(rule)
    kernel = kernel or Gaussian(0.2)
    learner, twin = _make(kernel, rule), _make(kernel, _without_changes(rule))
    own = _scales(learner)
    low, high = (getattr(rule, name, 1.0) for name in ("narrowest", "widest"))
    for t, (x, y) in enumerate(_stream(n_steps, seed)):
        before = _scales(learner)
        if t > 0:
            twin.load_state_dict(learner.n_steps, 1, learner.state_dict())
        for model in (learner, twin):
            model.learn_one(x, y)
        after, step = _scales(learner), np.full(_V, t)
        within = (after >= low * own * (1 - 1e-12)) & (
            after <= high * own * (1 + 1e-12)
        )
        law_everywhere(within, "within bounds", rule, step=step, length_scale=after)
        moved = after != before
        is_warm = t >= getattr(rule, "warm_up", 0)
        law(is_warm or not moved.any(), "still during warm-up", rule, f"step {t}")
        for i in range(_V):
            _check_change(rule, learner, twin, i, t, bool(moved[i]))


def _make(kernel: Kernel, rule: Adaptation) -> HALK:
    network = Network.path(_V, tolerance=0.01)
    return HALK(network, kernel, adaptation=rule, step_size=0.5, epsilon=0.01)


def _without_changes(rule: Any) -> Any:
    """Return the rule with a threshold that nothing passes."""
    return rule if isinstance(rule, Fixed) else replace(rule, threshold=1e9)


def _scales(learner: Any) -> Vector:
    return np.array(learner.length_scales, dtype=np.float64)


def _stream(n_steps: int, seed: int) -> Any:
    """Yield readings of a wave: every fifth input repeats, every ninth is far away."""
    rng = np.random.default_rng(seed)
    for t in range(n_steps):
        x = rng.uniform(size=(_V, 1))
        x = np.full((_V, 1), 0.5) if t % 5 == 4 else x
        x = x + 1e3 * t if t % 9 == 8 else x
        yield x, np.sin(6.0 * x[:, 0]) + 0.1 * rng.normal(size=_V)


def _check_change(
    rule: Adaptation, learner: Any, twin: Any, i: int, t: int, is_moved: bool
) -> None:
    """Compare an agent's step with the same one at an unchanged length scale."""
    f, g, where = learner.function(i), twin.function(i), f"agent {i}, step {t}"
    law(np.isfinite(f.weights).all(), "finite weights", rule, where)
    rows = {row.tobytes() for row in g.atoms}
    is_subset = {row.tobytes() for row in f.atoms} <= rows
    law(is_subset, "atoms are a subset", rule, where)
    if not is_moved:
        same = np.array_equal(f.weights, g.weights)
        law(same, "no change of scale, no change", rule, where)
        return
    values, now = g(g.atoms), f(g.atoms)
    apart, size = np.abs(now - values).max(), np.abs(values).max()
    what = f"{where}: moved by {apart:.3g}, of size {size:.3g}"
    law(apart <= 0.25 * size, "the function stays at its atoms", rule, what)
