"""A small network at work: ``python -m halk.demo``.

Five sensors on a line measure fields that are alike, not the same. Sensor "c" is broken
for most of the time and reads one half of its range only; it learns the other half from
what its neighbours tell it.
"""

import sys
from time import perf_counter

import numpy as np

from halk import HALK, Network, kernels
from halk._validation import Matrix, Vector

_N_STEPS = 2000
_NAMES = ("a", "b", "c", "d", "e")
_SHORT_OF_DATA = 2


def field(agent: int, x: Vector) -> Vector:
    """Return the true field of an agent: a wave that shifts along the line."""
    return np.sin(6.0 * x + 0.1 * agent) + 0.1 * agent


def stream(seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return inputs (T, V, 1) and noisy readings (T, V), NaN where there is none."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(_N_STEPS, len(_NAMES), 1))
    Y = np.stack([field(i, X[:, i, 0]) for i in range(len(_NAMES))], axis=1)
    Y += 0.1 * rng.normal(size=Y.shape)
    broken = (X[:, _SHORT_OF_DATA, 0] > 0.5) | (rng.uniform(size=_N_STEPS) < 0.8)
    Y[broken, _SHORT_OF_DATA] = np.nan
    return X, Y


def errors(model: HALK) -> Vector:
    """Return every agent's root mean square error against the true field."""
    grid = np.linspace(0.0, 1.0, 101)
    miss = [model.predict(i, grid[:, None]) - field(i, grid) for i in range(5)]
    return np.asarray(np.sqrt(np.mean(np.square(miss), axis=1)))


def learn(network: Network) -> tuple[HALK, float]:
    """Return a model that has learned the stream, and the seconds it took."""
    model = HALK(network, kernel=kernels.Gaussian(0.1), step_size=0.3, epsilon=0.05)
    X, Y = stream()
    model.learn_many(X[:1], Y[:1])  # the first step compiles
    begin = perf_counter()
    model.learn_many(X[1:], Y[1:])
    return model, perf_counter() - begin


def main() -> int:
    """Run the demo and print what was learned."""
    print("Five sensors on a line; sensor c reads only half of its range, and seldom.")
    print("Compiling (once; the next run starts at once) ...", end=" ", flush=True)
    network = Network(5, [(0, 1), (1, 2), (2, 3), (3, 4)], 0.01, names=_NAMES)
    together, seconds = learn(network)
    alone, _ = learn(Network(5, names=_NAMES))
    print("done.\n")
    counts = np.isfinite(stream()[1]).sum(axis=0)
    print("sensor  readings  atoms   error alone   error together")
    columns = (_NAMES, counts, together.model_order, errors(alone), errors(together))
    for name, count, order, before, after in zip(*columns, strict=True):
        print(f"{name:>6}  {count:8d}  {order:5d}   {before:11.3f}   {after:14.3f}")
    print("\nprice of each tolerance (multiplier): who disagrees with whom")
    for (i, j), mu in zip(network.edges, together.multipliers, strict=True):
        if i < j:
            back = together.multipliers[network.edges.tolist().index([j, i])]
            print(f"  {_NAMES[i]} - {_NAMES[j]}   {mu:6.3f}  {back:6.3f}")
    rate = (_N_STEPS - 1) * len(_NAMES) / seconds
    print(f"\n{_N_STEPS} steps in {seconds:.2f} s ({rate:,.0f} agent steps a second)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
