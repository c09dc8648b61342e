"""The core's own exp, sin and log, through its kernels, against fifty digits."""

import mpmath
import numpy as np
import pytest

from halk import kernels

EDGES = np.log(2.0) * (np.arange(1000) + 0.5)
"""Where the range is reduced from one power of two to the next."""

POINTS = {
    "even": np.linspace(0.0, 690.0, 1001),
    "edges": np.concatenate([EDGES, np.nextafter(EDGES, 0), np.nextafter(EDGES, 800)]),
    "small": 10.0 ** np.linspace(-300, 0, 300),
    "special": np.array([0.0, 5e-324, 2.0**-53, 2.0**-52, 1.0, 689.999]),
}


def values(kernel, distances):
    """Return the native kernel between zero and points at these distances."""
    points = np.asarray(distances, float)[:, None]
    return kernel.native(1).matrix(np.zeros((1, 1)), points)[0]


def assert_accurate(got, expected, tolerance):
    errors = [
        abs(float(mpmath.mpf(float(g)) / e - 1))
        for g, e in zip(got, expected, strict=True)
    ]
    assert max(errors) < tolerance


@pytest.mark.parametrize("name", POINTS)
def test_exponential_is_exact_to_rounding(name):
    a = POINTS[name][POINTS[name] <= 690.0]
    with mpmath.workdps(50):
        expected = [mpmath.exp(-mpmath.mpf(float(x))) for x in a]
        # the exponent is rounded once more, when it is turned to base two
        assert_accurate(values(kernels.Laplacian(1.0), a), expected, 2e-13)
    small = a[a <= 1.0]
    got = values(kernels.Laplacian(1.0), small)
    np.testing.assert_allclose(got, np.exp(-small), rtol=1e-15)


def test_exponential_of_zero_is_one_and_far_out_nothing_comes_back():
    for kernel in (kernels.Gaussian(1.0), kernels.Laplacian(1.0)):
        assert values(kernel, [0.0])[0] == 1.0
        far = values(kernel, [800.0, 1e4, 1e100, 1e150])
        assert (far >= 0.0).all()
        assert (far < 1e-300).all()


def test_sine_of_periodic_kernels_is_exact_to_rounding():
    x = np.concatenate([np.linspace(-3.0, 3.0, 401), [1e3 + 0.25, 1e6 + 0.125, 1e12]])
    with mpmath.workdps(50):
        expected = [
            mpmath.exp(-2 * mpmath.sin(mpmath.pi * mpmath.mpf(float(v))) ** 2)
            for v in x
        ]
        assert_accurate(values(kernels.Periodic(1.0, 1.0), x), expected, 4e-15)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.5])
def test_powers_of_rational_quadratics_are_exact_to_rounding(alpha):
    x = np.concatenate([np.linspace(0.0, 10.0, 301), [1e2, 1e4, 1e8]])
    with mpmath.workdps(50):
        expected = [
            (1 + mpmath.mpf(float(v)) ** 2 / (2 * mpmath.mpf(alpha))) ** -alpha
            for v in x
        ]
        got = values(kernels.RationalQuadratic(1.0, alpha), x)
        assert_accurate(got, expected, 1e-13)


def test_values_do_not_depend_on_what_is_computed_beside_them(rng):
    x = rng.uniform(0.0, 40.0, size=40)
    for kernel in (kernels.Gaussian(1.0), kernels.Matern52(1.0), kernels.Periodic(1.0)):
        whole = values(kernel, x)
        assert [values(kernel, x[k:])[0] for k in range(40)] == whole.tolist()
