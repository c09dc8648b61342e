"""How good the estimators are out of the box: ``python -m benchmarks.estimators``.

Regression: R^2 on rows held out, defaults only, inputs and target standardised for
everybody. The defaults were chosen on the training rows of the first split of diabetes,
and on other draws of the others, so of diabetes only that split counts. River: mean
absolute error and accuracy of progressive validation on streams that come with it.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import datasets as streams
from river import evaluate, linear_model, metrics, neighbors, preprocessing
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halk.river import KernelClassifier
from halk.river import KernelRegressor as RiverRegressor
from halk.sklearn import KernelRegressor


def homes(n: int = 5000) -> tuple[Any, Any]:
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


def tables() -> Iterator[tuple[str, int, Any, Any]]:
    """Yield name, number of splits, inputs and target."""
    yield "diabetes", 1, *datasets.load_diabetes(return_X_y=True)
    yield "friedman1", 5, *datasets.make_friedman1(2000, noise=1.0, random_state=1)
    yield "homes", 5, *homes()


def regressors(n_features: int) -> dict[str, Any]:
    """Return what is compared; peers get the kernel of ``length_scale="median"``."""
    gamma = 1 / (2 * n_features)  # standardised inputs are sqrt(2 p) apart
    features = RBFSampler(gamma=gamma, n_components=300, random_state=0)
    ridge = KernelRidge(kernel="rbf", gamma=gamma, alpha=1.0)

    def scaled(*steps: Any) -> Any:
        inner = make_pipeline(StandardScaler(), *steps)
        return TransformedTargetRegressor(inner, transformer=StandardScaler())

    return {
        "KernelRegressor": KernelRegressor(random_state=0),
        "KernelRegressor, 1 pass": KernelRegressor(random_state=0, n_passes=1),
        "SGD, 300 RBF features": scaled(features, SGDRegressor(random_state=0)),
        "KernelRidge": scaled(ridge),
    }


def main() -> None:
    """Print the tables."""
    for name, n_splits, X, y in tables():
        print(f"{name}, {X.shape[0]} rows, {X.shape[1]} features")
        for label, model in regressors(X.shape[1]).items():
            scores, begin = [], time.perf_counter()
            for seed in range(n_splits):
                X1, X2, y1, y2 = train_test_split(
                    X, y, test_size=0.3, random_state=seed
                )
                scores.append(model.fit(X1, y1).score(X2, y2))
            seconds = (time.perf_counter() - begin) / n_splits
            atoms = f", {model.n_atoms_} atoms" if hasattr(model, "n_atoms_") else ""
            print(f"  {label}: {np.mean(scores):.3f} ({seconds:.2f} s{atoms})")
    scaler = preprocessing.StandardScaler
    for dataset, metric, models in (
        (
            streams.TrumpApproval(),
            metrics.MAE(),
            {
                "KernelRegressor": RiverRegressor(),
                "LinearRegression": scaler() | linear_model.LinearRegression(),
                "KNNRegressor": scaler() | neighbors.KNNRegressor(),
            },
        ),
        (
            streams.Phishing(),
            metrics.Accuracy(),
            {
                "KernelClassifier": KernelClassifier(),
                "LogisticRegression": scaler() | linear_model.LogisticRegression(),
                "KNNClassifier": scaler() | neighbors.KNNClassifier(),
            },
        ),
        (
            streams.ImageSegments(),
            metrics.Accuracy(),
            {
                "KernelClassifier": KernelClassifier(),
                "KNNClassifier": scaler() | neighbors.KNNClassifier(),
            },
        ),
    ):
        print(f"{type(dataset).__name__}, {type(metric).__name__}")
        for label, model in models.items():
            begin = time.perf_counter()
            score = evaluate.progressive_val_score(dataset, model, metric.clone())
            seconds = time.perf_counter() - begin
            print(f"  {label}: {score.get():.3f} ({seconds:.1f} s)")


if __name__ == "__main__":
    main()
