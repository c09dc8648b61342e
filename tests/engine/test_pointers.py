"""Components as numbers and pointers: what goes in comes out."""

from typing import Any

import numpy as np
import pytest

from halk import bandwidth, kernels, losses, proximity
from halk._jit import borrowed, compiled, filled, is_ours, parameters, skeleton
from halk.component import subclasses
from halk.formulas import Rules, formulas_of

FAMILIES = (
    kernels.Kernel,
    losses.Loss,
    proximity.Proximity,
    bandwidth.Adaptation,
)
OURS = [
    example
    for family in FAMILIES
    for cls in subclasses(family)
    if cls.__module__.startswith("halk.")
    for example in cls.examples()
]
MORE = [
    bandwidth.LeaveOneOut(0.1, 5, 0.5, 2.0, 0.02, 0.03, 0.25),
    kernels.Polynomial(4, 0.25, 3.0),
    2.0 * kernels.Gaussian((0.1, 0.2)) + kernels.Custom.examples()[0],
]
every_component = pytest.mark.parametrize("component", OURS + MORE, ids=repr)


@every_component
def test_numbers_go_out_and_in(component: Any) -> None:
    theta, bones = parameters(component), skeleton(component)
    assert theta.dtype == np.float64
    assert filled(bones, theta) == component
    assert type(filled(bones, theta)) is type(component)
    assert (parameters(bones) == 1.0).all()


@every_component
def test_skeletons_are_chosen_by_type_alone(component: Any) -> None:
    theta = parameters(component)
    other = filled(component, np.arange(2.0, 2.0 + len(theta)))
    assert skeleton(other) == skeleton(component)
    assert hash(skeleton(other)) == hash(skeleton(component))
    np.testing.assert_array_equal(parameters(other), 2.0 + np.arange(len(theta)))


def test_skeletons_tell_types_apart() -> None:
    different = [
        kernels.Gaussian(0.3),
        kernels.Laplacian(0.3),
        kernels.Gaussian((0.3,)),
        kernels.Gaussian((0.3, 0.3)),
        kernels.Linear(0.3),
        kernels.Gaussian(0.3) + kernels.Linear(0.3),
        kernels.Gaussian(0.3) * kernels.Linear(0.3),
        kernels.Linear(0.3) + kernels.Gaussian(0.3),
    ]
    assert len({skeleton(kernel) for kernel in different}) == len(different)


class _Foreign(losses.Squared):
    """A loss that halk does not know."""


def test_own_code_is_told_from_ours() -> None:
    for component in OURS:
        assert is_ours(component) != isinstance(component, kernels.Custom)
    assert not is_ours(MORE[-1])
    assert not is_ours(_Foreign())


@compiled
def slopes_of(slope: Any, theta: Any, a: Any, y: Any, out: Any) -> None:
    for k in range(len(a)):
        out[k] = slope(borrowed(theta), a[k], y[k])


@compiled
def compared(compare: Any, theta: Any, a: Any, b: Any, h: Any, slopes: Any) -> None:
    compare(
        borrowed(theta), borrowed(a), borrowed(b), len(a), borrowed(h), borrowed(slopes)
    )


def formulas(**changes: Any) -> Any:
    usual = Rules(
        kernels.Gaussian(0.3), losses.Squared(), proximity.Squared(), bandwidth.Fixed()
    )
    return formulas_of(usual._replace(**changes))


@pytest.mark.parametrize("loss", [c for c in OURS if isinstance(c, losses.Loss)])
def test_slopes_behind_pointers(loss: Any, rng: np.random.Generator) -> None:
    theta = parameters(loss)
    for changed in (loss, filled(loss, 0.7 * theta)):
        made = formulas(loss=changed)
        a, y = rng.normal(size=9), rng.choice([-1.0, 1.0], size=9)
        a[0], out = y[0], np.empty(9)
        slopes_of(made.slope, made.loss, a, y, out)
        np.testing.assert_array_equal(out, changed.slope(a, y))
        assert made.loss_curvature == changed.curvature


@pytest.mark.parametrize("h", [c for c in OURS if isinstance(c, proximity.Proximity)])
def test_proximities_behind_pointers(h: Any, rng: np.random.Generator) -> None:
    for changed in (h, filled(h, 0.7 * parameters(h))):
        made = formulas(proximity=changed)
        a, b = rng.normal(size=(2, 7))
        a[0], values, slopes = b[0], np.empty(7), np.empty(7)
        compared(made.compare, made.proximity, a, b, values, slopes)
        np.testing.assert_array_equal(values, changed(a, b))
        np.testing.assert_array_equal(slopes, changed.slope(a, b))
        assert made.proximity_curvature == changed.curvature
