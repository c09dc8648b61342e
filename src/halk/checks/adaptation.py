"""The laws of bandwidth adaptation."""

from typing import Any

import numpy as np

from halk._validation import Vector
from halk.bandwidth import N_STATE, Adaptation, adapt
from halk.checks.law import check_value, law
from halk.compression import (
    Dictionary,
    Workspace,
    compress,
    compressor,
    dictionary,
    workspace,
)
from halk.kernels import Gaussian, Kernel, rescaled

_N_ATOMS = 12


def check_adaptation(
    rule: Adaptation, kernel: Kernel | None = None, n_steps: int = 200, seed: int = 0
) -> None:
    """Check that an adaptation changes the bandwidth without harming the function.

    Its scale stays finite and positive; atoms stay a subset and weights finite; without
    a change of scale the function stays bit for bit, with one it stays where its atoms
    are, up to a quarter of its size; it is a value (equality, hash, pickle, repr).
    Tried on a smooth function, with inputs that repeat.

    Parameters
    ----------
    rule : Adaptation
    kernel : Kernel, default ``Gaussian(0.2)``
        Of one feature, with a bandwidth.
    n_steps : int
        Readings to show it.
    seed : int

    Raises
    ------
    LawError
        With the law, the rule and a counterexample.
    """
    if not isinstance(rule, Adaptation):
        raise TypeError(f"rule must be an Adaptation, got {rule!r}")
    rng, kernel = np.random.default_rng(seed), kernel or Gaussian(0.2)
    m, D, ws = _smooth(kernel)
    state, scale = np.zeros(N_STATE), 1.0
    for t in range(n_steps):
        x = rng.uniform(size=1) if t % 5 else np.array([0.5])
        before = _Seen(rescaled(kernel, scale), D, m)
        around = np.nan if t % 3 else 0.1
        arguments = (ws, state, scale, x, float(rng.normal()), around)
        new, m = adapt(rule, kernel, D, m, *arguments)
        law(0 < new < np.inf, "finite scale", rule, f"step {t}: {new}")
        _check_change(rule, before, _Seen(rescaled(kernel, new), D, m), t, new == scale)
        scale = float(new)
    check_value(rule)


class _Seen:
    """A copy of the function that a dictionary holds."""

    def __init__(self, kernel: Any, D: Dictionary, m: int) -> None:
        self.kernel = kernel
        self.atoms, self.weights = D.atoms[:m].copy(), D.weights[:m].copy()

    def at(self, X: Any) -> Vector:
        return np.asarray(self.kernel(X, self.atoms) @ self.weights)


def _check_change(
    rule: Adaptation, before: _Seen, after: _Seen, t: int, is_same: bool
) -> None:
    law(np.isfinite(after.weights).all(), "finite weights", rule, f"step {t}")
    rows = {row.tobytes() for row in before.atoms}
    subset = {row.tobytes() for row in after.atoms} <= rows
    law(subset, "atoms are a subset", rule, f"step {t}")
    if is_same:
        stays = np.array_equal(after.weights, before.weights)
        law(stays, "no change of scale, no change", rule, f"step {t}")
    values, now = before.at(before.atoms), after.at(before.atoms)
    moved, size = np.abs(now - values).max(), np.abs(values).max()
    what = f"step {t}: moved by {moved:.3g}, of size {size:.3g}"
    law(moved <= 0.25 * size, "the function stays at its atoms", rule, what)


def _smooth(kernel: Kernel) -> tuple[int, Dictionary, Workspace]:
    """Return a dictionary that holds a smooth function."""
    n = _N_ATOMS
    D, ws = dictionary(n, 1), workspace(2 * n, n, 1)
    ws.points[:, 0] = np.linspace(0.0, 1.0, n)
    ws.coefficients[:] = np.sin(6.0 * ws.points[:, 0])
    return int(compress(kernel, compressor(), D, 0, ws, n, 1e-6)), D, ws
