"""The second-order engine: its dense twin, step by step, and batch solutions."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halk import Network, NewtonHALK, kernels, losses, reference
from halk.reference.newton import BOUNDS, SILENT, NewtonAgent
from tests.oracle.test_engine import networks

DISAGREEMENT = 5
"""Column of the running disagreement of an edge."""

# Offset and std, plainly -----------------------------------------------------------


class Query(NamedTuple):
    """What an agent tells a neighbour, with the unit of its target."""

    x: Any
    value: float
    multiplier: float
    std: float


class ScaledAgent(NewtonAgent):
    """An agent that removes offset and std; values travel in the target's unit."""

    removes_offset = removes_std = is_known = False
    offset, std = 0.0, 1.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sample: list[float] = []
        self.n_kept, self.is_settled = 0, False

    def in_unit(self, f: Any) -> Any:
        return self.offset + self.std * f

    def own(self, y: Any) -> Any:
        return (y - self.offset) / self.std

    def follow_scale(self, y: float) -> None:
        self.is_known = True
        if self.is_settled or not (self.removes_offset or self.removes_std):
            return
        self.sample.append(y)
        distance = np.abs(self.sample - np.median(self.sample))
        limit = 10 * (1.4826 * np.median(distance) or 1.2533 * np.mean(distance))
        kept = [v for v, d in zip(self.sample, distance, strict=True) if d <= limit]
        self.n_kept = len(kept)
        if len(self.sample) == 50:
            self.sample, self.is_settled = kept, len(kept) == 50
        was = self.in_unit(self.values)
        if self.removes_offset:
            self.offset = float(np.mean(kept))
        if self.removes_std and np.std(kept) > 1e-9 * abs(np.mean(kept)):
            self.std = float(np.std(kept))
        self.values = self.own(was)
        far = np.abs(was - np.mean(kept)) > 100 * np.std(kept)
        if far.any() and np.std(kept) > 1e-9 * abs(np.mean(kept)):
            self.values, self.covariance = np.zeros(len(was)), self.gram

    def _threshold(self) -> float | None:
        is_new = self.removes_std and self.n_kept < 10
        robust = self.settings.robust
        return 4.5 * robust if robust and is_new else super()._threshold()

    def adopt(self, value: float, std: float) -> None:
        if self.is_known:
            return
        self.is_known = True
        if self.removes_offset:
            self.offset = value
        if self.removes_std:
            self.std = std

    def adapt(self, x: Any, y: float) -> float:
        self.follow_scale(y)
        return self.in_unit(super().adapt(x, y))

    def read(self, x: Any, y: float, extra: float = 0.0) -> None:
        super().read(x, self.own(y), extra / self.std**2)

    def answer(self, x: Any) -> tuple[float, float]:
        mean, variance = super().answer(x)
        is_told = self.is_known or not (self.removes_offset or self.removes_std)
        return (self.in_unit(mean) if is_told else np.nan), self.std**2 * variance

    def _obey(self, x: Any, answers: Any, variances: Any) -> None:
        super()._obey(x, self.own(answers), variances / self.std**2)

    def _follow(self, k: int, query: Any) -> None:
        self.told[k] = min(query.multiplier, self.settings.largest_multiplier)
        if self.told[k] > SILENT:
            self.adopt(query.value, query.std)
            noise = self.settings.noise / float(self.told[k])
            value = self.own(query.value)
            self._observe(query.x, value, noise, self._threshold())


