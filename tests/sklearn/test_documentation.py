"""The examples of the guide run."""

import doctest
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "estimators.md"


def test_the_guide():
    failed, tried = doctest.testfile(
        str(GUIDE), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 20
    assert failed == 0
