"""What the pages say is so: their examples run, and what they name is there."""

import doctest
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ELSEWHERE = {"estimators.md"}  # tests/sklearn runs it

WRITTEN = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in WRITTEN}
WITH_EXAMPLES = [
    name for name, text in PAGES.items() if ">>> " in text and name not in ELSEWHERE
]


@pytest.fixture
def beside_tables(tmp_path, monkeypatch):
    """Go to a folder with the tables of the examples, which may write to it."""
    for table in (DOCS / "examples").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def session(monkeypatch):
    """Return a module to run a page in: what it defines can be pickled, as in one."""
    module = ModuleType("halk_page")
    monkeypatch.setitem(sys.modules, "halk_page", module)
    return module


def test_there_are_pages_with_examples():
    assert {"quickstart.md", "sensors.md", "errors.md"} < set(WITH_EXAMPLES)


@pytest.mark.usefixtures("beside_tables")
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name, session):
    parsed = doctest.DocTestParser().get_doctest(
        PAGES[name], {}, name, str(DOCS / name), 0
    )
    parsed.globs = vars(session)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    runner.run(parsed, out=said.append, clear_globs=False)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", PAGES)
def test_names_in_code_are_there(name):
    for dotted in set(re.findall(r"`(halk(?:\.\w+)+)`", PAGES[name])):
        assert _found(dotted), f"{name} names {dotted}, which is not there"


def _found(dotted: str) -> bool:
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


def test_the_tables_of_the_examples_are_as_made(tmp_path):
    source = (DOCS / "examples" / "make_tables.py").read_text("utf-8")
    script = tmp_path / "make_tables.py"
    script.write_text(source, "utf-8")
    made: dict[str, object] = {"__file__": str(script), "__name__": "made"}
    exec(compile(source, str(script), "exec"), made)
    made["main"]()
    for table in (DOCS / "examples").glob("*.csv"):
        assert (tmp_path / table.name).read_bytes() == table.read_bytes()
