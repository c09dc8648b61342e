"""Settings shared by all tests."""

import os
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from source_hash import cache_directory

# Numba reads the variable once, when it is imported.
if "numba" in sys.modules:
    raise RuntimeError("numba was imported before its cache was chosen")
os.environ["NUMBA_CACHE_DIR"] = str(cache_directory())

# Compilation and busy machines make the time of one example meaningless.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=40, derandomize=True, **UNTIMED)
settings.register_profile("thorough", max_examples=2000, **UNTIMED)
settings.load_profile("quick")  # pytest --hypothesis-profile=thorough for the other


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator that starts every test from the same seed."""
    return np.random.default_rng(0)
