"""What the sensors of a network measured, and the steps that learners take from it.

Learners eat dense arrays: inputs ``X`` (T, V, p) and targets ``Y`` (T, V). Where an
agent has no reading at all, both are NaN.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halk._validation import (
    Indices,
    Matrix,
    Vector,
    finite_array,
    integer,
    real,
    require,
    require_each,
)
from halk.network import Network

__all__ = ["Arrivals", "Field", "draw_arrivals", "draw_steps", "withhold"]

Seed = int | np.random.Generator


@dataclass(frozen=True, eq=False, repr=False)
class Field:
    """What the sensors of a network measured: readings in no particular order.

    A value: its arrays are read-only copies. Sensors may be without readings.

    Parameters
    ----------
    name, unit : str
        Of what was measured: "temperature", "°C"; the unit is empty if unknown.
    inputs : tuple of p strings
        Names of the columns of ``x``: ("depth_m",).
    names : tuple of V unique strings
        Of the sensors, which are the agents.
    positions : array (V, 2)
        Latitude and longitude in degrees if ``is_geographic``, else x and y.
    is_geographic : bool
    agent : int array (R,)
        Whose reading each is, from 0 to V - 1.
    x, y : arrays (R, p) and (R,)
    source, sha256 : str
        Where it came from, in one line, for reports; and which file that was.

    Examples
    --------
    >>> field = Field(
    ...     "temperature", "°C", ("depth_m",), ("north", "south"),
    ...     positions=[(29.0, -90.0), (25.0, -90.0)], is_geographic=True,
    ...     agent=[0, 0, 1], x=[[0], [50], [0]], y=[24.5, 21.0, 26.0],
    ... )
    >>> field
    Field(temperature in °C: 3 readings of 2 sensors by depth_m)
    >>> field.counts
    array([2, 1])
    """

    name: str
    unit: str
    inputs: tuple[str, ...]
    names: tuple[str, ...]
    positions: Matrix
    is_geographic: bool
    agent: Indices
    x: Matrix
    y: Vector
    source: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        names, inputs = tuple(self.names), tuple(self.inputs)
        require(len(names) > 0, "names", "not be empty", names)
        require(len(set(names)) == len(names), "names", "be unique", names)
        require(len(inputs) > 0, "inputs", "not be empty", inputs)
        agent: NDArray[Any] = np.asarray(self.agent)
        if agent.size and agent.dtype.kind not in "iu":
            raise TypeError(f"agent must hold whole numbers, got dtype {agent.dtype}")
        require(agent.ndim == 1, "agent", "have shape (any)", agent.shape)
        agent = agent.astype(np.int64)
        is_known = (agent >= 0) & (agent < len(names))
        require_each("agent", f"be from 0 to {len(names) - 1}", agent, is_known)
        checked = {
            "positions": finite_array("positions", self.positions, (len(names), 2)),
            "x": finite_array("x", self.x, (len(agent), len(inputs))),
            "y": finite_array("y", self.y, (len(agent),)),
        }
        if self.is_geographic:
            worst = float(np.abs(checked["positions"][:, 0]).max())
            require(worst <= 90, "latitude", "be within [-90, 90]", worst)
        arrays = {"agent": agent} | {name: a.copy() for name, a in checked.items()}
        vars(self).update(arrays, names=names, inputs=inputs)
        for frozen in arrays.values():
            frozen.setflags(write=False)

    @property
    def n_agents(self) -> int:
        """Number of sensors V."""
        return len(self.names)

    @property
    def n_readings(self) -> int:
        """Number of readings R."""
        return len(self.y)

    @property
    def counts(self) -> Indices:
        """Readings of each sensor (V,)."""
        return np.bincount(self.agent, minlength=self.n_agents)

    def with_positions(self) -> Self:
        """Return the field as a function of the sensor's position too.

        Examples
        --------
        >>> from halk.data import gulf
        >>> gulf().with_positions().inputs
        ('depth_m', 'lat', 'lon')
        """
        added = ("lat", "lon") if self.is_geographic else ("x", "y")
        x = np.column_stack((self.x, self.positions[self.agent]))
        return replace(self, inputs=self.inputs + added, x=x)

    def subset(self, mask: ArrayLike) -> Self:
        """Return the field with some of its readings and all of its sensors.

        ``mask`` is a bool array (R,).
        """
        kept = np.asarray(mask)
        if kept.dtype != np.bool_:
            raise TypeError(f"mask must be of booleans, got dtype {kept.dtype}")
        rule = f"have one entry per reading ({self.n_readings})"
        require(kept.shape == self.y.shape, "mask", rule, kept.shape)
        return replace(self, agent=self.agent[kept], x=self.x[kept], y=self.y[kept])

    def choose(self, agents: Iterable[str | int]) -> Self:
        """Return the field of some sensors, by name or number, in the order given.

        Examples
        --------
        >>> from halk.data import gulf
        >>> gulf().choose([7, 3]).names
        ('7', '3')
        """
        known = Network(self.n_agents, names=self.names)
        chosen = [known.index(agent) for agent in agents]
        number = np.full(self.n_agents, -1)
        number[chosen] = np.arange(len(chosen))
        kept = self.subset(number[self.agent] >= 0)
        names = tuple(self.names[i] for i in chosen)
        places, agent = self.positions[chosen], number[kept.agent]
        return replace(kept, names=names, positions=places, agent=agent)

    def network(
        self, radius: float, tolerance: float | Callable[[Vector], ArrayLike] = 0.0
    ) -> Network:
        """Connect sensors at a distance of ``radius`` or less.

        Distances are kilometres along the Earth's surface if the field is geographic,
        else in the unit of the positions. ``tolerance`` is a number or a function of
        the distances, as in :meth:`halk.network.Network.from_positions`.

        Examples
        --------
        >>> from halk.data import gulf
        >>> gulf().network(1000, tolerance=lambda d: np.exp(-d / 1000))
        Network(50 agents, 2008 edges)
        """
        metric = "haversine" if self.is_geographic else "euclidean"
        return Network.from_positions(
            self.positions, radius, metric=metric, tolerance=tolerance, names=self.names
        )

    def __repr__(self) -> str:
        what = f"{self.name} in {self.unit}" if self.unit else self.name
        size = f"{self.n_readings} readings of {self.n_agents} sensors"
        return f"{type(self).__name__}({what}: {size} by {', '.join(self.inputs)})"


# from a field to the steps that learners take


class Arrivals(NamedTuple):
    """Readings that arrive one after another."""

    X: NDArray[np.float64]  # (T, V, p)
    Y: Matrix  # (T, V)
    is_new: NDArray[np.bool_]  # (T, V)


def draw_steps(
    field: Field, n_steps: int, seed: Seed
) -> tuple[NDArray[np.float64], Matrix]:
    """Draw one reading of every agent in each step, at random and with replacement.

    Examples
    --------
    >>> from halk.data import gulf
    >>> X, Y = draw_steps(gulf(), n_steps=100, seed=0)
    >>> X.shape, Y.shape
    ((100, 50, 1), (100, 50))
    """
    n_steps = integer("n_steps", n_steps, minimum=1)
    size = (n_steps, field.n_agents)
    rank = np.random.default_rng(seed).integers(0, np.maximum(field.counts, 1), size)
    return _pick(field, np.argsort(field.agent, kind="stable"), rank)


def withhold(field: Field, share: float, seed: Seed) -> NDArray[np.bool_]:
    """Choose readings to withhold, about the same share of every sensor's.

    Of a sensor's n readings ``share * n`` are withheld, rounded up or down at random,
    but at least one is left. With the same seed, what a smaller share withholds a
    larger one withholds too.

    Returns
    -------
    bool array (R,)

    Examples
    --------
    >>> from halk.data import gulf
    >>> int(withhold(gulf(), 0.5, seed=0).sum())
    386
    """
    share = real("share", share)
    require(0 <= share < 1, "share", "be at least 0 and below 1", share)
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(field.n_readings), field.agent))
    # One threshold per sensor whatever the share: rounding must not undo the nesting.
    quota = np.floor(share * field.counts + rng.random(field.n_agents))
    quota = np.minimum(quota, field.counts - 1)
    agent = field.agent[order]
    mask = np.empty(field.n_readings, dtype=np.bool_)
    mask[order] = np.arange(len(order)) - _starts(field)[agent] < quota[agent]
    return mask


def draw_arrivals(field: Field, n_steps: int, seed: Seed) -> Arrivals:
    """Let each sensor's readings arrive one after another, in random order.

    Arrivals are spread evenly over the steps, the first at step 0. In a step in which
    none arrives, one of those that have arrived is drawn at random. A learner that is
    scored where ``is_new``, before it learns, is scored on readings it has never seen,
    each of them once.

    A sensor with more readings than steps gets a new one in each step, and the rest
    never arrive.

    Examples
    --------
    >>> from halk.data import gulf
    >>> X, Y, is_new = draw_arrivals(gulf(), n_steps=100, seed=0)
    >>> int(is_new.sum()), bool(is_new[0].all())
    (774, True)
    """
    n_steps = integer("n_steps", n_steps, minimum=1)
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(field.n_readings), field.agent))
    n = np.minimum(field.counts, n_steps)
    # Reading k arrives at step floor(k T / n): at t, ceil((t + 1) n / T) are there.
    t = np.arange(-1, n_steps)[:, None]
    arrived = -(-(t + 1) * n // n_steps)
    is_new = arrived[1:] > arrived[:-1]
    old = rng.integers(0, np.maximum(arrived[1:], 1))
    rank = np.where(is_new, arrived[1:] - 1, old)
    return Arrivals(*_pick(field, order, rank), is_new)


def _starts(field: Field) -> Indices:
    """Return where each sensor's readings begin when they are put sensor by sensor."""
    return np.cumsum(field.counts) - field.counts


def _pick(
    field: Field, order: Indices, rank: Indices
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the readings of given ``rank`` (T, V) among each sensor's in ``order``."""
    X = np.full((*rank.shape, len(field.inputs)), np.nan)
    Y = np.full(rank.shape, np.nan)
    has = field.counts > 0
    index = order[_starts(field)[has] + rank[:, has]]
    X[:, has], Y[:, has] = field.x[index], field.y[index]
    return X, Y
