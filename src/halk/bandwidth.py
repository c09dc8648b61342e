"""Rules of adaptation: every agent finds the length scale of its own kernel (S10).

A rule proposes a new length scale at each reading. Proposals are damped on the log
scale and kept within bounds; only when they have moved away from the length scale in
use by more than a threshold is the kernel changed, and then the weights are refitted so
that the function stays where its atoms are. Without the refit every change would kick
the function, and the multipliers would answer the kicks.
"""

from dataclasses import dataclass
from typing import ClassVar

from halk import _core
from halk._validation import integer, nonnegative, positive, require
from halk.component import Component

__all__ = ["Adaptation", "Fixed", "LeaveOneOut", "LossFollowing"]


class Adaptation(Component):
    """A rule that proposes length scales."""

    def native(self) -> _core.Adaptation:
        """Return the rule for the core, which has the formula of each."""
        kind = ("fixed", "leave_one_out", "loss_following").index(self._native)
        return _core.Adaptation(kind, **(vars(self) or vars(LeaveOneOut())))


@dataclass(frozen=True)
class Fixed(Adaptation):
    """Keep the length scale as it is."""

    _native = "fixed"


@dataclass(frozen=True)
class _Guarded(Adaptation):
    rate: float = 0.05
    warm_up: int = 20
    narrowest: float = 0.1
    widest: float = 10.0
    threshold: float = 0.05
    smoothing: float = 0.01
    sharing: float = 0.5

    _checks: ClassVar = {
        "rate": positive, "warm_up": integer, "narrowest": positive, "widest": positive,
        "threshold": positive, "smoothing": positive, "sharing": nonnegative,
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rate", "sharing"):
            share = getattr(self, name)
            require(share <= 1.0, name, "be at most 1", share)
        bounds = self.narrowest, self.widest
        is_around = bounds[0] <= 1.0 <= bounds[1]
        require(is_around, "narrowest and widest", "enclose 1", bounds)


class LeaveOneOut(_Guarded):
    """The paper's rule: a leave-one-out likelihood fixed point on the dictionary (S10).

    Parameters
    ----------
    rate : float in (0, 1]
        Share of the way, on the log scale, to go towards each proposal.
    warm_up : int
        Readings before the first proposal: a small dictionary says little.
    narrowest, widest : float
        Bounds, as multiples of the kernel's own length scale.
    threshold : float
        Relative change that is worth a refit.
    smoothing : float
        Ridge of the refit, as a share of ``k(x, x)``.
    sharing : float in [0, 1]
        Share of the way, on the log scale, to go towards the neighbours' mean at each
        reading. Neighbours of very different length scale disagree wherever one of them
        has no data, and the multipliers make both pay for it; 0 is the paper's rule.
    """

    _native = "leave_one_out"


class LossFollowing(_Guarded):
    """Go down the slope of the loss in the log of the length scale, refit included.

    The slope is normalised by its running root mean square, so ``rate`` is the largest
    relative change per reading. Parameters as for :class:`LeaveOneOut`.
    """

    _native = "loss_following"
