"""Make the coastline of ``halk.report`` from the TopoJSON file of ``world-atlas``.

::

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python tools/coastline.py package/land-50m.json src/halk/report/data/coast.npz
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS_PER_DEGREE = 50
SMALLEST = 0.004  # square degrees, about 7 km by 7 km

Points = NDArray[np.float64]


def arcs_of(topology: dict[str, Any]) -> list[Points]:
    """Undo the delta encoding: every arc in degrees (longitude, latitude)."""
    scale = np.array(topology["transform"]["scale"])
    origin = np.array(topology["transform"]["translate"])
    return [np.cumsum(arc, axis=0) * scale + origin for arc in topology["arcs"]]


def rings_of(topology: dict[str, Any]) -> Iterator[Points]:
    """Join arcs to closed rings; a negative number is an arc walked backwards."""
    arcs = arcs_of(topology)

    def joined(numbers: Sequence[int]) -> Points:
        parts = [arcs[n] if n >= 0 else arcs[~n][::-1] for n in numbers]
        return np.concatenate([part[:-1] for part in parts])

    for geometry in topology["objects"]["land"]["geometries"]:
        for polygon in geometry["arcs"]:
            yield from (unbroken(joined(numbers)) for numbers in polygon)


def unbroken(ring: Points) -> Points:
    """Go on beyond 180 degrees instead of jumping; close a ring round the pole there.

    Chukotka and Fiji lie on both sides; Antarctica goes round the South Pole.
    """
    closed = np.concatenate((ring, ring[:1]))
    closed[:, 0] = np.unwrap(closed[:, 0], period=360)
    if abs(closed[-1, 0] - closed[0, 0]) < 180:
        return closed[:-1]
    pole = [(closed[-1, 0], -90.0), (closed[0, 0], -90.0)]
    return np.concatenate((closed, pole))


def area(ring: Points) -> float:
    """Return the area of a ring in square degrees."""
    x, y = ring.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def quantised(ring: Points) -> NDArray[np.int16]:
    """Round to the grid, without points that fall on the one before."""
    grid = np.round(ring * STEPS_PER_DEGREE).astype(np.int16)
    is_new = (grid != np.roll(grid, 1, axis=0)).any(axis=1)
    return np.compress(is_new, grid, axis=0)


def main(source: str, target: str) -> None:
    """Convert the file ``source`` to the archive ``target``."""
    topology = json.loads(Path(source).read_text(encoding="utf-8"))
    rings = [quantised(ring) for ring in rings_of(topology) if area(ring) > SMALLEST]
    rings = [ring for ring in rings if len(ring) > 2]
    # Differences are small numbers, which compress twice as well.
    origin = np.zeros((1, 2), dtype=np.int16)
    steps = [np.diff(np.concatenate((origin, ring)), axis=0) for ring in rings]
    np.savez_compressed(
        target,
        steps=np.concatenate(steps).astype(np.int16),
        lengths=np.array([len(ring) for ring in rings], dtype=np.int32),
        steps_per_degree=np.int16(STEPS_PER_DEGREE),
    )
    print(f"{len(rings)} rings, {sum(map(len, rings))} points")


if __name__ == "__main__":
    main(*sys.argv[1:])
