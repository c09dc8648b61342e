"""Users' formulas in lanes against the same formulas, number by number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from halk import HALK, DivergenceError, Network
from halk._jit import compiled
from halk.kernels import Custom, Gaussian
from tests.engine.drive import Rowed

pytestmark = pytest.mark.compiled


def way(kernel: Custom) -> str:
    """Return how a kernel was compiled for lanes."""
    return str(kernel.in_lanes.function.__wrapped__.__name__)


def summed(x: Any, y: Any) -> float:
    total = 0.0
    for f in range(len(x)):
        total += (x[f] - y[f]) ** 2
    return math.exp(-0.5 * total)


def from_an_integer(x: Any, y: Any) -> float:
    product = 1
    for f in range(len(x)):
        product *= 1 + math.cos(x[f] - y[f])
    return product / 2


def roots(x: Any, y: Any) -> float:
    return math.sqrt(abs(x[0] * y[0])) + math.fabs(x[0]) * abs(y[0])


def powers(x: Any, y: Any) -> float:
    u, v, e = 1.0 + abs(x[0]), 1.0 + abs(y[0]), 1.5
    return u**2 * v**3 + u**4 * v**0.5 + math.pow(u, 2) + u**e + v**5 - u**-1


def signs(x: Any, y: Any) -> float:
    u = -x[0]
    u -= 2.0
    u *= 3.0
    u /= 1.5
    return 2 - u + 3 / (4.0 + abs(+y[0])) - 1 * u / 2


def triangle(x: Any, y: Any) -> float:
    return max(0.0, 1.0 - abs(x[-1] - y[-1])) + min(x[0], y[0]) - min(1, x[0])


def of_numpy(x: Any, y: Any) -> float:
    return np.exp(-np.abs(x[0] - y[0])) * np.cos(x[0]) * np.sin(y[0]) + np.sqrt(2.0)


def of_others(x: Any, y: Any) -> float:
    u, v = math.tanh(x[0]), math.tanh(y[0])
    near = math.log1p(abs(u * v)) + math.atan(u) * math.atan(v)
    return near + math.erf(u) * math.erf(v) + math.expm1(u * v) + math.cosh(u) * v


@compiled
def _inner(u: Any, v: Any) -> Any:
    return math.exp(-abs(u - v))


def of_a_function(x: Any, y: Any) -> float:
    return float(_inner(x[0], y[0])) + _inner(0.5, 0.25)


def of_a_list(x: Any, y: Any) -> float:
    return math.exp(-sum([(x[f] - y[f]) ** 2 for f in range(len(x))]))


def of_small_powers(x: Any, y: Any) -> float:
    total, u = 0.0, x[0] * y[0]
    for e in range(-3, 3):
        total += u**e
    return total + u**-1 + math.pow(u, -2)


def beyond(x: Any, y: Any) -> float:
    return math.exp(-690.0 - 20.0 * (x[0] - y[0]) ** 2) * math.exp(690.0)


def constant(x: Any, y: Any) -> float:
    return 1.5


AT_ONCE = [
    summed, from_an_integer, roots, powers, signs, triangle, of_numpy, of_others,
    of_a_function, of_a_list, of_small_powers, beyond, constant,
]  # fmt: skip


def box(x: Any, y: Any) -> float:
    return 1.0 if abs(x[0] - y[0]) < 1.0 else 0.0


def of_slices(x: Any, y: Any) -> float:
    return float(x[1:].sum() * y[1:].sum()) + x[-1] * y[-1]


def of_pairs(x: Any, y: Any) -> float:
    total = 0.0
    for u, v in zip(x, y):  # noqa: B905
        total += u * v
    return total


def remainder(x: Any, y: Any) -> float:
    return math.exp(-abs(x[0] % 1.0 - y[0] % 1.0))


def of_attributes(x: Any, y: Any) -> float:
    return 2.0 * y[0] if hasattr(x, "shape") else x[0]


def of_a_number_s_attributes(x: Any, y: Any) -> float:
    return x[0] * y[0] if hasattr(x[0], "real") else 0.0


def whether(x: Any, y: Any) -> bool:
    return abs(x[0] - y[0]) < 1.0  # type: ignore[no-any-return]


ONE_BY_ONE = [
    box, of_slices, of_pairs, remainder, of_attributes, of_a_number_s_attributes,
    whether,
]  # fmt: skip


def of_a_product(x: Any, y: Any) -> float:
    return float(np.dot(x, y))


def test_what_needs_vectors_without_gaps_gets_them() -> None:
    assert Custom(of_a_product).in_lanes is None
    check(of_a_product)


def test_compiled_functions_are_taken_as_they_are() -> None:
    kernel = Custom(compiled(season))
    assert way(kernel) == "at_once"
    X = np.array([[0.3], [1.7]])
    np.testing.assert_array_equal(kernel(X), Custom(season)(X))


def check(function: Callable[[Any, Any], float]) -> None:
    """Compare rows of lanes with the formula as Python runs it."""
    rng = np.random.default_rng(0)
    for p in (2, 3):
        for m in (1, 4, 6, 11):
            atoms, X = 2.0 * rng.normal(size=(m, p)), 2.0 * rng.normal(size=(3, p))
            got = Rowed(Custom(function), atoms, rng.normal(size=m), X)
            expected = [[float(function(d, x)) for d in atoms] for x in X]
            np.testing.assert_allclose(got.cross, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("function", AT_ONCE)
def test_lanes_take_the_place_of_numbers(function: Callable[..., float]) -> None:
    assert way(Custom(function)) == "at_once"
    check(function)


@pytest.mark.parametrize("function", ONE_BY_ONE)
def test_what_lanes_cannot_do_is_done_one_by_one(function: Any) -> None:
    assert way(Custom(function)) == "one_by_one"
    check(function)


def singular(x: Any, y: Any) -> float:
    return 1.0 / (x[0] * y[0]) + 1.0 / abs(x[0])


def singular_and_box(x: Any, y: Any) -> float:
    return singular_at(x[0], y[0]) if x[0] > y[0] else 1.0 / x[0]


@compiled
def singular_at(u: float, v: float) -> float:
    return 1.0 / (u * v)


@pytest.mark.parametrize("function", [singular, singular_and_box])
def test_nothing_is_heard_from_where_no_atom_is(function: Any) -> None:
    """Behind the last atom stand zeros, where these are infinite."""
    atoms = np.array([[1.0], [2.0], [-3.0], [0.5], [4.0]])
    got = Rowed(Custom(function), atoms, np.ones(5), np.array([[1.0], [-2.0]]))
    expected = [[function(d, x) for d in atoms] for x in ([1.0], [-2.0])]
    np.testing.assert_allclose(got.cross, expected, rtol=1e-14)
    np.testing.assert_allclose(got.values, np.sum(expected, axis=1), rtol=1e-13)


def inverse(x: Any, y: Any) -> float:
    return (x[0] * y[0]) ** -1  # type: ignore[no-any-return]


def test_one_atom_s_infinity_is_not_its_neighbours() -> None:
    atoms = np.array([[0.0], [1.0], [2.0]])
    got = Rowed(Custom(inverse), atoms, np.zeros(3), np.array([[2.0]]))
    np.testing.assert_array_equal(got.cross, [[np.inf, 0.5, 0.25]])


def season(x: Any, y: Any) -> float:
    half = math.sin(0.5 * (x[0] - y[0]))
    return math.exp(-2.0 * half * half)


def branching_season(x: Any, y: Any) -> float:
    return season_at(x[0] - y[0]) if x[0] != y[0] else 1.0


@compiled
def season_at(u: float) -> float:
    return math.exp(-2.0 * math.sin(0.5 * u) ** 2)


def test_a_network_learns_the_same_either_way(rng: np.random.Generator) -> None:
    network = Network.ring(5, tolerance=0.05)
    X, Y = rng.uniform(0.0, 12.0, (60, 5, 1)), rng.normal(size=(60, 5))
    models = [
        HALK(network, Custom(f) + 0.5 * Gaussian(2.0), coupling="exact")
        for f in (season, branching_season)
    ]
    for model in models:
        model.learn_many(X, Y)
    grid = np.linspace(0.0, 12.0, 30)[:, None]
    assert way(Custom(season)) != way(Custom(branching_season))
    for i in range(5):
        one, other = (model.predict(i, grid) for model in models)
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def infinite_at_one(x: Any, y: Any) -> float:
    return 1.0 / (1.0 - abs(x[0] - y[0])) ** 2


def infinite_at_one_and_branching(x: Any, y: Any) -> float:
    return 1.0 / (1.0 - abs(x[0] - y[0])) ** 2 if x[0] != y[0] else 1.0


@pytest.mark.parametrize("f", [infinite_at_one, infinite_at_one_and_branching])
def test_infinite_values_end_in_a_clear_error(f: Any) -> None:
    """A division by zero is no exception that is lost on the way."""
    model = HALK(Network(1), Custom(f))
    with pytest.raises(DivergenceError):
        model.learn_many(np.array([[[0.0]], [[1.0]]]), np.ones((2, 1)))
