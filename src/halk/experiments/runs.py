"""Runs: the units of work of an experiment, and what they come to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from halk._validation import choice, integer, positive
from halk.trace import Trace

Tell = Callable[[float], None]
"""Told now and then which share of a run is done."""

SCALES = ("smoke", "full")


@dataclass(frozen=True)
class Options:
    """What a user asks of an experiment.

    Parameters
    ----------
    scale : {"full", "smoke"}
        All of it, or a few seconds' worth that shows that it works.
    seeds : int
        How many times everything is repeated, with other random numbers.
    data : path, optional
        A table of readings, an atlas file, or a folder of them; by default the network
        that comes along.
    season : str, optional
        Of the readings, where there are several; annual by default.
    sensors : int, optional
        How many: out of an atlas 50 by default, out of a table all.
    radius : float
        Sensors closer than this talk to each other, km.
    """

    scale: str = "full"
    seeds: int = 3
    data: Path | None = None
    season: str | None = None
    sensors: int | None = None
    radius: float = 1000.0

    def __post_init__(self) -> None:
        choice("scale", self.scale, SCALES)
        integer("seeds", self.seeds, minimum=1)
        positive("radius", self.radius)
        if self.sensors is not None:
            integer("sensors", self.sensors, minimum=2)

    @property
    def is_smoke(self) -> bool:
        """Whether it is only to be seen that everything works."""
        return self.scale == "smoke"

    def as_json(self) -> dict[str, Any]:
        """Return the options for the manifest."""
        return asdict(self) | {"data": None if self.data is None else str(self.data)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Options:
        """Return the options that :meth:`as_json` wrote."""
        data = content["data"]
        return cls(**{**content, "data": None if data is None else Path(data)})


@dataclass(frozen=True)
class Run:
    """One method on one stream.

    Parameters
    ----------
    experiment : str
    name : str
        Unique within the experiment, and fit for a file name.
    settings : dict
        All that decides the result, as JSON: with ``method``, ``coupling``, ``seed``.
    after : str, optional
        Name of a run whose result is needed for this one.
    """

    experiment: str
    name: str
    settings: dict[str, Any] = field(hash=False)
    after: str | None = None

    def digest(self, code: str) -> str:
        """Return a fingerprint of settings and code: equal means equal results."""
        content = json.dumps([self.experiment, self.name, self.settings, code])
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Result:
    """What a run came to: what was seen on the way, and a few numbers."""

    run: Run
    trace: Trace
    numbers: dict[str, Any]
    seconds: float = 0.0
    digest: str = ""
    """Of the code and settings that made it; empty for one made just now."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the run."""
        return self.run.settings


class Results:
    """All results of an experiment, found by their settings."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = list(results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def where(self, **settings: Any) -> list[Result]:
        """Return the results with these settings, in the order of their seeds."""
        found = [
            result
            for result in self._results
            if all(result.settings.get(k) == v for k, v in settings.items())
        ]
        return sorted(found, key=lambda result: result.settings["seed"])

    def values(self, key: str) -> list[Any]:
        """Return the different values of a setting, in the order of the runs."""
        return list(dict.fromkeys(r.settings.get(key) for r in self._results))
