"""The engine against stored results of small runs; see ``cases.py``."""

import numpy as np
import pytest

from tests.golden.cases import CASES, EXACT, ILL_CONDITIONED, RESUMED, flat
from tests.golden.make import PATH


@pytest.fixture(scope="module")
def golden():
    with np.load(PATH) as stored:
        yield stored


def assert_same(name, results, expected):
    assert len(flat(results)) == len(expected)
    for field, value in results.items():
        size = np.size(value)
        stored, expected = expected[:size], expected[size:]
        rounding = 1e-6 if name in ILL_CONDITIONED else 1e-9
        tolerance = 0.0 if field in EXACT else rounding
        largest = np.abs(stored).max(initial=0.0)
        np.testing.assert_allclose(
            np.ravel(value), stored, rtol=0.0, atol=tolerance * largest, err_msg=field
        )


def test_every_case_is_stored_and_no_other(golden):
    assert set(golden.files) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_stored_ones(name, golden):
    if name.startswith(("river", "sklearn")):
        pytest.importorskip(name.split("-")[0])
    assert_same(name, CASES[name](), golden[name])


@pytest.mark.parametrize("name", RESUMED)
def test_so_they_are_after_a_save_and_a_load(name, golden, tmp_path):
    def half_way(learner):
        learner.save(tmp_path / "model")
        return type(learner).load(tmp_path / "model")

    assert_same(name, CASES[name](half_way=half_way), golden[name])
