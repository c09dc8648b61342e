"""Every experiment, small: what it leaves in the folder, and that all of it agrees."""

import hashlib
import json
import re
import shutil
from importlib.metadata import version

import numpy as np
import pyarrow.parquet
import pytest

from halk import __version__
from halk.experiments import EXPERIMENTS
from halk.experiments.claims import COUPLINGS
from halk.experiments.experiment import combined
from halk.experiments.fill_in_methods import BATCH, ENTRIES
from halk.experiments.methods import METHODS
from halk.experiments.runs import Results
from halk.experiments.store import Store, code_digest
from halk.report import Bars, Figure, Page, Table, render
from tests.experiments.conftest import GULF
from tests.experiments.toys import diverged, same

N_CLAIMS = {
    "random-field": 8, "temperature": 14, "salinity": 15, "fill-in": 10, "theory": 5
}  # fmt: skip
FIGURES = [
    "random-field-paper", "random-field-exact", "temperature-paper",
    "temperature-exact", "salinity-paper", "salinity-exact", "fill-in-temperature",
    "fill-in-salinity", "theory",
]  # fmt: skip


WORDS = {"reproduced": True, "not reproduced": False, "not comparable": None}


def n_runs(experiment):
    """Return how many runs there must be: two seeds of everything."""
    if hasattr(experiment, "methods"):
        return 2 * sum(1 + METHODS[key].has_coupling for key in experiment.methods)
    if experiment.name == "theory":
        return 2 * (2 * 4 + 2)
    return 2 * 2 * (len(ENTRIES) * 4 + len(BATCH) * 3)


def read(everything, name):
    return json.loads((everything.folder / name).read_text(encoding="utf-8"))


def test_all_runs_of_all_experiments_are_finished(everything):
    assert list(everything.by_name) == list(EXPERIMENTS) == list(N_CLAIMS)
    wanted = {name: n_runs(one.experiment) for name, one in everything.by_name.items()}
    for name, one in everything.by_name.items():
        assert len(one.results) == len(one.experiment.runs()) == wanted[name] >= 16
    assert everything.watch.begun == [(name, n, 0) for name, n in wanted.items()]
    assert len(everything.watch.finished) == sum(wanted.values())
    assert everything.watch.started == everything.watch.finished
    assert {0.5, 1.0} <= set(everything.watch.shares)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_seed_has_its_own_numbers(everything, name):
    results = everything.by_name[name].results
    assert results.values("seed") == [0, 1]
    for one in results.where(seed=0):
        twin = dict(one.settings, seed=1)
        (other,) = results.where(**twin)
        columns = [c for c in one.trace.columns if c not in ("seconds", "step")]
        found = [np.array_equal(one.trace[c], other.trace[c]) for c in columns]
        assert one.numbers != other.numbers or not all(found)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_has_a_verdict_with_numbers_for_each_seed(everything, name):
    claims = everything.by_name[name].claims
    assert len(claims) == N_CLAIMS[name]
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.name.startswith(f"{name}/")
        is_of_one = name == "theory" and claim.name != "theory/gap-rate"
        assert list(claim.verdicts) == (["exact"] if is_of_one else list(COUPLINGS))
        for verdict in claim.verdicts.values():
            assert verdict.word in WORDS
            assert WORDS[verdict.word] is verdict.holds
            assert len(verdict.seeds) == 2
            assert "2 seeds)" in verdict.seen
            for holds, numbers in verdict.seeds:
                assert holds in (True, False, None)
                assert numbers
                assert not any(np.isnan(number) for number in numbers.values())
                is_finite = all(np.isfinite(number) for number in numbers.values())
                assert is_finite or not holds


def test_claims_on_disk_are_those_computed(everything):
    found = read(everything, "claims.json")
    assert found == [c.as_json() for one in everything.finished for c in one.claims]
    for claim in found:
        for verdict in claim["verdicts"].values():
            assert WORDS[verdict["verdict"]] is verdict["holds"]
            seeds = verdict["seeds"]
            assert (verdict["holds"] is True) == all(one["holds"] for one in seeds)
            for one in seeds:
                numbers = one["numbers"].values()
                assert all(n is None or np.isfinite(n) for n in numbers)


