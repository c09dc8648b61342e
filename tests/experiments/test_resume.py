"""Interrupted, damaged, changed, extended: what is made again, and what is not."""

import errno
import json
import os
import stat

import pytest

import halk.experiments.runner
from halk.data import DataError
from halk.experiments import store as store_module
from halk.experiments.claims import COUPLINGS
from halk.experiments.data import ocean
from halk.experiments.fill_in import FillIn
from halk.experiments.ocean import Salinity, Temperature
from halk.experiments.random_field import RandomFieldExperiment
from halk.experiments.reproduce import reproduce
from halk.experiments.runner import carry_out
from halk.experiments.runs import Options, Results
from halk.experiments.store import OutputError, Store, code_digest
from halk.experiments.theory import Theory
from tests.experiments.conftest import GULF
from tests.experiments.toys import Watcher, kept, result, same, settle, toy, tree

TWO = Options(scale="smoke", seeds=2)
NAMES = ("first-0", "second-0", "first-1", "second-1")


def done(kind, folder, options=TWO, again=False, watch=None):
    """Carry out an experiment; return its results by name."""
    watch = watch or Watcher()
    results = carry_out(kind(options), Store(folder), watch, again)
    return {one.run.name: one for one in results}


def agree(found, wanted):
    assert list(found) == list(wanted)
    for name, one in found.items():
        same(one, wanted[name])


@pytest.fixture
def whole(tmp_path):
    """What comes of it if nothing happens."""
    return done(toy(), tmp_path / "whole")


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("how", ["stop_after", "stop_at_start"])
def test_an_interrupted_experiment_goes_on(tmp_path, whole, how, k):
    kind, folder = toy(), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        done(kind, folder, watch=Watcher(**{how: k}))
    n = k if how == "stop_after" else k - 1
    assert kind.executed == NAMES[:n]
    watch = Watcher()
    agree(done(kind, folder, watch=watch), whole)
    assert kind.executed == NAMES  # each of them once
    assert watch.begun == [("toy", 4, n)]
    assert watch.finished == list(NAMES[n:])


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_a_run_is_saved_loses_only_that_run(
    tmp_path, whole, monkeypatch, error
):
    kind, folder, n_saved = toy(), tmp_path / "out", 0
    fsync = os.fsync

    def interrupted(descriptor):
        nonlocal n_saved
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            n_saved += 1
            if n_saved == 4:  # the first is the trial of the folder
                raise error
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(error):
            done(kind, folder)
    assert kept(folder) == ["first-0", "second-0"]
    assert len(tree(folder)) == 2
    agree(done(kind, folder), whole)
    assert kind.executed == (*NAMES[:3], *NAMES[2:])


def test_what_a_killed_process_left_does_no_harm(tmp_path, whole):
    kind, folder = toy(), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        done(kind, folder, watch=Watcher(stop_after=2))
    (folder / "runs" / "toy" / ".halk-0123.tmp").write_bytes(b"PAR1 half of it")
    agree(done(kind, folder), whole)
    assert kind.executed == NAMES


def test_finished_runs_are_made_again_only_if_asked(tmp_path, whole):
    kind, folder = toy(), tmp_path / "out"
    done(kind, folder)
    agree(done(kind, folder), whole)
    assert kind.executed == NAMES
    agree(done(kind, folder, again=True), whole)
    assert kind.executed == 2 * NAMES


def test_other_settings_are_run_anew(tmp_path):
    kind, folder = toy(), tmp_path / "out"
    done(kind, folder)
    faster = toy(rate=2.0)
    found = done(faster, folder)
    assert faster.executed == NAMES
    agree(found, done(toy(rate=2.0), tmp_path / "fresh"))
    done(faster, folder, Options(scale="full", seeds=2))
    assert faster.executed == 2 * NAMES
    done(kind, folder)  # nothing was written over
    assert kind.executed == NAMES


def test_other_code_runs_anew(tmp_path, monkeypatch):
    kind, folder = toy(), tmp_path / "out"
    done(kind, folder)
    monkeypatch.setattr(halk.experiments.runner, "code_digest", lambda: "another")
    done(kind, folder)
    assert kind.executed == 2 * NAMES
    done(kind, folder)
    assert kind.executed == 2 * NAMES


def test_more_seeds_keep_those_that_are_there(tmp_path):
    kind, folder = toy(), tmp_path / "out"
    done(kind, folder)
    found = done(kind, folder, Options(scale="smoke", seeds=3))
    assert kind.executed == (*NAMES, "first-2", "second-2")
    agree(found, done(toy(), tmp_path / "fresh", Options(scale="smoke", seeds=3)))
    assert list(done(kind, folder, Options(scale="smoke", seeds=1))) == list(NAMES[:2])
    assert len(kind.executed) == 6


