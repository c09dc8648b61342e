"""The native core as it was built: its sources, its types, its instruction sets."""

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from nanobind.stubgen import StubGen

from halk import _core, _cpu

ROOT = Path(__file__).parents[2]


def test_the_core_was_built_from_these_sources():
    files = [
        *ROOT.glob("core/*.hpp"),
        *ROOT.glob("core/*.cpp"),
        ROOT / "CMakeLists.txt",
    ]
    names = sorted(file.relative_to(ROOT).as_posix() for file in files)
    hashes = [hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in names]
    listing = "".join(f"{h}  {name}\n" for h, name in zip(hashes, names, strict=True))
    found = hashlib.sha256(listing.encode()).hexdigest()
    assert _core.build_info()["digest"] == found, "the core is older than core/: make"


# --------------------------------------------------------------------- types


def describe(node):
    """Return the parameters of a function with their defaults, and its decorators."""
    arguments = ast.unparse(node.args)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    arguments = ast.unparse(node.args)
    return arguments, [ast.unparse(d) for d in node.decorator_list]


def members(body):
    """Return every class and function of a stub by name, without the types."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = members(node.body)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = describe(node)
    return found


def test_the_stub_names_what_the_module_has():
    written = (ROOT / "src/halk/_core.pyi").read_text(encoding="utf-8")
    generator = StubGen(_core)
    generator.put(_core)
    made = generator.get()
    assert members(ast.parse(written).body) == members(ast.parse(made).body)


# -------------------------------------------------------------- instructions


def core_of(wanted, tmp_path, code="print(_core.__file__)"):
    """Return what a process prints that has loaded the core by ``HALK_CORE``."""
    return subprocess.run(
        [sys.executable, "-c", f"from halk import _core; {code}"],
        env={"HALK_CORE": wanted}, cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_the_core_is_the_one_for_this_processor():
    assert _core.__name__ == "halk._core"
    assert _core.build_info()["level"] == _cpu.find_level()


def test_a_core_is_chosen_by_its_file(tmp_path):
    shown = core_of(_core.__file__, tmp_path)
    assert shown.stdout.strip() == _core.__file__


def test_a_core_that_is_missing_is_named(tmp_path):
    shown = core_of("v9", tmp_path)
    assert "halk has no native core for v9 here" in shown.stderr


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("fpu sse4_2", "v2"),
        (" ".join(sorted(_cpu.V3 | {"fpu"})), "v3"),
        (" ".join(sorted(_cpu.V3 | _cpu.V4)), "v4"),
        (" ".join(sorted(_cpu.V4)), "v2"),
        (None, "v2"),
    ],
)
def test_the_level_follows_from_the_flags(monkeypatch, tmp_path, flags, level):
    file = tmp_path / "cpuinfo"
    if flags is not None:
        file.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(_cpu, "CPUINFO", file)
    monkeypatch.setattr(_cpu.platform, "machine", lambda: "x86_64")
    assert _cpu.find_level() == level
    monkeypatch.setattr(_cpu.platform, "machine", lambda: "aarch64")
    assert _cpu.find_level() == "any"
