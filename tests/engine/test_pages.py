"""Large pages are asked for, and change nothing."""

import numpy as np
import pytest

from halk._jit import lined_up, pages


@pytest.mark.parametrize("n", [pages.LARGE // 8 + 1, pages.LARGE // 8 + 100_003])
def test_large_arrays_are_zero_and_writable(n: int) -> None:
    made = lined_up(n)
    assert made.shape == (n,)
    assert not made.any()
    made[:] = np.arange(n)
    np.testing.assert_array_equal(made, np.arange(n))


def test_pages_are_asked_for_within_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(pages, "_advise", lambda: lambda *a: asked.append(a))
    pages.ask_for_large_pages(4096 * 5 + 16, 4096 * 3)
    (first, n_bytes, _) = asked[0]
    assert first == 4096 * 6
    assert n_bytes == 4096 * 2


def test_systems_without_them_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_advise", lambda: None)
    pages.ask_for_large_pages(0, 2**30)
