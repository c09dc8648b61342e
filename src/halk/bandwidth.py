"""Bandwidth adaptation: every agent finds the width of its own kernel (S10).

A rule proposes a new bandwidth at each reading. Proposals are damped on the log scale
and kept within bounds; only when they have moved away from the bandwidth in use by more
than a threshold is the kernel changed, and then the weights are refitted so that the
function stays where its atoms are. Without the refit every change would kick the
function, and the multipliers would answer the kicks.
"""

from math import exp, log, sqrt
from typing import Any, NamedTuple, Self

from halk._jit import compiled, generic_procedure
from halk._validation import Vector, integer, nonnegative, positive, real, require
from halk.component import Component
from halk.compression import Dictionary, Workspace
from halk.compression.block import sweep
from halk.compression.greedy import commit, rebuild
from halk.kernels import kernel_value, rescaled
from halk.kernels.stationary import squared_ratio

__all__ = ["Adaptation", "Fixed", "LeaveOneOut", "LossFollowing", "adapt"]

N_STATE = 4
"""Numbers an agent keeps: log of the proposed scale, readings, slope and its square."""


class Adaptation(Component):
    """A rule that proposes bandwidths."""

    __slots__ = ()


class _Guards(NamedTuple):
    rate: float
    warm_up: float
    narrowest: float
    widest: float
    threshold: float
    smoothing: float
    sharing: float


class _Guarded(Adaptation, _Guards):
    __slots__ = ()

    def __new__(
        cls,
        rate: float = 0.05,
        warm_up: int = 20,
        narrowest: float = 0.1,
        widest: float = 10.0,
        threshold: float = 0.05,
        smoothing: float = 0.01,
        sharing: float = 0.5,
    ) -> Self:
        pace = positive("rate", rate)
        require(pace <= 1.0, "rate", "be at most 1", pace)
        bounds = positive("narrowest", narrowest), positive("widest", widest)
        require(
            bounds[0] <= 1 <= bounds[1], "narrowest and widest", "enclose 1", bounds
        )
        number = float(integer("warm_up", int(real("warm_up", warm_up))))
        limit = positive("threshold", threshold)
        ridge = positive("smoothing", smoothing)
        share = nonnegative("sharing", sharing)
        require(share <= 1.0, "sharing", "be at most 1", share)
        return _Guards.__new__(cls, pace, number, *bounds, limit, ridge, share)


class _Empty(NamedTuple):
    pass


class Fixed(Adaptation, _Empty):
    """Keep the bandwidth as it is."""

    __slots__ = ()


class LeaveOneOut(_Guarded):
    """The paper's rule: a leave-one-out likelihood fixed point on the dictionary (S10).

    Parameters
    ----------
    rate : float in (0, 1]
        Share of the way, on the log scale, to go towards each proposal.
    warm_up : int
        Readings before the first proposal: a small dictionary says little.
    narrowest, widest : float
        Bounds, as multiples of the kernel's own bandwidth.
    threshold : float
        Relative change that is worth a refit.
    smoothing : float
        Ridge of the refit, as a share of ``k(x, x)``.
    sharing : float in [0, 1]
        Share of the way, on the log scale, to go towards the neighbours' mean at each
        reading. Neighbours of very different bandwidth disagree wherever one of them
        has no data, and the multipliers make both pay for it; 0 is the paper's rule.
    """

    __slots__ = ()


class LossFollowing(_Guarded):
    """Go down the slope of the loss in the log bandwidth, refit included.

    The slope is normalised by its running root mean square, so ``rate`` is the relative
    change a reading makes at most. Parameters as for :class:`LeaveOneOut`.
    """

    __slots__ = ()


@generic_procedure
def _propose(
    rule: Any, kernel: Any, D: Dictionary, m: int, ws: Workspace, state: Vector,
    scale: float, x: Vector, slope: float,
) -> None:  # fmt: skip
    """Move ``state[0]``, the log of the proposed scale."""


@_propose.register
def _(
    rule: LeaveOneOut, kernel: Any, D: Dictionary, m: int, ws: Workspace,
    state: Vector, scale: float, x: Vector, slope: float,
) -> None:  # fmt: skip
    ratio = leave_one_out_ratio(kernel, D, m, x)
    if ratio > 0.0:
        state[0] += rule.rate * (log(scale) + 0.5 * log(ratio) - state[0])


@_propose.register
def _(
    rule: LossFollowing, kernel: Any, D: Dictionary, m: int, ws: Workspace,
    state: Vector, scale: float, x: Vector, slope: float,
) -> None:  # fmt: skip
    gradient = slope * refitted_slope(kernel, D, m, ws, x, rule.smoothing)
    n = state[1] - rule.warm_up
    state[2] += (gradient - state[2]) * max(0.05, 1.0 / n)
    state[3] += (gradient * gradient - state[3]) * max(0.01, 1.0 / n)
    if state[3] > 0.0:
        pace = rule.rate / sqrt(1.0 + n / 100.0)
        state[0] -= pace * state[2] / sqrt(state[3])