def test_manifest_lists_every_run_and_what_made_it(everything):
    manifest = read(everything, "manifest.json")
    assert manifest["halk"] == __version__
    assert manifest["code"] == code_digest()
    assert manifest["packages"]["numpy"] == version("numpy") == np.__version__
    sha256 = hashlib.sha256(GULF.read_bytes()).hexdigest()
    for name, about in manifest["experiments"].items():
        one = everything.by_name[name]
        assert about["options"] == everything.options.as_json()
        assert (about["command"], about["code"]) == (everything.command, code_digest())
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", about["written"])
        assert list(about["runs"]) == [run.name for run in one.experiment.runs()]
        for run in one.experiment.runs():
            listed = about["runs"][run.name]
            assert listed["settings"] == run.settings
            assert listed["settings"]["seed"] in (0, 1)
            assert listed["digest"] == run.digest(code_digest())
            assert listed["seconds"] >= 0
        if name in ("temperature", "salinity", "fill-in"):
            assert about["data"]["sha256"] == sha256
            assert all(r["settings"]["data"] == sha256 for r in about["runs"].values())
            assert all(r["settings"]["n_agents"] == 3 for r in about["runs"].values())
        else:
            assert about["data"] == {}


def test_traces_of_all_runs_are_in_one_table(everything):
    table = pyarrow.parquet.read_table(everything.folder / "trace.parquet").to_pydict()
    keys = list(zip(table["experiment"], table["run"], strict=True))
    results = [result for one in everything.finished for result in one.results]
    assert list(dict.fromkeys(keys)) == [
        (result.run.experiment, result.run.name)
        for result in results
        if len(result.trace)
    ]
    assert len(keys) == sum(len(result.trace) for result in results)
    where = keys.index(("temperature", "halk-exact-1"))
    (one,) = everything.by_name["temperature"].results.where(
        method="halk", coupling="exact", seed=1
    )
    rows = slice(where, where + len(one.trace))
    assert table["loss"][rows] == one.trace["loss"].tolist()
    assert table["setting.method"][where] == "halk"
    assert table["setting.coupling"][where] == "exact"
    assert table["setting.seed"][where] == 1


def test_runs_on_disk_are_those_returned(everything):
    store = Store.__new__(Store)  # the usual way would write into the folder
    store.folder = everything.folder
    for one in everything.finished:
        for result in list(one.results)[::7]:
            found = store.load(result.run, result.run.digest(code_digest()))
            same(found, result)


def test_figures_are_there_in_both_formats(everything):
    names = {path.name for path in (everything.folder / "figures").iterdir()}
    assert names == {f"{name}.{end}" for name in FIGURES for end in ("png", "svg")}
    for path in (everything.folder / "figures").iterdir():
        content = path.read_bytes()
        is_png = path.suffix == ".png"
        assert content.startswith(b"\x89PNG" if is_png else b"<?xml")
        assert len(content) > 5000


def test_nothing_else_is_left_in_the_folder(everything):
    assert sorted(path.name for path in everything.folder.iterdir()) == [
        "claims.json", "figures", "manifest.json", "report.html", "runs",
        "trace.parquet",
    ]  # fmt: skip
    assert not list(everything.folder.rglob(".*"))


def test_report_says_what_the_claims_say(everything):
    page = (everything.folder / "report.html").read_text(encoding="utf-8")
    for claim in read(everything, "claims.json"):
        assert claim["sentence"].replace("'", "&#39;") in page.replace(
            "&#x27;", "&#39;"
        )
    verdicts = [
        verdict["holds"]
        for claim in read(everything, "claims.json")
        for verdict in claim["verdicts"].values()
    ]
    assert page.count("✓</span> reproduced") == verdicts.count(True)
    assert page.count("✗</span> not reproduced") == verdicts.count(False)
    # four claims of the theory are about one coupling only
    assert page.count("○</span> no verdict") == 4 + verdicts.count(None)
    assert everything.command in page
    assert code_digest() in page


