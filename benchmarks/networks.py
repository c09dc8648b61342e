"""Real sensor networks with readings withheld: halk without options, and its rivals.

``python -m benchmarks.networks --data FOLDER [NAME ...]``; the folder (``HALK_DATA``
if not said) holds ``NAME.csv``, wide or long, and ``NAME_sensors.csv`` with places.
Withheld are random fifths, blocks of one sensor, and outages: a sensor and its five
nearest are silent together. Nowcasts are judged on the second half of the table, with
rivals fitted on the first. Results are kept (``--results``) and not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import halk
from benchmarks.rivals import RIVALS, Array, Cells, Rival, find_cells
from halk.data import examine

KINDS = ("random", "blocks", "outages")
SHARE = {"random": 0.2, "blocks": 0.15, "outages": 0.15}
LENGTHS = (4, 60)
"""Steps of the shortest and the longest block."""
BINS = ((1, 1), (2, 3), (4, 11), (12, 10**9))
"""Steps to the nearest reading of the same sensor (the last one, for nowcasts)."""
MISS = 0.1
ENOUGH = 500
HALK = "halk"


class Network(NamedTuple):
    """A table on a regular grid of times."""

    name: str
    chart: Path
    times: Array  # (T,), seconds since 1970
    X: Array  # (T, n)
    names: tuple[str, ...]
    places: Array  # (n, 2), in a plane


class Estimate(NamedTuple):
    """What a method says of cells; rivals have no intervals."""

    value: Array
    low: Array | None = None
    high: Array | None = None


def read_network(folder: Path, name: str) -> Network:
    """Return a network from its two files."""
    table, chart = folder / f"{name}.csv", folder / f"{name}_sensors.csv"
    found = examine(table, chart)
    found.findings.refuse()
    rows, sensors = found.readings, found.sensors
    assert rows is not None
    assert sensors is not None
    kept = rows.is_reading
    seconds = rows.x[kept, 0]
    step = float(np.median(np.diff(np.unique(seconds))))
    at = np.rint((seconds - seconds.min()) / step).astype(int)
    X = np.full((at.max() + 1, len(sensors.names)), np.nan)
    X[at, rows.sensor[kept]] = rows.y[kept]
    times = seconds.min() + step * np.arange(len(X))
    return Network(name, chart, times, X, sensors.names, sensors.plane())


def withhold(X: Array, kind: str, nearest: Array, rng: np.random.Generator) -> Array:
    """Return which readings (T, n) to hide."""
    is_read = ~np.isnan(X)
    if kind == "random":
        return np.asarray(is_read & (rng.random(X.shape) < SHARE[kind]))
    hidden = np.zeros(X.shape, bool)
    longest = max(2, min(LENGTHS[1], len(X) // 6))
    shortest = min(LENGTHS[0], longest)
    while (hidden & is_read).sum() < SHARE[kind] * is_read.sum():
        sensor = int(rng.integers(X.shape[1]))
        silent = [sensor] if kind == "blocks" else [sensor, *nearest[sensor, :5]]
        length = round(
            float(np.exp(rng.uniform(np.log(shortest), np.log(longest + 1))))
        )
        begin = int(rng.integers(1 - length, len(X)))
        hidden[max(begin, 0) : begin + length, silent] = True
    return np.asarray(hidden & is_read)


def find_bins(X: Array, cells: Cells, causal: bool) -> Array:
    """Return the bin of each cell by its steps to the nearest reading of the sensor."""
    rows = np.arange(len(X))[:, None]
    is_read = ~np.isnan(X)
    gap = rows - np.maximum.accumulate(np.where(is_read, rows, -(10**8)))
    if not causal:
        ahead = np.minimum.accumulate(np.where(is_read, rows, 10**8)[::-1])[::-1] - rows
        gap = np.minimum(gap, ahead)
    return np.searchsorted([high for _, high in BINS], gap[cells])


def score(y: Array, said: Estimate, bins: Array, **about: Any) -> dict[str, Any]:
    """Return a record of errors and, where there are intervals, of their cover."""
    error = np.where(np.isnan(said.value), np.nan, said.value - y)
    record = {
        **about, "n": len(y), "unanswered": int(np.isnan(error).sum()),
        "mae": float(np.nanmean(np.abs(error))),
        "mse": float(np.nanmean(error**2)),
    }  # fmt: skip
    if said.low is not None and said.high is not None:
        low, high = said.low, said.high
        is_in = (low <= y) & (y <= high)
        outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
        record["width"] = float(np.nanmean(high - low))
        record["interval_score"] = float(np.nanmean(high - low + 2 / MISS * outside))
        record["bins"] = [
            [int((bins == b).sum()), int(is_in[bins == b].sum())]
            for b in range(len(BINS))
        ]
    return record


def judge_rival(
    made: type[Rival], site: Network, hidden: Array, kind: str, **about: Any
) -> list[dict[str, Any]]:
    """Return records of a rival: of filling, and of nowcasts if they are judged."""
    X = np.where(hidden, np.nan, site.X)
    rival = made(site.places, site.times)

    def hide(table: Array, rng: np.random.Generator) -> Array:
        return withhold(table, kind, rival.heard, rng)

    def run(begin: int, end: int, causal: bool) -> tuple[Array, Array, Array, float]:
        began = time.perf_counter()
        t, i = np.nonzero(hidden[begin:end])
        cells = (t + begin, i)
        rival.fit(X[:begin] if causal else X, hide, causal)
        value = rival.estimate(X[:end], cells, causal)
        seconds = time.perf_counter() - began
        return value, site.X[cells], find_bins(X, cells, causal), seconds

    T = len(X)
    value, y, bins, seconds = run(0, T, False)
    about |= {"method": made.name, "kind": kind}
    records = [score(y, Estimate(value), bins, seconds=seconds, **about)]
    if kind != "outages":
        value, y, bins, seconds = run(T // 2, T, True)
        about["kind"] = f"now {kind}"
        records.append(score(y, Estimate(value), bins, seconds=seconds, **about))
    return records


def judge_halk(
    site: Network, hidden: Array, kind: str, **about: Any
) -> list[dict[str, Any]]:
    """Return records of halk, by what a user has: files, `fit` and `fill`."""
    X = np.where(hidden, np.nan, site.X)
    records = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "readings.csv"
        write_wide(table, site, X)
        began = time.perf_counter()
        model, said = fit_and_fill(site, table, causal=False)
        seconds = time.perf_counter() - began
        about |= {"method": HALK, "kind": kind, "chosen": model.comparison.chosen}
        cells = find_cells(hidden)
        part = Estimate(*(v[cells] for v in said))
        bins = find_bins(X, cells, False)
        records.append(score(site.X[cells], part, bins, seconds=seconds, **about))
        if kind != "outages":
            began = time.perf_counter()
            _, said = fit_and_fill(site, table, causal=True, model=model)
            seconds = time.perf_counter() - began
            late = hidden & (np.arange(len(X)) >= len(X) // 2)[:, None]
            cells = find_cells(late)
            part = Estimate(*(v[cells] for v in said))
            bins = find_bins(X, cells, True)
            about["kind"] = f"now {kind}"
            records.append(score(site.X[cells], part, bins, seconds=seconds, **about))
    return records


def write_wide(path: Path, network: Network, X: Array) -> None:
    """Write a table as an operator has it: a row per time, a column per sensor."""
    stamps = np.datetime_as_string(network.times.astype("datetime64[s]"))
    lines = ["time," + ",".join(network.names)]
    for stamp, row in zip(stamps, X, strict=True):
        lines.append(f"{stamp}," + ",".join("" if v != v else f"{v:.7g}" for v in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fit_and_fill(
    site: Network, table: Path, causal: bool, model: Any = None
) -> tuple[Any, tuple[Array, Array, Array]]:
    """Return the model of a file, and estimates and intervals (T, n) of its cells."""
    model = model or halk.fit(table, site.chart)
    made = model.fill(table, causal=causal)
    columns = (
        [np.asarray(made[f"{name}_{end}"], float) for name in site.names]
        for end in ("filled", "low", "high")
    )
    value, low, high = (np.column_stack(one) for one in columns)
    return model, (value, low, high)


def tabulate(records: Sequence[dict[str, Any]]) -> str:
    """Return the results of one network as two markdown tables."""
    kinds = [*KINDS, "now random", "now blocks"]
    kinds = [kind for kind in kinds if any(r["kind"] == kind for r in records)]
    methods = list(dict.fromkeys(r["method"] for r in records))
    mean: dict[tuple[str, str], tuple[float, float, float]] = {}
    for method in methods:
        for kind in kinds:
            held = [r for r in records if (r["method"], r["kind"]) == (method, kind)]
            if held:
                mae, mse, spent = np.mean(
                    [[r["mae"], r["mse"], r["seconds"]] for r in held], axis=0
                )
                mean[method, kind] = (float(mae), float(np.sqrt(mse)), float(spent))
    lines = [
        "| MAE, RMSE | " + " | ".join(kinds) + " | s |",
        "|---" * (len(kinds) + 2) + "|",
    ]
    for method in methods:
        cells = []
        for kind in kinds:
            own = mean.get((method, kind))
            best = [
                min(v[k] for (_, one), v in mean.items() if one == kind) for k in (0, 1)
            ]
            cells.append(", ".join(
                f"**{own[k]:.4g}**" if own[k] <= best[k] else f"{own[k]:.4g}"
                for k in (0, 1)
            ) if own else "")  # fmt: skip
        spent = sum(mean[method, kind][2] for kind in kinds if (method, kind) in mean)
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {spent:.0f} |")
    heads = [f"{a} to {b}" if b < 10**9 else f"{a} and more" for a, b in BINS]
    lines += [
        "",
        "| 90 % intervals | all | " + " | ".join(heads) + " | width | score |",
    ]
    lines.append("|---" * (len(BINS) + 4) + "|")
    for kind in kinds:
        held = [r for r in records if r["kind"] == kind and "bins" in r]
        if held:
            bins = np.sum([r["bins"] for r in held], axis=0)
            cells = [f"{100 * bins[:, 1].sum() / bins[:, 0].sum():.1f}"]
            cells += [f"{100 * k / n:.1f}" if n >= ENOUGH else "" for n, k in bins]
            for key in ("width", "interval_score"):
                cells.append(f"{np.mean([r[key] for r in held]):.4g}")
            lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines if any("bins" in r for r in records) else lines[:-3])


def measure(
    folder: Path, name: str, seeds: int, only: Sequence[str], kept: Path
) -> str:
    """Measure what is not in the results yet; return the table of the network."""
    path = kept / f"{name}.json"
    records = json.loads(path.read_text()) if path.exists() else []
    network = read_network(folder, name)
    nearest = Rival(network.places, network.times).heard
    judges = {rival.name: rival for rival in RIVALS}
    for seed in range(seeds):
        for kind in KINDS:
            rng = np.random.default_rng([seed, KINDS.index(kind), 1])
            hidden = withhold(network.X, kind, nearest, rng)
            for method in only or [HALK, *judges]:
                about = {"network": name, "seed": seed}
                done = {"method": method, "kind": kind, **about}
                if any(done.items() <= record.items() for record in records):
                    continue
                if method == HALK:
                    records += judge_halk(network, hidden, kind, **about)
                else:
                    records += judge_rival(
                        judges[method], network, hidden, kind, **about
                    )
                last = records[-1]
                print(
                    f"{name} {seed} {kind} {method}: {last['seconds']:.0f} s",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
                kept.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(records, indent=0))
    order = [HALK, *judges]
    return tabulate(sorted(records, key=lambda r: order.index(r["method"])))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure networks of a folder; print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="networks; all of the folder if none")
    parser.add_argument("--data", type=Path, default=os.environ.get("HALK_DATA"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=())
    told = parser.parse_args(arguments)
    if told.data is None:
        parser.error("where the networks are must be said: --data FOLDER or HALK_DATA")
    folder = Path(told.data)
    names = told.names or sorted(
        path.name.removesuffix("_sensors.csv") for path in folder.glob("*_sensors.csv")
    )
    for name in names:
        table = measure(folder, name, told.seeds, told.methods, told.results)
        print(f"\n## {name}\n\n{table}", flush=True)


if __name__ == "__main__":
    main()
