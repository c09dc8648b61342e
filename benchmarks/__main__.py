"""The command ``python -m benchmarks``: measure one thing after the other."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks import apart, components, engine, second
from benchmarks.output import describe_machine, show, write
from benchmarks.peers import peers
from benchmarks.results import Plan, Result, Row

FAILED = "failed"
"""How the verdict of a bench that broke begins."""

_WIDTH = 120


class Bench(NamedTuple):
    """A question, and the function that measures the answer."""

    title: str
    run: Callable[[Plan], Sequence[Result]]


BENCHES: dict[str, Bench] = {
    "dense": Bench("a thousand agents against the floor", engine.dense),
    "ocean": Bench("the ocean run against the floor", engine.ocean),
    "second": Bench("the second-order step against its floor", second.second),
    "size": Bench("from 1,000 agents to 100,000", apart.size),
    "order": Bench("from 10 atoms to 1,000", engine.order),
    "report": Bench("one sensor of 100,000 reports", engine.report),
    "reference": Bench("against halk.reference", engine.compare_with_reference),
    "threads": Bench("two threads", engine.threads),
    "start": Bench("new process: time and memory", apart.start),
    "single": Bench("learn_one of a single agent", engine.single),
    "kernels": Bench("every kernel", components.kernels),
    "losses": Bench("every loss", components.losses),
    "adaptive": Bench("adaptations", components.adaptive),
    "peers": Bench("peers on the same streams", peers),
    "scaling": Bench("how cost grows", engine.scaling),
}


def choose(names: Sequence[str] | None) -> dict[str, Bench]:
    """Return the benches of these names, in our order; all of them for None.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    wanted: Any = BENCHES if names is None else names
    unknown = ", ".join(name for name in wanted if name not in BENCHES)
    if unknown:
        known = ", ".join(BENCHES)
        raise ValueError(f"--only must name some of {known}; got {unknown}")
    return {name: bench for name, bench in BENCHES.items() if name in wanted}


def measure(benches: Mapping[str, Bench], is_quick: bool, console: Any) -> list[Result]:
    """Run the benches and return everything they found.

    One that breaks leaves a row that says so, and the others go on.
    """
    results: list[Result] = []
    progress = _make_progress(console)
    with _one_thread(), progress:
        bar = progress.add_task("", total=len(benches))
        for name, bench in benches.items():

            def tell(what: str, name: str = name) -> None:
                progress.update(bar, description=f"{name}: {what}")

            tell(bench.title)
            began = perf_counter()
            results += _run(name, bench, Plan(is_quick, tell))
            progress.advance(bar)
            if not console.is_terminal:
                seconds = perf_counter() - began
                console.print(f"{name}: {bench.title}, {seconds:.0f} s")
    return results


def _run(name: str, bench: Bench, plan: Plan) -> Iterator[Result]:
    try:
        yield from bench.run(plan)
    except Exception as error:  # the numbers of the others are not to be lost
        traceback.print_exc()
        reason = f"{FAILED}: {type(error).__name__}: {error}"
        yield Row(name, bench.title, missing=reason)


def _make_progress(console: Any) -> Any:
    progress = import_module("rich.progress")
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )


def _one_thread() -> AbstractContextManager[Any]:
    """Hold linear algebra libraries to one thread, where we can."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    limit: Any = import_module("threadpoolctl").threadpool_limits
    return limit(1)  # type: ignore[no-any-return]


def _read_arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure halk against the floor of this machine and against peers.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes, in under two minutes"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("halk-bench"),
        help="folder for bench.json and the figure",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help=f"some of {', '.join(BENCHES)}"
    )
    return parser.parse_args(given)


def _make_folder(folder: Path) -> None:
    """Make the folder if need be, and try whether it can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(
            f"--out must be a folder to write in, got {folder}: {reason}"
        ) from None


def main(given: Sequence[str] | None = None) -> int:
    """Measure, show and write; return 1 if something broke, 2 if asked wrongly."""
    arguments = _read_arguments(given)
    try:
        benches = choose(arguments.only)
        _make_folder(arguments.out)
    except ValueError as error:
        sys.stderr.write(f"benchmarks: {error}\n")
        return 2
    console = import_module("rich.console").Console()
    if not console.is_terminal:  # into a file or a pipe the tables go wide
        console.width = max(console.width, _WIDTH)
    about = {"is_quick": arguments.quick, "machine": describe_machine()}
    began = perf_counter()
    try:
        results = measure(benches, arguments.quick, console)
    except KeyboardInterrupt:
        sys.stderr.write("benchmarks: interrupted, nothing was written\n")
        return 130
    seconds = perf_counter() - began
    show(results, console)
    paths = write(results, about | {"seconds": round(seconds, 1)}, arguments.out)
    files = ", ".join(map(str, paths))
    console.print(f"{seconds:.0f} s. Written: {files}", soft_wrap=True, markup=False)
    rows = [item for item in results if isinstance(item, Row)]
    return int(any(row.missing.startswith(FAILED) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
