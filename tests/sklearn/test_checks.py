"""scikit-learn's own checks: all of them, none excused."""

import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from halk.sklearn import (
    KernelClassifier,
    KernelRegressor,
    NetworkClassifier,
    NetworkRegressor,
)

ESTIMATORS = [
    KernelRegressor(random_state=0),
    KernelRegressor(kernel="laplacian", length_scale=3.0, loss="huber"),
    NetworkRegressor(random_state=0),
    KernelClassifier(random_state=0),
    NetworkClassifier(random_state=0),
]

# What SGD takes and these do not: weights of rows and classes, a number of iterations
# until it stops by itself, and coefficients that can be made sparse.
LEFT_OUT = ("sample_weight", "class_weight", "n_iter", "sparsify")


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(ESTIMATORS)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(KernelRegressor(), SGDRegressor()), (KernelClassifier(), SGDClassifier())],
)
def test_the_checks_made_are_those_of_sgd(ours, theirs):
    made, wanted = (
        {getattr(check, "func", check).__name__ for _, check in checks}
        for checks in map(estimator_checks_generator, (ours, theirs))
    )
    absent = {
        name for name in wanted - made if not any(part in name for part in LEFT_OUT)
    }
    assert absent == set()
