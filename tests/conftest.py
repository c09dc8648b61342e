"""Settings shared by all tests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from halk import _core

# Busy machines make the time of one example meaningless.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=40, derandomize=True, **UNTIMED)
settings.register_profile("thorough", max_examples=2000, **UNTIMED)
settings.load_profile("quick")  # pytest --hypothesis-profile=thorough for the other


def pytest_report_header() -> str:
    """Say which core is tested."""
    info = _core.build_info()
    return f"core: {info['level']}, {info['compiler']}, {info['sanitizers'] or 'plain'}"


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator that starts every test from the same seed."""
    return np.random.default_rng(0)
