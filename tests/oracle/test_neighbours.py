"""The neighbour model of the core against the plain one, estimate by estimate."""

import numpy as np
import pytest

from halk import _core
from halk.reference import judging as reference

CASES = {
    "positive": {"n_steps": 60},
    "signed, twice": {"n_steps": 50, "is_positive": False, "hearings": 2},
    "all hear all, daily": {"n_sensors": 5, "k": 4, "period": 4, "n_steps": 70},
    "twice, forgotten": {"n_sensors": 3, "k": 2, "n_steps": 100, "hearings": 2,
                         "memory": 30.0},
    "two, mostly silent": {"n_sensors": 2, "k": 1, "missing": 0.8, "n_steps": 150},
    "judged": {"n_sensors": 5, "n_steps": 130, "missing": 0.1, "is_robust": True},
    "judged, signed": {"n_sensors": 4, "n_steps": 140, "missing": 0.1,
                       "is_positive": False, "is_robust": True, "hearings": 2},
    "one": {"n_sensors": 1, "k": 0, "n_steps": 150},
}  # fmt: skip


def draw(seed, n_steps, n_sensors=6, k=3, missing=0.3, is_positive=True):
    """Return values with gaps, outliers and a silence of all, and who hears whom."""
    rng = np.random.default_rng(seed)
    places = rng.random((n_sensors, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    root = np.linalg.cholesky(np.exp(-apart) + 1e-9 * np.eye(n_sensors))
    field = np.zeros((n_steps, n_sensors))
    for t in range(1, n_steps):
        field[t] = 0.9 * field[t - 1] + 0.4 * root @ rng.normal(size=n_sensors)
    values = np.exp(1 + 0.5 * field) if is_positive else field
    values[rng.random(values.shape) < 0.01] *= 30
    values[n_steps // 2 : n_steps // 2 + 4] = np.nan
    values[n_steps // 3 : n_steps // 3 + 9, 0] = np.nan
    values[rng.random(values.shape) < missing] = np.nan
    near = [np.argsort(row, kind="stable")[: k + 1] for row in apart]
    square = [np.ascontiguousarray(apart[np.ix_(who, who)]) for who in near]
    return values, near, square, [int(key) for key in rng.integers(0, 2**62, n_sensors)]


def spoil(values):
    """Add a shift, a spell of another unit, equal readings, and one beyond measure."""
    width = values.shape[1]
    values[80:, 1 % width] += 8
    values[55:75, 2 % width] *= 5
    values[40:52, 3 % width] = 2.0
    values[30, -1] = 1e40


def run_core(values, near, apart, keys, hearings, is_robust, settings):
    """Return nowcasts and fills of the core, with their bins."""
    n, width = values.shape
    W, memory, period = (settings[key] for key in ("window", "memory", "period"))
    network = _core.NeighbourNetwork(W, 12, period, memory, 0.9, is_robust)
    for i, who in enumerate(near):
        is_blind = np.array([i not in near[j] for j in who], np.int8)
        network.add(who.astype(np.int64), is_blind, apart[i], keys[i])
    for hearing in range(hearings):
        if hearing:
            network.rewind(np.zeros((0, 6)))
        now, fill = (
            (np.full((n + W, width, 4), np.nan), np.full((n + W, width), -1, np.int8))
            for _ in range(2)
        )
        heard = [a[:n] for a in (*now, *fill)]
        flag = np.zeros((n, width), np.int8)
        events = network.hear(values, *heard, flag, None, None, 2)
        network.flush(*(a[n:] for a in fill))
    return {
        "now": [a[:n] for a in now], "fill": [a[W:] for a in fill], "flag": flag,
        "events": events,
    }  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_core_says_what_the_equations_say(name):
    case = {**CASES[name]}
    hearings = case.pop("hearings", 1)
    is_robust = case.pop("is_robust", False)
    settings = {
        "window": 6, "memory": case.pop("memory", 60.0), "period": case.pop("period", 0)
    }  # fmt: skip
    values, near, apart, keys = draw(len(name), **case)
    if is_robust:
        spoil(values)
    found = run_core(values, near, apart, keys, hearings, is_robust, settings)
    plain = reference.run(
        values, near, apart, keys, hearings, is_robust=is_robust, **settings
    )
    assert np.array_equal(found["flag"], plain["flag"])
    names = ("shift", "return", "stuck", "outlier", "drift")
    events = [(i, t, names[int(what)], u) for t, i, what, u, *_ in found["events"]]
    events = [event for event in events if event[2] != "outlier"]
    assert sorted(events) == sorted(plain["events"])
    assert len({event[2] for event in events}) >= 2 or not is_robust
    for mode in ("now", "fill"):
        (estimates, bins), (expected, cases) = found[mode], plain[mode]
        assert np.isfinite(expected[..., 0]).sum() > 10
        assert np.array_equal(bins, cases)
        # the table is in single precision, which rounding may tip
        np.testing.assert_allclose(estimates, expected, rtol=1e-5, atol=1e-6)
