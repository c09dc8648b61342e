"""river's own checks: all of them, none excused."""

import pytest
from river.checks import yield_checks

from halk import kernels
from halk.river import KernelClassifier, KernelRegressor

MODELS = [
    KernelRegressor(),
    KernelRegressor(kernels.Matern32(50.0), noise=0.1, robust=None),
    KernelClassifier(),
    KernelClassifier("laplacian", 20.0, max_atoms=30),
]

CASES = [
    pytest.param(model, check, id=f"{type(model).__name__}{k}-{check.__name__}")
    for k, model in enumerate(MODELS)
    for check in yield_checks(model)
]


@pytest.mark.parametrize(("model", "check"), CASES)
def test_model(model, check):
    assert check.__name__ not in model._unit_test_skips()
    check(model.clone())
