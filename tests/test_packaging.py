"""The wheel and the sdist as users install them."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import halk
from halk import _core, _cpu

ROOT = Path(__file__).parents[1]

USE = """
import numpy as np
import halk
from halk import _core

X = np.random.default_rng(0).uniform(size=(100, 3, 1))
model = halk.HALK(halk.Network.path(3, tolerance=0.1))
model.learn_many(X, np.sin(6 * X[..., 0]))
model.save("model.halk")
again = halk.HALK.load("model.halk")
assert (again.predict(1, X[:, 1]) == model.predict(1, X[:, 1])).all()
print(halk.__version__, _core.build_info()["level"], _core.build_info()["digest"])
"""

BITS = """
import hashlib
import numpy as np
import halk
from halk import kernels, losses

noise = np.random.default_rng(0)
X = noise.normal(size=(300, 12, 3))
Y = np.sin(X.sum(axis=2)) + 0.1 * noise.normal(size=(300, 12))
network = halk.Network.complete(12, tolerance=0.05)
for options in (
    {},
    {"coupling": "paper", "step": "plain", "step_size": 0.1},
    {"kernel": kernels.Matern32(0.7) + kernels.Linear()},
    {"kernel": kernels.RationalQuadratic(0.5, 2.0) * kernels.Periodic(2.0, 3.0)},
    {"kernel": kernels.Laplacian(0.7), "loss": losses.Huber(0.2)},
    {"kernel": kernels.Matern52(0.7), "loss": losses.Logistic(), "standardize": False},
    {"adaptation": halk.bandwidth.LeaveOneOut(), "standardize": True},
    {"exchange": "predictions"},
    {"exchange": "readings", "kernel": "matern52", "standardize": True},
):
    make = halk.NewtonHALK if "exchange" in options else halk.HALK
    model = make(network, **options)
    y = np.sign(Y) if "Logistic" in repr(options) else Y
    model.learn_many(X, y)
    state = model.state_dict()
    for name in sorted(state):
        print(options, name, hashlib.sha256(state[name].tobytes()).hexdigest())
"""


def run(*command: str, **options):
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (file,) = built.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def levels():
    """Return the levels that a wheel has modules for."""
    return ["any"] if _cpu.find_level() == "any" else ["v2", "v3"]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Return the Python of an environment with nothing but the wheel."""
    folder = tmp_path_factory.mktemp("env")
    run(sys.executable, "-m", "venv", str(folder))
    run(f"{folder}/bin/python", "-m", "pip", "install", "--quiet", str(wheel))
    return folder / "bin/python"


@pytest.fixture
def clean():
    """Return our environment without what points to our own halk."""
    ours = ("PYTHONPATH", "HALK_CORE")
    return {name: value for name, value in os.environ.items() if name not in ours}


def test_the_wheel_holds_code_types_and_data(wheel, levels):
    names = zipfile.ZipFile(wheel).namelist()
    assert "halk/py.typed" in names
    assert "halk/_core.pyi" in names
    assert "halk/sensors/fitting.py" in names
    assert any(name.endswith("gulf_levitus_50nodes.csv") for name in names)
    assert not [name for name in names if not name.startswith(("halk/", "halk-"))]
    modules = [name for name in names if name.endswith((".so", ".pyd"))]
    assert [name.partition(".")[0] for name in sorted(modules)] == [
        f"halk/_core_{level}" for level in levels
    ]
    metadata = next(name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    for extra in ("tables", "sklearn", "river", "experiments"):
        assert f"Provides-Extra: {extra}\n" in text
    assert "Description-Content-Type: text/markdown" in text
    assert "Requires-Python: >=3.11\n" in text


def test_the_sdist_holds_what_the_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in (
        "CMakeLists.txt",
        "Makefile",
        "README.md",
        "core/bindings.cpp",
        "pyproject.toml",
        "tests/test_packaging.py",
        "tools/sanitize.py",
    ):
        assert name in names


def test_the_wheel_works_in_an_empty_environment(python, clean, tmp_path):
    shown = run(str(python), "-c", USE, cwd=tmp_path, env=clean)
    level = min(_cpu.find_level(), "v3")  # "any" is below
    expected = [halk.__version__, level, _core.build_info()["digest"]]
    assert shown.split() == expected


@pytest.mark.slow
def test_all_modules_give_the_same_bits(python, clean, levels, tmp_path):
    """Those of the wheel, and the one that was built for this machine."""
    if _cpu.find_level() < "v3":
        pytest.skip("needs a processor of x86-64-v3")
    shown = [
        run(str(python), "-c", BITS, cwd=tmp_path, env=clean | {"HALK_CORE": core})
        for core in [*levels, _core.__file__]
    ]
    assert len(shown[0].splitlines()) > 60
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.slow
def test_the_command_says_which_extra_it_needs(python, wheel, clean, tmp_path):
    halk_ = str(python.parent / "halk")
    bare = subprocess.run(
        [halk_, "--version"], capture_output=True, text=True, env=clean, check=False
    )
    assert "pip install 'halk[tables]'" in bare.stderr
    extra = f"halk[tables] @ file://{wheel}"
    run(str(python), "-m", "pip", "install", "--quiet", extra)
    assert run(halk_, "--version", env=clean).strip() == halk.__version__
    (tmp_path / "r.csv").write_text("buoy,depth_m,t_C\nn,0,20\nn,9,8\ns,0,22\ns,9,\n")
    run(halk_, "fit", "r.csv", "--quick", "-q", cwd=tmp_path, env=clean)
    filled = run(halk_, "fill", "model.halk", "r.csv", cwd=tmp_path, env=clean)
    assert filled.splitlines()[0].endswith(
        "t_C_std,t_C_low,t_C_high,t_C_method,t_C_fqc"
    )