class Twin(reference.NewtonHALK):
    """A network of them."""

    def __init__(self, *arguments: Any, standardize: Any = False, **numbers: Any):
        super().__init__(*arguments, **numbers)
        for agent in self.agents:
            agent.__class__ = ScaledAgent
            agent.sample, agent.n_kept, agent.is_settled = [], 0, False
            agent.removes_offset = bool(standardize)
            agent.removes_std = standardize is True
            if agent.removes_std:  # nobody knows the unit of tolerances yet
                agent.multipliers[:] = agent.told[:] = agent.settings.first_multiplier

    def _query(self, i: int, j: int, x: Any, own: float) -> Any:
        query = super()._query(i, j, x, own)
        return query and Query(*query, self.agents[i].std)

    def _share(self, points: Any, y: Any) -> None:
        for i, j in self.edges:
            if not np.isnan(y[j]):
                self.agents[i].adopt(y[j], self.agents[j].std)
        super()._share(points, y)

    def see(self, i: int, X: Any) -> tuple[Any, Any]:
        """Return mean and variance of agent i, whether it knows its scale or not."""
        agent = self.agents[i]
        seen = [agent._look(self._point(i, x)) for x in X]
        mean = np.array([agent.in_unit(at.value) for at in seen])
        return mean, agent.std**2 * np.array([at.variance for at in seen])


# Step by step ------------------------------------------------------------------------


class Parts(NamedTuple):
    """The same components twice: ours, and the reference's own formulas."""

    kernel: Any
    plain_kernel: Any
    loss: Any = losses.Squared()
    bound: Any = None
    n_features: int = 1
    labels: bool = False


def _sum(X: Any, Y: Any) -> Any:
    return reference.gaussian(X, Y, 0.4) + 0.5 * reference.laplacian(X, Y, 2.0)


GAUSSIAN = kernels.Gaussian(0.4), partial(reference.gaussian, length_scale=0.4)
PARTS = {
    "squared": Parts(*GAUSSIAN),
    "huber": Parts(
        kernels.Matern52(0.7),
        partial(reference.matern52, length_scale=0.7),
        losses.Huber(0.3),
        BOUNDS["huber"](0.3),
        n_features=2,
    ),
    "absolute": Parts(
        kernels.Laplacian(0.8),
        partial(reference.laplacian, length_scale=0.8),
        losses.Absolute(),
        BOUNDS["absolute"](),
    ),
    "insensitive": Parts(
        *GAUSSIAN, losses.EpsilonInsensitive(0.1), BOUNDS["insensitive"](0.1)
    ),
    "quantile": Parts(
        kernels.Gaussian((0.5, 1.0, 2.0)),
        partial(reference.gaussian, length_scale=np.array([0.5, 1.0, 2.0])),
        losses.Quantile(0.8),
        BOUNDS["quantile"](0.8),
        n_features=3,
    ),
    "logistic": Parts(
        kernels.Matern32(0.7),
        partial(reference.matern32, length_scale=0.7),
        losses.Logistic(),
        BOUNDS["logistic"](),
        labels=True,
    ),
    "sum": Parts(
        kernels.Gaussian(0.4) + 0.5 * kernels.Laplacian(2.0), _sum, n_features=2
    ),
}

numbers_of_learners = st.fixed_dictionaries(
    {
        "noise": st.sampled_from([0.003, 0.05, 0.7]),
        "forgetting": st.sampled_from([1.0, 1.0, 0.97, 0.6]),
        "regularization": st.sampled_from([0.0, 1e-3, 0.2]),
        "robust": st.sampled_from([None, 3.0, 1.0]),
        "novelty": st.sampled_from([1e-4, 1e-2]),
        "max_atoms": st.sampled_from([60, 4, 1]),
        "budget": st.sampled_from([0.0, 0.0213, 0.3]),
        "first_multiplier": st.sampled_from([0.0, 0.1, 3.0]),
        "dual_gain": st.sampled_from([0.0, 2.0]),
        "warm_up": st.sampled_from([1.0, 20.0]),
        "largest_multiplier": st.sampled_from([10.0, 1e4]),
        "tightening": st.sampled_from([0.0, 0.01]),
    }
)
exchanges = st.sampled_from(
    [{"exchange": "predictions"}] * 2 + [{"exchange": "readings", "identity": 0.3}]
)


def stream(
    network: Network, parts: Parts, seed: int, n_steps: int = 20, share: float = 0.3
) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_steps, network.n_agents, parts.n_features))
    Y = np.sin(3 * X.sum(axis=2)) + 0.2 * rng.normal(size=X.shape[:2])
    Y += 0.2 * np.arange(network.n_agents)
    Y[rng.uniform(size=Y.shape) < 0.03] = 80.0
    Y = np.sign(Y) if parts.labels else Y
    Y[rng.uniform(size=Y.shape) < share] = np.nan
    return X, Y


