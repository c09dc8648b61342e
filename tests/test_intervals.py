"""Intervals cover what they say, on readings not seen before."""

from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, kernels
from halk.intervals import Intervals


def covered_share(noise: Any, coverage: float, n: int = 6000, **options: Any) -> float:
    intervals = Intervals(1, coverage, **options)
    covered = intervals.observe(np.zeros(n, int), noise)
    return float(covered[n // 3 :].mean())


def noises(rng: np.random.Generator, n: int) -> dict[str, Any]:
    t = np.arange(n)
    return {
        "normal": rng.normal(size=n),
        "heavy tails": rng.standard_t(2.0, size=n),
        "one-sided": rng.exponential(size=n),
        "growing": rng.normal(size=n) * (1.0 + t / 1000),
        "waves": rng.normal(size=n) * (1.5 + np.sin(t / 200)),
        "a jump": rng.normal(size=n) * np.where(t > n // 2, 5.0, 1.0),
        "few values": rng.integers(-3, 4, size=n).astype(float),
    }


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("kind", noises(np.random.default_rng(0), 2))
def test_coverage(kind: str, coverage: float) -> None:
    rng = np.random.default_rng(sum(map(ord, kind)))
    share = covered_share(noises(rng, 6000)[kind], coverage)
    if kind == "few values":  # ties cover more than was asked for
        assert share >= coverage - 0.02
    else:
        assert share == pytest.approx(coverage, abs=0.02)


def test_widths_are_quantiles_of_the_last_residuals() -> None:
    """The plain twin: sort what is remembered, take the rank, without adaptation."""
    rng = np.random.default_rng(1)
    residuals, memory = rng.normal(size=300).round(1), 40
    intervals = Intervals(1, 0.8, memory=memory, rate=0.0)
    for t, residual in enumerate(residuals):
        seen = np.sort(np.abs(residuals[max(0, t - memory) : t]))
        rank = (len(seen) + 1) * 0.8
        places = np.arange(1, len(seen) + 1)
        known = len(seen) > 0 and rank <= len(seen)
        expected = np.interp(rank, places, seen) if known else np.inf
        np.testing.assert_allclose(intervals.half_widths()[0], expected, rtol=1e-12)
        intervals.observe([0], [residual])


def test_agents_are_apart_and_the_silent_borrow() -> None:
    rng = np.random.default_rng(2)
    intervals = Intervals(3, 0.9)
    agents = rng.integers(0, 2, size=4000)
    intervals.observe(agents, rng.normal(size=4000) * np.where(agents == 0, 1.0, 10.0))
    quiet, loud, silent = intervals.half_widths()
    assert quiet == pytest.approx(1.645, rel=0.1)
    assert loud == pytest.approx(16.45, rel=0.1)
    assert quiet < silent < loud


def test_nothing_seen_is_not_known() -> None:
    intervals = Intervals(2, 0.9)
    assert np.isinf(intervals.half_widths()).all()
    intervals.observe([0] * 8, np.ones(8))
    assert np.isinf(intervals.half_widths()).all()
    intervals.observe([0], [2.0])
    assert ((intervals.half_widths() > 1.9) & (intervals.half_widths() <= 2.0)).all()


def test_coverage_of_a_learner_on_readings_it_has_not_seen() -> None:
    """Learn with progressive residuals, then stop, and look at fresh readings."""
    rng, V = np.random.default_rng(3), 6
    scale = np.linspace(0.05, 0.5, V)

    def drawn(n: int) -> tuple[Any, Any]:
        X = rng.uniform(size=(n, V, 1))
        return X, np.sin(6 * X[..., 0]) + scale * rng.normal(size=(n, V))

    model = HALK(Network.ring(V, tolerance=0.1), kernels.Gaussian(0.2), epsilon=0.02)
    intervals = Intervals(V, 0.9)
    for x, y in zip(*drawn(2000), strict=True):
        intervals.observe(np.arange(V), y - model.predict_one(x))
        model.learn_one(x, y)
    X, Y = drawn(1000)
    off = np.array([y - model.predict_one(x) for x, y in zip(X, Y, strict=True)])
    share = (np.abs(off) <= intervals.half_widths()).mean(axis=0)
    assert share.mean() == pytest.approx(0.9, abs=0.02)
    assert (np.abs(share - 0.9) < 0.07).all()  # three standard errors


@pytest.mark.parametrize(
    ("agents", "residuals", "message"),
    [
        ([0, 1], [1.0], "must be of one length"),
        ([2], [1.0], "agents must be from 0 to 1, got 2 to 2"),
        ([-1], [1.0], "agents must be from 0 to 1"),
        ([0, 1], [0.0, np.nan], "residuals must be finite, got nan in row 1"),
    ],
)
def test_wrong_residuals_change_nothing(
    agents: Any, residuals: Any, message: str
) -> None:
    intervals = Intervals(2, 0.5)
    intervals.observe([0, 1, 0], [1.0, 2.0, 3.0])
    before = intervals.half_widths()
    with pytest.raises(ValueError, match=message):
        intervals.observe(agents, residuals)
    np.testing.assert_array_equal(intervals.half_widths(), before)


@pytest.mark.parametrize(
    "options",
    [{"coverage": 0.0}, {"coverage": 1.0}, {"memory": 0}, {"rate": -0.1}, {"rate": 1}],
)
def test_wrong_settings(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Intervals(2, **options)
