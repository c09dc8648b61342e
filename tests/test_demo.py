"""The demo: its table, its report, and that what it shows is what was learned."""

import re
import shutil

import numpy as np
import pytest

from halk.demo import main, show
from halk.demo.learn import LABELS, learned
from halk.report import Figure, MapFigure


class Seen:
    """What the demo learned, printed and wrote."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run the demo."""
    seen, lines = Seen(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show, "page", lambda *given: kept_page(seen, *given))
        patch.setattr("rich.console.Console.print", printing(lines))
        seen.folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
        seen.code = main(seen.folder)
    seen.text = "\n".join(lines)
    return seen


def kept_page(seen, methods, seconds):
    seen.methods = methods
    seen.page = show_page(methods, seconds)
    return seen.page


show_page = show.page


def printing(lines):
    """Return a way to print that keeps the text."""

    def print_(console, *items, **options):
        with console.capture() as capture:
            original(console, *items, **options)
        lines.append(capture.get())

    import rich.console  # noqa: PLC0415

    original = rich.console.Console.print
    return print_


def test_every_method_learns_and_is_finite(demo):
    assert demo.code == 0
    assert [one.key for one in demo.methods] == list(LABELS)
    for one in demo.methods:
        assert np.isfinite(one.error)
        assert 0 < one.error < 20
    for one in demo.methods[:3]:
        assert one.trace["step"][-1] == len(one.task.order) == 156
        assert one.trace["test_error"][-1] == pytest.approx(one.error, rel=1e-9)


def test_talking_helps_and_comes_near_to_what_pooling_can_do(demo):
    error = {one.key: one.error for one in demo.methods}
    assert error["together"] < 0.2 * error["alone"]
    assert error["together"] < 0.2 * error["linear"]
    assert error["gp"] < error["together"] < 1.5 * error["gp"]
    assert error["pooled"] < 1.5 * error["gp"]


def test_bands_hold_about_what_they_say(demo):
    together, alone = demo.methods[:2]
    assert 0.8 < together.coverage < 0.95
    assert 0.85 < alone.coverage <= 1.0
    job = together.task
    depth = np.linspace(0.0, 1000.0, 20)
    assert (together.band(3, depth) > 0).all()
    assert (together.band(3, depth) < 2 * job.field.y.std()).all()


def test_messages_are_queries_and_answers_or_readings_sent_to_one_place(demo):
    n = {one.key: one.n_messages for one in demo.methods}
    job = demo.methods[0].task
    assert n["alone"] == 0
    assert n["pooled"] == n["linear"] == n["gp"] == 156
    neighbours = [job.network.degree[i] for i in job.field.agent[job.order]]
    assert n["together"] == 2 * sum(neighbours)


def test_the_table_shows_the_errors(demo):
    for one in demo.methods:
        lines = [line for line in demo.text.splitlines() if "│" in line]
        (row,) = [line for line in lines if one.label in line]
        assert f" {one.error:.2f} " in row
        assert f" {one.size:.0f} " in row
        assert f" {one.n_messages:,} " in row
    ratio = demo.methods[1].error / demo.methods[0].error
    assert f"{ratio:.1f} times" in demo.text
    assert str(demo.folder / "report.html") in demo.text.replace("\n", "")


def test_four_fifths_of_the_readings_are_withheld_from_all(demo):
    job = demo.methods[0].task
    assert job.is_withheld.mean() == pytest.approx(0.8, abs=0.02)
    assert sorted(job.order) == np.flatnonzero(~job.is_withheld).tolist()
    assert all(one.task is job for one in demo.methods)


def test_withheld_readings_change_nothing_but_the_error(demo):
    job = demo.methods[0].task
    y = np.where(job.is_withheld, 1e3, job.field.y)
    other = learned("together", job._replace(field=changed(job.field, y)), tell)
    assert other.error > 100
    depth = np.linspace(0.0, 1000.0, 20)
    for i in range(5):
        np.testing.assert_array_equal(
            other.profile(i, depth), demo.methods[0].profile(i, depth)
        )


def changed(field, y):
    return type(field)(**{name: getattr(field, name) for name in FIELDS} | {"y": y})


FIELDS = (
    "name", "unit", "inputs", "names", "positions", "is_geographic", "agent", "x",
    "source", "sha256",
)  # fmt: skip


def tell(share):
    assert 0 < share <= 1


