"""How good the estimators are out of the box: ``python -m benchmarks.estimators``.

Regression: R^2 on rows held out, defaults only, inputs and target standardised for the
peers; first order is `halk.HALK` on standardised numbers with a length scale of
the root of the number of features, and as many passes as fill the time of
second order. River: mean absolute error and accuracy of progressive validation.
"""

import time
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from river import datasets as streams
from river import evaluate, linear_model, metrics, neighbors, preprocessing, tree
from river.datasets import synth
from sklearn import datasets
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halk import HALK, Network, kernels
from halk.river import KernelClassifier
from halk.river import KernelRegressor as RiverRegressor
from halk.sklearn import KernelRegressor


def sine(n: int) -> tuple[Any, Any]:
    """Return a sine surface in two dimensions, noise 0.1."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1])
    return X, y + 0.1 * rng.normal(size=n)


def homes(n: int) -> tuple[Any, Any]:
    """Return prices of homes: linear in income, higher near two cities."""
    rng = np.random.default_rng(1)
    income, rooms = rng.lognormal(1.2, 0.45, n), rng.lognormal(1.6, 0.3, n)
    people, homes = rng.lognormal(1.05, 0.25, n), rng.lognormal(7, 0.7, n)
    age, beds = rng.uniform(1, 52, n), rng.lognormal(0.08, 0.1, n)
    latitude = np.where(rng.random(n) < 0.5, 34.0, 37.8) + rng.normal(size=n)
    longitude = -119.5 - 0.9 * (latitude - 36) + 0.8 * rng.normal(size=n)
    south = (latitude - 34) ** 2 + (longitude + 118.3) ** 2
    north = (latitude - 37.8) ** 2 + (longitude + 122.3) ** 2
    near = np.exp(-south / 0.8) + np.exp(-north / 0.8)
    price = 0.45 * income + 1.5 * near + 0.3 * np.log(rooms) - 0.4 * np.log(people)
    X = np.column_stack([income, age, rooms, beds, homes, people, latitude, longitude])
    return X, price + 0.004 * age + 0.35 * rng.normal(size=n)


def tables() -> Iterator[tuple[str, Any, Any]]:
    """Yield name, inputs and target."""
    yield "diabetes", *datasets.load_diabetes(return_X_y=True)
    yield "sine", *sine(1250)
    yield "friedman1", *datasets.make_friedman1(2500, noise=1.0, random_state=1)
    yield "homes", *homes(5000)


class FirstOrder(RegressorMixin, BaseEstimator):
    """First-order HALK with the defaults that the estimators used to have."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def fit(self, X: Any, y: Any) -> Self:
        """Learn in five passes, or until the time is over."""
        begin, order = time.perf_counter(), np.random.default_rng(0)
        self.learner_ = HALK(
            Network(1), kernels.Gaussian(np.sqrt(X.shape[1])), step_size=0.2,
            epsilon=0.05, regularization=1e-4,
        )  # fmt: skip
        self.n_passes_ = 0
        while self.n_passes_ < 5 or time.perf_counter() - begin < self.seconds:
            rows = order.permutation(len(X))
            self.learner_.learn_readings(np.zeros(len(X), int), X[rows], y[rows])
            self.n_passes_ += 1
        return self

    def predict(self, X: Any) -> Any:
        """Return predictions (n,)."""
        return self.learner_.predict(0, X)


def regressors(n_features: int, seconds: float) -> dict[str, Any]:
    """Return what is compared."""
    gamma = 1 / (2 * n_features)  # standardised inputs are sqrt(2 p) apart
    features = RBFSampler(gamma=gamma, n_components=300, random_state=0)
    scales = np.full(n_features, np.sqrt(n_features))
    kernel = ConstantKernel() * RBF(scales, (1e-2, 1e3)) + WhiteKernel(0.1)

    def scaled(*steps: Any) -> Any:
        inner = make_pipeline(StandardScaler(), *steps)
        return TransformedTargetRegressor(inner, transformer=StandardScaler())

    return {
        "first order, 5 passes": scaled(FirstOrder()),
        "first order, equal time": scaled(FirstOrder(seconds)),
        "SGD, 300 RBF features": scaled(features, SGDRegressor(random_state=0)),
        "GaussianProcess, 500 rows": scaled(GaussianProcessRegressor(kernel)),
    }


def score_table(X: Any, y: Any) -> None:
    """Print R^2, cross-validated in five parts, and the time of one fit."""

    def score(label: str, model: Any, most: int | None = None) -> float:
        """Return the seconds of a fit and a score."""
        scores, begin = [], time.perf_counter()
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model.fit(X[train[:most]], y[train[:most]])
            scores.append(model.score(X[test], y[test]))
        seconds = (time.perf_counter() - begin) / 5
        print(f"  {label}: {np.mean(scores):.3f} ({seconds:.2f} s)")
        return seconds

    seconds = score("KernelRegressor", KernelRegressor(random_state=0))
    for label, model in regressors(X.shape[1], seconds).items():
        score(label, model, 500 if label.startswith("Gaussian") else None)


def score_stream(dataset: Any, metric: Any, models: dict[str, Any]) -> None:
    """Print the metric of progressive validation, and the time."""
    print(f"{type(dataset).__name__}, {type(metric).__name__}")
    for label, model in models.items():
        begin = time.perf_counter()
        data = (
            dataset.take(5000) if isinstance(dataset, synth.FriedmanDrift) else dataset
        )
        score = evaluate.progressive_val_score(data, model, metric.clone())
        seconds = time.perf_counter() - begin
        print(f"  {label}: {score.get():.3f} ({seconds:.1f} s)")


def main() -> None:
    """Print the tables."""
    for name, X, y in tables():
        print(f"{name}, {X.shape[0]} rows, {X.shape[1]} features")
        score_table(X, y)
    scaler = preprocessing.StandardScaler
    drift: Any = {"drift_type": "gra", "position": (2000, 3500), "seed": 42}
    numbers: list[Any] = [streams.TrumpApproval(), streams.ChickWeights()]
    for stream in (*numbers, synth.FriedmanDrift(**drift)):
        score_stream(
            stream,
            metrics.MAE(),
            {
                "KernelRegressor": RiverRegressor(),
                "LinearRegression": scaler() | linear_model.LinearRegression(),
                "KNNRegressor": scaler() | neighbors.KNNRegressor(),
                "HoeffdingAdaptiveTreeRegressor": tree.HoeffdingAdaptiveTreeRegressor(
                    seed=0
                ),
            },
        )
    labels: list[Any] = [streams.Phishing(), streams.ImageSegments()]
    for stream in labels:
        score_stream(
            stream,
            metrics.Accuracy(),
            {
                "KernelClassifier": KernelClassifier(),
                "KNNClassifier": scaler() | neighbors.KNNClassifier(),
                "HoeffdingAdaptiveTreeClassifier": (
                    tree.HoeffdingAdaptiveTreeClassifier(seed=0)
                ),
            },
        )


if __name__ == "__main__":
    main()
