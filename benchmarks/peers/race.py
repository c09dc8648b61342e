"""The race: settings on one stream, time and error on the other."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.peers.entries import ENTRIES, Entry
from benchmarks.peers.loop import error
from benchmarks.peers.streams import STREAMS, Samples
from benchmarks.plan import Plan
from benchmarks.results import Score
from benchmarks.timing import Job, in_turn

__all__ = ["chosen", "peers"]

_QUICK = ("wave", "nearly linear")
_TRAINING, _TEST = 1, 2
"""Seeds: of the stream that settings are chosen on, and of the one that counts."""


class Course(NamedTuple):
    """A stream, and the one apart that settings are chosen on."""

    name: str
    apart: Samples
    samples: Samples
    repeats: int


class Finish(NamedTuple):
    """How a learner came through."""

    settings: dict[str, float]
    seconds: float
    predictions: Any
    size: int


def peers(plan: Plan) -> list[Score]:
    """Return every peer on every stream."""
    scores = []
    for name in plan.pick(list(_QUICK), list(STREAMS)):
        draw = STREAMS[name].draw
        apart = draw(plan.pick(150, 400), _TRAINING)
        samples = draw(plan.pick(400, 2000), _TEST)
        scores += _scores(Course(name, apart, samples, plan.pick(1, 3)), plan)
    return scores


def _scores(course: Course, plan: Plan) -> list[Score]:
    """Return every peer on one stream; who shares settings comes after whose."""
    finishes: dict[str, Finish] = {}
    for peer, entry in sorted(ENTRIES.items(), key=lambda item: bool(item[1].shares)):
        if not entry.missing:
            plan.tell(f"{course.name}: {peer}")
            shared = finishes.get(entry.shares)
            settings = shared.settings if shared else chosen(entry, course.apart)
            finishes[peer] = _raced(entry, settings, course)
    return [_score(course, peer, finishes) for peer in ENTRIES]


def chosen(entry: Entry, apart: Samples) -> dict[str, float]:
    """Return the settings with the smallest error on the stream apart."""
    errors = []
    for settings in entry.settings():
        peer = entry.made(settings, apart)
        errors.append(error(peer.run(peer.prepared(apart)), apart.Y))
    return entry.settings()[errors.index(min(errors))]


def _raced(entry: Entry, settings: dict[str, float], course: Course) -> Finish:
    """Time fresh learners on the whole stream."""
    samples = course.samples.first(entry.limit or len(course.samples.Y))
    last: list[Any] = []

    def fresh() -> Any:
        peer = entry.made(settings, course.apart)
        return peer, peer.prepared(samples)

    def run(ready: Any) -> None:
        peer, prepared = ready
        last[:] = [peer, peer.run(prepared)]

    (times,) = in_turn([Job(run, fresh)], course.repeats, warm_up=False)
    peer, predictions = last
    return Finish(settings, times.best, predictions, peer.size)


def _score(course: Course, peer: str, finishes: dict[str, Finish]) -> Score:
    entry = ENTRIES[peer]
    if entry.missing:
        return Score(course.name, peer, missing=entry.missing)
    finish, note = finishes[peer], ""
    n = len(finish.predictions)
    targets = course.samples.Y[:n]
    if entry.limit:
        there = error(finishes[entry.shares].predictions[:n], targets)
        note = f"first {n} samples, where halk has {there:.3f}"
    return Score(
        stream=course.name,
        peer=peer,
        microseconds=finish.seconds / n * 1e6,
        error=error(finish.predictions, targets),
        n_samples=n,
        size=finish.size,
        settings=finish.settings,
        note=note,
    )
