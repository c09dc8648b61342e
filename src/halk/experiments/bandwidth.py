"""Whether adapting the bandwidth gives a lower loss with fewer atoms.

``python -m halk.experiments.bandwidth DATA.csv`` learns temperature and salinity from
depth in a network of ocean sensors, set up as in the paper: edges within
1000 km, tolerance ``exp(-distance / 1000 km)``, every agent draws one of its readings
at random each step. It compares a fixed bandwidth of 50 m with each adaptation, under
the paper's own update and under halk's default one.

The table has the columns ``node, lat, lon, depth_m`` and one each whose name starts
with ``temperature_annual`` and ``salinity_annual``; empty cells are readings not taken.
"""

import argparse
import csv
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk import HALK, DivergenceError, Network
from halk._validation import Matrix
from halk.bandwidth import Adaptation, LeaveOneOut, LossFollowing
from halk.kernels import Gaussian

__all__ = ["Field", "Result", "Row", "compare", "read", "summarize", "text"]

STEPS = {"temperature": 2430, "salinity": 2500}
"""What is learned, by the beginning of its column's name, and for how many steps."""

REACH = 1000.0  # km
WIDTH = 50.0  # m
STEP_SIZE, REGULARIZATION, PARSIMONY = 0.01, 1e-5, 40.0

FIXED = "fixed"
RULES: dict[str, Adaptation | None] = {
    FIXED: None,
    "leave-one-out": LeaveOneOut(),
    "loss-following": LossFollowing(),
}
MODES = (("paper", "plain"), ("exact", "normalized"))


class Field(NamedTuple):
    """What the agents of a network measure."""

    name: str
    agents: tuple[str, ...]
    positions: Matrix  # (V, 2) latitude and longitude in degrees
    readings: list[Matrix]  # one (n_i, 2) an agent: depth and value


class Numbers(NamedTuple):
    """What a run that stayed finite came to."""

    loss: float  # mean of (f - y)^2 / 2 before the update, last tenth
    order: float  # mean over the agents, at the end
    bandwidth: float  # median over the agents, at the end
    multiplier: float  # the largest, at the end


class Result(NamedTuple):
    """One run."""

    field: str
    coupling: str
    step: str
    rule: str
    seed: int
    n_steps: int  # made before the end or the divergence
    numbers: Numbers | None  # None if it diverged
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the run as a flat dictionary."""
        flat = self._asdict()
        numbers = flat.pop("numbers")
        return flat | ({} if numbers is None else numbers._asdict())


class Row(NamedTuple):
    """Runs that differ in the seed only, compared with the fixed bandwidth."""

    results: list[Result]
    n_better: int  # seeds with lower loss and fewer atoms than the fixed bandwidth

    @property
    def is_better(self) -> bool:
        """Whether loss and order are lower for every seed."""
        return self.n_better == len(self.results)


# reading the table


def read(path: Path) -> list[Field]:
    """Read the fields of a CSV file.

    Raises
    ------
    ValueError
        If a column is missing or a cell is not a number, with file and line.
    """
    with path.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        columns = _columns(path, table.fieldnames or ())
        lines = [(table.line_num, line) for line in table]
    places = _places(path, lines)
    return [_field(path, lines, name, columns[name], places) for name in STEPS]


def _columns(path: Path, header: Sequence[str]) -> dict[str, str]:
    """Return the column of each field, after checking that none is missing."""
    missing = [name for name in ("node", "lat", "lon", "depth_m") if name not in header]
    columns = {}
    for name in STEPS:
        prefix = f"{name}_annual"
        found = [column for column in header if column.startswith(prefix)]
        missing += [] if found else [f"{prefix}*"]
        columns[name] = found[0] if found else ""
    if missing:
        raise ValueError(
            f"{path}: header must hold {', '.join(missing)}, got {', '.join(header)}"
        )
    return columns


def _number(path: Path, line_number: int, line: Mapping[str, Any], name: str) -> float:
    cell = line[name]
    try:
        value = float(cell)
    except (TypeError, ValueError):
        value = float("nan")
    if not isfinite(value):
        where = f"{path}, line {line_number}"
        raise ValueError(f"{where}: {name} must be a finite number, got {cell!r}")
    return value


def _places(
    path: Path, lines: Iterable[tuple[int, Mapping[str, Any]]]
) -> dict[str, tuple[float, float]]:
    """Return latitude and longitude of every node."""
    places: dict[str, tuple[float, float]] = {}
    for at, line in lines:
        place = _number(path, at, line, "lat"), _number(path, at, line, "lon")
        known = places.setdefault(line["node"], place)
        if place != known:
            rule = f"node {line['node']} must stay at {known}"
            raise ValueError(f"{path}, line {at}: {rule}, got {place}")
    if not places:
        raise ValueError(f"{path}: table must have rows, got none")
    return places


def _field(
    path: Path,
    lines: Iterable[tuple[int, Mapping[str, Any]]],
    name: str,
    column: str,
    places: dict[str, tuple[float, float]],
) -> Field:
    """Collect the readings of one column; nodes without any are left out."""
    readings: dict[str, list[tuple[float, float]]] = {}
    for at, line in lines:
        if line[column] != "":
            depth = _number(path, at, line, "depth_m")
            value = _number(path, at, line, column)
            readings.setdefault(line["node"], []).append((depth, value))
    if not readings:
        raise ValueError(f"{path}: {column} must hold readings, got empty cells only")
    agents = tuple(node for node in places if node in readings)
    positions = np.array([places[node] for node in agents])
    return Field(name, agents, positions, [np.array(readings[k]) for k in agents])


# runs


def network(field: Field) -> Network:
    """Connect agents within reach; the further, the tighter the tolerance."""
    return Network.from_positions(
        field.positions,
        REACH,
        metric="haversine",
        tolerance=lambda distance: np.exp(-distance / REACH),
        names=field.agents,
    )


def stream(field: Field, n_steps: int, seed: int) -> tuple[NDArray[np.float64], Matrix]:
    """Draw one reading of every agent for every step, (T, V, 1) and (T, V)."""
    rng = np.random.default_rng(seed)
    drawn = [d[rng.integers(len(d), size=n_steps)] for d in field.readings]
    readings = np.stack(drawn, axis=1)
    return readings[..., :1], readings[..., 1]


def run(
    field: Field, mode: tuple[str, str], rule: str, n_steps: int, seed: int
) -> Result:
    """Learn once; measure over the last tenth."""
    coupling, step = mode
    model = HALK(
        network(field),
        kernel=Gaussian(WIDTH),
        step_size=STEP_SIZE,
        regularization=REGULARIZATION,
        dual_regularization=REGULARIZATION,
        parsimony=PARSIMONY,
        coupling=coupling,
        step=step,
        bandwidth=RULES[rule],
    )
    start = time.perf_counter()
    try:
        numbers: Numbers | None = _numbers(model, *stream(field, n_steps, seed))
    except DivergenceError:
        numbers = None
    seconds = time.perf_counter() - start
    return Result(
        field.name, coupling, step, rule, seed, model.n_steps, numbers, seconds
    )


def _numbers(model: HALK, X: NDArray[np.float64], Y: Matrix) -> Numbers:
    """Learn, and measure."""
    first = len(X) - max(1, len(X) // 10)
    model.learn_many(X[:first], Y[:first])
    losses = [
        (model.observe(part).prediction - part.y) ** 2 / 2
        for part in model.dense_pieces(X[first:], Y[first:])
    ]
    widths = model.bandwidths
    return Numbers(
        float(np.concatenate(losses).mean()),
        float(model.model_order.mean()),
        float(np.median(widths)) if widths is not None else np.nan,
        float(model.multipliers.max(initial=0.0)),
    )


def compare(
    fields: Iterable[Field], n_seeds: int, n_steps: int | None = None
) -> Iterator[list[Row]]:
    """Yield, for each field and mode, one row for each bandwidth rule."""
    for field in fields:
        T = STEPS[field.name] if n_steps is None else n_steps
        for mode in MODES:
            yield summarize(
                [
                    [run(field, mode, rule, T, seed) for seed in range(n_seeds)]
                    for rule in RULES
                ]
            )


def summarize(results: list[list[Result]]) -> list[Row]:
    """Compare each rule's runs with those of the fixed bandwidth, seed by seed."""
    fixed = results[0]
    return [Row(runs, sum(map(_is_better, runs, fixed))) for runs in results]


