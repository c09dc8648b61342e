"""Functions that compiled code alone calls, and the collector while compiling."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from halk._jit import compiled, internal, pointer

pytestmark = pytest.mark.compiled


def twice(x: float) -> float:
    return 2.0 * x


def raising(x: float) -> float:
    if x < 0.0:
        raise ValueError("x must not be negative")
    return x


def test_linked_functions_are_part_of_their_callers() -> None:
    inner = internal(twice)

    @compiled
    def outer(x: float) -> float:
        return inner(x) + 1.0

    assert outer(3.0) == 7.0
    (made,) = inner.overloads.values()
    # no machine code of its own: there is nothing to point to
    assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) == 0
    (whole,) = outer.overloads.values()
    assert whole.library.get_pointer_to_function(whole.fndesc.llvm_func_name) != 0


def test_chains_of_linked_functions() -> None:
    first = internal(twice)

    @internal
    def second(x: float) -> float:
        return first(x) + first(1.0)

    @compiled
    def one(a: Any) -> float:
        return second(a[0])

    @compiled
    def other(a: Any) -> float:
        return second(a[1]) + first(a[0])

    a = np.array([1.0, 10.0])
    assert (one(a), other(a)) == (4.0, 24.0)


def test_errors_come_out_of_linked_functions() -> None:
    inner = internal(raising)

    @compiled
    def outer(x: float) -> float:
        return inner(x)

    assert outer(1.0) == 1.0
    with pytest.raises(ValueError, match="must not be negative"):
        outer(-1.0)


@pytest.mark.parametrize("is_hot", [True, False])
def test_a_hot_function_is_reached_by_one_call(is_hot: bool) -> None:
    made = pointer(1.0, 1.0, cache=False, is_hot=is_hot)(twice)
    assert made.ctypes(3.0) == 6.0
    _, wrapper = made.inspect_llvm().split(f"@{made.native_name}(", 1)
    body = wrapper.split("\n}", 1)[0]
    assert ("call" in body) != is_hot


@pytest.fixture
def collector() -> Iterator[None]:
    """Leave the collector as it was found."""
    was_on = gc.isenabled()
    yield
    if was_on:
        gc.enable()
    else:
        gc.disable()


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_collector_is_left_as_it_was_found(is_on: bool, fails: bool) -> None:
    def wrong(x: Any) -> Any:
        return x.nothing if fails else x

    if is_on:
        gc.enable()
    else:
        gc.disable()
    function = compiled(wrong)
    if fails:
        with pytest.raises(Exception, match="nothing"):
            function(1.0)
    else:
        function(1.0)
    assert gc.isenabled() == is_on
