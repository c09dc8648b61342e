"""Peers: other online learners on the same streams, by time and by error.

A fast bad learner is no peer, so both numbers stand side by side. Everybody chooses
from sixteen settings, on a stream apart, and predicts each sample before learning it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.results import Plan, Score
from benchmarks.timing import Job, time_in_turn
from halk import HALK, Network, reference
from halk._validation import Matrix, Vector
from halk.data import gulf
from halk.kernels import Gaussian
from halk.learners import NLMS

# Streams, each with a twin to choose settings on


class Samples(NamedTuple):
    """Inputs (n, p) and targets (n,), in the order they come."""

    X: Matrix
    Y: Vector


def _wave(n: int, seed: int) -> Samples:
    """Draw two waves of one input, noise 0.1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    Y = np.sin(9.0 * X[:, 0]) + 0.5 * np.cos(21.0 * X[:, 0])
    return Samples(X, Y + 0.1 * rng.normal(size=n))


def _surface(n: int, seed: int) -> Samples:
    """Draw a surface over three inputs, noise 0.1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    a, b, c = X.T
    Y = np.sin(5.0 * a) + 2.0 * (b - 0.5) * np.cos(4.0 * c)
    return Samples(X, Y + 0.1 * rng.normal(size=n))


def _gulf(n: int, seed: int) -> Samples:
    """Draw readings of every other sensor, each once, in random order."""
    field = gulf().with_positions()
    low, high = field.x.min(axis=0), field.x.max(axis=0)
    mine = np.flatnonzero(field.agent % 2 == seed % 2)
    some = np.random.default_rng(seed).permutation(mine)[:n]
    return Samples((field.x[some] - low) / (high - low), field.y[some] / 10.0)


def _autoregression(n: int, seed: int) -> Samples:
    """Draw the next of a series from the last three, noise 0.5."""
    rng = np.random.default_rng(seed)
    series = np.zeros(n + 103)
    for t in range(3, len(series)):
        back = series[t - 3 : t]
        linear = 0.2 * back[0] - 0.5 * back[1] + 0.9 * back[2]
        series[t] = linear + 0.05 * np.sin(back[2]) + 0.5 * rng.normal()
    X = np.lib.stride_tricks.sliding_window_view(series[100:], 3)[:-1]
    return Samples(np.ascontiguousarray(X), series[103:].copy())


STREAMS: dict[str, Callable[[int, int], Samples]] = {
    "wave": _wave,
    "surface": _surface,
    "gulf": _gulf,
    "nearly linear": _autoregression,
}
"""Draw n samples with a seed; an even and an odd one have no reading in common."""

# Learners


class Peer(NamedTuple):
    """An untaught learner with its settings.

    ``prepare(samples)`` returns them as it takes them, outside the clock; ``run`` of
    that predicts and learns every sample and returns the predictions; ``size()`` is the
    number of weights that it predicts with.
    """

    prepare: Callable[[Samples], Any]
    run: Callable[[Any], Any]
    size: Callable[[], int]


def call_each(
    predict: Callable[[Any], Any],
    learn: Callable[[Any, float], Any],
    size: Callable[[], int],
    convert: Callable[[Matrix], Any] = lambda X: X[:, None, :],
) -> Peer:
    """Return a peer that is called for every sample from Python.

    ``convert`` returns the inputs as it takes them: here, batches of one sample.
    """

    def prepare(samples: Samples) -> Any:
        return list(zip(convert(samples.X), samples.Y.tolist(), strict=True))

    def run(prepared: Any) -> list[float]:
        predictions = []
        for x, y in prepared:
            predictions.append(float(predict(x)))
            learn(x, y)
        return predictions

    return Peer(prepare, run, size)


def make_river(n_features: int, rate: float) -> Peer:
    """Return river's LinearRegression behind its StandardScaler."""
    optimizer = import_module("river.optim").SGD(rate)
    scaler = import_module("river.preprocessing").StandardScaler()
    model = scaler | import_module("river.linear_model").LinearRegression(optimizer)
    return call_each(
        model.predict_one, model.learn_one, lambda: n_features + 1,
        lambda X: [dict(enumerate(row)) for row in X.tolist()],
    )  # fmt: skip


def make_padasip(n_features: int, rate: float) -> Peer:
    """Return padasip's FilterNLMS, with a constant input."""
    filters = import_module("padasip.filters")
    model = filters.FilterNLMS(n=n_features + 1, mu=rate, w="zeros")
    return call_each(
        model.predict, lambda x, y: model.adapt(y, x), lambda: n_features + 1,
        lambda X: np.column_stack((np.ones(len(X)), X)),
    )  # fmt: skip


