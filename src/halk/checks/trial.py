"""A learner on trial: how to make it, a network, a stream with gaps, and probes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Matrix
from halk.checks.law import law
from halk.network import Network

Factory = Callable[[Network], Any]


class Trial(NamedTuple):
    """What the laws of learners are tried on."""

    factory: Factory
    network: Network
    X: Any  # (T, V, p)
    Y: Matrix  # (T, V), NaN where there is no reading
    probes: Matrix  # (n, p)

    def fresh(self) -> Any:
        """Return a learner that has learned nothing."""
        return self.factory(self.network)

    def train(
        self, learner: Any, steps: slice = slice(None), agents: Any = None
    ) -> Any:
        """Let a learner learn steps of the stream, of some agents; return it."""
        agents = slice(None) if agents is None else agents
        learner.learn_many(self.X[steps, agents].copy(), self.Y[steps, agents].copy())
        return learner

    def trained(self) -> Any:
        """Return a learner that has learned the whole stream."""
        return self.train(self.fresh())

    def state(self, learner: Any) -> dict[str, Any]:
        """Return what can be seen of a learner from outside."""
        agents = range(learner.network.n_agents)
        seen = {"predictions": [learner.predict(i, self.probes.copy()) for i in agents]}
        for name in ("multipliers", "model_order", "length_scales"):
            if getattr(learner, name, None) is not None:
                seen[name] = getattr(learner, name)
        return {name: np.array(value) for name, value in seen.items()}

    def same(self, first: Any, second: Any, name: str, what: str) -> None:
        """Require that two states, or learners, are equal bit for bit."""
        a, b = (s if isinstance(s, dict) else self.state(s) for s in (first, second))
        for part, value in a.items():
            how = f"have shapes {value.shape} and {b[part].shape}"
            if value.shape == b[part].shape:
                apart = np.max(np.abs(value - b[part]), initial=0.0)
                how = f"differ by up to {apart:.3g}"
            equal = np.array_equal(value, b[part])
            law(equal, name, self.fresh(), f"{what}: {part} {how}")


def trial(
    factory: Factory, network: Network | None, n_features: int, n_steps: int, seed: int
) -> Trial:
    """Return a learner on trial; labels instead of values if its loss takes them."""
    network = network or Network(5, [(0, 1), (1, 2), (2, 3), (0, 2)], tolerance=0.01)
    rng, V = np.random.default_rng(seed), network.n_agents
    X = rng.uniform(size=(n_steps, V, n_features))
    noise = 0.1 * rng.normal(size=X.shape[:2])
    Y = np.sin(6.0 * X[..., 0]) + 0.1 * np.arange(V) + noise
    if getattr(getattr(factory(network), "loss", None), "takes_labels", False):
        Y = np.where(Y > 0, 1.0, -1.0)
    Y[rng.uniform(size=Y.shape) < 0.3] = np.nan
    Y[n_steps // 2] = np.nan
    return Trial(factory, network, X, Y, rng.uniform(size=(11, n_features)))