def test_profiles_are_predictions_of_the_model(demo):
    for one in demo.methods:
        job = one.task
        for i in (0, 17):
            depth = np.array([0.0, 30.0, 800.0])
            lat, lon = job.field.positions[i]
            centre = job.field.positions.mean(axis=0)
            x = np.column_stack([
                np.log(1 + depth / 100) - 1.8,
                np.full(3, lat - centre[0]),
                np.full(3, lon - centre[1]),
            ])  # fmt: skip
            who = 0 if one.key == "pooled" else i
            wanted = one.model.predict(who, x)
            np.testing.assert_allclose(one.profile(i, depth), wanted, rtol=1e-9)


def test_batch_models_are_those_of_the_definition(demo):
    *_, pooled, linear, gp = demo.methods
    job = gp.task
    field, order = job.field, job.order
    up = np.log(1 + field.x[:, 0] / 100) - 1.8
    x = np.column_stack([up, field.x[:, 1:] - field.positions.mean(axis=0)])
    y = field.y - field.y[order].mean()
    at = x[field.agent == 17]
    z = (x[order][:, None] - x[order]) / pooled.model.length_scale_
    K = np.exp(-0.5 * (z**2).sum(axis=2)) + pooled.model.noise_ * np.eye(len(order))
    z = (at[:, None] - x[order]) / pooled.model.length_scale_
    wanted = np.exp(-0.5 * (z**2).sum(axis=2)) @ np.linalg.solve(K, y[order])
    wanted += field.y[order].mean()
    np.testing.assert_allclose(gp.model.predict(17, at), wanted, atol=1e-8)
    slopes, *_ = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))])[order], y[order])
    wanted = at @ slopes[:3] + slopes[3] + field.y[order].mean()
    np.testing.assert_allclose(linear.model.predict(17, at), wanted, atol=1e-8)


def test_errors_are_those_of_the_profiles(demo):
    for one in demo.methods:
        field, away = one.task.field, one.task.is_withheld
        misses = [
            one.profile(i, field.x[mine, 0]) - field.y[mine]
            for i in range(field.n_agents)
            for mine in [away & (field.agent == i)]
        ]
        error = np.sqrt(np.mean(np.concatenate(misses) ** 2))
        assert one.error == pytest.approx(error, rel=1e-9)


def test_the_report_holds_errors_profiles_map_and_curves(demo):
    errors, profiles, chart, course = demo.page.sections
    rows = errors.items[1].rows
    assert [row[0] for row in rows] == [one.label for one in demo.methods]
    assert [row[1] for row in rows] == [one.error for one in demo.methods]
    (network,) = [item for item in chart.items if isinstance(item, MapFigure)]
    np.testing.assert_array_equal(network.values, demo.methods[0].model.multipliers)
    assert len(network.labels) == 6
    (fitted,) = [item for item in profiles.items if isinstance(item, Figure)]
    assert len(fitted.panels) == 6
    (curves,) = [item for item in course.items if isinstance(item, Figure)]
    assert all(len(panel.items) == 3 for panel in curves.panels)


def test_profiles_in_the_report_are_those_of_the_models(demo):
    together, alone = demo.methods[:2]
    field, away = together.task.field, together.task.is_withheld
    (figure,) = [i for i in demo.page.sections[1].items if isinstance(i, Figure)]
    for panel in figure.panels:
        name = re.match(r"Sensor (\S+)", panel.title).group(1)
        i, (one, two, seen, hidden) = field.names.index(name), panel.items
        np.testing.assert_array_equal(one.x, together.profile(i, np.asarray(one.y)))
        np.testing.assert_array_equal(two.x, alone.profile(i, np.asarray(two.y)))
        for line, method in ((one, together), (two, alone)):
            assert line.is_upright
            width = 2 * method.band(i, np.asarray(line.y))
            np.testing.assert_allclose(line.high - line.low, width)
        for points, mask in ((seen, ~away), (hidden, away)):
            mine = mask & (field.agent == i)
            np.testing.assert_array_equal(points.x, field.y[mine])
            np.testing.assert_array_equal(points.y, field.x[mine, 0])
        assert panel.invert_y


def test_the_report_is_one_file(demo):
    assert [path.name for path in demo.folder.iterdir()] == ["report.html"]
    html = (demo.folder / "report.html").read_text(encoding="utf-8")
    assert html.count("<img") == 3
    assert f"{demo.methods[0].error:.2f}" in html
    assert 'src="http' not in html


playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_the_report_needs_nothing_but_itself(demo):
    path = demo.folder / "report.html"
    asked, complaints = [], []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(path.as_uri())
        tab.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert complaints == []
        assert tab.locator("main img").count() == 3
        browser.close()
