"""The laws of bandwidth adaptation."""

from typing import Any

import numpy as np

from halk._validation import Vector
from halk.adaptation import N_STATE
from halk.bandwidth import Adaptation
from halk.checks.law import check_value, law
from halk.compression import Dictionary, compress_arrays, dictionary
from halk.formulas import Formulas, Rules, formulas_of
from halk.kernels import Gaussian, Kernel, rescaled
from halk.losses import Squared
from halk.proximity import Squared as Distance
from halk.step import Desk, adapt_arrays, desk

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
    formulas = formulas_of(Rules(kernel, Squared(), Distance(), rule))
    m, D, place = _smooth(formulas)
    state, scale, trust = np.zeros(N_STATE), np.ones(1), np.array([np.inf, 0.0])
    for t in range(n_steps):
        place.block.points[0, 0] = rng.uniform() if t % 5 else 0.5
        now = float(scale[0])
        before = _Seen(rescaled(kernel, now), D, m)
        around = np.nan if t % 3 else 0.1
        slope = float(rng.normal())
        m = adapt_arrays(formulas, D, m, place, state, scale, slope, around, trust)
        new = float(scale[0])
        law(0 < new < np.inf, "finite scale", rule, f"step {t}: {new}")
        _check_change(rule, before, _Seen(rescaled(kernel, new), D, m), t, new == now)
    check_value(rule)


class _Seen:
    """A copy of the function that a dictionary holds."""

    def __init__(self, kernel: Any, D: Dictionary, m: int) -> None:
        self.kernel = kernel
        self.atoms, self.weights = D.atoms[:, :m].T.copy(), D.weights[:m].copy()

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


def _smooth(formulas: Formulas) -> tuple[int, Dictionary, Desk]:
    """Return a dictionary that holds a smooth function."""
    n = _N_ATOMS
    D, place = dictionary(n, 1), desk(2 * n, n, 1, 1)
    x = np.linspace(0.0, 1.0, n)
    place.block.points[0, :n] = x
    place.block.coefficients[:n] = np.sin(6.0 * x)
    trust = np.array([np.inf, 0.0])
    m = compress_arrays(
        formulas.rows, formulas.procedures, D, 0, place.block, place.workspace, n,
        1e-6, trust,
    )  # fmt: skip
    return int(m), D, place