def test_headline_counts_claims_that_hold(everything):
    page = (everything.folder / "report.html").read_text(encoding="utf-8")
    for coupling in COUPLINGS:
        verdicts = [
            claim.verdicts[coupling].holds
            for one in everything.finished
            for claim in one.claims
            if coupling in claim.verdicts
        ]
        assert f"{verdicts.count(True)} of {len(verdicts)}" in page


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_sections_show_every_method(everything, name):
    one = everything.by_name[name]
    section = one.experiment.section(one.results, one.claims)
    figures = [item for item in section.items if isinstance(item, Figure | Bars)]
    assert [figure.name for figure in figures] == [
        figure for figure in FIGURES if figure.startswith(name)
    ]
    tables = [item for item in section.items if isinstance(item, Table)]
    assert tables
    if hasattr(one.experiment, "methods"):
        assert {row[0] for row in tables[0].rows} >= {"HALK", "Penalty", "Alone"}
        listed = {(row[0], row[1]) for row in tables[0].rows}
        keys = {(r.settings["method"], r.settings["coupling"]) for r in one.results}
        assert len(listed) == len(tables[0].rows) == len(keys)
        for figure in figures:
            assert len(figure.panels) == 3
            assert all(len(panel.items) >= 2 for panel in figure.panels)


def test_the_rbf_network_has_as_many_centres_as_halk_ended_with(everything):
    for name in ("random-field", "temperature", "salinity"):
        results = everything.by_name[name].results
        for coupling in COUPLINGS:
            for seed in (0, 1):
                keys = {"coupling": coupling, "seed": seed}
                (halk,) = results.where(method="halk", **keys)
                (rbf,) = results.where(method="rbf", **keys)
                wanted = round(float(halk.trace["order_mean"][-1]))
                assert rbf.trace["order_mean"][-1] == wanted


def test_every_method_is_tuned_with_the_same_effort(everything):
    one = everything.by_name["fill-in"]
    effort, searches = one.experiment.effort, one.results.where(share=None)
    assert len(searches) == len(ENTRIES) * 2 * 2
    steps = [effort.short] * effort.n_trials + [effort.long] * effort.n_best
    for search in searches:
        assert search.trace["step"].tolist() == steps
        choice = search.numbers["choice"]
        assert choice == {key: search.trace[key][-1] for key in choice}
        assert search.numbers["score"] == search.trace["score"][-1]
        chosen = search.trace["score"][effort.n_trials :]
        assert chosen[-1] == chosen.min()
    for result in one.results:
        found = result.settings
        if found["share"] is not None and "gp" not in found["method"]:
            (search,) = one.results.where(**dict(found, share=None))
            assert result.numbers["choice"] == search.numbers["choice"]


def test_runs_that_diverged_are_reported_as_such(everything):
    for name in ("random-field", "temperature", "fill-in"):
        one = everything.by_name[name]
        is_fatal = {"halk", "halk-adaptive", "halk-exact"}
        changed = Results(
            diverged(result)
            if result.settings["method"] in is_fatal
            and result.settings.get("share", 80) is not None
            and result.settings["seed"] == 1
            else result
            for result in one.results
        )
        claims = one.experiment.claims(changed)
        assert json.dumps([claim.as_json() for claim in claims], allow_nan=False)
        touched = [c for c in claims if "diverged" in c.verdict("exact").seen]
        assert len(touched) >= 4
        assert not any(claim.verdict("exact").holds for claim in touched)
        assert any(claim.verdict("exact").holds is False for claim in touched)
        section = one.experiment.section(changed, claims)
        tables = [item for item in section.items if not isinstance(item, Figure | Bars)]
        bare = type(section)(section.title, name, tables)
        assert "diverged" in render(Page("", "", [], [bare]))
        table = combined(list(changed))
        assert len(table) == sum(len(result.trace) for result in changed)


def test_all_runs_may_have_diverged(everything):
    for name in ("random-field", "salinity"):
        one = everything.by_name[name]
        gone = Results(diverged(result) for result in one.results)
        claims = one.experiment.claims(gone)
        for claim in claims:
            for verdict in claim.verdicts.values():
                assert verdict.holds is not True
        assert one.experiment.section(gone, claims).items


# in a browser

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
BROKEN = "[...document.images].filter(i => !i.complete || !i.naturalWidth).length"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_report_needs_nothing_but_itself(everything):
    path = everything.folder / "report.html"
    asked, complaints = [], []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(path.as_uri())
        tab.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert complaints == []
        headings = tab.locator("main h2").all_inner_texts()
        titles = [one.experiment.title for one in everything.finished]
        assert headings == ["Overview", *titles]
        assert tab.locator("main img").count() == len(FIGURES)
        assert tab.evaluate(BROKEN) == 0
        assert tab.evaluate(OVERFLOW) == 0
        browser.close()