def make_sgd(
    n_features: int, length_scale: float, rate: float, points: Any = None
) -> Peer:
    """Return scikit-learn's SGDRegressor on a hundred random features.

    On Nystroem features if there are ``points`` seen before.
    """
    features = import_module("sklearn.kernel_approximation")
    kind = features.RBFSampler if points is None else features.Nystroem
    points = np.zeros((100, n_features)) if points is None else points
    size, gamma = min(100, len(points)), 0.5 / length_scale**2
    map_points = kind(gamma=gamma, n_components=size, random_state=0).fit(points)
    model = import_module("sklearn.linear_model").SGDRegressor(
        learning_rate="constant", eta0=rate, penalty=None
    )
    seen: list[Any] = [None]  # the features, kept from predicting to learning

    def predict(x: Any) -> Any:
        seen[0] = map_points.transform(x)
        return model.predict(seen[0])[0] if hasattr(model, "coef_") else 0.0

    return call_each(
        predict, lambda x, y: model.partial_fit(seen[0], [y]), lambda: size
    )


class KLMS:
    """Quantised kernel least mean squares, in NumPy, with arrays made beforehand.

    One vectorised evaluation of the kernel per sample, kept from predicting to
    learning. A sample closer to a centre than ``quantum`` length scales moves that
    centre's weight; any other becomes a centre.
    """

    def __init__(
        self, n_features: int, length_scale: float, rate: float, quantum: float
    ) -> None:
        self._factor = -0.5 / length_scale**2
        self._nearest_square = (quantum * length_scale) ** 2
        self._rate, self.size = rate, 0
        self._centres, self._weights = np.empty((4096, n_features)), np.zeros(4096)

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        difference = self._centres[: self.size] - x
        self._squares = np.einsum("kp,kp->k", difference, difference)
        kernel = np.exp(self._factor * self._squares)
        self._prediction = float(self._weights[: self.size] @ kernel)
        return self._prediction

    def learn(self, x: Any, y: float) -> None:
        """Move the weight of the nearest centre, or add one."""
        m, change = self.size, self._rate * (y - self._prediction)
        nearest = int(self._squares.argmin()) if m else 0
        is_near = m and self._squares[nearest] <= self._nearest_square
        if is_near or m == len(self._weights):
            self._weights[nearest] += change
        else:
            self._centres[m], self._weights[m] = x, change
            self.size += 1


def make_klms(n_features: int, **settings: float) -> Peer:
    """Return a :class:`KLMS`."""
    model = KLMS(n_features, **settings)
    return call_each(model.predict, model.learn, lambda: model.size, list)


def _call_network(model: HALK | NLMS) -> Peer:
    """Return a network of one agent, by ``predict_one`` and ``learn_one``."""
    return call_each(
        lambda x: model.predict_one(x)[0],
        lambda x, y: model.learn_one(x, np.array([y])),
        lambda: model.n_atoms,
    )


def make_nlms(n_features: int, rate: float) -> Peer:
    """Return halk's NLMS."""
    return _call_network(NLMS(Network(1), step_size=rate))


def _make_halk(length_scale: float, rate: float, epsilon: float) -> HALK:
    kernel = Gaussian(length_scale)
    return HALK(Network(1), kernel=kernel, step_size=rate, epsilon=epsilon)


def make_halk(n_features: int, **settings: float) -> Peer:
    """Return HALK, called for every sample."""
    return _call_network(_make_halk(**settings))


def make_halk_by_block(n_features: int, **settings: float) -> Peer:
    """Return HALK that predicts and learns the stream in one call."""
    model = _make_halk(**settings)

    def run(prepared: Any) -> Any:  # like learn_many, which forgets the predictions
        pieces = model.dense_pieces(*prepared)
        return np.concatenate([model.observe(piece).prediction for piece in pieces])

    return Peer(lambda s: (s.X[:, None, :], s.Y[:, None]), run, lambda: model.n_atoms)


def make_reference(
    n_features: int, length_scale: float, rate: float, epsilon: float
) -> Peer:
    """Return ``halk.reference``, plain and dense; a step predicts too."""
    model = reference.HALK(
        1, [], 0.0, n_features,
        lambda A, B: reference.gaussian(A, B, length_scale),
        reference.LOSSES["squared"](), reference.PROXIMITIES["squared"](),
        step_size=rate, regularization=1e-5, epsilon=epsilon,
    )  # fmt: skip
    return call_each(
        lambda x: model.predict(0, x)[0], lambda x, y: model.step(x, [y]),
        lambda: len(model.weights[0]),
    )  # fmt: skip


# Who takes part, and which settings each may choose from

N_SETTINGS = 16


class Entry(NamedTuple):
    """A learner: how it is made, what may be chosen, and what it needs.

    ``package`` must be installed. ``shares`` names the entry whose settings it takes
    over. ``limit`` is the most samples it is given. ``needs_points``: whether it is
    given points of the other stream.
    """

    make: Callable[..., Peer]
    grid: dict[str, list[float]] = {}  # noqa: RUF012 (never modified)
    package: str = ""
    shares: str = ""
    limit: int = 0
    needs_points: bool = False

    @property
    def missing(self) -> str:
        """Say what is not installed; empty if nothing."""
        module, _, name = self.package.partition(":")
        is_there = not module or find_spec(module) is not None
        return "" if is_there else f"not installed: pip install {name or module}"

    def settings(self) -> list[dict[str, float]]:
        """Return all combinations of the grid."""
        choices = product(*self.grid.values())
        return [dict(zip(self.grid, values, strict=True)) for values in choices]

    def make_peer(self, settings: dict[str, float], apart: Samples) -> Peer:
        """Return the learner, untaught; ``apart`` are samples of the other stream."""
        further: dict[str, Any] = {"points": apart.X} if self.needs_points else {}
        return self.make(apart.X.shape[1], **settings, **further)


