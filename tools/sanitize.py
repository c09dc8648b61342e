"""Build a core with AddressSanitizer and UndefinedBehaviorSanitizer, and test it.

::

    python tools/sanitize.py            # oracle, property and stress tests
    python tools/sanitize.py --quick    # a minute of them

The instrumented module lies in ``build/sanitize``; the installed one stays as it is.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "sanitize"
TESTS = ["tests/oracle", "tests/properties", "tests/conformance", "tests/core"]
QUICK = ["tests/oracle/test_engine.py", "tests/properties/test_sizes.py"]

CHECK = """
from halk import _core
info = _core.build_info()
assert info["sanitizers"] == "address,undefined", info
print(f"== tests of {_core.__file__}, {info['compiler']}, {info['sanitizers']}")
"""


def find_library(compiler: str, name: str) -> str | None:
    """Return the path of a shared library that comes with the compiler."""
    command = [compiler, f"-print-file-name={name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = done.stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None


def find_compiler() -> str | None:
    """Return a compiler with AddressSanitizer's library, ``CXX`` if that is one."""
    names = [os.environ.get("CXX", ""), "c++", "g++"]
    compilers = [found for name in names if (found := shutil.which(name))]
    return next((c for c in compilers if find_library(c, "libasan.so")), None)


def build(compiler: str) -> Path:
    """Compile the instrumented module and return its file."""
    search = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    cmake = shutil.which("cmake", path=search)
    if cmake is None:
        sys.exit("cmake was not found: make install")
    nanobind = subprocess.check_output(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], text=True
    ).strip()
    settings = {
        "CMAKE_CXX_COMPILER": compiler,
        "HALK_SANITIZE": "ON",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind,
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    configure = [cmake, "-S", str(ROOT), "-B", str(FOLDER), *defined]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    compile_ = [cmake, "--build", str(FOLDER), "--parallel", "2"]
    subprocess.run(compile_, check=True, stdout=subprocess.DEVNULL)
    (file,) = FOLDER.glob("_core_*.so")
    return file


def main(*arguments: str) -> int:
    """Build, then run the tests; return pytest's exit code."""
    compiler = find_compiler()
    if compiler is None:
        print("== sanitizers: skipped, they need g++ with libasan")
        return 0
    print(f"== compiling the core with {compiler} and sanitizers", flush=True)
    # The C++ library too: AddressSanitizer looks for its exceptions when it starts.
    libraries = (
        find_library(compiler, f"{name}.so") for name in ("libasan", "libstdc++")
    )
    environment = os.environ | {
        "HALK_CORE": str(build(compiler)),
        "LD_PRELOAD": " ".join(filter(None, libraries)),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    subprocess.run([sys.executable, "-c", CHECK], env=environment, check=True)
    tests = QUICK if "--quick" in arguments else TESTS
    run = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-n", "2", *tests]
    return subprocess.run(run, env=environment, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
