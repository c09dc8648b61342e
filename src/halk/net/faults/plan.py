"""Which faults there are, and how many of each."""

from dataclasses import dataclass
from random import Random

from halk._validation import require
from halk.net.faults.delays import Delay, delay_of


@dataclass(frozen=True)
class Faults:
    """Shares of messages, and numbers of events; times are in seconds.

    Messages take ``delay``, seconds or a distribution, times a random factor with a
    long tail if ``mixes``: then some overtake others. After ``until`` there are no more
    faults.
    """

    drop: float = 0.0
    duplicate: float = 0.0
    corrupt: float = 0.0
    forge: float = 0.0
    """Random bytes, or an old message again, from a neighbour or a stranger."""
    lie: float = 0.0
    """Messages with a right stamp and checksum, and a wrong number in them."""
    delay: float | Delay = 0.01
    mixes: bool = False
    n_partitions: int = 0
    n_crashes: int = 0
    until: float = 10.0
    save_every: float = 1.0
    """Seconds between two files of a node; 0: after every update."""

    def __post_init__(self) -> None:
        for name in ("drop", "duplicate", "corrupt", "forge", "lie"):
            share = getattr(self, name)
            require(0 <= share < 1, name, "be a share below 1", share)
        delay_of(self.delay)

    def latency(self, rng: Random) -> float:
        """Return how long a message takes."""
        delay = delay_of(self.delay).draw(rng)
        return delay * (rng.paretovariate(1.5) if self.mixes else 1.0)


CALM = Faults()
"""Nothing goes wrong."""


def faults_of(
    rng: Random, until: float, save_every: float | None = None, lies: bool = True
) -> Faults:
    """Draw faults: of each kind none, some or many."""

    def some(most: float) -> float:
        return rng.choice((0.0, most / 5, most)) * rng.random()

    return Faults(
        drop=some(0.6),
        duplicate=some(0.5),
        corrupt=some(0.5),
        forge=some(0.3),
        lie=some(0.1) if lies else 0.0,
        delay=rng.choice((0.001, 0.02, 0.2)),
        mixes=rng.random() < 0.7,
        n_partitions=rng.randrange(4),
        n_crashes=rng.randrange(6),
        until=until,
        save_every=rng.choice((0.0, 0.3, 2.0)) if save_every is None else save_every,
    )
