"""Verdicts, and each sentence on results where it must hold and where it must not."""

import json
from math import inf, nan

import numpy as np
import pytest

from halk.experiments import fill_in_claims, ocean_claims
from halk.experiments import random_field as random_field_module
from halk.experiments.claims import Claim, Verdict, below, shown, verdict
from halk.experiments.experiment import early, final, steady, window
from halk.experiments.ocean import Salinity, Temperature
from halk.experiments.runs import Options, Result, Results, Run
from halk.experiments.theory import Theory
from halk.experiments.timeline import _thinned, claim_table, curve
from halk.report import Page, render
from halk.trace import Trace
from tests.experiments.toys import diverged, ramp, result

# verdicts


def test_a_claim_holds_only_if_it_holds_for_every_seed():
    good, bad = (True, {"x": 1.0}), (False, {"x": 3.0})
    assert Verdict((good, good)).holds is True
    assert Verdict((good, bad)).holds is False
    assert Verdict((bad, bad)).holds is False
    assert Verdict(()).holds is None


@pytest.mark.parametrize(
    ("seeds", "holds", "word"),
    [
        ((True, None), None, "not comparable"),
        ((None, None), None, "not comparable"),
        ((False, None), False, "not reproduced"),
    ],
)
def test_a_claim_against_a_diverged_run_has_no_verdict(seeds, holds, word):
    made = Verdict(tuple((one, {"x": 2.0}) for one in seeds))
    assert made.holds is holds
    assert made.word == made.as_json()["verdict"] == word


@pytest.mark.parametrize(
    ("seeds", "word"),
    [((True,), "reproduced"), ((True, False), "not reproduced"), ((), "not computed")],
)
def test_verdicts_in_words(seeds, word):
    made = Verdict(tuple((one, {"x": 2.0}) for one in seeds))
    assert made.word == word
    assert made.as_json()["verdict"] == word


def test_numbers_seen_are_means_over_the_seeds():
    made = Verdict(
        ((True, {"loss": 1.0, "atoms": 8.0}), (False, {"loss": 2.0, "atoms": 9}))
    )
    assert made.seen == "loss 1.5; atoms 8.5 (1 of 2 seeds)"
    assert Verdict(()).seen == ""


def test_a_diverged_seed_is_said_and_has_no_number_in_json():
    made = Verdict(((True, {"loss": 1.0}), (False, {"loss": inf})))
    assert made.seen == "loss diverged (1 of 2 seeds)"
    found = json.loads(json.dumps(made.as_json(), allow_nan=False))
    assert [one["numbers"]["loss"] for one in found["seeds"]] == [1.0, None]
    assert [shown(number) for number in (inf, nan)] == ["diverged", "diverged"]


def test_verdict_judges_seed_by_seed():
    judge = below(lambda x: x, "a", "b")
    assert verdict(judge, [1.0, 2.0], [3.0, 1.0]).seeds == (
        (True, {"a": 1.0, "b": 3.0}),
        (False, {"a": 2.0, "b": 1.0}),
    )


def test_being_better_than_a_diverged_run_says_nothing():
    judge = below(lambda x: x, "a", "b")
    assert verdict(judge, [1.0, 1.0], [inf, 2.0]).seeds == (
        (None, {"a": 1.0, "b": inf}),
        (True, {"a": 1.0, "b": 2.0}),
    )
    assert verdict(judge, [inf], [1.0]).holds is False
    assert verdict(judge, [inf], [inf]).holds is False


@pytest.mark.parametrize("series", [([], []), ([1.0], []), ([1.0, 2.0], [1.0])])
def test_without_all_results_there_is_no_verdict(series):
    assert verdict(below(lambda x: x, "a", "b"), *series).holds is None


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ((1.0, 2.0, 3.0), True),
        ((1.0, 2.0, 0.5), False),
        ((1.0, 1.0, 2.0), False),
        ((1.0, inf, inf), True),
        ((inf, 1.0, 2.0), False),
        ((inf, inf, inf), False),
        ((nan, 1.0, 2.0), False),
        ((1.0, nan, 2.0), False),
    ],
)
def test_below_means_below_all_others(values, holds):
    found, numbers = below(lambda x: x, "a", "b", "c")(*values)
    assert found is holds
    assert list(numbers) == ["a", "b", "c"]