def _is_better(one: Result, fixed: Result) -> bool:
    """Whether loss and order are both lower; anything finite beats divergence."""
    if one.numbers is None or fixed.numbers is None:
        return one.numbers is not None
    is_lower = one.numbers.loss < fixed.numbers.loss
    return is_lower and one.numbers.order < fixed.numbers.order


# the program

_HEADER = """\
{field}, {mode}, T = {T}, {n} seeds
                     loss           order     width  largest mu   lower loss and
bandwidth         mean   worst    mean  worst  in m   mean  worst  fewer atoms"""


def text(rows: Sequence[Row]) -> str:
    """Return one field and mode as it is printed."""
    some = rows[0].results[0]
    T = max(result.n_steps for row in rows for result in row.results)
    mode = f"{some.coupling} coupling, {some.step} step"
    head = _HEADER.format(field=some.field, mode=mode, T=T, n=len(rows[0].results))
    return "\n".join([head, *map(_line, rows)])


def _line(row: Row) -> str:
    runs = row.results
    verdict = f"{'yes' if row.is_better else 'no'}, {row.n_better}/{len(runs)}"
    name = runs[0].rule
    verdict = "" if name == FIXED else verdict
    diverged = [run.n_steps for run in runs if run.numbers is None]
    if diverged:
        fate = (
            f"diverged: {len(diverged)} of {len(runs)}, first at step {min(diverged)}"
        )
        return f"{name:14} {fate:51} {verdict}".rstrip()
    table = np.array([run.numbers for run in runs])
    loss, order, width, multiplier = table.mean(axis=0)
    worst = table.max(axis=0)
    return (
        f"{name:14} {loss:7.3g} {worst[0]:7.3g} {order:7.1f} {worst[1]:6.1f} "
        f"{width:6.0f} {multiplier:6.3g} {worst[3]:6.3g}  {verdict}"
    ).rstrip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(
        prog="python -m halk.experiments.bandwidth",
        description="Compare fixed and adapted bandwidths of ocean sensors.",
    )
    parser.add_argument("data", type=Path, metavar="DATA.csv")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument(
        "--steps", type=int, metavar="T", help="fewer, for a quick look"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")
    options = parser.parse_args(arguments)
    try:
        fields = read(options.data)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    found = []
    for rows in compare(fields, options.seeds, options.steps):
        print(text(rows), end="\n\n", flush=True)
        found += [result.as_json() for row in rows for result in row.results]
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
