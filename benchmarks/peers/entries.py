"""Who takes part, and which settings each may choose from: sixteen for everybody."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

from benchmarks.peers import kernel, linear, ours
from benchmarks.peers.loop import Peer
from benchmarks.peers.streams import Samples

__all__ = ["ENTRIES", "N_SETTINGS", "Entry"]

N_SETTINGS = 16

_WIDTHS = [0.05, 0.15, 0.5, 1.5]
_RATES = [0.001 * 1.6**n for n in range(N_SETTINGS)]


class Entry(NamedTuple):
    """A learner: how it is made, what may be chosen, and what it needs.

    ``package`` must be installed. ``shares`` names the entry whose settings it takes
    over. ``limit`` is the most samples it is given. ``needs_points``: whether it is
    given points of the other stream.
    """

    make: Callable[..., Peer]
    grid: dict[str, list[float]] = {}  # noqa: RUF012 (never modified)
    package: str = ""
    shares: str = ""
    limit: int = 0
    needs_points: bool = False

    @property
    def missing(self) -> str:
        """Say what is not installed; empty if nothing."""
        is_there = not self.package or find_spec(self.package.split(":")[0]) is not None
        name = self.package.split(":")[-1]
        return "" if is_there else f"not installed: pip install {name}"

    def settings(self) -> list[dict[str, float]]:
        """Return all combinations of the grid."""
        chosen = product(*self.grid.values())
        return [dict(zip(self.grid, values, strict=True)) for values in chosen]

    def made(self, settings: dict[str, float], apart: Samples) -> Peer:
        """Return the learner, untaught; ``apart`` are samples of the other stream."""
        further: dict[str, Any] = {"points": apart.X} if self.needs_points else {}
        return self.make(apart.X.shape[1], **settings, **further)


_FEATURES = {"bandwidth": _WIDTHS, "rate": [0.03, 0.1, 0.3, 1.0]}
_HALK = {"bandwidth": _WIDTHS, "rate": [0.3, 1.0], "epsilon": [0.01, 0.05]}
_KLMS = {"bandwidth": _WIDTHS, "rate": [0.2, 0.5], "quantum": [0.1, 0.4]}

ENTRIES: dict[str, Entry] = {
    "river LinearRegression": Entry(linear.RiverLinear, {"rate": _RATES}, "river"),
    "padasip NLMS": Entry(linear.PadasipNLMS, {"rate": _RATES}, "padasip"),
    "halk NLMS": Entry(linear.HalkNLMS, {"rate": _RATES}),
    "scikit-learn SGD, RBFSampler": Entry(
        kernel.SGDOnRandomFeatures, _FEATURES, "sklearn:scikit-learn"
    ),
    "scikit-learn SGD, Nystroem": Entry(
        kernel.SGDOnNystroem, _FEATURES, "sklearn:scikit-learn", needs_points=True
    ),
    "KLMS in NumPy": Entry(kernel.KLMS, _KLMS),
    "halk, learn_one": Entry(ours.HalkBySample, shares="halk, learn_many"),
    "halk, learn_many": Entry(ours.HalkByBlock, _HALK),
    "halk.reference": Entry(ours.Reference, shares="halk, learn_many", limit=60),
}
