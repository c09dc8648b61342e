"""Facts as Prometheus reads them: text format 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]


class Metric(NamedTuple):
    """A metric: name, what it is, and its samples."""

    name: str
    kind: str
    help: str
    samples: list[tuple[Labels, float]]
    parts: tuple[str, ...] = ()
    """What the names of samples have at their end, in a histogram."""


_SIMPLE = (
    ("step", "halk_steps_total", "counter", "Updates of the model."),
    ("readings", "halk_readings_total", "counter", "Readings learned from."),
    ("gaps", "halk_gaps_total", "counter", "Rows without a value."),
    ("bad_rows", "halk_bad_rows_total", "counter", "Rows that could not be used."),
    ("suspects", "halk_suspects_total", "counter", "Readings far from all expected."),
    ("diverged", "halk_diverged_total", "counter", "Readings refused by divergence."),
    ("atoms", "halk_atoms", "gauge", "Atoms of the function."),
    ("last_error", "halk_last_error", "gauge", "Value less prediction, last reading."),
    ("rmse", "halk_rmse", "gauge", "RMSE of predictions made before learning."),
    ("recent_rmse", "halk_recent_rmse", "gauge", "The same, about the last 100."),
    ("uptime_seconds", "halk_uptime_seconds", "gauge", "Since the process began."),
    ("seconds_since_step", "halk_seconds_since_step", "gauge", "Since an update."),
    ("memory_bytes", "halk_memory_bytes", "gauge", "Memory of the process."),
    ("bytes_sent", "halk_sent_bytes_total", "counter", "Bytes to neighbours."),
    ("bytes_received", "halk_received_bytes_total", "counter", "Bytes heard."),
    ("n_sent", "halk_sent_messages_total", "counter", "Messages to neighbours."),
    ("n_received", "halk_received_messages_total", "counter", "Messages heard."),
)
_OF_CHECKPOINT = (
    ("age_seconds", "halk_checkpoint_age_seconds", "gauge", "Since the last file."),
    ("saved", "halk_checkpoints_total", "counter", "Files written."),
    ("failed", "halk_checkpoints_failed_total", "counter", "Files not written."),
)
_OF_NEIGHBOURS = (
    ("is_alive", "halk_neighbour_up", "Whether a neighbour can be reached."),
    ("is_greeted", "halk_neighbour_greeted", "Whether a neighbour's hello fits."),
    ("multiplier", "halk_multiplier", "Price of the tolerance to a neighbour."),
    ("violation", "halk_violation", "Mean of the distance above the tolerance."),
    ("tolerance", "halk_tolerance", "How far a neighbour may differ."),
)
_BY_REASON = (
    ("refused", "reason", "halk_refused_total", "Messages and links refused."),
    ("complaints", "reason", "halk_complaints_total", "Own messages refused there."),
    ("dropped", "reason", "halk_dropped_total", "Messages that the transport dropped."),
)


def metrics(facts: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics of some facts; what is not known is left out."""
    agent = {"agent": str(facts["name"])}
    about = {key: str(facts[key]) for key in ("mode", "unit", "version")}
    is_ok = float(facts["status"] == "ok")
    found = [
        Metric("halk_agent_info", "gauge", "The agent.", [(agent | about, 1.0)]),
        Metric("halk_healthy", "gauge", "1 unless stuck.", [(agent, is_ok)]),
    ]
    simple = [(facts, *row) for row in _SIMPLE]
    simple += [(facts["checkpoint"], *row) for row in _OF_CHECKPOINT]
    for table, key, name, kind, words in simple:
        value = table.get(key)
        samples = [] if value is None else [(agent, float(value))]
        found.append(Metric(name, kind, words, samples))
    for key, name, words in _OF_NEIGHBOURS:
        pairs = (
            (agent | {"neighbour": neighbour}, about_it[key])
            for neighbour, about_it in facts["neighbours"].items()
        )
        samples = [(labels, float(v)) for labels, v in pairs if v is not None]
        found.append(Metric(name, "gauge", words, samples))
    for key, label, name, words in _BY_REASON:
        counts = facts.get(key, {}).items()
        samples = [(agent | {label: word}, float(n)) for word, n in counts]
        found.append(Metric(name, "counter", words, samples))
    if facts.get("round_trip_seconds"):
        found.append(_histogram(agent, facts["round_trip_seconds"]))
    return [metric for metric in found if metric.samples]


def _histogram(agent: Labels, times: Mapping[str, Any]) -> Metric:
    words = "From a query to its answer, late ones too."
    buckets = times["buckets"] | {"+Inf": times["count"]}
    samples = [(agent | {"le": end}, float(n)) for end, n in buckets.items()]
    samples += [(agent, float(times["sum"])), (agent, float(times["count"]))]
    parts = (*["_bucket"] * len(buckets), "_sum", "_count")
    return Metric("halk_round_trip_seconds", "histogram", words, samples, parts)


def text(found: Iterable[Metric]) -> str:
    """Return metrics as text."""
    lines = []
    for metric in found:
        words = metric.help.replace("\\", r"\\").replace("\n", r"\n")
        lines += [
            f"# HELP {metric.name} {words}",
            f"# TYPE {metric.name} {metric.kind}",
        ]
        parts = metric.parts or [""] * len(metric.samples)
        lines += [
            f"{metric.name}{part}{_labelled(labels)} {value!r}"
            for part, (labels, value) in zip(parts, metric.samples, strict=True)
        ]
    return "\n".join([*lines, ""])


def _labelled(labels: Labels) -> str:
    parts = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{parts}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
