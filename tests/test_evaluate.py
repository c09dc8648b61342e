"""Progressive validation: what the columns mean, and measuring disturbs nothing."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from halk import HALK, DivergenceError, Network, NewtonHALK, kernels, learners
from halk import bandwidth as adaptations
from halk.evaluate import progressive
from halk.trace import Trace

Array = NDArray[Any]

COLUMNS = (
    "step", "loss", "running_loss", "disagreement", "order_mean", "order_max",
    "order_total", "violation_worst", "violation_mean", "violation_excess",
    "violation_share",
    "multiplier_mean", "multiplier_max", "length_scale_median",
    "length_scale_min", "length_scale_max", "bytes", "seconds",
)  # fmt: skip
MEANS = ("loss", "disagreement", "bytes")


def model(**changes: Any) -> HALK:
    network = Network.path(3, tolerance=0.01)
    return HALK(network, kernel=kernels.Gaussian(0.2), **changes)


def stream(n_steps: int = 60, missing: float = 0.3) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(n_steps, 3, 1))
    Y = np.sin(6 * X[..., 0]) + 0.3 * np.arange(3)
    Y[rng.uniform(size=Y.shape) < missing] = np.nan
    return X, Y


def one_by_one(learner: HALK, X: Array, Y: Array) -> tuple[Array, Array]:
    """Return loss and its count per step, each reading predicted, then learned."""
    losses = np.full(Y.shape, np.nan)
    for t in range(len(Y)):
        losses[t] = 0.5 * (learner.predict_one(X[t]) - Y[t]) ** 2
        learner.learn_one(X[t], Y[t])
    return np.nansum(losses, axis=1), (~np.isnan(losses)).sum(axis=1)


# --- laws -----------------------------------------------------------------------------


def test_loss_is_predict_then_learn() -> None:
    X, Y = stream()
    total, count = one_by_one(model(), X, Y)
    trace = progressive(model(), X, Y, every=7)
    for row, t in enumerate(range(0, 60, 7)):
        window, so_far = slice(t, t + 7), slice(0, t + 7)
        mean = total[window].sum() / count[window].sum()
        running = total[so_far].sum() / count[so_far].sum()
        assert trace["loss"][row] == pytest.approx(mean, rel=1e-12)
        assert trace["running_loss"][row] == pytest.approx(running, rel=1e-12)
    assert trace["step"].tolist() == [7, 14, 21, 28, 35, 42, 49, 56, 60]


def test_a_learner_that_looks_for_its_scales_ends_as_after_learn_many() -> None:
    X, Y = stream(15)  # readings are still kept when the stream ends
    one, other = (NewtonHALK(Network.path(3, tolerance=0.01)) for _ in range(2))
    trace = progressive(one, X, Y, every=4, test=([1], [[0.3]], [1.0]), agents=True)
    other.learn_many(X, Y)
    assert one.length_scale_ == other.length_scale_
    value = float(other.predict(1, [[0.3]])[0])
    assert one.predict(1, [[0.3]])[0] == value
    assert trace["test_error"][-1] == abs(value - 1.0)
    assert trace.agents["length_scale"].shape == (4, 3)


def test_measuring_changes_nothing(tmp_path: Path) -> None:
    X, Y = stream()
    test = ([0, 2], [[0.1], [0.2]], [0.0, 1.0])
    plain, every, each = (
        model(adaptation=adaptations.LeaveOneOut(warm_up=5)) for _ in range(3)
    )
    plain.learn_many(X, Y)
    progressive(every, X, Y, every=10, test=test, agents=True)
    progressive(each, X, Y, every=1)
    for learner, name in ((plain, "a"), (every, "b"), (each, "c")):
        learner.save(tmp_path / name)
    whole = (tmp_path / "a").read_bytes()
    assert whole == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_rows_of_one_and_of_ten_steps_agree() -> None:
    X, Y = stream()
    one, ten = (progressive(model(), X, Y, every=n) for n in (1, 10))
    asked = one["bytes"] * 3 / 32
    readings = (~np.isnan(Y)).sum(axis=1)
    weights = {"loss": readings, "disagreement": asked, "bytes": np.ones(60)}
    for name in set(COLUMNS) - {"seconds", *MEANS}:
        expected = one[name][9::10]
        assert np.allclose(ten[name], expected, rtol=1e-12, atol=0), name
    for name, weight in weights.items():
        parts = np.nan_to_num(one[name]) * weight
        means = parts.reshape(6, 10).sum(axis=1) / weight.reshape(6, 10).sum(axis=1)
        assert np.allclose(ten[name], means, rtol=1e-12, atol=0), name


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (HALK, {"kernel": kernels.Gaussian(0.2)}),
        (learners.Alone, {"kernel": kernels.Gaussian(0.2)}),
        (learners.Linear, {}),
    ],
)
def test_violation_and_disagreement_by_hand(cls: Any, options: Any) -> None:
    """From the predictions of the agents alone, edge by edge."""
    X, Y = stream(30)
    network = Network.path(3, tolerance=[0.01, 0.2])
    learner, fresh = cls(network, **options), cls(network, **options)
    excess: list[list[float]] = [[] for _ in range(4)]
    rows = []
    for t in range(30):
        apart = []
        for e, (i, j) in enumerate(network.edges.tolist()):
            if not np.isnan(Y[t, i]):
                own, their = (learner.predict(k, X[t, i : i + 1])[0] for k in (i, j))
                apart.append(0.5 * (own - their) ** 2)
                excess[e].append(apart[-1] - network.tolerance[e])
        learner.learn_one(X[t], Y[t])
        mean = [float(np.mean(part)) if part else 0.0 for part in excess]
        share = np.mean(np.array(mean) > 0)
        above = np.mean(np.maximum(mean, 0.0))
        h = np.mean(apart or [np.nan])
        rows.append([max(mean), np.mean(mean), above, share, h])
    trace = progressive(fresh, X, Y, every=1)
    parts = ("worst", "mean", "excess", "share")
    names = [f"violation_{part}" for part in parts] + ["disagreement"]
    seen = np.column_stack([trace[name] for name in names])
    assert np.allclose(seen, rows, rtol=1e-9, atol=1e-15, equal_nan=True)
    assert 0 < trace["violation_share"][-1] < 1


def test_model_measures_are_those_of_the_model() -> None:
    learner = model(adaptation=adaptations.LeaveOneOut(warm_up=5))
    trace = progressive(learner, *stream(), every=25)
    assert trace["order_mean"][-1] == learner.model_order.mean()
    assert trace["order_max"][-1] == learner.model_order.max()
    assert trace["order_total"][-1] == learner.model_order.sum()
    assert trace["multiplier_mean"][-1] == learner.multipliers.mean()
    assert trace["multiplier_max"][-1] == learner.multipliers.max()
    lengths = learner.length_scales
    assert lengths is not None
    assert trace["length_scale_median"][-1] == np.median(lengths)
    assert trace["length_scale_min"][-1] == lengths.min()
    assert trace["length_scale_max"][-1] == lengths.max() != 0.2
    assert (np.diff(trace["seconds"]) > 0).all()
    assert set(trace.columns) == set(COLUMNS)


def test_error_at_test_points() -> None:
    X, Y = stream()
    learner = model()
    agents = ["2", 0, 2]
    points, targets = np.array([[0.1], [0.5], [0.9]]), np.array([0.0, 1.0, 2.0])
    trace = progressive(learner, X, Y, every=20, test=(agents, points, targets))
    index = [2, 0, 2]
    wrong = [
        learner.predict(i, points[k : k + 1])[0] - targets[k]
        for k, i in enumerate(index)
    ]
    expected = np.sqrt(np.mean(np.square(wrong)))
    assert trace["test_error"][-1] == pytest.approx(expected, rel=1e-12)
    first = model()
    progressive(first, X[:20], Y[:20], every=20, test=(agents, points, targets))
    again = progressive(first, X[20:], Y[20:], every=20, test=(agents, points, targets))
    assert again["test_error"].tolist() == trace["test_error"][1:].tolist()
    assert again["step"].tolist() == [40, 60]


def test_bytes_on_a_path_of_three_by_hand() -> None:
    """Two readings: agent 1 asks two neighbours; agent 0 asks one."""
    X = np.full((2, 3, 1), 0.5)
    Y = np.array([[np.nan, 1.0, np.nan], [1.0, np.nan, np.nan]])
    each = progressive(model(), X, Y, every=1)
    # a query holds x, f(x) and mu, an answer f(x): 4 doubles
    assert each["bytes"].tolist() == [2 * 32 / 3, 1 * 32 / 3]
    both = progressive(model(), X, Y, every=2)
    assert both["bytes"].tolist() == [3 * 32 / 6]


SIZES: dict[str, tuple[dict[str, Any], int]] = {
    "exact": ({}, 8 * (2 + 2) + 8),
    "std": ({"standardize": True}, 8 * (2 + 3) + 8),
    "offset": ({"standardize": "offset"}, 8 * (2 + 2) + 8),
    "adaptive": ({"adaptation": adaptations.LeaveOneOut()}, 8 * (2 + 2) + 16),
    "fixed": ({"adaptation": adaptations.Fixed()}, 8 * (2 + 2) + 8),
    "paper": ({"coupling": "paper"}, 8 * 2 + 8),
    "paper, std": ({"coupling": "paper", "standardize": True}, 8 * 4 + 8),
    "paper, adaptive": (
        {"coupling": "paper", "adaptation": adaptations.LossFollowing()},
        8 * 2 + 16,
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_bytes_of_an_edge(name: str) -> None:
    changes, size = SIZES[name]
    learner = model(**changes)
    learner.learn_one(np.zeros((3, 2)), [1.0, np.nan, np.nan])
    assert learner.bytes_sent == size


def sent(learner: Any) -> int:
    """Return the bytes of one reading of agent 1, who has two neighbours."""
    learner.learn_one(np.zeros((3, 2)), [np.nan, 1.0, np.nan])
    total: int = learner.bytes_sent
    return total


def test_bytes_of_every_binding_by_hand() -> None:
    network, D = Network.path(3, tolerance=0.01), 10
    two = {"low": (0, 0), "n_centres": 5}
    assert sent(learners.Alone(network)) == 0
    assert sent(learners.NLMS(network)) == 0
    assert sent(learners.POLK(network)) == 8 * (2 + 1)
    assert sent(learners.Consensus(network)) == 2 * 8 * (4 + 1)
    # a multiplier that everybody knows is not sent
    assert sent(learners.Penalty(network)) == 2 * 8 * (2 + 1)
    assert sent(learners.Penalty(network, coupling="exact")) == 2 * 8 * (3 + 1)
    assert sent(learners.Linear(network)) == 2 * 8 * (4 + 1)
    assert sent(learners.Linear(network, coupling="paper")) == 2 * 8 * (2 + 1)
    assert sent(learners.RBFNetwork(network, **two)) == 2 * 8 * (4 + 1)
    assert sent(learners.RFFDiffusion(network, D)) == 2 * 8 * D
    # who heard something answers: 1 tells 0 and 2, and both tell 1
    assert sent(learners.RFFADMM(network, D)) == 4 * 8 * D
    assert sent(learners.RFFADMM(network, D, threshold=1e3)) == 4


BINDINGS: dict[str, dict[str, Any]] = {
    "Penalty": {}, "Consensus": {}, "Alone": {}, "POLK": {}, "Linear": {},
    "RBFNetwork": {"n_centres": 5}, "RFFDiffusion": {"n_frequencies": 10},
    "RFFADMM": {"n_frequencies": 10}, "NLMS": {},
}  # fmt: skip


@pytest.mark.parametrize("name", BINDINGS)
def test_every_learner_has_the_same_columns(name: str) -> None:
    X, Y = stream()
    network = Network.path(3, tolerance=0.01)
    first, second = (
        getattr(learners, name)(network, **BINDINGS[name]) for _ in range(2)
    )
    trace = progressive(first, X, Y, every=20, agents=True)
    missing = set(COLUMNS) - set(trace.columns)
    lengths = {column for column in COLUMNS if column.startswith("length_scale")}
    assert missing == (lengths if first.length_scales is None else set())
    assert trace["order_total"][-1] == first.n_atoms
    assert trace["order_max"][-1] == first.model_order.max() > 0
    total, count = one_by_one(second, X, Y)
    if name != "POLK":  # within a step it has learned the readings before
        assert trace["running_loss"][-1] == pytest.approx(total.sum() / count.sum())
    np.testing.assert_array_equal(first.predict_one(X[0]), second.predict_one(X[0]))
    assert trace["bytes"].sum() * 3 * 20 == pytest.approx(first.bytes_sent)
    if name == "POLK":
        assert (trace["disagreement"] == 0).all()
        assert trace["order_total"][-1] == first.model_order[0]


def test_agents_at_the_same_rows() -> None:
    X, Y = stream()
    Y[10:20, 1] = np.nan
    learner = model()
    trace = progressive(learner, X, Y, every=10, agents=True)
    assert set(trace.agents) == {"loss", "order", "length_scale"}
    assert all(value.shape == (6, 3) for value in trace.agents.values())
    assert trace.agents["order"][-1].tolist() == learner.model_order.tolist()
    assert np.allclose(trace.agents["order"].mean(axis=1), trace["order_mean"])
    assert np.isnan(trace.agents["loss"][1, 1])
    counts = (~np.isnan(Y)).reshape(6, 10, 3).sum(axis=1)
    total = (np.nan_to_num(trace.agents["loss"]) * counts).sum(axis=1)
    assert np.allclose(total / counts.sum(axis=1), trace["loss"], rtol=1e-12)


def test_rows_without_anything_to_average() -> None:
    X, Y = stream(4, missing=0)
    Y[:2] = np.nan
    trace = progressive(model(), X, Y, every=1)
    assert np.isnan(trace["loss"]).tolist() == [True, True, False, False]
    assert np.isnan(trace["running_loss"]).tolist() == [True, True, False, False]
    assert trace["bytes"][:2].tolist() == [0, 0]
    assert trace["step"].tolist() == [1, 2, 3, 4]


def test_networks_without_edges_have_no_columns_of_edges() -> None:
    alone = HALK(Network(3), kernel=kernels.Gaussian(0.2))
    trace = progressive(alone, *stream(10))
    assert "disagreement" not in trace
    assert "violation_worst" not in trace
    assert trace["bytes"].tolist() == [0.0] * 10


def test_by_default_at_most_a_thousand_rows() -> None:
    X, Y = stream(2001)
    trace = progressive(model(), X, Y)
    assert len(trace) == 667
    assert trace["step"][[0, -1]].tolist() == [3, 2001]
    assert len(progressive(model(), X[:10], Y[:10])) == 10


def test_progress_sees_every_row() -> None:
    rows: list[dict[str, float]] = []
    trace = progressive(model(), *stream(), every=20, progress=rows.append)
    assert [row["step"] for row in rows] == [20, 40, 60]
    assert [row["loss"] for row in rows] == trace["loss"].tolist()
    assert tuple(rows[0]) == trace.columns


def test_divergence_keeps_the_trace() -> None:
    X, Y = stream(400, missing=0)
    wild = model(step="plain", step_size=100.0)
    with pytest.raises(DivergenceError) as caught:
        progressive(wild, X, Y, every=2)
    trace = caught.value.trace
    assert 0 < len(trace) < 200
    assert len(trace) == wild.n_steps // 2
    assert np.isfinite(trace["loss"]).all()
    with pytest.raises(DivergenceError) as caught:
        progressive(model(step="plain", step_size=100.0), X, Y, every=400)
    assert len(caught.value.trace) == 0
    assert set(caught.value.trace.columns) == set(COLUMNS)


# --- bad input ------------------------------------------------------------------------

POINTS = [[0.1], [0.2]]
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "zero": ({"every": 0}, "every must be at least 1, got 0"),
    "half": ({"every": 0.5}, "every must be a whole number, got 0.5"),
    "shape": ({"X": np.zeros((60, 2, 1))}, r"X must have shape \(any, 3, any\)"),
    "vector": ({"X": np.zeros(60)}, "X must have shape"),
    "targets": ({"Y": np.zeros((3, 3))}, r"Y must have shape \(60, 3\)"),
    "number": ({"Y": 1.0}, r"Y must have shape \(60, 3\)"),
    "no steps": (
        {"X": np.zeros((0, 3, 1)), "Y": np.zeros((0, 3))},
        "at least one step",
    ),
    "test": ({"test": 3}, r"test must be \(agents, X, Y\), got int"),
    "test agents": ({"test": (0, POINTS, [1, 2])}, "test agents must be a sequence"),
    "no test": ({"test": ([], [], [])}, "test agents must be a sequence, not empty"),
    "test agent": (
        {"test": ([0, 9], POINTS, [1, 2])},
        "agent must be at most 2, got 9",
    ),
    "test X": ({"test": ([0], POINTS, [1])}, r"test X must have shape \(1, 1\)"),
    "test Y": ({"test": ([0, 1], POINTS, [1])}, "test Y must have shape"),
    "test NaN": ({"test": ([0, 1], POINTS, [1, np.nan])}, "test Y must be finite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    changes, message = WRONG[name]
    X, Y = stream()
    learner = model()
    with pytest.raises((TypeError, ValueError), match=message):
        progressive(learner, **{"X": X, "Y": Y} | changes)
    assert learner.n_steps == 0


# --- the trace ------------------------------------------------------------------------


def test_parquet_round_trip(tmp_path: Path) -> None:
    test = ([0], [[0.1]], [0.0])
    trace = progressive(model(), *stream(), every=25, test=test, agents=True)
    trace.agents["wide"] = np.arange(3 * 3 * 2.0).reshape(3, 3, 2)
    trace.to_parquet(tmp_path / "trace")
    again = Trace.from_parquet(tmp_path / "trace")
    assert again.columns == trace.columns
    assert again.metadata == trace.metadata
    for name in trace.columns:
        assert np.array_equal(again[name], trace[name], equal_nan=True)
        assert again[name].dtype == trace[name].dtype
    assert set(again.agents) == set(trace.agents)
    for name, value in trace.agents.items():
        assert np.array_equal(again.agents[name], value, equal_nan=True)
        assert again.agents[name].dtype == value.dtype
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]


def test_parquet_without_rows(tmp_path: Path) -> None:
    Trace({"step": np.zeros(0, np.int64)}).to_parquet(tmp_path / "a")
    assert len(Trace.from_parquet(tmp_path / "a")) == 0


def test_metadata_say_what_was_run() -> None:
    about = progressive(model(), *stream(), every=30).metadata
    assert "kernel=Gaussian(length_scale=0.2)" in about["settings"]
    assert "standardize=False" in about["settings"]
    assert set(about) == {"halk", "settings"}


def test_foreign_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(FileNotFoundError):
        Trace.from_parquet(path)
    path.write_text("step,loss\n")
    with pytest.raises(ValueError, match="a must be a Parquet file"):
        Trace.from_parquet(path)
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"step": [1]}), path)
    with pytest.raises(ValueError, match="a must be a trace"):
        Trace.from_parquet(path)


def test_failed_write_keeps_the_old_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")

    def fail(table: Any, file: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    Trace({"step": [1]}).to_parquet(tmp_path / "a")
    monkeypatch.setattr(parquet, "write_table", fail)
    with pytest.raises(OSError, match="No space left"):
        Trace({"step": [1, 2]}).to_parquet(tmp_path / "a")
    assert len(Trace.from_parquet(tmp_path / "a")) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need pyarrow: pip install 'halk\[io\]'"):
        Trace({"step": [1]}).to_parquet(tmp_path / "a")


def test_trace_by_name() -> None:
    trace = Trace({"step": [1, 2], "loss": [0.5, 0.25]})
    assert len(trace) == 2
    assert trace.columns == ("step", "loss")
    assert trace.summary() == {"step": 2}
    with pytest.raises(KeyError, match="column must be one of step, loss, got 'lost'"):
        trace["lost"]
    with pytest.raises(ValueError, match="loss must have one entry per row"):
        Trace({"step": [1, 2], "loss": [0.5]})
    assert Trace({}).summary() == {}


def test_summary_is_the_last_row() -> None:
    trace = progressive(model(), *stream(), every=30)
    summary = trace.summary()
    assert summary["running_loss"] == trace["running_loss"][-1]
    assert summary["step"] == 60
    assert all(type(value) in (int, float) for value in summary.values())
