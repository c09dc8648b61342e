"""The benchmark itself: it counts right and hides nothing; no timing is asserted."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks.benches import BENCHES, Bench, chosen
from benchmarks.children import run_child
from benchmarks.fields import Fields
from benchmarks.figure import figure
from benchmarks.floor import Floor, count_terms, floor_of
from benchmarks.networks import regular
from benchmarks.output import as_text
from benchmarks.peers.entries import ENTRIES, N_SETTINGS
from benchmarks.peers.kernel import KLMS
from benchmarks.peers.loop import error
from benchmarks.peers.streams import STREAMS
from benchmarks.plan import Plan
from benchmarks.results import Point, Results, Row, Score
from benchmarks.rows import threads as threads_module
from benchmarks.rows.components import fitting
from benchmarks.rows.ocean import counted
from benchmarks.rows.order import exponent
from benchmarks.targets import TARGETS, target_of
from benchmarks.timing import Job, Times, in_turn, ratio
from benchmarks.workloads import BANDWIDTHS, Workload
from halk import Network
from halk.expansion import Expansion
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


@pytest.mark.compiled
def test_floor_jobs_make_as_many_terms_and_products_as_they_say(rng):
    function = Expansion(Gaussian(0.3), rng.uniform(size=(7, 2)), np.ones(7))
    floor = floor_of(function, rng.uniform(size=(5, 2)), n_agents=3)
    assert floor.n_terms % 7 == 0
    assert floor.n_products % 3 == 0
    for job in floor.jobs:
        job.run(None)


def test_whole_run_is_counted_with_the_orders_it_had():
    class Growing:
        """Gains an atom a step."""

        network = Network.path(2)
        model_order = np.zeros(2)

        def learn_many(self, X, Y):
            self.model_order = self.model_order + len(X)

    count = counted(Growing(), np.zeros((10, 2, 1)), np.zeros((10, 2)), length=3)
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
    X, Y = Fields(5, 3, seed=1).drawn(200)
    again = Fields(5, 3, seed=1).drawn(200)
    assert np.array_equal(X, again[0])
    assert np.array_equal(Y, again[1])
    assert X.min() >= 0
    assert X.max() < 1


def test_even_points_fill_the_cube():
    X, _ = Fields(4, 1).even(32)
    for i in range(4):
        gaps = np.diff(np.sort(X[:, i, 0]))
        assert gaps.max() < 2.7 / 32


def test_labels_are_signs():
    assert set(np.unique(Fields(3, 1, has_labels=True).drawn(50)[1])) == {-1.0, 1.0}


def test_a_narrower_kernel_for_more_atoms():
    assert Workload(10, order=60).kernel == Gaussian(BANDWIDTHS[1] / 2)
    assert Workload(10, n_features=3).kernel == Gaussian(BANDWIDTHS[3])


# timing


def test_jobs_take_turns_and_preparation_comes_before():
    said = []
    jobs = [
        Job(said.append, lambda: "a"),
        Job(said.append, lambda: "b"),
    ]
    times = in_turn(jobs, repeats=2)
    assert said == ["a", "b"] * 3
    assert [len(one.seconds) for one in times] == [2, 2]


def test_ratio_is_that_of_the_medians():
    assert ratio(Times((9.0, 2.0, 4.0)), Times((1.0, 2.0, 100.0))) == 2.0
    assert Times((9.0, 2.0, 4.0)).best == 2.0


def test_exponent_of_a_power_law():
    sizes = np.array([10.0, 30.0, 100.0])
    assert exponent(sizes, 3e-6 * sizes**2.2) == pytest.approx(2.2)


# targets and verdicts

# row, target of the issue
ISSUE = [
    ("dense-paper-p1", "at most 2 x floor"),
    ("dense-paper-p3", "at most 2 x floor"),
    ("dense-exact-p1", "at most 3 x floor"),
    ("dense-exact-p3", "at most 3 x floor"),
    ("ocean", "at most 2 x floor"),
    ("size-growth-paper", "at most 1.5 x V = 1,000"),
    ("size-memory-paper", "under 3 GiB"),
    ("order", "at most 2.2 as exponent"),
    ("report-calls", "under 100 us"),
    ("report-many", "under 100 us"),
    ("reference-exact", "at least 200 x faster"),
    ("threads-speed", "at least 1.6 x faster"),
    ("threads-bits", "at most 0 different"),
    ("start-warm", "at most 2.5 s"),
    ("start-cold", "at most 12 s"),
    ("start-says", "at least 1 message"),
    ("single", "at most 15 us"),
    ("kernel-Laplacian-p1", "at most 5 x Gaussian"),
    ("loss-Huber", "at most 5 x Squared"),
    ("adaptive-LeaveOneOut", "at most 5 x fixed"),
]


@pytest.mark.parametrize(("name", "target"), ISSUE)
def test_targets_are_those_of_the_issue(name, target):
    assert str(target_of(name)) == target


def test_every_target_is_one_of_the_issue():
    assert {target_of(name) for name, _ in ISSUE} == set(TARGETS.values())
    assert target_of("unheard-of") is None


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (Row("dense-paper-p1", "", measured=100.0, base=50.0, ratio=2.0), True),
        (Row("dense-paper-p1", "", measured=1.0, base=0.4, ratio=2.5), False),
        (Row("single", "", measured=15.1), False),
        (Row("report-many", "", measured=100.0), False),
        (Row("threads-bits", "", measured=0.0), True),
        (Row("start-says", "", measured=0.0), False),
        (Row("ocean", "", measured=1.0, ratio=float("nan")), False),
        (Row("ocean", "", measured=1.0, ratio=1.0, missing="not judged"), None),
        (Row("ocean", ""), None),
        (Row("unheard-of", "", measured=1.0), None),
    ],
)
def test_verdicts(row, holds):
    assert row.holds is holds


def test_what_does_not_hold_is_said():
    assert Row("single", "", measured=9.0).verdict == "yes"
    assert Row("single", "", measured=99.0).verdict == "NO"
    assert Row("single", "", measured=99.0, missing="not judged").verdict == "–"


def test_threads_are_not_available_where_the_engine_knows_none(monkeypatch):
    monkeypatch.setattr(threads_module, "HALK", lambda network: None)
    rows = threads_module.threads(Plan(is_quick=True))
    assert [row.name for row in rows] == ["threads-speed", "threads-bits"]
    assert all(row.missing.startswith("not available") for row in rows)


def _stood_still(weights, multipliers):
    functions = [Expansion(Gaussian(1.0), np.zeros((len(w), 1)), w) for w in weights]
    orders = np.array([len(w) for w in weights])
    model = SimpleNamespace(
        functions=functions, multipliers=np.array(multipliers), model_order=orders
    )
    return SimpleNamespace(model=model)


def test_bits_that_differ_are_counted():
    one = _stood_still([[1.0, 2.0], [3.0]], [0.5, 0.0])
    assert threads_module.different(one, one) == 0
    moved = _stood_still([[1.0, np.nextafter(2.0, 3)], [3.0]], [0.5, 1e-300])
    assert threads_module.different(one, moved) == 2
    assert threads_module.different(one, _stood_still([[1.0], [3.0]], [0.5, 0])) > 0


def test_every_kernel_is_measured():
    names = Counter(name for name, _ in fitting(3))
    assert {"Gaussian", "Custom", "Sum", "Gaussian by feature"} <= set(names)
    assert max(names.values()) == 1


# peers


def test_everybody_chooses_from_as_many_settings():
    for entry in ENTRIES.values():
        assert entry.shares in ENTRIES if entry.shares else True
        assert entry.shares or len(entry.settings()) == N_SETTINGS


def test_settings_are_chosen_on_other_readings():
    for stream in STREAMS.values():
        one, other = stream.draw(100, 1), stream.draw(100, 2)
        assert one.X.shape == other.X.shape
        both = np.concatenate((one.X, other.X))
        n_same = len(both) - len(np.unique(both, axis=0))
        assert n_same == 0


def test_klms_follows_its_definition(rng):
    X, Y = rng.uniform(size=(60, 2)), rng.normal(size=60)
    peer = KLMS(2, bandwidth=0.3, rate=0.4, quantum=0.5)
    seen = peer.run(peer.prepared(SimpleNamespace(X=X, Y=Y)))
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
    assert error([1e300, -1e300], np.zeros(2)) == float("inf")
    assert error([1.0, 3.0], np.array([1.0, 1.0])) == pytest.approx(2**0.5)


# output

POINTS = [
    Point("Agents", V, coupling, engine, 500.0, 30.0)
    for V, engine in ((100, 900.0), (1000, 1000.0))
    for coupling in ("paper", "exact")
]


def test_json_goes_round():
    rows = [Row("single", "one", "us", 9.0, details={"best": 8.0}), *POINTS]
    rows.append(Score("wave", "KLMS", 1.0, float("inf"), 10))
    content = json.loads(as_text(Results(rows).as_json()))
    assert (
        content["rows"][0] | {"target": "at most 15 us", "holds": True}
        == (content["rows"][0])
    )
    assert content["rows"][0]["details"] == {"best": 8.0}
    assert content["peers"][0]["error"] is None  # JSON has no infinity
    assert [point["x"] for point in content["scaling"]] == [100, 100, 1000, 1000]


def test_figure_has_a_panel_for_what_was_measured():
    panels = figure(POINTS).panels
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
    assert list(chosen(["peers", "dense"])) == ["dense", "peers"]
    assert list(chosen(None)) == list(BENCHES)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert command.main(["--out", str(file), "--only", "single"]) == 2
    assert "--out must be a folder to write in" in capsys.readouterr().err


def test_a_child_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"No module named benchmarks\.nothing"):
        run_child("benchmarks.nothing")
