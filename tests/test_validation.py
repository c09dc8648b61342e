"""Wrong arguments: each with the message that says what would be right."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, bandwidth, kernels, losses, proximity
from halk.function import Function

NAN, INF = np.nan, np.inf
X, Y = [[0.0], [0.5], [1.0]], [0.0, 1.0, 2.0]


def path(**arguments: Any) -> HALK:
    return HALK(Network.path(3), **arguments)


def learned(**arguments: Any) -> HALK:
    learner = path(**arguments)
    learner.learn_one(X, Y)
    return learner


def refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call()


def read_cases(text: str) -> list[tuple[str, str]]:
    """Return calls and messages of a text: a call per line, its message indented."""
    cases: list[tuple[str, str]] = []
    for line in filter(None, text.splitlines()):
        if line.startswith(" "):
            call, message = cases[-1]
            cases[-1] = call, f"{message} {line.strip()}".strip()
        else:
            cases.append((line, ""))
    return cases


def evaluate(call: str) -> Any:
    modules = {"bandwidth": bandwidth, "losses": losses, "proximity": proximity}
    return eval(call, globals() | modules, {"m": learned()})


# Arrays -------------------------------------------------------------------------------

SHAPES = r"""
m.learn_one([0.0, 0.5, 1.0], Y)
    x must have shape (3, 1), got (3,)
m.learn_one(X[:2], Y)
    x must have shape (3, 1), got (2, 1)
m.learn_one(np.ones((3, 2)), Y)
    x must have shape (3, 1), got (3, 2)
m.learn_one(X, Y[:2])
    y must have shape (3), got (2,)
m.learn_one(X, [Y])
    y must have shape (3), got (1, 3)
m.learn_many(X, [Y])
    X must have shape (any, 3, 1), got (3, 1)
m.learn_many([X], [Y, Y])
    Y must have shape (1, 3), got (2, 3)
m.predict_one([[0.0]])
    x must have shape (3, 1), got (1, 1)
m.predict(0, [0.0])
    X must have shape (any, 1), got (1,)
m.learn_readings([0, 1], [[0.0]], [1.0])
    X must have shape (2, 1), got (1, 1)
m.learn_readings([0], [[0.0]], [1.0, 2.0])
    Y must have shape (1), got (2,)
m.learn_one([[0.0], [1.0, 2.0], [3.0]], Y)
    x must be a rectangular array of numbers
"""


@pytest.mark.parametrize(("call", "message"), read_cases(SHAPES))
def test_shapes(call: str, message: str) -> None:
    refused(lambda: evaluate(call), ValueError, message)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1j, "complex128"),
        (None, "object; use NaN for what is missing"),
        ("1.0", "<U3"),
        (b"1", "|S1"),
    ],
)
def test_dtypes(value: Any, dtype: str) -> None:
    message = f"must hold real numbers, got dtype {dtype}"
    x, y = [[value]] * 3, [value] * 3
    refused(lambda: path().learn_one(x, Y), TypeError, f"x {message}")
    refused(lambda: path().learn_one(X, y), TypeError, f"y {message}")
    refused(lambda: path().learn_many([x], [Y]), TypeError, f"X {message}")
    refused(lambda: path().predict_one(x), TypeError, f"x {message}")


def test_numbers_of_other_kinds_are_taken() -> None:
    learner = path()
    learner.learn_one(np.array(X, dtype=np.float32), np.array([0, 1, 2]))
    learner.learn_one(np.zeros((3, 1), dtype=bool), np.array(Y)[::-1])
    learner.learn_one(np.asfortranarray(np.ones((3, 1))), np.broadcast_to(1.0, 3))
    assert learner.n_steps == 3


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[0.0], [INF], [0.0]], Y, "x must be finite, got inf at index (1, 0)"),
        ([[0.0], [0.0], [-INF]], Y, "x must be finite, got -inf at index (2, 0)"),
        (X, [0.0, 1.0, INF], "y must be finite, got inf at index (2,)"),
        (
            [[0.0], [NAN], [0.0]],
            Y,
            "x must be finite where there is a reading, got nan at index (1, 0) "
            "(agent 1)",
        ),
        (
            [[0.0], [1e41], [0.0]],
            Y,
            "x must be below 1e40 in size; rescale it, got 1e+41 at index (1, 0) "
            "(agent 1)",
        ),
        (
            X,
            [0.0, -1e41, 0.0],
            "y must be below 1e40 in size; rescale it, got -1e+41 at index (1,) "
            "(agent 1)",
        ),
    ],
)
def test_values(x: Any, y: Any, message: str) -> None:
    refused(lambda: path().learn_one(x, y), ValueError, message)
    refused(lambda: learned().learn_one(x, y), ValueError, message)


def test_values_in_many_steps_name_step_and_agent() -> None:
    many = np.zeros((4, 3, 1))
    many[2, 1] = NAN
    refused(
        lambda: path().learn_many(many, np.zeros((4, 3))),
        ValueError,
        "X must be finite where there is a reading, got nan at index (2, 1, 0) "
        "(agent 1)",
    )


def test_points_to_predict_are_known() -> None:
    refused(
        lambda: learned().predict(0, [[0.0], [NAN]]),
        ValueError,
        "X must be finite, got nan at index (1, 0)",
    )
    refused(
        lambda: learned().predict_one([[0.0], [NAN], [0.0]]),
        ValueError,
        "x must be finite, got nan at index (1, 0)",
    )


def test_nan_where_there_is_no_reading_is_fine() -> None:
    learner = path()
    learner.learn_one([[0.0], [NAN], [1.0]], [0.0, NAN, 2.0])
    assert np.isfinite(learner.predict_one(X)).all()


def test_no_features() -> None:
    refused(
        lambda: path().learn_one(np.zeros((3, 0)), Y),
        ValueError,
        "n_features must be at least 1, got 0",
    )


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Hinge()], ids=repr)
def test_labels(loss: losses.Loss) -> None:
    name = type(loss).__name__
    refused(
        lambda: path(loss=loss).learn_one(X, [1.0, -1.0, 0.0]),
        ValueError,
        f"y must be -1 or +1 for the {name} loss, got 0.0 at index (2,) (agent 2)",
    )
    refused(
        lambda: path(loss=loss, standardize=True),
        ValueError,
        f"standardize must be False for the {name} loss, whose targets are labels, "
        "got True",
    )


# Arguments of a learner ---------------------------------------------------------------

ARGUMENTS = r"""
path(step_size=-0.1)
    step_size must be positive, got -0.1