def twins(
    network: Network, parts: Parts, numbers: dict[str, Any], standardize: Any = False
) -> tuple[NewtonHALK, Twin]:
    plain = Twin(
        network.n_agents, [(int(i), int(j)) for i, j in network.edges],
        network.tolerance, parts.n_features, parts.plain_kernel, parts.bound,
        standardize=standardize, **numbers,
    )  # fmt: skip
    numbers = dict(numbers)
    numbers["epsilon"] = numbers.pop("budget", 0.0)
    ours = NewtonHALK(
        network, parts.kernel, loss=parts.loss, standardize=standardize, **numbers
    )
    return ours, plain


def assert_same_steps(ours: NewtonHALK, plain: Twin, X: Any, Y: Any) -> None:
    V, E = ours.network.n_agents, ours.network.n_edges
    grid = np.random.default_rng(1).uniform(-1, 1, size=(4, X.shape[2]))
    total, asked = np.zeros(E), np.zeros(E)
    ours.prepare(X.shape[2])
    for x, y in zip(X, Y, strict=True):
        ours.learn_one(x, y)
        info = plain.step(x, y)
        assert ours.model_order.tolist() == [len(a.atoms) for a in plain.agents]
        near = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)
        near(ours.multipliers, plain.multipliers)
        if not plain.shares:
            own = info.own[ours.network.edges[:, 0]]
            h = (own - info.answers) ** 2 / 2
            asked += ~np.isnan(h)
            total += np.nan_to_num(h - ours.network.tolerance)
            near(ours.violations, total / np.maximum(asked, 1))
            found = np.concatenate([[], *(a.disagreement for a in plain.agents)])
            edges = ours.state_dict()["edges"]
            near(edges[:, DISAGREEMENT], np.nan_to_num(found))
        for i in range(V):
            mean, variance = plain.see(i, grid)
            got, std = ours.predict(i, grid, return_std=True)
            noise = plain.agents[i].settings.noise
            near(got, mean)
            near(std**2, variance + noise * plain.agents[i].std ** 2)


@pytest.mark.parametrize("name", PARTS)
@settings(max_examples=8)
@given(
    network=networks(),
    numbers=numbers_of_learners,
    exchange=exchanges,
    seed=st.integers(0, 2**32 - 1),
)
def test_every_step_is_the_twins(
    name: str,
    network: Network,
    numbers: dict[str, Any],
    exchange: dict[str, Any],
    seed: int,
) -> None:
    X, Y = stream(network, PARTS[name], seed)
    assert_same_steps(*twins(network, PARTS[name], numbers | exchange), X, Y)


@pytest.mark.parametrize("standardize", ["offset", True])
@settings(max_examples=10)
@given(
    network=networks(),
    numbers=numbers_of_learners,
    exchange=exchanges,
    seed=st.integers(0, 2**32 - 1),
)
def test_every_step_is_the_twins_with_standardised_targets(
    standardize: Any,
    network: Network,
    numbers: dict[str, Any],
    exchange: dict[str, Any],
    seed: int,
) -> None:
    parts = PARTS["squared"]
    # rounding decides whom compression takes while all weights are zero, and where
    # values are thousands of std
    numbers["max_atoms"] = max(numbers["max_atoms"], 4)
    numbers["robust"] = numbers["robust"] or 3.0
    X, Y = stream(network, parts, seed)
    Y = 20.0 + Y * np.linspace(0.5, 5.0, network.n_agents)
    Y[:12, -1] = np.nan  # whoever is last adopts a scale
    assert_same_steps(*twins(network, parts, numbers | exchange, standardize), X, Y)


def test_scales_settle_after_fifty_readings() -> None:
    network, parts = Network.ring(3, tolerance=0.1), PARTS["squared"]
    X, Y = stream(network, parts, 5, 90)
    Y[3, 0], Y[40:44, 1] = -9999.0, 5000.0
    Y[:, 2] = 1.0 * (Y[:, 2] > 0.9)  # most are equal
    Y[30, 2] = -9999.0
    ours, plain = twins(network, parts, {"noise": 0.05}, True)
    assert_same_steps(ours, plain, X, 20.0 + 5.0 * Y)
    assert [agent.is_settled for agent in plain.agents] == [True] * 3