DAMAGE = {
    "empty": lambda old: b"",
    "half": lambda old: old[: len(old) // 2],
    "all but the last byte": lambda old: old[:-1],
    "garbage": lambda old: bytes(range(256)) * 8,
    "garbage in a frame": lambda old: b"PAR1" + bytes(500) + old[-8:],
    "text": lambda old: b"step,loss\n1,2\n",
    "zeros at the end": lambda old: old[:-60] + bytes(52) + old[-8:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_again(tmp_path, whole, damage):
    kind, folder = toy(), tmp_path / "out"
    done(kind, folder)
    (path,) = folder.glob("runs/toy/first-1.*")
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    agree(done(kind, folder), whole)
    assert kind.executed == (*NAMES, "first-1")
    agree(done(kind, folder), whole)
    assert kind.executed == (*NAMES, "first-1")


@pytest.mark.parametrize(
    "about",
    [
        "[]", "null", "7", "{}", "", '{"digest": "x"}',
        '{"digest": "y", "numbers": {}, "seconds": 1}',
    ],
)  # fmt: skip
def test_a_file_that_says_nothing_of_its_run_counts_as_none(tmp_path, about):
    store, one = Store(tmp_path), result(loss=1.0)
    store.save(one, "x")
    assert store.load(one.run, "x") is not None
    one.trace.metadata["run"] = about
    one.trace.to_parquet(store.path(one.run, "x"))
    assert store.load(one.run, "x") is None


def test_a_result_is_read_back_as_it_was(tmp_path, everything):
    store = Store(tmp_path)
    for one in everything.by_name["temperature"].results.where(seed=1):
        store.save(one, "some digest")
        back = store.load(one.run, "some digest")
        same(back, one)
        assert (back.seconds, back.digest) == (one.seconds, "some digest")
        assert store.load(one.run, "another digest") is None


def test_names_of_runs_stay_in_the_folder(tmp_path):
    run = result("../../elsewhere and more").run
    path = Store(tmp_path).path(run, "x")
    assert path.parent == tmp_path / "runs" / "made-up"


def test_the_digest_is_of_the_code_that_results_depend_on(tmp_path, monkeypatch):
    package = tmp_path / "halk"
    for name in ("a.py", "report/b.py", "demo/c.py", "cli/d.py", "experiments/e.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x = 1")
    monkeypatch.setattr(store_module.resources, "files", lambda name: package)

    def digest():
        return code_digest.__wrapped__()

    before = digest()
    for name in ("report/b.py", "demo/c.py", "cli/d.py"):
        (package / name).write_text("x = 2")
    assert digest() == before
    (package / "experiments" / "e.py").write_text("x = 2")
    assert digest() != before


# whole folders


def test_other_experiments_stay_in_the_folder(tmp_path, monkeypatch):
    one, two = toy("one"), toy("two")
    settle(monkeypatch, one, two)
    reproduce(["two"], TWO, tmp_path, Watcher(), "the first command")
    finished = reproduce(["one"], Options("smoke", seeds=1), tmp_path, Watcher(), "b")
    assert [each.experiment.name for each in finished] == ["one"]
    assert (len(one.executed), len(two.executed)) == (2, 4)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["name"] for claim in claims] == ["one/order", "two/order"]
    assert [len(c["verdicts"]["exact"]["seeds"]) for c in claims] == [1, 2]
    about = json.loads((tmp_path / "manifest.json").read_text())["experiments"]
    assert [len(about[name]["runs"]) for name in ("one", "two")] == [2, 4]
    assert [about[name]["options"]["seeds"] for name in ("one", "two")] == [1, 2]
    page = (tmp_path / "report.html").read_text()
    assert 'id="one"' in page
    assert 'id="two"' in page
    reproduce(["two"], TWO, tmp_path, Watcher())
    assert len(two.executed) == 4


def test_an_earlier_experiment_is_not_mixed_with_another_half(tmp_path, monkeypatch):
    one, two = toy("one"), toy("two")
    settle(monkeypatch, one, two)
    reproduce(["one"], TWO, tmp_path, Watcher())
    full = Options(scale="full", seeds=2)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["one"], full, tmp_path, Watcher(stop_after=2))
    reproduce(["two"], TWO, tmp_path, Watcher())
    for scale in ("smoke", "full"):
        if scale == "full":
            reproduce(["one"], full, tmp_path, Watcher())
        claims = json.loads((tmp_path / "claims.json").read_text())
        assert [claim["name"] for claim in claims] == ["one/order", "two/order"]
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        about = manifest["experiments"]["one"]
        assert about["options"]["scale"] == scale
        scales = [run["settings"]["scale"] for run in about["runs"].values()]
        assert scales == 4 * [scale]
    assert one.executed == (*NAMES, *NAMES)


def test_claims_stay_though_the_data_are_gone(tmp_path, monkeypatch):
    one, two = toy("one"), toy("two")
    settle(monkeypatch, one, two)
    reproduce(["one"], TWO, tmp_path, Watcher())
    before = json.loads((tmp_path / "claims.json").read_text())
    entry = json.loads((tmp_path / "manifest.json").read_text())["experiments"]["one"]

    def gone(self):
        raise DataError("gone")

    monkeypatch.setattr(one, "facts", gone)
    for _ in range(2):
        reproduce(["two"], TWO, tmp_path, Watcher())
        claims = json.loads((tmp_path / "claims.json").read_text())
        assert [claim["name"] for claim in claims] == ["two/order", "one/order"]
        assert claims[1:] == before
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        assert manifest["experiments"]["one"] == entry
        assert "whose data cannot be read" in (tmp_path / "report.html").read_text()
    with pytest.raises(DataError, match="gone"):
        reproduce(["one"], TWO, tmp_path, Watcher())


def test_everything_is_written_after_each_experiment(tmp_path, monkeypatch):
    one, two = toy("one"), toy("two")
    settle(monkeypatch, one, two)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["one", "two"], TWO, tmp_path, Watcher(stop_after=6))
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["name"] for claim in claims] == ["one/order"]
    assert 'id="one"' in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "7", "{}", '{"experiments": 7}',
        '{"experiments": {"one": {}, "two": 7, "three": {"options": {"data": 1}}}}',
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_replaced(tmp_path, monkeypatch, content):
    kind = toy("one")
    settle(monkeypatch, kind, toy("two"), toy("three"))
    reproduce(["one"], TWO, tmp_path, Watcher())
    (tmp_path / "manifest.json").write_text(content)
    reproduce(["one"], TWO, tmp_path, Watcher())
    assert kind.executed == NAMES
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert list(manifest["experiments"]["one"]["runs"]) == list(NAMES)


