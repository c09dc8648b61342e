"""The demo: fit, fill and inspect on the bundled network, and the truth beside it."""

import csv
import re

import numpy as np
import pytest

import halk
from halk.cli import main, show

pytest.importorskip("rich")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


@pytest.fixture(scope="module")
def shown(folder):
    """Run the demo; return what it printed."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rich.console.Console.print", printing(lines))
        assert main(["demo", "--out", str(folder)]) == 0
    return "\n".join(lines)


def printing(lines):
    """Return a way to print that keeps the text."""
    import rich.console  # noqa: PLC0415

    original = rich.console.Console.print

    def print_(console, *items, **options):
        with console.capture() as capture:
            original(console, *items, **options)
        lines.append(capture.get())

    return print_


def errors_in(text):
    """Return the errors of the table of the truth, by method."""
    part = text.split("readings that were taken out, and what")[1].split("$ halk")[0]
    return {
        name.strip(): float(error)
        for name, error in re.findall(r"^ (\S.*?) {2,}([\d.]+) ", part, re.MULTILINE)
    }


def test_the_commands_are_those_of_the_table(shown, folder):
    for command in ("fit", "fill", "inspect"):
        assert f"$ halk {command} {folder}" in shown
    names = {"readings.csv", "sensors.csv", "model.halk", "filled.csv"}
    assert {path.name for path in folder.iterdir()} >= names


def test_errors_are_those_of_the_filled_file(shown, folder):
    with (folder / "filled.csv").open() as file:
        rows = list(csv.DictReader(file))
    truth = halk.data.gulf("temperature")
    assert len(rows) == truth.n_readings
    is_gap = np.array([row["temperature_C"] == "" for row in rows])
    assert is_gap.mean() == pytest.approx(0.8, abs=0.02)
    filled = np.array([float(row["temperature_C_filled"]) for row in rows])
    miss = (filled - truth.y)[is_gap]
    model = halk.SensorModel.load(folder / "model.halk")
    error = errors_in(shown)[model.comparison.chosen]
    assert error == pytest.approx(np.sqrt(np.mean(miss**2)), rel=0.01)


def test_what_was_chosen_is_far_better_than_simple_methods(shown, folder):
    errors = errors_in(shown)
    model = halk.SensorModel.load(folder / "model.halk")
    (ceiling,) = [v for name, v in errors.items() if name.startswith("batch")]
    assert set(model.comparison.methods) < set(errors)
    chosen = errors[model.comparison.chosen]
    assert 0.9 * ceiling < chosen < 1.6 * ceiling
    simple = [name for name in errors if "mean" in name or "linear" in name]
    assert len(simple) >= 2
    assert all(chosen < 0.2 * errors[name] for name in simple)


def test_the_ceiling_is_a_gaussian_process(rng):
    Z = rng.uniform(size=(60, 2))
    y = np.sin(3 * Z[:, 0]) + Z[:, 1] ** 2
    found = show.fit_gp(Z, y)
    points = rng.uniform(0.1, 0.9, size=(40, 2))
    truth = np.sin(3 * points[:, 0]) + points[:, 1] ** 2
    np.testing.assert_allclose(found(points), truth, atol=0.02)


@pytest.mark.parametrize("out", ["file", "/proc/halk-demo"])
def test_a_folder_that_cannot_be_made_is_refused(capsys, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    assert main(["demo", "--out", out]) == 1
    told = capsys.readouterr()
    assert f"halk: --out must be a folder that can be written, got {out}" in told.err
    assert told.err.count("\n") == 1
