"""How much is taken from a neighbour: the bounds on what it says, and how often."""

from dataclasses import dataclass
from math import inf

from halk._validation import require


@dataclass(frozen=True)
class Limits:
    """Bounds on what neighbours may say; what is beyond them is refused and counted.

    They are how far a liar can pull. With the normalised step and the squared
    proximity, a query of value ``v`` and multiplier ``m`` moves the prediction at its
    point by at most ``r / (1 + 2 r)`` of the way to ``v``, where ``r = eta kappa m``:
    never more than half. So ``value`` and ``stds`` bound where predictions can be
    pulled to, ``multiplier`` and ``rate`` how fast, and ``atoms`` what it costs. In
    second order ``n`` observations move a prediction of variance ``v`` by at most
    ``phi sqrt(n v)``, whatever they say.

    Parameters
    ----------
    value : float
        Largest size of a value, in the unit of the target; and of a variance, squared.
    stds : float
        Largest distance of a value from the mean of the agent's own targets, in their
        standard deviations; holds once there are ten readings, not all the same.
    multiplier : float
        Largest multiplier; larger ones count as this. It is measured in the agent's
        own standard deviation, so that a small ``std`` is no way around it. In second
        order ``largest_multiplier`` is such a bound too; the smaller one holds.
    point : float
        Largest size of a feature of a point.
    log_scale : float
        Largest size of the log of a scale of the length scale.
    atoms : int
        An agent with so many atoms answers, but is taught by its own readings only.
    rate, burst : float
        Messages other than answers a second, in the long run, and at once.
    """

    value: float = 1e12
    stds: float = inf
    multiplier: float = 1e6
    point: float = 1e12
    log_scale: float = 10.0
    atoms: int = 1000
    rate: float = 100.0
    burst: float = 200.0

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            require(number > 0, name, "be positive", number)
        # products of four such numbers must stay finite
        for name in ("value", "multiplier", "point"):
            number = getattr(self, name)
            require(number <= 1e30, name, "be at most 1e30", number)
        require(self.burst >= 1, "burst", "be at least 1", self.burst)


class Bucket:
    """Lets ``rate`` messages per second through, after a pause up to ``burst`` at once.

    Time comes in as an argument. Where it goes backwards nothing is filled up.
    """

    def __init__(self, limits: Limits) -> None:
        self._rate, self._burst = limits.rate, limits.burst
        self._level, self._time = limits.burst, -inf

    def takes(self, now: float) -> bool:
        """Return whether one more message may pass now, and count it if so."""
        if now > self._time:
            gained = (now - self._time) * self._rate
            self._level, self._time = min(self._burst, self._level + gained), now
        if self._level < 1:
            return False
        self._level -= 1
        return True