@compiled
def leave_one_out_ratio(kernel: Any, D: Dictionary, m: int, x: Vector) -> float:
    """Return the right-hand side of S10 over the squared bandwidth in use.

    The dictionary counts with the new point. Exponents are shifted by the nearest
    neighbour's, so an isolated atom cannot divide by zero; duplicates are left out.
    """
    total, counted = 0.0, 0
    for row in range(m + 1):
        point = D.atoms[row] if row < m else x
        nearest = 1e308
        for k in range(m + 1):
            square = squared_ratio(kernel.bandwidth, point, D.atoms[k] if k < m else x)
            if k != row and square > 0.0:
                nearest = min(nearest, square)
        if nearest == 1e308:
            continue
        above, below = 0.0, 0.0
        for k in range(m + 1):
            square = squared_ratio(kernel.bandwidth, point, D.atoms[k] if k < m else x)
            if k != row and square > 0.0:
                weight = exp(-0.5 * (square - nearest))
                above += weight * square
                below += weight
        total += above / below
        counted += 1
    return total / max(counted, 1)


@compiled
def _ridge_inverse(D: Dictionary, m: int, ws: Workspace, smoothing: float) -> None:
    """Fill ``ws.inverse`` with ``(K + smoothing I)^-1``, ``K`` in ``ws.gram``."""
    for k in range(m):
        for c in range(m):
            ws.inverse[k, c] = ws.gram[k, c]
        ws.inverse[k, k] += smoothing * ws.gram[k, k]
    for k in range(m):
        sweep(ws.inverse, m, k)


@compiled
def refitted_slope(
    kernel: Any, D: Dictionary, m: int, ws: Workspace, x: Vector, smoothing: float
) -> float:
    """Return ``df(x) / d log sigma`` when weights follow so that atoms keep values.

    ``dk(x)' w - u' dK w`` with ``u = (K + smoothing I)^-1 k(x)``: what widening does
    between the atoms.
    """
    step = 1e-4
    wider, narrower = rescaled(kernel, exp(step)), rescaled(kernel, exp(-step))
    for k in range(m):
        ws.solution[k] = 0.0
        for c in range(m):
            ws.gram[k, c] = D.gram[k, c]
            up = kernel_value(wider, D.atoms[k], D.atoms[c])
            down = kernel_value(narrower, D.atoms[k], D.atoms[c])
            ws.solution[k] += D.weights[c] * (up - down)
    _ridge_inverse(D, m, ws, smoothing)
    total = 0.0
    for k in range(m):
        up = kernel_value(wider, D.atoms[k], x)
        total += D.weights[k] * (up - kernel_value(narrower, D.atoms[k], x))
        u = 0.0
        for c in range(m):
            u += ws.inverse[k, c] * kernel_value(kernel, D.atoms[c], x)
        total -= u * ws.solution[k]
    return total / (2.0 * step)


@compiled
def refit_to_scale(
    kernel: Any, D: Dictionary, m: int, ws: Workspace, smoothing: float
) -> int:
    """Exchange the kernel under the function, keeping its values at its atoms.

    Kernel ridge regression of the old values at the atoms: interpolating them to the
    last digit with a wider kernel would make the function swing between the atoms.
    Mutates ``D``; returns the number of atoms, fewer where the wider kernel makes some
    depend on others.
    """
    values = ws.precision  # free here: rebuild does not use it
    for k in range(m):
        values[k] = 0.0
        for c in range(m):
            values[k] += D.gram[k, c] * D.weights[c]
            ws.gram[k, c] = kernel_value(kernel, D.atoms[k], D.atoms[c])
    _ridge_inverse(D, m, ws, smoothing)
    for k in range(m):
        ws.start[k] = 0.0
        for c in range(m):
            ws.start[k] += ws.inverse[k, c] * values[c]
    n_kept = rebuild(ws, m)
    commit(D, m, ws, n_kept)
    return n_kept


@generic_procedure
def adapt(
    rule: Any, base: Any, D: Dictionary, m: int, ws: Workspace, state: Vector,
    scale: float, x: Vector, slope: float, around: float,
) -> Any:  # fmt: skip
    """Let the rule see one reading; return the scale to use and the atoms left.

    ``base`` is the learner's kernel, ``scale`` what the agent multiplies its bandwidth
    by, ``slope`` the loss's at the reading, ``around`` the mean of the neighbours' log
    scales, NaN without neighbours. Mutates ``D`` and ``state``.
    """
    return scale, m


@adapt.register(LeaveOneOut)
@adapt.register(LossFollowing)
def _(
    rule: Any, base: Any, D: Dictionary, m: int, ws: Workspace, state: Vector,
    scale: float, x: Vector, slope: float, around: float,
) -> Any:  # fmt: skip
    state[1] += 1.0
    if m >= 3 and state[1] > rule.warm_up:
        _propose(rule, rescaled(base, scale), D, m, ws, state, scale, x, slope)
    if around == around:
        state[0] += rule.sharing * (around - state[0])
    state[0] = min(max(state[0], log(rule.narrowest)), log(rule.widest))
    if abs(state[0] - log(scale)) <= rule.threshold:
        return scale, m
    scale = exp(state[0])
    return scale, refit_to_scale(rescaled(base, scale), D, m, ws, rule.smoothing)
