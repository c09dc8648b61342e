"""What a folder of results holds: trace, claims, figures, report, manifest."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from halk._atomic import replacing
from halk._version import __version__
from halk.experiments import EXPERIMENTS
from halk.experiments.claims import Claim
from halk.experiments.experiment import Experiment, combined
from halk.experiments.runs import Results
from halk.experiments.store import Store, code_digest
from halk.report import Page, Section, Table, write

_PACKAGES = (
    "numpy",
    "scipy",
    "matplotlib",
    "pyarrow",
    "scikit-learn",
    "cvxpy",
)


_ENTRY = {"command", "code", "written", "options", "data", "runs"}
"""What an entry of the manifest holds; one of another version is left out."""


SMOKE = (
    "Smoke scale: few sensors and few steps. It shows that everything works; the "
    "verdicts mean nothing."
)


class Finished(NamedTuple):
    """An experiment with all its results, and what they say."""

    experiment: Experiment
    results: Results
    claims: list[Claim]


def written_before(store: Store) -> dict[str, Any]:
    """Return what the manifest of a folder says of each experiment."""
    manifest = store.read_json("manifest.json")
    known = manifest.get("experiments") if isinstance(manifest, dict) else None
    entries = known if isinstance(known, dict) else {}
    return {
        name: about
        for name, about in entries.items()
        if name in EXPERIMENTS and isinstance(about, dict) and about.keys() >= _ENTRY
    }


def write_all(
    store: Store, finished: Sequence[Finished], entries: dict[str, Any]
) -> None:
    """Write everything; ``entries`` are those of the manifest, one an experiment.

    Experiments with an entry but without results here keep their claims.
    """
    table = combined([result for one in finished for result in one.results])
    parquet = import_module("pyarrow.parquet")
    with replacing(store.folder / "trace.parquet") as file:
        parquet.write_table(table, file)
    present = {one.experiment.name for one in finished}
    lost = [name for name in entries if name not in present]
    store.write_json("claims.json", _claims(store, finished, lost))
    manifest = _manifest(entries)
    page = Page(
        "What is claimed, and what was seen",
        "HALK, its baselines and its theory, run again",
        _facts(manifest),
        [_overview(finished, lost), *(_section(one) for one in finished)],
        _headline(finished),
    )
    write(page, store.folder / "report.html", store.folder / "figures")
    store.write_json("manifest.json", manifest)


def _claims(
    store: Store, finished: Sequence[Finished], lost: Sequence[str]
) -> list[dict[str, Any]]:
    """Return all claims as JSON, with those of experiments that cannot be read."""
    before = store.read_json("claims.json")
    kept = [
        claim
        for claim in (before if isinstance(before, list) else [])
        if isinstance(claim, dict) and str(claim.get("name")).split("/")[0] in lost
    ]
    return [claim.as_json() for one in finished for claim in one.claims] + kept


def _section(one: Finished) -> Section:
    return one.experiment.section(one.results, one.claims)


def _headline(finished: Sequence[Finished]) -> list[tuple[str, str, str]]:
    """Return how many claims hold, for each coupling."""
    found = []
    names = {"paper": "with the paper's coupling", "exact": "with the exact coupling"}
    for coupling, label in names.items():
        verdicts = [
            claim.verdicts[coupling].holds
            for one in finished
            for claim in one.claims
            if coupling in claim.verdicts
        ]
        if verdicts:
            n = sum(bool(holds) for holds in verdicts)
            found.append((label, f"{n} of {len(verdicts)}", "claims reproduced"))
    return found


def _overview(finished: Sequence[Finished], lost: Sequence[str]) -> Section:
    rows = []
    for one in finished:
        row: list[Any] = [one.experiment.title]
        for coupling in ("paper", "exact"):
            verdicts = [
                c.verdicts[coupling] for c in one.claims if coupling in c.verdicts
            ]
            n = sum(bool(verdict.holds) for verdict in verdicts)
            row.append(f"{n} of {len(verdicts)}" if verdicts else None)
        seconds = sum(result.seconds for result in one.results)
        rows.append([*row, len(one.results), round(seconds)])
    columns = ["experiment", "paper's coupling", "exact coupling", "runs", "seconds"]
    table = Table("Claims that hold for every seed", columns, rows)
    items: list[Any] = [
        "The claims listed below are computed from the runs, for the update that the "
        "paper prints (its coupling leaves out a part of the gradient) and for the "
        "exact one. A claim counts if it holds for every seed. What was chosen, and "
        "what was chosen after a look at results, stands in every section.",
        table,
    ]
    small = [one.experiment.name for one in finished if one.experiment.options.is_smoke]
    if small:
        items.insert(0, f"{SMOKE} ({', '.join(small)})")
    if lost:
        listed = ", ".join(lost)
        items.append(
            f"This folder also holds results of {listed}, whose data cannot be read "
            f"any more; their claims are kept in `claims.json`."
        )
    return Section("Overview", "overview", items)


def entry(one: Finished, command: str) -> dict[str, Any]:
    """Return what the manifest says of an experiment that was finished just now."""
    return {
        "command": command,
        "code": code_digest(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "options": one.experiment.options.as_json(),
        "data": one.experiment.facts(),
        "runs": {
            result.run.name: {
                "settings": result.settings,
                "digest": result.digest or result.run.digest(code_digest()),
                "seconds": round(result.seconds, 3),
            }
            for result in one.results
        },
    }


def _manifest(entries: dict[str, Any]) -> dict[str, Any]:
    return {
        "halk": __version__,
        "code": code_digest(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "experiments": {name: entries[name] for name in EXPERIMENTS if name in entries},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _facts(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    packages = {k: v for k, v in manifest["packages"].items() if v is not None}
    facts = [
        ("halk", manifest["halk"]),
        ("Python", f"{manifest['python']} on {manifest['platform']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in packages.items())),
    ]
    for name, about in manifest["experiments"].items():
        options = about["options"]
        scale = f"{options['scale']} scale, {options['seeds']} seeds"
        facts.append((name, f"{scale}, code {about['code']}, {about['written']}"))
        facts.append((f"{name}: command", about["command"]))
        if about["data"]:
            source = f"{about['data']['data']}, SHA-256 {about['data']['sha256'][:16]}"
            facts.append((f"{name}: data", source))
    return facts
