"""The wheel and the sdist as users install them."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import halk

ROOT = Path(__file__).parents[1]

USE = """
import halk
model = halk.fit({"buoy": ["n", "n", "s", "s"], "depth_m": [0, 9, 0, 9],
                  "t_C": [20.0, 8.0, 22.0, 10.0]}, quick=True)
print(halk.__version__, model.predict("n", {"depth_m": 0}).value.round()[0])
"""


def run(*command: str, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=True, **options
    ).stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder with wheel and sdist."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.mark.slow
def test_the_wheel_holds_code_types_and_data(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "halk/py.typed" in names
    assert "halk/sensing/fitting.py" in names
    assert any(name.endswith("gulf_levitus_50nodes.csv") for name in names)
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
    metadata = next(name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    for extra in ("tables", "sklearn", "river", "experiments"):
        assert f"Provides-Extra: {extra}\n" in text
    assert "Description-Content-Type: text/markdown" in text


@pytest.mark.slow
def test_the_sdist_holds_what_the_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("Makefile", "pyproject.toml", "tests/test_packaging.py", "README.md"):
        assert name in names


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "venv", str(tmp_path / "env"))
    python = str(tmp_path / "env/bin/python")
    run(python, "-m", "pip", "install", "--quiet", f"halk @ file://{wheel}")
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    clean["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    shown = run(python, "-c", USE, cwd=tmp_path, env=clean)
    assert shown.split() == [halk.__version__, "20.0"]
    halk_ = str(tmp_path / "env/bin/halk")
    bare = subprocess.run(
        [halk_, "--version"], capture_output=True, text=True, env=clean, check=False
    )
    assert "pip install 'halk[tables]'" in bare.stderr
    run(python, "-m", "pip", "install", "--quiet", f"halk[tables] @ file://{wheel}")
    assert run(halk_, "--version", env=clean).strip() == halk.__version__
    (tmp_path / "r.csv").write_text("buoy,depth_m,t_C\nn,0,20\nn,9,8\ns,0,22\ns,9,\n")
    run(halk_, "fit", "r.csv", "--quick", "-q", cwd=tmp_path, env=clean)
    filled = run(halk_, "fill", "model.halk", "r.csv", cwd=tmp_path, env=clean)
    assert filled.splitlines()[0].endswith("t_C_predicted,t_C_low,t_C_high")
