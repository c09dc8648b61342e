"""The page in a real browser: it asks for nothing, complains of nothing, and fits."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from halk.report import Page, write

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BROKEN = "[...document.images].filter(i => !i.complete || !i.naturalWidth).length"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        arguments = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
        started = driver.chromium.launch(**arguments)
        yield started
        started.close()


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_stands_alone(
    browser: Any,
    tmp_path: Path,
    make_page: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    path = write(make_page("A <b>bold</b> text"), tmp_path / "report.html")
    size = {"width": width, "height": 800}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        tab = context.new_page()
        asked, complaints = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(path.as_uri())
        tab.wait_for_load_state("networkidle")
        outside = [url for url in asked if not url.startswith("data:")]
        assert outside == [path.as_uri()]
        assert complaints == []
        assert tab.locator("h1").all_inner_texts() == ["A <b>bold</b> text"]
        headings = tab.locator("main h2").all_inner_texts()
        assert headings == ["A <b>bold</b> text", "Tables", "Last"]
        assert tab.evaluate(BROKEN) == 0
        assert tab.evaluate(OVERFLOW) == 0  # wide things scroll by themselves