def test_the_table_of_claims_has_a_verdict_in_every_column():
    seen = Verdict(((True, {"x": 1.0}),))
    claims = [
        Claim("a", "both", "here", {"paper": seen, "exact": seen}),
        Claim("b", "one", "here", {"exact": seen}, "a note"),
    ]
    table = claim_table("Title", claims)
    assert table.columns == ["paper's coupling", "exact coupling"]
    assert table.rows[1].verdicts[0] == (None, "")
    assert table.rows[1].verdicts[1] == (True, "x 1 (1 of 1 seed)")
    assert "a note" in table.rows[1].sentence
    assert claim_table("Title", claims[1:]).columns == ["exact coupling"]


# parts of a run


@pytest.mark.parametrize("n", [1, 2, 5, 49, 60, 100, 101])
def test_parts_of_a_run(n):
    run = Run("made-up", "a", {"method": "a", "coupling": "exact", "seed": 0})
    one = Result(run, Trace({"loss": np.arange(n)}), {"diverged_at": None})
    rows = np.arange(n)
    assert final(one, "loss") == n - 1
    assert steady(one) == rows[int(0.8 * n) :].mean()
    assert early(one) == rows[: max(-(-n // 10), 1)].mean()


def test_no_part_of_a_diverged_run_is_good():
    one = diverged(result(loss=1.0))
    assert early(one) == steady(one) == final(one, "loss") == inf
    assert window(one, "loss", 0.0, 0.01) == inf


def test_rows_without_readings_do_not_count():
    assert steady(result(loss=np.where(np.arange(100) % 2, 3.0, nan))) == 3.0


def test_curves_are_means_with_bands_and_leave_out_what_diverged():
    one, two = result(loss=ramp(4, 1)), result(seed=1, loss=ramp(8, 3))
    line = curve([one, two, diverged(one)], "loss", "HALK", "blue")
    np.testing.assert_allclose(line.y, ramp(6, 2))
    np.testing.assert_allclose(line.low, ramp(4, 1))
    np.testing.assert_allclose(line.high, ramp(8, 3))
    assert curve([diverged(one)], "loss", "HALK", "blue") is None
    assert curve([one], "test_error", "HALK", "blue") is None


def test_thinned_readings_are_one_a_step(rng):
    Y = rng.standard_normal((400, 5))
    thin = _thinned(Y, 3)
    kept = ~np.isnan(thin)
    assert (kept.sum(axis=1) == 1).all()
    assert kept.any(axis=0).all()
    np.testing.assert_array_equal(thin[kept], Y[kept])
    np.testing.assert_array_equal(thin, _thinned(Y, 3))
    assert not np.array_equal(kept, ~np.isnan(_thinned(Y, 4)))
    assert not np.isnan(Y).any()


# what the paper says: for each sentence results where it holds, and some where not


def agents(width):
    """Return bandwidths of three agents; those of the third as given."""
    return {
        "length_scale": np.column_stack([np.full(100, 5.0), np.full(100, 7.0), width])
    }


WAVE = 5.0 + np.where(np.arange(100) % 2, 0.6, -0.6)  # 12 % up and down
LOSS = (result(loss=1.0), result(loss=2.0))
NOT_LOSS = [
    (result(loss=2.0), result(loss=1.0)),
    (result(loss=1.0), result(loss=1.0)),
    (result(loss=ramp(0.1, 3.0)), result(loss=ramp(5.0, 2.0))),  # ahead early only
]


def error(loss, test_error):
    return result(loss=loss, test_error=test_error)


def sized(loss, order):
    return result(loss=loss, order_mean=order)


def apart(first, last):
    return result(violation_excess=ramp(first, last))


def disagreeing(late):
    return result(disagreement=ramp(3.0, late))


OCEAN = {
    "error-falls": (
        (error(ramp(9, 1), ramp(5, 1)),),
        [
            (error(ramp(9, 1), ramp(1, 5)),),
            (error(ramp(1, 9), ramp(5, 1)),),
            (error(4.0, 4.0),),
        ],
    ),
    "fixed-below-pooled": (LOSS, NOT_LOSS),
    "fixed-below-paced": (LOSS, NOT_LOSS),
    "adaptive-below-pooled": (LOSS, NOT_LOSS),
    "adaptive-below-paced": (LOSS, NOT_LOSS),
    "adaptive-best": (
        (result(loss=1.0), *(result(loss=2.0) for _ in range(4))),
        [
            (result(loss=1.0), *(result(loss=0.5 if k == n else 2.0) for k in range(4)))
            for n in range(4)
        ],
    ),
    "adaptive-fewer-atoms": (
        (result(order_mean=ramp(20, 5)), result(order_mean=ramp(3, 6))),
        [(result(order_mean=ramp(3, 6)), result(order_mean=ramp(20, 5)))],
    ),
    "adaptive-comparable": (
        (disagreeing(1.09), disagreeing(1.0)),
        [(disagreeing(1.11), disagreeing(1.0))],
    ),
    "bandwidth-settles": (
        (result(agents=agents(ramp(20.0, 5.0))),),
        [
            (result(agents=agents(WAVE)),),
            (result(agents=agents(np.geomspace(1.0, 50.0, 100))),),
            (result(agents=agents(np.full(100, 50.0))),),  # held at a bound
            (result(agents=agents(np.full(100, 0.5))),),
        ],
    ),
    "violation-attenuates": (
        (apart(3.0, 1.0), apart(2.0, 0.0)),
        [(apart(1.0, 3.0), apart(2.0, 1.0)), (apart(3.0, 1.0), apart(1.0, 2.0))],
    ),
    "parsimony-tradeoff": (
        (sized(2.0, 5.0), sized(1.0, 9.0)),
        [(sized(1.0, 5.0), sized(2.0, 9.0)), (sized(2.0, 9.0), sized(1.0, 5.0))],
    ),
    "total-below-pooled": (
        (result(order_total=100.0), result(order_total=101.0)),
        [
            (result(order_total=101.0), result(order_total=100.0)),
            (result(order_total=ramp(1, 200)), result(order_total=ramp(300, 100))),
        ],
    ),
    "rbf-overtaken": (
        (result(loss=ramp(1.0, 3.0)), result(loss=ramp(5.0, 2.0))),
        [
            (result(loss=ramp(6.0, 3.0)), result(loss=ramp(5.0, 2.0))),
            (result(loss=ramp(1.0, 1.5)), result(loss=ramp(5.0, 2.0))),
        ],
    ),
    "order-halk": (
        (result(order_mean=ramp(1, 31)),),
        [(result(order_mean=ramp(26, 32)),), (result(order_mean=ramp(26, 20)),)],
    ),
}

FIELD = {
    "loss-below-penalty": (LOSS, NOT_LOSS),
    "loss-below-linear": (
        (result(loss=1.0), *(result(loss=2.0) for _ in range(3))),
        [
            (result(loss=1.0), *(result(loss=0.9 if k == n else 2.0) for k in range(3)))
            for n in range(3)
        ],
    ),
    "sine-best-linear": (
        (result(loss=1.0), result(loss=2.0), result(loss=2.0)),
        [
            (result(loss=1.0), result(loss=0.5), result(loss=2.0)),
            (result(loss=1.0), result(loss=2.0), result(loss=0.5)),
        ],
    ),
    "disagreement-below-penalty": (
        (result(disagreement=1.0), result(disagreement=2.0)),
        [(result(disagreement=2.0), result(disagreement=1.0))],
    ),
    "disagreement-comparable": (
        (result(disagreement=1.9), *(result(disagreement=x) for x in (0.5, 1.0, 0.1))),
        [
            (
                result(disagreement=2.1),
                *(result(disagreement=x) for x in (0.5, 1.0, 0.1)),
            )
        ],
    ),
    "order-above-early": (
        (result(order_mean=ramp(9, 1)), result(order_mean=ramp(5, 20))),
        [(result(order_mean=ramp(5, 20)), result(order_mean=ramp(9, 1)))],
    ),
    "order-within-late": (
        (result(order_mean=ramp(1, 10.9)), result(order_mean=10.0)),
        [
            (result(order_mean=ramp(10, 11.5)), result(order_mean=10.0)),
            (result(order_mean=ramp(10, 8.5)), result(order_mean=10.0)),
        ],
    ),
    "order-30": (
        (result(order_mean=ramp(1, 35)),),
        [(result(order_mean=ramp(30, 37)),), (result(order_mean=ramp(30, 23)),)],
    ),
}


def filled(error):
    one = result()
    one.numbers["error"] = error
    return one


LESS = (
    (filled(1.0), filled(1.1)),
    [(filled(1.1), filled(1.0)), (filled(1.0), filled(1.0))],
)
FILLED = {
    "below-0.65": ((filled(0.64),), [(filled(0.66),)]),
    "below-0.45": ((filled(0.44),), [(filled(0.46),)]),
    "third-of-alone": (
        (filled(1.0), filled(3.1)),
        [(filled(1.0), filled(2.9)), (filled(1.0), filled(0.5))],
    ),
    "below-alone": LESS,
    "below-nlms": LESS,
    "below-penalty": LESS,
    "below-diffusion": LESS,
    "below-gp-alone": LESS,
}
FILL_IN = [
    said
    for _, said in fill_in_claims._targets("°C")
    + fill_in_claims._comparisons("temperature")
]

STATEMENTS = {
    "ocean": (ocean_claims.statements("Fig. 2", {"halk": 26.0}), OCEAN),
    "random field": (random_field_module._STATEMENTS, FIELD),
    "fill-in": (FILL_IN, FILLED),
}
CASES = [
    pytest.param(said, *cases[said.name], id=said.name)
    for statements, cases in STATEMENTS.values()
    for said in statements
]


@pytest.mark.parametrize("what", STATEMENTS)
def test_every_statement_is_tried(what):
    statements, cases = STATEMENTS[what]
    assert [said.name for said in statements] == list(cases)
    for said in statements:
        assert len(cases[said.name][0]) == len(said.methods)
        assert said.sentence
        assert said.source


def test_salinity_states_two_orders():
    temperature = {said.name for said in Temperature(Options()).statements()}
    salinity = {said.name for said in Salinity(Options()).statements()}
    assert salinity - temperature == {"order-halk-fine"}
    (said,) = [s for s in Salinity(Options()).statements() if s.name == "order-halk"]
    assert said.judge(result(order_mean=31.0)) == (
        True,
        {"atoms an agent": 31.0, "paper": 31.0},
    )
    assert said.judge(result(order_mean=24.0))[0] is False


@pytest.mark.parametrize(("said", "good", "bad"), CASES)
def test_statement_holds_where_it_must_and_only_there(said, good, bad):
    holds, numbers = said.judge(*good)
    assert holds is True
    assert all(np.isfinite(number) for number in numbers.values())
    assert bad
    for results in bad:
        assert said.judge(*results)[0] is False
    mixed = zip(good, bad[0], strict=True)
    assert verdict(said.judge, *([a, b] for a, b in mixed)).holds is False


@pytest.mark.parametrize(("said", "good", "bad"), CASES)
def test_no_statement_holds_of_a_diverged_run(said, good, bad):
    first, others = good[0], good[1:]
    found = verdict(said.judge, [diverged(first)], *([one] for one in others))
    assert found.holds is False
    assert any(number == inf for number in found.seeds[0][1].values())
    assert "diverged" in found.seen
    gone = verdict(said.judge, *([diverged(one)] for one in good))
    assert gone.holds is not True
    mixed = verdict(said.judge, *([one, diverged(one)] for one in good))
    assert mixed.seeds[0][0] is True
    assert mixed.holds is not True
    assert "(1 of 2 seeds)" in mixed.seen
    for k in range(1, len(good)):
        series = [[diverged(one) if n == k else one] for n, one in enumerate(good)]
        found = verdict(said.judge, *series)
        assert found.holds is not True or said.name == "disagreement-comparable"


@pytest.mark.parametrize(
    "name", ["order-within-late", "parsimony-tradeoff", "rbf-overtaken"]
)
def test_nothing_is_comparable_to_a_diverged_run(name):
    good = (OCEAN | FIELD)[name][0]
    (said,) = [case.values[0] for case in CASES if case.id == name]
    assert verdict(said.judge, [good[0]], [diverged(good[1])]).holds is False


def test_diverged_linear_models_do_not_make_disagreement_comparable():
    (said,) = [case.values[0] for case in CASES if case.id == "disagreement-comparable"]
    good = FIELD["disagreement-comparable"][0]
    assert said.judge(good[0], good[1], diverged(good[2]), good[3])[0] is False
    assert said.judge(good[0], *(diverged(one) for one in good[1:]))[0] is False


# fill-in


def fill_in(errors):
    """Return results with these errors, by method; two seeds, two fields."""
    made = []
    for variable in ("temperature", "salinity"):
        for seed in (0, 1):
            for share in (20, 80):
                for key, error in errors.items():
                    settings = {
                        "variable": variable, "method": key, "share": share,
                        "seed": seed, "coupling": "exact",
                    }  # fmt: skip
                    name = f"{variable}-{key}-{share}-{seed}"
                    worse = error if share == 80 else 100.0
                    numbers = {"error": worse, "diverged_at": None}
                    run = Run("fill-in", name, settings)
                    made.append(Result(run, Trace({"step": [1]}), numbers))
    return Results(made)


ERRORS = {
    "halk-exact": 0.5, "halk-paper": 3.0, "alone": 2.0, "nlms": 4.0, "penalty": 1.0,
    "diffusion": 1.0, "gp-alone": 1.0,
}  # fmt: skip


def test_fill_in_is_judged_for_each_field_and_coupling():
    found = fill_in_claims.claims("fill-in", fill_in(ERRORS), "°C", True)
    holds = {
        claim.name.removeprefix("fill-in/"): tuple(
            claim.verdicts[c].holds for c in ("paper", "exact")
        )
        for claim in found
    }
    assert holds["temperature-below-0.65"] == (False, True)
    assert holds["temperature-below-0.45"] == (False, False)
    assert holds["temperature-third-of-alone"] == (False, True)
    assert "salinity-third-of-alone" not in holds
    for variable in ("temperature", "salinity"):
        assert holds[f"{variable}-below-alone"] == (False, True)
        assert holds[f"{variable}-below-nlms"] == (True, True)
        assert holds[f"{variable}-below-gp-alone"] == (False, True)


def test_targets_are_for_the_network_they_were_set_for():
    found = fill_in_claims.claims("fill-in", fill_in(ERRORS), "°C", False)
    assert len(found) == 10
    assert all("-below-0" not in c.name and "third" not in c.name for c in found)


@pytest.mark.parametrize(
    ("errors", "holds"),
    [
        ({"halk-exact": None}, False),
        ({"alone": None}, None),
        ({"alone": None, "halk-exact": None}, False),
    ],
)
def test_a_diverged_run_fills_in_nothing(errors, holds):
    results = fill_in(ERRORS | errors)
    found = fill_in_claims.claims("fill-in", results, "°C", True)
    for claim in found:
        if claim.name.endswith("-alone") and "gp" not in claim.name:
            assert claim.verdicts["exact"].holds is holds


# theory


def theory(
    gap, violation=lambda T: -0.1, order=lambda alpha: alpha**-0.5, seeds=2,
    lagrangian=lambda T: 1 / T, error=lambda T: 1 / T,
):  # fmt: skip
    """Return results of the experiment with these numbers instead of runs."""
    made = []
    for run in Theory(Options(seeds=seeds)).runs():
        T, alpha, seed = (run.settings[k] for k in ("n_steps", "alpha", "seed"))
        numbers = {"gap": gap(T, seed), "violation": violation(T), "order": 3.0}
        numbers |= {"lagrangian_gap": lagrangian(T), "multiplier_error": error(T)}
        numbers |= {"largest_multiplier": 0.2}
        if alpha is not None:
            numbers["order"] = order(alpha)
        made.append(Result(run, Trace({"step": [T]}), numbers))
    return Results(made)


def judged(results):
    claims = Theory(Options(seeds=2)).claims(results)
    return {claim.name.split("/")[1]: claim.verdicts for claim in claims}


def test_gap_falls_as_the_theorem_says():
    found = judged(theory(lambda T, seed: 3 * T**-0.5))["gap-rate"]
    assert [found[c].holds for c in ("paper", "exact")] == [True, True]
    assert found["exact"].seeds[0][1]["slope"] == pytest.approx(-0.5)


@pytest.mark.parametrize(
    "gap",
    [
        lambda T, seed: T**-0.3,
        lambda T, seed: T**-0.8,
        lambda T, seed: 1.0,
        lambda T, seed: T**-0.5 - 0.002,  # below zero: there is no slope
        lambda T, seed: T ** (-0.5 if seed == 0 else -0.2),
        lambda T, seed: inf,
        lambda T, seed: inf if T > 1000 else 1.0,
    ],
)
def test_gap_does_not_fall_as_the_theorem_says(gap):
    found = judged(theory(gap))["gap-rate"]
    assert [found[c].holds for c in ("paper", "exact")] == [False, False]


@pytest.mark.parametrize(
    ("violation", "holds"),
    [
        (lambda T: -0.1, True),
        (lambda T: 0.0, True),
        (lambda T: 0.1, False),
        (lambda T: 1e5 / T - 0.2, True),  # what counts is the largest T
        (lambda T: 1e-9 * T - 1e-5, False),
        (lambda T: nan, False),
        (lambda T: inf, False),
    ],
)
def test_violation_counts_at_the_largest_number_of_steps(violation, holds):
    found = judged(theory(lambda T, seed: 1.0, violation))["violation"]
    assert list(found) == ["exact"]
    assert found["exact"].holds is holds


@pytest.mark.parametrize(
    ("order", "holds"),
    [
        (lambda alpha: alpha**-0.5, True),
        (lambda alpha: alpha**-1.9, True),
        (lambda alpha: alpha**-2.1, False),
        (lambda alpha: alpha**0.5, False),
        (lambda alpha: 5.0, False),
        (lambda alpha: inf, False),
        (lambda alpha: inf if alpha < 0.01 else alpha**-0.5, False),
    ],
)
def test_order_grows_no_faster_than_the_bound(order, holds):
    found = judged(theory(lambda T, seed: 1.0, order=order))["order"]
    assert found["exact"].holds is holds


@pytest.mark.parametrize(
    ("lagrangian", "holds"),
    [
        (lambda T: 1 / T, True),
        (lambda T: T**-0.92, True),
        (lambda T: np.log(T) / T, False),
        (lambda T: T**-0.8, False),
        (lambda T: inf, False),
    ],
)
def test_newton_falls_as_fast_as_it_should(lagrangian, holds):
    found = judged(theory(lambda T, seed: 1.0, lagrangian=lagrangian))["newton-rate"]
    assert list(found) == ["exact"]
    assert found["exact"].holds is holds


@pytest.mark.parametrize(
    ("error", "holds"),
    [
        (lambda T: 900 / T, True),  # what counts is the largest T
        (lambda T: 1100 / T, False),
        (lambda T: inf, False),
    ],
)
def test_newton_s_multipliers_are_near_those_of_the_optimum(error, holds):
    found = judged(theory(lambda T, seed: 1.0, error=error))["newton-multipliers"]
    assert found["exact"].holds is holds


def test_the_theory_can_be_reported_though_runs_diverged():
    results = theory(
        lambda T, seed: inf if T > 1000 else 1.0,
        lambda T: inf,
        lambda alpha: inf if alpha < 0.01 else 3.0,
    )
    experiment = Theory(Options(seeds=2))
    claims = experiment.claims(results)
    assert json.dumps([claim.as_json() for claim in claims], allow_nan=False)
    section = experiment.section(results, claims)
    assert "not reproduced" in render(Page("", "", [], [section]))