path(step_size=0)
    step_size must be positive, got 0
path(step_size=NAN)
    step_size must be finite, got nan
path(step_size=[0.1, 0.2])
    step_size must be a number or have one entry per agent (3), got 2 entries
path(dual_step_size=-1.0)
    dual_step_size must not be negative, got -1.0
path(epsilon=-0.1)
    epsilon must not be negative, got -0.1
path(parsimony=-1)
    parsimony must not be negative, got -1
path(epsilon=[0.1, 0.2])
    epsilon must be a number or have one entry per agent (3), got 2 entries
path(epsilon=0.1, parsimony=2.0)
    budget must be given once, as epsilon, parsimony or alpha, got epsilon=0.1 and
    parsimony=2.0
path(parsimony=2.0, alpha=0.5)
    budget must be given once, as epsilon, parsimony or alpha, got parsimony=2.0 and
    alpha=0.5
path(regularization=-1e-05)
    regularization must not be negative, got -1e-05
path(regularization=20.0)
    step_size * regularization must be at most 1, or a step would shrink the
    function past zero, got 2.0
path(dual_regularization=1.0, dual_step_size=2.0)
    dual_regularization * dual_step_size^2 must be at most 1, or a step would shrink
    the multipliers past zero, got 4.0
path(tightening=-0.1)
    tightening must not be negative, got -0.1
path(norm_bound=0.0)
    norm_bound must be positive, got 0.0
path(coupling='loose')
    coupling must be one of 'exact', 'paper', got 'loose'
path(step='normalised')
    step must be one of 'normalized', 'plain', got 'normalised'
path(standardize='yes')
    standardize must be one of False, 'offset', True, got 'yes'
path(standardize=1)
    standardize must be one of False, 'offset', True, got 1
path(adaptation=bandwidth.LeaveOneOut(), kernel=kernels.Linear())
    adaptation needs a kernel with a length scale, such as Gaussian(1.0);
    Linear(scale=1.0) has none
"""
TYPES = r"""
path(step_size='big')
    step_size must be a number, got 'big'
path(step_size=True)
    step_size must be a number, got True
path(kernel='gaussian')
    kernel must be a kernel such as kernels.Gaussian(1.0), got 'gaussian'
path(kernel=losses.Squared())
    kernel must be a kernel such as kernels.Gaussian(1.0), got Squared()
path(loss=proximity.Huber(2.0))
    loss must be a loss such as losses.Squared(), got Huber(width=2.0)
path(proximity=losses.Huber(2.0))
    proximity must be a proximity such as proximity.Squared(), got Huber(phi=2.0)
path(adaptation=0.5)
    adaptation must be an adaptation such as bandwidth.LeaveOneOut(), got 0.5
