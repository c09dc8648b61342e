"""What is claimed of the fill-in, with 80 % of the readings withheld."""

from __future__ import annotations

from halk.experiments.claims import (
    COUPLINGS,
    Claim,
    Judge,
    Numbers,
    Statement,
    verdict,
)
from halk.experiments.runs import Result, Results

TARGET, STRETCH = 0.65, 0.45  # degrees, temperature, WOA18 network
WOA18 = "c2211689f50ad593484e727251f1a84ac6cb30dbb894b44ebc9f0ca2dd433cd0"
"""SHA-256 of the table that the targets were set for."""


def error_of(result: Result) -> float:
    """Return the error on withheld readings; infinite for a run that diverged."""
    error = result.numbers["error"]
    return float("inf") if error is None else float(error)


def claims(
    experiment: str, results: Results, unit: str, has_targets: bool
) -> list[Claim]:
    """Return what is claimed, with HALK under either coupling."""
    said = _targets(unit) if has_targets else []
    for variable in results.values("variable"):
        said += _comparisons(variable)
    found = []
    for variable, one in said:
        verdicts = {}
        for coupling in COUPLINGS:
            keys = [k.replace("halk", f"halk-{coupling}") for k in one.methods]
            series = [
                results.where(variable=variable, method=key, share=80) for key in keys
            ]
            verdicts[coupling] = verdict(one.judge, *series)
        name = f"{experiment}/{variable}-{one.name}"
        found.append(Claim(name, one.sentence, one.source, verdicts, one.note))
    return found


def _targets(unit: str) -> list[tuple[str, Statement]]:
    """Return the targets that were set for the WOA18 network."""
    note = "target for the exact coupling, WOA18 network"
    said = [
        Statement(
            f"below-{bound}",
            f"HALK fills in temperature to {bound} {unit} or better",
            source,
            ("halk",),
            _at_most(bound),
            note,
        )
        for bound, source in ((TARGET, "target"), (STRETCH, "hoped for"))
    ]
    sentence = "HALK's error is less than a third of that of sensors alone"
    keys = ("halk", "alone")
    said.append(Statement("third-of-alone", sentence, "target", keys, _third, note))
    return [("temperature", one) for one in said]


def _comparisons(variable: str) -> list[tuple[str, Statement]]:
    others = {
        "alone": "sensors alone",
        "nlms": "the plain linear filter",
        "penalty": "the penalty method",
        "diffusion": "random features with diffusion",
        "gp-alone": "a batch Gaussian process for each sensor",
    }
    return [
        (
            variable,
            Statement(
                f"below-{key}",
                f"HALK fills in {variable} better than {label}",
                "ours",
                ("halk", key),
                _less_than(label),
            ),
        )
        for key, label in others.items()
    ]


def _at_most(bound: float) -> Judge:
    def judge(halk: Result) -> tuple[bool, Numbers]:
        return error_of(halk) <= bound, {"HALK": error_of(halk)}

    return judge


def _third(halk: Result, alone: Result) -> tuple[bool, Numbers]:
    own, other = error_of(halk), error_of(alone)
    return own < other / 3, {"HALK": own, "alone": other}


def _less_than(label: str) -> Judge:
    def judge(halk: Result, other: Result) -> tuple[bool, Numbers]:
        own, their = error_of(halk), error_of(other)
        return own < their, {"HALK": own, label: their}

    return judge