@pytest.mark.parametrize("n", range(2, 11))
def test_a_full_disk_loses_nothing_that_was_finished(tmp_path, monkeypatch, n):
    kind = toy("one")
    settle(monkeypatch, kind)
    reproduce(["one"], Options("smoke", seeds=1), tmp_path, Watcher())
    before, n_saved, fsync = tree(tmp_path), 0, os.fsync

    def full(descriptor):
        nonlocal n_saved
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            n_saved += 1
            if n_saved >= n:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    options = Options("smoke", seeds=3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        if n == 10:  # one trial, four runs, trace, claims, report, manifest
            reproduce(["one"], options, tmp_path, Watcher())
        else:
            with pytest.raises(OutputError, match=r"No space left.*runs are k"):
                reproduce(["one"], options, tmp_path, Watcher())
    after = tree(tmp_path)
    runs = {name: content for name, content in before.items() if "runs/" in name}
    assert runs.items() <= after.items()
    assert len([name for name in after if "runs/" in name]) == 2 + min(n - 2, 4)
    assert not [name for name in after if ".tmp" in name or ".writable" in name]
    for name in ("trace.parquet", "claims.json", "report.html", "manifest.json"):
        assert name in after  # the old one, or the new one
    n_executed = len(kind.executed)
    reproduce(["one"], options, tmp_path, Watcher())
    assert len(kind.executed) - n_executed == max(6 - n, 0)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert len(claims[0]["verdicts"]["exact"]["seeds"]) == 3


# real experiments


def test_a_real_experiment_goes_on_to_the_same_results(everything, tmp_path):
    options = Options(scale="smoke", seeds=1)
    with pytest.raises(KeyboardInterrupt):
        done(Theory, tmp_path, options, watch=Watcher(stop_after=3))
    watch = Watcher()
    found = done(Theory, tmp_path, options, watch=watch)
    assert watch.begun == [("theory", 10, 3)]
    assert len(watch.finished) == 7
    wanted = everything.by_name["theory"].results
    agree(found, {one.run.name: one for one in wanted.where(seed=0)})


def test_a_run_that_needs_another_finds_it_in_the_folder(everything, tmp_path):
    kind, store = RandomFieldExperiment, Store(tmp_path)
    options = Options(scale="smoke", seeds=1)
    wanted = {
        one.run.name: one for one in everything.by_name[kind.name].results.where(seed=0)
    }
    left = {f"{method}-{c}-0" for method in ("rbf", "penalty") for c in COUPLINGS}
    for one in wanted.values():
        if one.run.name not in left:
            store.save(one, one.run.digest(code_digest()))
    watch = Watcher()
    agree(done(kind, tmp_path, options, watch=watch), wanted)
    assert set(watch.finished) == left


@pytest.mark.slow
def test_two_processes_come_to_the_same(everything, tmp_path):
    options, watch = Options(scale="smoke", seeds=1), Watcher()
    kind = RandomFieldExperiment
    results = carry_out(kind(options), Store(tmp_path), watch, False, jobs=2)
    wanted = everything.by_name[kind.name].results.where(seed=0)
    for one, other in zip(results, wanted, strict=True):
        same(one, other)
    assert sorted(watch.finished) == sorted(one.run.name for one in wanted)
    assert carry_out(kind(options), Store(tmp_path), Watcher(), False, jobs=2)


@pytest.mark.parametrize("kind", [Temperature, Salinity, FillIn])
@pytest.mark.parametrize(
    "changed",
    [{"radius": 900.0}, {"sensors": 6}, {"scale": "full"}],
)
def test_whatever_changes_results_changes_the_digest(kind, changed):
    options = {"scale": "smoke", "seeds": 1, "data": GULF, "sensors": 5}
    before = {run.name: run for run in kind(Options(**options)).runs()}
    after = {run.name: run for run in kind(Options(**options | changed)).runs()}
    assert list(before) == list(after)
    for name, run in before.items():
        assert run.digest("code") != after[name].digest("code")
    (seed,) = {run.settings["seed"] for run in before.values()}
    assert seed == 0


def test_another_season_is_another_run():
    options = [Options("smoke", 1, GULF, season) for season in (None, "winter")]
    for a, b in zip(*(Temperature(one).runs() for one in options), strict=True):
        assert a.digest("code") != b.digest("code")
    before, after = (Temperature(one).field.y for one in options)
    assert not (before == after).all()


def test_other_data_are_other_runs(tmp_path):
    lines = GULF.read_text().splitlines()
    path = tmp_path / "gulf.csv"
    path.write_text("\n".join(lines[:-1]) + "\n")
    options = [Options(scale="smoke", seeds=1, data=data) for data in (GULF, path)]
    for kind in (Temperature, FillIn):
        before, after = (kind(one).runs() for one in options)
        for a, b in zip(before, after, strict=True):
            assert a.digest("code") != b.digest("code")


def test_options_read_back_from_the_manifest():
    for options in (Options(), Options("smoke", 2, GULF, "annual", 5, 300.0)):
        back = Options.from_json(json.loads(json.dumps(options.as_json())))
        assert back == options


# where data come from


def test_the_network_that_comes_along_is_the_default(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    field = ocean(Options(), "temperature")
    assert (field.n_agents, field.n_readings) == (50, 774)
    assert ocean(Options(sensors=7), "salinity").names == field.names[:7]


def test_an_atlas_beside_the_folder_is_used(tmp_path, monkeypatch):
    folder, data = tmp_path / "elsewhere", tmp_path / "shared" / "data"
    folder.mkdir()
    data.mkdir(parents=True)
    text = GULF.read_text().splitlines()
    (data / "gulf_woa18_50nodes.csv").write_text("\n".join(text[:40]) + "\n")
    monkeypatch.chdir(folder)
    assert ocean(Options(season="annual"), "temperature").n_agents < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"season": "monsoon"}, "--season must be one of 'annual'"),
        ({"season": "winter"}, "--season must be 'annual'|--season must be one of"),
    ],
)
def test_a_season_that_is_not_there_is_refused(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        FillIn(Options(**options)).runs()


def test_results_are_found_by_their_settings():
    made = [result(m, seed=s, loss=1.0) for s in (1, 0) for m in ("halk", "polk")]
    results = Results(made)
    assert [one.settings["seed"] for one in results.where(method="halk")] == [0, 1]
    assert results.where(method="halk", seed=1) == [made[0]]
    assert results.where(method="none") == []
    assert results.values("method") == ["halk", "polk"]
    assert len(results) == 4
