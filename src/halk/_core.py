"""Load the native core built for this processor, in the place of this module.

A wheel holds one for x86-64-v2 and one for v3, a local build the one that fits the
machine best (v4: AVX-512). All give the same bits. The variable ``HALK_CORE`` names a
level, or the file of a module.
"""

import importlib.machinery
import importlib.util
import os
import sys

from halk._cpu import find_level

LEVELS = ["v4", "v3", "v2"]


def find_file() -> str:
    """Return the file of the module to load."""
    wanted = os.environ.get("HALK_CORE", "")
    if os.sep in wanted:
        return wanted
    best = find_level()
    levels = [wanted] if wanted else [v for v in LEVELS if v <= best] or [best]
    for level in levels:
        spec = importlib.util.find_spec(f"halk._core_{level}")
        if spec is not None and spec.origin is not None:
            return spec.origin
    raise ImportError(
        f"halk has no native core for {' or '.join(levels)} here: install it by "
        "`pip install .` or `make install`"
    )


def load(file: str) -> None:
    """Make the extension module ``file`` the module ``halk._core``."""
    loader = importlib.machinery.ExtensionFileLoader("halk._core", file)
    spec = importlib.util.spec_from_file_location("halk._core", file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["halk._core"] = module
    loader.exec_module(module)


load(find_file())