def test_what_was_learned_from_an_outlier_of_the_first_readings_is_forgotten() -> None:
    network, parts = Network.ring(3, tolerance=0.1), PARTS["squared"]
    X, Y = stream(network, parts, 6)
    Y[:2, 0] = -9999.0, np.nan
    ours, plain = twins(network, parts, {"noise": 0.05}, True)
    assert_same_steps(ours, plain, X, 20.0 + 5.0 * Y)
    assert np.abs(ours.predict(0, X[:, 0]) - 20.0).max() < 20.0


def test_noise_may_differ_by_agent() -> None:
    network, parts = Network.ring(4, tolerance=0.01), PARTS["squared"]
    noise = np.array([0.001, 0.01, 0.1, 1.0])
    ours, plain = twins(network, parts, {"noise": 0.1})
    ours = NewtonHALK(network, parts.kernel, noise=noise, standardize=False)
    for agent, own in zip(plain.agents, noise, strict=True):
        agent.settings = agent.settings._replace(noise=float(own))
        agent.multipliers[:] = agent.told[:] = min(0.1, own / (own + 2 * 0.01))
    assert_same_steps(ours, plain, *stream(network, parts, 3))


def test_more_neighbours_than_updates_are_kept_pending() -> None:
    network, parts = Network.star(25, tolerance=0.01), PARTS["squared"]
    numbers = {"noise": 0.05, "first_multiplier": 0.5}
    assert_same_steps(
        *twins(network, parts, numbers), *stream(network, parts, 4, 12, share=0.1)
    )


# Alone and without compression -------------------------------------------------------


def own_kernel(X: Any, Y: Any) -> Any:
    """Return a kernel that the core has no formula of."""
    return np.exp(-np.abs(X[:, :1] - Y[:, 0]) / 0.1) * (1.0 + 0.1 * X[:, :1] * Y[:, 0])


BATCH = {
    "gaussian": kernels.Gaussian(0.06),
    "laplacian": kernels.Laplacian(0.1),
    "matern32": kernels.Matern32(0.1),
    "matern52": kernels.Matern52(0.1),
    "periodic": kernels.Periodic(0.15, period=2.5),
    "quadratic": kernels.RationalQuadratic(0.05, 3.0),
    "sum": kernels.Laplacian(0.1) + 0.3 * kernels.Matern32(0.2) + 0.5,
    "product": 2.0 * kernels.Laplacian(0.3) * kernels.Gaussian(0.2),
    "own": kernels.Custom(own_kernel),
}


@pytest.mark.parametrize("noise", [1e-3, 0.3])
@pytest.mark.parametrize("name", BATCH)
def test_alone_it_is_the_gaussian_process_of_all_readings(
    name: str, noise: float, rng: np.random.Generator
) -> None:
    kernel, n = BATCH[name], 40
    points = (rng.permutation(n) + rng.uniform(0.2, 0.8, n))[:, None] * 2 / n - 1
    y = np.sin(5 * points[:, 0]) + rng.normal(size=n)
    learner = NewtonHALK(
        Network(1), kernel, noise=noise, novelty=1e-13, max_atoms=n, robust=None,
        standardize=False,
    )  # fmt: skip
    learner.learn_many(points[:, None], y[:, None])
    assert learner.n_atoms == n
    Z = np.linspace(-1.3, 1.3, 50)[:, None]
    K, across = kernel(points), kernel(Z, points)
    A = np.linalg.solve(K + noise * np.eye(n), across.T).T
    variance = kernel.diagonal(Z) - np.sum(A * across, axis=1)
    mean, std = learner.predict(0, Z, return_std=True)
    np.testing.assert_allclose(mean, A @ y, rtol=0, atol=1e-8)
    np.testing.assert_allclose(std**2, variance + noise, rtol=0, atol=1e-8)
