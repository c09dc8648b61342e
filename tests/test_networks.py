"""The comparison on real networks: rivals see nothing they must not."""

import json

import numpy as np
import pytest

from benchmarks.million import make_network
from benchmarks.networks import (
    BINS,
    KINDS,
    Estimate,
    Network,
    find_bins,
    judge_rival,
    main,
    read_network,
    score,
    tabulate,
    withhold,
    write_wide,
)
from benchmarks.rivals import RIVALS, Mean, find_cells

T, V = 120, 9


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(7)
    places = rng.uniform(0, 10, (V, 2))
    t = np.arange(T)[:, None]
    X = 12 + 3 * np.sin(t / 9 + places[:, 0] / 5) + 0.2 * rng.normal(size=(T, V))
    X[rng.random(X.shape) < 0.05] = np.nan
    names = tuple(f"s{i}" for i in range(V))
    return Network("made", None, 3600.0 * np.arange(T), X, names, places)


@pytest.mark.parametrize("kind", KINDS)
def test_only_readings_are_withheld(network, kind):
    nearest = Mean(network.places, network.times).heard
    hidden = withhold(network.X, kind, nearest, np.random.default_rng(1))
    assert not np.isnan(network.X[hidden]).any()
    share = hidden.sum() / (~np.isnan(network.X)).sum()
    assert 0.13 < share < 0.3
    if kind == "outages":
        silent = np.isnan(np.where(hidden, np.nan, network.X)).sum(axis=1)
        assert silent.max() >= 6


@pytest.mark.parametrize("made", RIVALS, ids=lambda made: made.name)
def test_nowcasts_of_rivals_do_not_see_what_is_to_come(network, made):
    rival = made(network.places, network.times)

    def hide(X, rng):
        return withhold(X, "random", rival.heard, rng)

    hidden = hide(network.X, np.random.default_rng(2))
    cells = (np.array([80, 80, 81]), np.array([0, 1, 2]))
    hidden[cells] = True
    X = np.where(hidden, np.nan, network.X)
    rival.fit(X[:60], hide, True)
    said = rival.estimate(X, cells, True)
    assert np.isfinite(said).all()
    X[82:] = 1e3
    np.testing.assert_allclose(rival.estimate(X, cells, True), said, rtol=1e-9)


def test_neighbours_and_time_are_used(network):
    nearest = Mean(network.places, network.times).heard
    hidden = withhold(network.X, "random", nearest, np.random.default_rng(3))
    mae = {
        made.name: judge_rival(made, network, hidden, "random")[0]["mae"]
        for made in RIVALS
    }
    assert mae["kriging in space and time"] < 0.4
    assert all(mae[made.name] < 0.7 * mae["sensor mean"] for made in RIVALS[1:])


def test_bins_are_steps_to_the_nearest_reading(network):
    X = np.full((40, 1), np.nan)
    X[[0, 30]] = 1.0
    cells = (np.array([1, 3, 11, 15, 29]), np.zeros(5, int))
    assert find_bins(X, cells, False).tolist() == [0, 1, 2, 3, 0]
    assert find_bins(X, cells, True).tolist() == [0, 1, 2, 3, 3]


def test_scores_of_intervals_by_hand():
    said = Estimate(np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    record = score(np.array([1.5, 4.0]), said, np.array([0, 3]), method="m", kind="k")
    assert record["mae"] == 1.25
    assert record["mse"] == 2.125
    assert record["bins"] == [[1, 1], [0, 0], [0, 0], [1, 0]]
    assert record["interval_score"] == 2 + 20 / 2
    assert len(record["bins"]) == len(BINS)


def test_command_keeps_results_and_prints_a_table(network, tmp_path, capsys):
    write_wide(tmp_path / "made.csv", network, network.X)
    lines = ["station,x,y"]
    lines += [
        f"{name},{x},{y}"
        for name, (x, y) in zip(network.names, network.places, strict=True)
    ]
    (tmp_path / "made_sensors.csv").write_text("\n".join(lines))
    X = read_network(tmp_path, "made").X
    np.testing.assert_allclose(X, network.X, rtol=1e-6)
    told = [
        "--data",
        str(tmp_path),
        "--results",
        str(tmp_path / "kept"),
        "--seeds",
        "1",
    ]
    main([*told, "--methods", "sensor mean", "linear interpolation"])
    printed = capsys.readouterr()
    assert "| linear interpolation | **" in printed.out
    records = json.loads((tmp_path / "kept" / "made.json").read_text())
    assert len(records) == 2 * 5
    main([*told, "--methods", "sensor mean", "linear interpolation"])
    assert capsys.readouterr().err == ""
    assert tabulate(records) in printed.out


def test_cells_are_steps_and_sensors():
    assert [a.tolist() for a in find_cells(np.array([[0, 1], [1, 0]]))] == [
        [0, 1],
        [1, 0],
    ]


def test_a_million_readings_are_what_they_are_said_to_be():
    made = make_network(60, 300)
    assert 0.06 < np.isnan(made.X).mean() < 0.25
    Z = (made.X - np.nanmean(made.X, axis=0)) / np.nanstd(made.X, axis=0)
    d = np.hypot(*(made.places[:, None] - made.places[None]).transpose(2, 0, 1))
    both = np.nan_to_num(np.clip(Z, -3, 3))
    C = both.T @ both / len(both)
    near, far = (d > 0) & (d < 40), d > 200
    assert C[near].mean() > C[far].mean() + 0.1
