"""Name a Numba cache after the sources, so that stale machine code is never loaded.

Numba renews a cached function when the function's own file changes, but not when a
formula that was compiled into it from another file does. A cache named after the hash
of all sources cannot be stale. Run as a program it makes the folder and prints it;
``tests/conftest.py`` and the Makefile both use it.
"""

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def source_hash(sources: Path) -> str:
    """Hash the names and contents of all Python files under ``sources``."""
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*.py")):
        content = path.read_bytes()
        name = path.relative_to(sources).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def cache_directory(root: Path = ROOT) -> Path:
    """Return the cache of the current sources, made if need be.

    Making one deletes those of earlier sources, so that they do not pile up.
    """
    caches = root / ".numba_cache"
    current = caches / source_hash(root / "src" / "halk")
    if not current.is_dir():
        current.mkdir(parents=True, exist_ok=True)
        for other in set(caches.iterdir()) - {current}:
            shutil.rmtree(other, ignore_errors=True)
    return current


if __name__ == "__main__":
    print(cache_directory())
