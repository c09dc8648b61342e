"""The benchmark itself: it counts right and hides nothing; no timing is asserted."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import floor as floor_module
from benchmarks.__main__ import BENCHES, Bench, choose
from benchmarks.apart import find_peak_memory, run_python
from benchmarks.components import examples
from benchmarks.engine import count_different, count_run, fit_exponent
from benchmarks.floor import Floor, KernelSum, count_terms, find_compiler, floor_of
from benchmarks.output import make_figure, write
from benchmarks.peers import ENTRIES, N_SETTINGS, STREAMS, find_error, make_klms
from benchmarks.results import TARGETS, Point, Row, Score, find_target
from benchmarks.timing import Job, Times, ratio, time_in_turn
from benchmarks.workloads import LENGTH_SCALES, Fields, Workload, regular
from halk import Network
from halk.function import Function
from halk.kernels import Gaussian

# the floor


@pytest.mark.parametrize("network", [Network.star(5), Network.path(4), regular(20, 8)])
def test_terms_are_those_of_every_question_and_own_value(network, rng):
    orders = rng.integers(1, 40, size=network.n_agents)
    terms = 0
    for i in range(network.n_agents):
        terms += orders[i]  # its own value
        for a, j in network.edges.tolist():
            terms += orders[j] if a == i else 0  # j answers i
    assert count_terms(network, orders) == terms


def test_floor_adds_terms_and_products_repeat_by_repeat():
    floor = Floor(Job(print), 100, Job(print), 10)
    times = floor.times(Times((1.0, 2.0)), Times((5.0, 7.0)), terms=50, products=20)
    assert times == Times((0.5 + 10.0, 1.0 + 14.0))


@pytest.mark.parametrize("is_native", [False, True])
def test_floor_jobs_make_as_many_terms_and_products_as_they_say(rng, is_native):
    function = Function(Gaussian(0.3), rng.uniform(size=(7, 2)), np.ones(7))
    X = rng.uniform(size=(5, 2))
    floor = floor_of(function, X, n_agents=3, is_native=is_native)
    assert floor.n_terms % 7 == 0
    assert floor.n_products % 3 == 0
    for job in floor.jobs:
        job.prepare()
        job.run(None)


@pytest.mark.parametrize("p", range(1, 9))
def test_floor_sums_what_the_function_does(rng, p):
    scale = 1.5 if p < 3 else tuple(rng.uniform(0.5, 2.0, size=p))
    atoms, X = rng.normal(size=(13, p)), rng.normal(size=(20, p))
    function = Function(Gaussian(scale), atoms, rng.normal(size=13))
    sums = KernelSum(function, X)
    sums.evaluate()
    assert sums.values == pytest.approx(function(X), rel=1e-12)


@pytest.mark.parametrize("m", [1, 4, 8, 9, 13, 30])
def test_floor_multiplies_matrices(rng, m):
    A, x = floor_module._align((3, 32, 32)), floor_module._align((3, 32))
    A[:, :m, :m] = np.array([B + B.T for B in rng.normal(size=(3, m, m))])
    x[:, :m] = rng.normal(size=(3, m))
    for is_ahead in (0, 1):
        out = floor_module._align((3, 32))
        multiply = floor_module.load_library().multiply
        floor_module._call(multiply, A, 32, m, 3, x, out, is_ahead, 2)
        assert out == pytest.approx(np.einsum("vij,vj->vi", A, x))


def test_floor_has_so_many_features_at_most(rng):
    function = Function(Gaussian(1.0), np.ones((1, 9)), [1.0])
    with pytest.raises(ValueError, match="at most 8 features, got 9"):
        KernelSum(function, np.ones((1, 9)))


def test_compiler_is_the_one_that_builds_the_core(monkeypatch):
    monkeypatch.setenv("CXX", "ccache c++")
    assert find_compiler() == ["ccache", "c++"]
    monkeypatch.delenv("CXX")
    monkeypatch.setattr(floor_module, "which", lambda name: name == "clang++")
    assert find_compiler() == ["clang++"]
    monkeypatch.setattr(floor_module, "which", lambda name: None)
    monkeypatch.setattr(floor_module, "find_spec", lambda name: object())
    assert find_compiler()[1:] == ["-m", "ziglang", "c++"]
    monkeypatch.setattr(floor_module, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="needs a C\\+\\+ compiler"):
        find_compiler()


def test_whole_run_is_counted_with_the_orders_it_had():
    class Growing:
        """Gains an atom a step."""

        network = Network.path(2)
        model_order = np.zeros(2)

        def learn_many(self, X, Y):
            self.model_order = self.model_order + len(X)

    count = count_run(Growing(), np.zeros((10, 2, 1)), np.zeros((10, 2)), length=3)
    # orders 0 to 9 before the steps, and half an atom more on average within them
    assert count.terms == sum(4 * (t + 0.5) for t in range(10))
    assert count.products == 20


# workloads


@pytest.mark.parametrize(("n_agents", "degree"), [(9, 8), (10, 8), (101, 8), (50, 2)])
def test_regular_network_is_simple_and_regular(n_agents, degree):
    network = regular(n_agents, degree)
    assert (network.degree == degree).all()
    assert len(np.unique(network.edges, axis=0)) == n_agents * degree
    assert (network.edges[:, 0] != network.edges[:, 1]).all()
    assert network == regular(n_agents, degree)
    assert network != regular(n_agents, degree, seed=1) or n_agents <= degree + 2


@pytest.mark.parametrize(("n_agents", "degree"), [(10, 7), (8, 8)])
def test_regular_network_refuses_what_it_cannot_make(n_agents, degree):
    with pytest.raises(ValueError, match="degree must be even and below"):
        regular(n_agents, degree)


def test_one_agent_has_no_neighbours():
    assert regular(1, 0).n_edges == 0


def test_fields_are_reproducible_and_differ_between_agents():
    X, Y = Fields(5, 3, seed=1).draw(200)
    again = Fields(5, 3, seed=1).draw(200)
    assert np.array_equal(X, again[0])
    assert np.array_equal(Y, again[1])
    assert X.min() >= 0
    assert X.max() < 1


def test_even_points_fill_the_cube():
    X, _ = Fields(4, 1).fill(32)
    for i in range(4):
        gaps = np.diff(np.sort(X[:, i, 0]))
        assert gaps.max() < 2.7 / 32


def test_labels_are_signs():
    assert set(np.unique(Fields(3, 1, has_labels=True).draw(50)[1])) == {-1.0, 1.0}


def test_a_narrower_kernel_for_more_atoms():
    assert Workload(10, order=60).kernel == Gaussian(LENGTH_SCALES[1] / 2)
    assert Workload(10, n_features=3).kernel == Gaussian(LENGTH_SCALES[3])


# timing


def test_jobs_take_turns_and_preparation_comes_before():
    said = []
    jobs = [
        Job(said.append, lambda: "a"),
        Job(said.append, lambda: "b"),
    ]
    times = time_in_turn(jobs, repeats=2)
    assert said == ["a", "b"] * 3
    assert [len(one.seconds) for one in times] == [2, 2]


def test_ratio_is_that_of_the_medians():
    assert ratio(Times((9.0, 2.0, 4.0)), Times((1.0, 2.0, 100.0))) == 2.0
    assert Times((9.0, 2.0, 4.0)).best == 2.0


def test_exponent_of_a_power_law():
    sizes = np.array([10.0, 30.0, 100.0])
    assert fit_exponent(sizes, 3e-6 * sizes**2.2) == pytest.approx(2.2)


# targets and verdicts

# row, target
ROWS = [
    ("dense-paper-p1", "at most 2.2 x floor"),
    ("dense-exact-p3", "at most 3.2 x floor"),
    ("ocean", "at most 2.2 x floor"),
    ("size-growth-paper", "at most 1.5 x V = 1,000"),
    ("size-memory-paper", "under 1.6 GB"),
    ("order", "at most 2.2 as exponent"),
    ("report-calls", "under 100 us"),
    ("report-many", "under 100 us"),
    ("reference-exact", "at least 200 x faster"),
    ("threads-speed", "at least 1.6 x faster"),
    ("threads-bits", "at most 0 different"),
    ("start", "under 0.5 s"),
    ("memory", "under 80 MB"),
    ("single", "at most 2.4 us"),
    ("second-d4-m30", "at most 3 x floor"),
    ("second-large-d4-m30", "at most 4.5 x floor"),
    ("second-cap-d4-m30", "at most 3 x floor"),
    ("second-large-cap-d0-m15", "at most 4.5 x floor"),
    ("kernel-Laplacian-p1", "at most 5 x Gaussian"),
    ("loss-Huber", "at most 5 x Squared"),
    ("adaptive-LeaveOneOut", "at most 5 x Fixed"),
]


@pytest.mark.parametrize(("name", "target"), ROWS)
def test_targets(name, target):
    assert str(find_target(name)) == target


def test_every_target_is_listed():
    assert {find_target(name) for name, _ in ROWS} == set(TARGETS.values())
    assert find_target("unheard-of") is None


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (Row("dense-paper-p1", "", measured=100.0, base=50.0, ratio=2.2), True),
        (Row("dense-paper-p1", "", measured=1.0, base=0.4, ratio=2.5), False),
        (Row("single", "", measured=2.5), False),
        (Row("report-many", "", measured=100.0), False),
        (Row("threads-bits", "", measured=0.0), True),
        (Row("start", "", measured=0.5), False),
        (Row("ocean", "", measured=1.0, ratio=float("nan")), False),
        (Row("ocean", "", measured=1.0, ratio=1.0, missing="not judged"), None),
        (Row("ocean", ""), None),
        (Row("unheard-of", "", measured=1.0), None),
    ],
)
def test_verdicts(row, holds):
    assert row.holds is holds


def test_what_does_not_hold_is_said():
    assert Row("single", "", measured=2.0).verdict == "yes"
    assert Row("single", "", measured=99.0).verdict == "NO"
    assert Row("single", "", measured=99.0, missing="not judged").verdict == "–"


def test_bits_that_differ_are_counted():
    def holds(*weights):
        state = {"weights": np.array(weights), "multipliers": np.array([0.5])}
        return SimpleNamespace(model=SimpleNamespace(state_dict=lambda: state))

    one = holds(1.0, 2.0)
    assert count_different([one, one]) == 0
    assert count_different([one, holds(1.0, np.nextafter(2.0, 3))]) == 1
    assert count_different([one, holds(1.0)]) == 2


def test_every_kernel_is_measured():
    names = Counter(name for name, _ in examples(3))
    assert {"Gaussian", "Periodic", "Sum", "Gaussian by feature"} <= set(names)
    assert max(names.values()) == 1


# peers


def test_everybody_chooses_from_as_many_settings():
    for entry in ENTRIES.values():
        assert entry.shares in ENTRIES if entry.shares else True
        assert entry.shares or len(entry.settings()) == N_SETTINGS


def test_settings_are_chosen_on_other_readings():
    for draw in STREAMS.values():
        one, other = draw(100, 1), draw(100, 2)
        assert one.X.shape == other.X.shape
        both = np.concatenate((one.X, other.X))
        n_same = len(both) - len(np.unique(both, axis=0))
        assert n_same == 0


def test_klms_follows_its_definition(rng):
    X, Y = rng.uniform(size=(60, 2)), rng.normal(size=60)
    peer = make_klms(2, length_scale=0.3, rate=0.4, quantum=0.5)
    seen = peer.run(peer.prepare(SimpleNamespace(X=X, Y=Y)))
    centres, weights = [], []
    for x, y, prediction in zip(X, Y, seen, strict=True):
        apart = [float(np.linalg.norm(x - centre)) for centre in centres]
        terms = [w * np.exp(-((d / 0.3) ** 2) / 2) for w, d in zip(weights, apart)]  # noqa: B905
        assert prediction == pytest.approx(sum(terms))
        change = 0.4 * (y - sum(terms))
        if apart and min(apart) <= 0.5 * 0.3:
            weights[int(np.argmin(apart))] += change
        else:
            centres.append(x)
            weights.append(change)
    assert len(centres) < len(X)


def test_what_is_not_installed_is_listed_and_not_an_error(monkeypatch):
    entry = ENTRIES["river LinearRegression"]._replace(package="surely_not_there")
    assert entry.missing == "not installed: pip install surely_not_there"
    assert ENTRIES["KLMS in NumPy"].missing == ""


def test_a_learner_that_runs_away_has_an_infinite_error():
    assert find_error([1e300, -1e300], np.zeros(2)) == float("inf")
    assert find_error([1.0, 3.0], np.array([1.0, 1.0])) == pytest.approx(2**0.5)


# output

POINTS = [
    Point("Agents", V, coupling, engine, 500.0, 30.0)
    for V, engine in ((100, 900.0), (1000, 1000.0))
    for coupling in ("paper", "exact")
]


def test_json_goes_round(tmp_path):
    row = Row("single", "one", "us", 2.0, details={"best": 1.0})
    write([row, Score("wave", "KLMS", 1.0, float("inf"), 10), *POINTS], {}, tmp_path)
    content = json.loads((tmp_path / "bench.json").read_text())
    assert content["rows"][0]["target"] == "at most 2.4 us"
    assert content["rows"][0]["holds"] is True
    assert content["rows"][0]["details"] == {"best": 1.0}
    assert content["peers"][0]["error"] is None  # JSON has no infinity
    assert [point["x"] for point in content["scaling"]] == [100, 100, 1000, 1000]


def test_a_row_of_two_times_has_their_medians():
    own, base = Times((3e-9, 1e-9, 2e-9)), Times((1e-9,) * 3)
    row = Row.compare("any", "", "ns per step", own, base, against="other")
    assert (row.measured, row.base, row.ratio) == pytest.approx((2.0, 1.0, 2.0))
    assert row.details == pytest.approx({"best": 1.0, "base_best": 1.0})


def test_figure_has_a_panel_for_what_was_measured():
    panels = make_figure(POINTS).panels
    assert [panel.title for panel in panels] == ["Agents"]
    labels = {item.label for item in panels[0].items} - {""}
    assert labels == {"engine, exact coupling", "engine, paper coupling", "floor"}


def _stub(monkeypatch, run):
    monkeypatch.setitem(BENCHES, "single", Bench("stub", run))


def test_command_writes_what_it_measured(monkeypatch, tmp_path, capsys):
    def run(plan):
        plan.tell("[odd] words")
        return [Row("single", "one [odd] agent", "us", 99.0), *POINTS]

    _stub(monkeypatch, run)
    folder = tmp_path / "new" / "folder"
    assert command.main(["--quick", "--out", str(folder), "--only", "single"]) == 0
    said = capsys.readouterr().out
    assert "NO" in said
    assert "0 of 1 rows" in said
    assert {path.name for path in folder.iterdir()} == {
        "bench.json",
        "bench.png",
        "bench.svg",
    }
    content = json.loads((folder / "bench.json").read_text())
    assert content["is_quick"] is True
    assert content["machine"]["cores"] >= 1
    assert str(tmp_path) not in json.dumps(content)


def test_a_bench_that_breaks_is_a_row_and_an_exit_code(monkeypatch, tmp_path, capsys):
    def run(plan):
        raise RuntimeError("no luck")

    _stub(monkeypatch, run)
    assert command.main(["--out", str(tmp_path), "--only", "single"]) == 1
    assert "no luck" in capsys.readouterr().out


def test_unknown_names_are_refused(capsys):
    assert command.main(["--only", "dense", "sparse"]) == 2
    said = capsys.readouterr().err
    assert "got sparse" in said
    assert "dense, ocean" in said


def test_names_come_in_our_order():
    assert list(choose(["peers", "dense"])) == ["dense", "peers"]
    assert list(choose(None)) == list(BENCHES)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert command.main(["--out", str(file), "--only", "single"]) == 2
    assert "--out must be a folder to write in" in capsys.readouterr().err


def test_a_child_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"No module named benchmarks\.nothing"):
        run_python("-m", "benchmarks.nothing")


def test_peak_memory_is_that_of_the_process():
    assert 1e6 < find_peak_memory() < 1e11
