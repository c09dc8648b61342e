"""What hypothesis draws: streams with everything that goes wrong with sensors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from halk import HALK, Network, kernels

__all__ = ["Block", "Stream", "atoms", "blocks", "learners", "powers", "streams"]


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Draw positive numbers, evenly over their exponents of ten."""
    return st.floats(low, high).map(lambda exponent: float(10.0**exponent))


# Streams for a whole network ----------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """Readings of a path of agents: inputs (T, V, p), targets (T, V) with NaN."""

    network: Network
    X: Any
    Y: Any

    def n_distinct(self, agent: int, is_exact: bool) -> int:
        """Count the points that an agent can have heard of."""
        around = range(agent - 1, agent + 2) if is_exact else [agent]
        members = [i for i in around if 0 <= i < self.network.n_agents]
        heard = ~np.isnan(self.Y[:, members])
        return len(np.unique(self.X[:, members][heard], axis=0)) if heard.any() else 0


def _inputs(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    if kind == "constant":
        return np.full(shape, 0.25)
    if kind == "few":
        return rng.integers(0, 3, size=shape) / 2.0
    if kind == "crowded":
        return 0.5 + 1e-9 * rng.normal(size=shape)
    return rng.uniform(size=shape) * (1e6 if kind == "huge" else 1.0)


@st.composite
def streams(draw: st.DrawFn, max_steps: int = 30) -> Stream:
    """Draw a stream: missing readings, outliers of 1e6, inputs of every kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    T = draw(st.integers(1, max_steps))
    V, p = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    tolerance = draw(st.sampled_from([0.0, 0.01, 1.0]))
    kind = draw(st.sampled_from(["uniform", "constant", "few", "crowded", "huge"]))
    X = _inputs(kind, rng, (T, V, p))
    Y = np.sin(6.0 * X[..., 0]) + 0.1 * rng.normal(size=(T, V))
    Y *= draw(st.sampled_from([0.0, 1e-6, 1.0, 1e3]))
    Y[rng.uniform(size=Y.shape) < draw(st.sampled_from([0.0, 0.1]))] = 1e6
    Y[rng.uniform(size=Y.shape) < draw(st.sampled_from([0.0, 0.1]))] = -1e6
    Y[rng.uniform(size=Y.shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = np.nan
    return Stream(Network.path(V, tolerance=tolerance), X, Y)


@st.composite
def learners(draw: st.DrawFn, network: Network, step: str) -> HALK:
    """Draw a learner of any setting, always of the same components."""
    return HALK(
        network,
        kernel=kernels.Gaussian(draw(powers(-6, 6))),
        step_size=draw(powers(-4, 1)),
        dual_step_size=draw(st.one_of(st.none(), powers(-4, 1))),
        regularization=draw(st.sampled_from([0.0, 1e-5, 0.1])),
        tightening=draw(st.sampled_from([0.0, 0.1])),
        epsilon=draw(st.one_of(st.just(0.0), powers(-8, 1))),
        coupling=draw(st.sampled_from(["exact", "paper"])),
        norm_bound=draw(st.sampled_from([None, 10.0])),
        standardize=draw(st.sampled_from([False, "offset", True])),
        step=step,
    )


# Blocks for the compression of one agent ----------------------------------------------


@dataclass(frozen=True)
class Block:
    """New points (b, p) with their coefficients, and how old weights shrink."""

    points: Any
    coefficients: Any
    shrink: float

    def pairs(self) -> Any:
        """Return every point with its coefficient."""
        return zip(self.points, self.coefficients, strict=True)


@st.composite
def atoms(draw: st.DrawFn, known: list[Any], p: int) -> Any:
    """Draw a point: new, an exact duplicate of a known one, or one 1e-9 beside it."""
    kind = draw(st.sampled_from(["new", "new", "new", "same", "near"]))
    if kind == "new" or not known:
        unit = st.floats(0.0, 1.0, allow_subnormal=False)
        return np.array(draw(st.lists(unit, min_size=p, max_size=p)))
    twin = known[draw(st.integers(0, len(known) - 1))]
    return twin + 1e-9 if kind == "near" else twin.copy()


@st.composite
def blocks(draw: st.DrawFn, max_blocks: int = 12) -> list[Block]:
    """Draw a stream of updates, of one to four points each."""
    p, known, stream = draw(st.integers(1, 2)), [], []
    for _ in range(draw(st.integers(1, max_blocks))):
        b = draw(st.integers(1, 4))
        points = []
        for _ in range(b):
            points.append(draw(atoms(known, p)))
            known.append(points[-1])
        weight = st.floats(-2.0, 2.0, allow_subnormal=False)
        coefficients = draw(st.lists(weight, min_size=b, max_size=b))
        shrink = draw(st.sampled_from([1.0, 0.99, 0.5]))
        stream.append(Block(np.array(points), np.array(coefficients), shrink))
    return stream