"""


def test_a_learner_needs_a_network() -> None:
    refused(lambda: HALK(3), TypeError, "network must be a Network, got 3")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "error", "message"),
    [
        ("north", ValueError, "agent must be one of '0', '1', '2', got 'north'"),
        (3, ValueError, "agent must be at most 2, got 3"),
        (-1, ValueError, "agent must be at least 0, got -1"),
        (1.0, TypeError, "agent must be a whole number, got 1.0"),
    ],
)
def test_agents(agent: Any, error: type[Exception], message: str) -> None:
    learner = learned()
    refused(lambda: learner.predict(agent, [[0.0]]), error, message)
    refused(lambda: learner.function(agent), error, message)
    refused(lambda: learner.learn_readings([agent], [[0.0]], [1.0]), error, message)


def test_functions_before_learning() -> None:
    message = "functions must be learned first: call learn_one"
    refused(lambda: path().function(0), ValueError, message)


# Components ---------------------------------------------------------------------------

COMPONENTS = r"""
kernels.Gaussian(-1.0)
    length_scale must be positive, got -1.0
kernels.Gaussian([1.0, 0.0])
    length_scale must be positive, got 0.0
kernels.Gaussian([])
    length_scale must have one entry per feature, got none
kernels.Periodic(1.0, 0.0)
    period must be positive, got 0.0
kernels.Periodic(1.0, (1.0, 2.0))([[0.0]])
    period must be a number or have one entry per feature (1), got 2 entries
kernels.RationalQuadratic(1.0, -1.0)
    alpha must be positive, got -1.0
kernels.Linear(0)
    scale must be positive, got 0.0
kernels.Constant(-1)
    value must not be negative, got -1.0
kernels.Polynomial(0)
    degree must be at least 1, got 0
kernels.Polynomial(2 ** 40)
    degree must be at most 1000, got 1099511627776
losses.Huber(0)
    phi must be positive, got 0.0
losses.Quantile(1.0)
    tau must be between 0 and 1, got 1.0
losses.EpsilonInsensitive(-1)
    epsilon must not be negative, got -1.0
proximity.Huber(INF)
    width must be finite, got inf
bandwidth.LeaveOneOut(rate=2.0)
    rate must be at most 1, got 2.0
bandwidth.LeaveOneOut(narrowest=2.0)
    narrowest and widest must enclose 1, got (2.0, 10.0)
"""
COMPONENT_TYPES = r"""
kernels.Gaussian('1')
    length_scale must be a number, got '1'
kernels.Polynomial(1.5)
    degree must be a whole number, got 1.5
kernels.Sum(kernels.Linear(), 1.0)
    right must be a kernel, got 1.0
"""


@pytest.mark.parametrize(("call", "message"), read_cases(ARGUMENTS + COMPONENTS))
def test_wrong_values(call: str, message: str) -> None:
    refused(lambda: evaluate(call), ValueError, message)


@pytest.mark.parametrize(("call", "message"), read_cases(TYPES + COMPONENT_TYPES))
def test_wrong_types(call: str, message: str) -> None:
    refused(lambda: evaluate(call), TypeError, message)


def test_length_scales_per_feature() -> None:
    kernel = kernels.Gaussian((1.0, 2.0))
    message = (
        "length_scale must be a number or have one entry per feature (1), got 2 entries"
    )
    refused(lambda: path(kernel=kernel).learn_one(X, Y), ValueError, message)
    refused(lambda: kernel([[0.0]]), ValueError, message)
    refused(lambda: Function(kernel, [[0.0]], [1.0]), ValueError, message)


# Functions ----------------------------------------------------------------------------


def test_functions() -> None:
    kernel = kernels.Gaussian(1.0)
    f = Function(kernel, [[0.0]], [1.0])
    refused(
        lambda: Function(1.0, [[0.0]], [1.0]),  # type: ignore[arg-type]
        TypeError,
        "kernel must be a kernel such as kernels.Gaussian(1.0), got 1.0",
    )
    refused(
        lambda: Function(kernel, [[0.0]], [1.0, 2.0]),
        ValueError,
        "weights must have shape (1), got (2,)",
    )
    refused(
        lambda: f([[0.0, 1.0]]), ValueError, "X must have shape (any, 1), got (1, 2)"
    )
    refused(
        lambda: f.inner(Function(kernels.Gaussian(2.0), [[0.0]], [1.0])),
        ValueError,
        "kernel must be the same, got Gaussian(length_scale=2.0)",
    )
    message = "budget must not be negative, got -1.0"
    refused(lambda: f.compress(-1.0), ValueError, message)
