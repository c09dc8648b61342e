"""Methods by name, and what it takes to make one again."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, NamedTuple

from halk._validation import choice
from halk.data.readings import Readings
from halk.errors import DataError
from halk.sensors import scattered, simple
from halk.sensors.choose import Candidate, list_candidates
from halk.sensors.field import FieldModel
from halk.sensors.method import Method, Site
from halk.sensors.neighbours import NeighbourModel
from halk.sensors.order import find_line, sort_rows

NAMES = {
    "neighbours": "neighbours", "field": "field", "kriging": "kriging",
    "idw": "inverse distance", "linear": "linear interpolation", "mean": "sensor mean",
}  # fmt: skip
"""What users write, and how names of methods begin."""

_CLASSES: dict[str, Any] = {
    f"{cls.__module__}.{cls.__name__}": cls
    for cls in (
        NeighbourModel, FieldModel, simple.Kriging, simple.InverseDistance,
        simple.Linear, simple.SensorMean, scattered.Kriging, scattered.InverseDistance,
    )
}  # fmt: skip

_MACHINE = ("site", "n_threads", "report")
"""Arguments that are no choices."""


class Wanted(NamedTuple):
    """What the user insists on; None is to be chosen."""

    method: str | None = None
    together: bool | None = None
    neighbours: int | None = None
    coverage: float = 0.9


class Settings(NamedTuple):
    """A method without what it learned."""

    kind: str
    options: dict[str, Any]

    @classmethod
    def of(cls, method: Any) -> Settings:
        """Return the settings of a method: its arguments are attributes of the names."""
        kind = type(method)
        names = [n for n in inspect.signature(kind).parameters if n not in _MACHINE]
        options = {name: getattr(method, name) for name in names}
        return cls(f"{kind.__module__}.{kind.__name__}", options)

    def make(self, site: Site) -> Method:
        """Return the method, which has learned nothing yet."""
        made: Method = _CLASSES[self.kind](site, **self.options)
        return made


def find_candidates(
    site: Site, rows: Readings, wanted: Wanted
) -> tuple[list[Candidate], dict[str, str]]:
    """Return the methods that suit a table and the user, and why others do not.

    Raises
    ------
    DataError
        If what the user insists on does not suit the table.
    """
    known = sort_rows(rows)
    found, skipped = list_candidates(site, known, find_line(site.schema, known))
    found = [_heed(one, site, wanted) for one in found]
    if wanted.together is not None:
        name = "field, together" if wanted.together else "field, independent"
        found = [
            one
            for one in found
            if not isinstance(made := one.make(), FieldModel) or made.name == name
        ]
    if wanted.method is None:
        return found, skipped
    choice("method", wanted.method, NAMES)
    begins = NAMES[wanted.method]
    kept = [one for one in found if one.make().name.startswith(begins)]
    if not kept:
        reasons = [why for name, why in skipped.items() if name.startswith(begins)]
        why = f": {'; '.join(reasons)}" if reasons else ""
        raise DataError(f"method {wanted.method!r} does not suit this table{why}")
    return kept, skipped


def _heed(one: Candidate, site: Site, wanted: Wanted) -> Candidate:
    """Return a neighbour model as the user wants it; any other as it is."""
    made: Any = one.make()
    if not isinstance(made, NeighbourModel):
        return one
    settings = Settings.of(made)
    options = settings.options | {"coverage": wanted.coverage}
    if wanted.neighbours is not None:
        options["neighbours"] = wanted.neighbours
    return one._replace(make=partial(settings._replace(options=options).make, site))
