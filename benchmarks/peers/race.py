"""The race: settings on one stream, time and error on the other."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.entries import ENTRIES, Entry
from benchmarks.peers.loop import error
from benchmarks.peers.streams import STREAMS, Samples
from benchmarks.plan import Plan
from benchmarks.results import Score
from benchmarks.timing import Job, Times, in_turn

__all__ = ["chosen", "peers"]

_QUICK = ("wave", "nearly linear")
_TRAINING, _TEST = 1, 2
"""Seeds: of the stream that settings are chosen on, and of the one that counts."""


def peers(plan: Plan) -> list[Score]:
    """Return every peer on every stream."""
    scores = []
    for name in plan.pick(list(_QUICK), list(STREAMS)):
        draw = STREAMS[name].draw
        apart = draw(plan.pick(150, 400), _TRAINING)
        samples = draw(plan.pick(400, 2000), _TEST)
        settings: dict[str, dict[str, float]] = {}
        for peer, entry in ENTRIES.items():
            plan.tell(f"{name}: {peer}")
            if not (entry.missing or entry.shares):
                settings[peer] = chosen(entry, apart)
        scores += [
            _score(name, peer, settings, apart, samples, plan) for peer in ENTRIES
        ]
    return scores


def chosen(entry: Entry, apart: Samples) -> dict[str, float]:
    """Return the settings with the smallest error on the stream apart."""
    errors = []
    for settings in entry.settings():
        peer = entry.made(settings, apart)
        errors.append(error(peer.run(peer.prepared(apart)), apart.Y))
    return entry.settings()[errors.index(min(errors))]


def _score(
    stream: str,
    name: str,
    settings: dict[str, dict[str, float]],
    apart: Samples,
    samples: Samples,
    plan: Plan,
) -> Score:
    entry = ENTRIES[name]
    if entry.missing:
        return Score(stream, name, missing=entry.missing)
    own = settings[entry.shares or name]
    if entry.limit:
        samples = samples.first(entry.limit)
    times, predictions = _raced(entry, own, apart, samples, plan.pick(1, 3))
    n = len(samples.Y)
    return Score(
        stream=stream,
        peer=name,
        microseconds=times.best / n * 1e6,
        error=error(predictions, samples.Y),
        n_samples=n,
        settings=own,
        note=f"first {n} samples only" if entry.limit else "",
    )


def _raced(
    entry: Entry,
    settings: dict[str, float],
    apart: Samples,
    samples: Samples,
    repeats: int,
) -> tuple[Times, Any]:
    """Time fresh learners on the whole stream; return the predictions too."""
    found: list[Any] = []

    def fresh() -> Any:
        peer = entry.made(settings, apart)
        return peer, peer.prepared(samples)

    def run(ready: Any) -> None:
        peer, prepared = ready
        found[:] = peer.run(prepared)

    return in_turn([Job(run, fresh)], repeats, warm_up=False)[0], found
