"""How long something took, counted in buckets: what an operator looks at."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from halk._validation import real, require

BOUNDS = tuple(
    round(digit * 10.0**k, 9) for k in range(-4, 2) for digit in (1.0, 2.0, 5.0)
)
"""Upper ends of the buckets, in seconds; a last one has no end."""


class Times:
    """Counts of durations by size."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0

    @property
    def n(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds

    def quantile(self, share: float) -> float | None:
        """Return what a share is not above, roughly; None if there were none.

        Within a bucket all sizes are taken to be equally frequent; the last bucket has
        only a lower end.
        """
        require(0 <= real("share", share) <= 1, "share", "be from 0 to 1", share)
        left = share * self.n
        for k, count in enumerate(self.counts):
            if count and left <= count:
                low = BOUNDS[k - 1] if k else 0.0
                high = BOUNDS[k] if k < len(BOUNDS) else low
                return low + (high - low) * left / count
            left -= count
        return None

    def facts(self) -> dict[str, Any]:
        """Return all of it, for JSON; buckets are cumulative, as in Prometheus."""
        total, buckets = 0, {}
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            total += count
            buckets[f"{bound:g}"] = total
        return {
            "count": self.n,
            "sum": self.sum,
            "median": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "buckets": buckets,
        }
