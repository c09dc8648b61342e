"""Who talks to whom, from a file of a network: pairs, a table of them, or distances."""

from __future__ import annotations

from typing import Any

from halk import Network
from halk.data import Findings, read_table
from halk.data.edges import number_edges, read_edges
from halk.data.findings import suggest
from halk.data.sensors import read_sensors
from halk.deploy.keys import Keys

_WAYS = ("edges", "radius", "nearest")


def network_of(keys: Keys, edges: list[Keys], names: list[str]) -> Network:
    """Return the network that the tables ``[network]`` and ``[[edges]]`` say."""
    tolerance = keys.take("tolerance", None)
    if tolerance is not None:
        _check(keys, tolerance)
    path, sensors = keys.path("edges", None), keys.path("sensors", None)
    radius, nearest = keys.number("radius", None), keys.whole("nearest", None)
    given = [w for w, v in zip(_WAYS, (path, radius, nearest), strict=True) if v]
    given += ["[[edges]]"] if edges else []
    if len(given) > 1:
        keys.refuse(given[0], f"must not go with {given[1]}: give one of them")
    if radius or nearest:
        keys.must(sensors is not None, "sensors", f"go with {given[0]}: a table", None)
        return _by_distance(keys, sensors, names, radius, nearest, tolerance)
    keys.must(sensors is None, "sensors", "go with radius or nearest", str(sensors))
    listed = [_edge(one, names) for one in edges]
    if path is not None:
        listed = read_edges(path)
    pairs, own = number_edges(listed, tuple(names), str(path or keys.file))
    limits = [tolerance if limit is None else limit for limit in own]
    if None in limits:
        a, b = (names[k] for k in pairs[limits.index(None)])
        keys.refuse("tolerance", f"is missing, and so is that of {a} and {b}")
    return Network(len(names), pairs, limits if pairs else 0.0, names=names)


def _check(keys: Keys, tolerance: Any) -> None:
    is_number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    holds = is_number and 0 <= tolerance < 1e300
    keys.must(holds, "tolerance", "be a number, not negative", tolerance)


def _edge(keys: Keys, names: list[str]) -> tuple[str, str, float | None]:
    ends = keys.texts("between", such='between = ["north", "south"]')
    is_pair = len(ends) == 2 and ends[0] != ends[1]
    keys.must(is_pair, "between", "be two agents", list(ends))
    for name in ends:
        if name not in names:
            hint = suggest(name, names)
            keys.refuse(
                "between", f"must name agents that are there, got {name!r}{hint}"
            )
    tolerance = keys.take("tolerance", None)
    if tolerance is not None:
        _check(keys, tolerance)
    keys.end()
    return ends[0], ends[1], tolerance


def _by_distance(
    keys: Keys,
    path: Any,
    names: list[str],
    radius: float | None,
    nearest: int | None,
    tolerance: float | None,
) -> Network:
    keys.must(tolerance is not None, "tolerance", "be given with distances", None)
    findings = Findings()
    found = read_sensors(read_table(path, "sensors"), None, findings)
    findings.refuse()
    if found is None or found.positions is None:
        keys.refuse("sensors", f"must have lat and lon, or x and y, got {path}")
    places = dict(zip(found.names, found.positions, strict=True))
    missing = [name for name in names if name not in places]
    if missing:
        hint = suggest(missing[0], found.names)
        keys.refuse("sensors", f"must have all agents, got no {missing[0]!r}{hint}")
    metric = "haversine" if found.is_geographic else "euclidean"
    return Network.from_positions(
        [places[name] for name in names], radius, k=nearest, metric=metric,
        tolerance=float(tolerance or 0.0), names=names,
    )  # fmt: skip
