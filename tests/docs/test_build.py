"""The documentation builds without a warning, and needs nothing but itself."""

import importlib.util
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCHES = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*?\bsrc=[\"'](?:https?:)?//"
    r"|<link\b(?![^>]*rel=[\"'](?:canonical|prev|next|author)[\"'])[^>]*?"
    r"\bhref=[\"'](?:https?:)?//"
    r"|url\(\s*[\"']?(?:https?:)?//|@import\s+[\"'](?:https?:)?//",
    re.IGNORECASE,
)
MODULES = (
    "halk", "halk.bandwidth", "halk.checkpoint", "halk.checks", "halk.errors",
    "halk.evaluate", "halk.features", "halk.function", "halk.intervals", "halk.kernels",
    "halk.learners", "halk.losses", "halk.network", "halk.proximity", "halk.reference",
    "halk.report", "halk.river", "halk.sensors", "halk.sklearn", "halk.data",
    "halk.theory", "halk.trace",
)  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a fresh build."""
    for package in ("furo", "myst_parser", "sphinx"):
        pytest.importorskip(package, reason="needs the extra docs: make docs")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-E", "-q"]
    command += ["-d", str(out / "doctrees"), "-b", "html"]
    done = subprocess.run(
        [*command, "docs", str(out / "html")], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out / "html"


def test_nothing_is_fetched(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert len(files) > 30
    for path in files:
        found = FETCHES.search(path.read_text("utf-8"))
        assert found is None, f"{path.name} fetches {found.group()}"


def test_formulas_are_drawn_by_a_file_of_the_site(site):
    page = (site / "how-it-works.html").read_text("utf-8")
    source = re.search(r"src=\"(_static/[^\"?]*tex-svg\.js)", page)
    assert source is not None
    assert (site / source.group(1)).stat().st_size > 1e6


def test_no_page_names_this_machine(site):
    for path in site.rglob("*.html"):
        assert str(ROOT) not in path.read_text("utf-8"), path.name


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_entry(site, module):
    entries = _entries(site / "objects.inv")
    found = importlib.import_module(module)
    for name in _public(module):
        value = getattr(found, name)
        home = getattr(value, "__module__", module) or module
        known = {f"{module}.{name}", f"{home}.{name}"}
        parts = home.split(".")
        known |= {".".join([*parts[:n], name]) for n in range(1, len(parts))}
        assert known & entries, f"{module}.{name} has no entry"


def _public(module: str) -> list[str]:
    path = ROOT / "docs" / "_ext" / "reference.py"
    spec = importlib.util.spec_from_file_location("halk_docs_reference", path)
    assert spec is not None
    assert spec.loader is not None
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    return extension.public(module)


def _entries(inventory: Path) -> set[str]:
    content = inventory.read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(content).decode().splitlines()
    return {line.split(" ", 1)[0] for line in lines if " py:" in line}
