"""Rules of bandwidth adaptation: every agent finds the width of its own kernel (S10).

A rule proposes a new bandwidth at each reading. Proposals are damped on the log scale
and kept within bounds; only when they have moved away from the bandwidth in use by more
than a threshold is the kernel changed, and then the weights are refitted so that the
function stays where its atoms are. Without the refit every change would kick the
function, and the multipliers would answer the kicks.
"""

from typing import NamedTuple, Self

from halk._validation import integer, nonnegative, positive, real, require
from halk.component import Component

__all__ = ["Adaptation", "Fixed", "LeaveOneOut", "LossFollowing"]


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