_RATES = {"rate": [0.001 * 1.6**n for n in range(N_SETTINGS)]}
_LENGTHS = {"length_scale": [0.05, 0.15, 0.5, 1.5]}
_FEATURES = _LENGTHS | {"rate": [0.03, 0.1, 0.3, 1.0]}
_HALK = _LENGTHS | {"rate": [0.3, 1.0], "epsilon": [0.01, 0.05]}
_KLMS = _LENGTHS | {"rate": [0.2, 0.5], "quantum": [0.1, 0.4]}
_SKLEARN, _SHARED = "sklearn:scikit-learn", "halk, learn_many"

ENTRIES: dict[str, Entry] = {
    "river LinearRegression": Entry(make_river, _RATES, "river"),
    "padasip NLMS": Entry(make_padasip, _RATES, "padasip"),
    "halk NLMS": Entry(make_nlms, _RATES),
    "scikit-learn SGD, RBFSampler": Entry(make_sgd, _FEATURES, _SKLEARN),
    "scikit-learn SGD, Nystroem": Entry(
        make_sgd, _FEATURES, _SKLEARN, needs_points=True
    ),
    "KLMS in NumPy": Entry(make_klms, _KLMS),
    "halk, learn_one": Entry(make_halk, shares=_SHARED),
    _SHARED: Entry(make_halk_by_block, _HALK),
    "halk.reference": Entry(make_reference, shares=_SHARED, limit=60),
}

# The race: settings on one stream, time and error on the other


class Finish(NamedTuple):
    """How a learner came through."""

    settings: dict[str, float]
    seconds: float
    predictions: Any
    size: int


def find_error(predictions: Any, Y: Vector) -> float:
    """Return the root-mean-square error; infinite if it ran away."""
    with np.errstate(all="ignore"):
        found = float(np.sqrt(np.mean((np.asarray(predictions) - Y) ** 2)))
    return found if np.isfinite(found) else float("inf")


def peers(plan: Plan) -> list[Score]:
    """Return every peer on every stream."""
    scores = []
    for name in plan.pick(["wave", "nearly linear"], list(STREAMS)):
        apart = STREAMS[name](plan.pick(150, 400), 1)
        samples = STREAMS[name](plan.pick(400, 2000), 2)
        finishes: dict[str, Finish] = {}
        # who shares settings comes after whose
        for peer, entry in sorted(ENTRIES.items(), key=lambda item: item[1].shares):
            if not entry.missing:
                plan.tell(f"{name}: {peer}")
                shared = finishes.get(entry.shares)
                settings = shared.settings if shared else choose(entry, apart)
                finishes[peer] = _race(entry, settings, apart, samples, plan.pick(1, 3))
        scores += [_score(name, peer, samples, finishes) for peer in ENTRIES]
    return scores


def choose(entry: Entry, apart: Samples) -> dict[str, float]:
    """Return the settings with the smallest error on the stream apart."""

    def try_settings(settings: dict[str, float]) -> float:
        peer = entry.make_peer(settings, apart)
        return find_error(peer.run(peer.prepare(apart)), apart.Y)

    return min(entry.settings(), key=try_settings)


def _race(
    entry: Entry, settings: dict[str, float], apart: Samples, samples: Samples,
    repeats: int,
) -> Finish:  # fmt: skip
    """Time fresh learners on the whole stream."""
    n = entry.limit or len(samples.Y)
    last: list[Any] = []

    def prepare() -> Any:
        peer = entry.make_peer(settings, apart)
        return peer, peer.prepare(Samples(samples.X[:n], samples.Y[:n]))

    def run(ready: Any) -> None:
        peer, prepared = ready
        last[:] = [peer, peer.run(prepared)]

    (times,) = time_in_turn([Job(run, prepare)], repeats, warm_up=False)
    peer, predictions = last
    return Finish(settings, times.best, predictions, peer.size())


def _score(
    stream: str, peer: str, samples: Samples, finishes: dict[str, Finish]
) -> Score:
    entry = ENTRIES[peer]
    if entry.missing:
        return Score(stream, peer, missing=entry.missing)
    finish, note = finishes[peer], ""
    n = len(finish.predictions)
    if entry.limit:
        there = find_error(finishes[entry.shares].predictions[:n], samples.Y[:n])
        note = f"first {n} samples, where halk has {there:.3f}"
    error = find_error(finish.predictions, samples.Y[:n])
    return Score(
        stream, peer, finish.seconds / n * 1e6, error, n, finish.size, finish.settings,
        note,
    )  # fmt: skip
