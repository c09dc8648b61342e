"""What the sensors of a network measured."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halk._validation import Indices, Matrix, Vector, array, require, without_nan
from halk.network import Network

__all__ = ["Field"]


@dataclass(frozen=True, eq=False, repr=False)
class Field:
    """What the sensors of a network measured: readings in no particular order.

    Parameters
    ----------
    name : str
        Of what was measured: "temperature".
    unit : str
        "°C"; empty if unknown.
    inputs : tuple of p strings
        Names of the columns of ``x``: ("depth_m",).
    names : tuple of V unique strings
        Of the sensors, which are the agents.
    positions : array (V, 2)
        Latitude and longitude in degrees if ``is_geographic``, else x and y.
    is_geographic : bool
    agent : int array (R,)
        Whose reading each is, from 0 to V - 1.
    x : array (R, p)
    y : array (R,)
    source : str
        Where it came from, in one line, for reports.
    sha256 : str
        Of the file it was read from.

    Notes
    -----
    A field is a value: its arrays are read-only copies. Sensors may be without
    readings.

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
        agent = _checked_agents(self.agent, len(names))
        checked = {
            "positions": array("positions", self.positions, (len(names), 2)),
            "x": array("x", self.x, (len(agent), len(inputs))),
            "y": array("y", self.y, (len(agent),)),
        }
        for key, value in checked.items():
            checked[key] = without_nan(key, value).copy()
        if self.is_geographic:
            worst = float(np.abs(checked["positions"][:, 0]).max())
            require(worst <= 90, "latitude", "be within [-90, 90]", worst)
        vars(self).update(checked, agent=agent, names=names, inputs=inputs)
        for frozen in (agent, *checked.values()):
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

        Parameters
        ----------
        mask : bool array (R,)
        """
        kept = np.asarray(mask)
        if kept.dtype != np.bool_:
            raise TypeError(f"mask must be of booleans, got dtype {kept.dtype}")
        rule = f"have one entry per reading ({self.n_readings})"
        require(kept.shape == self.y.shape, "mask", rule, kept.shape)
        return replace(self, agent=self.agent[kept], x=self.x[kept], y=self.y[kept])

    def chosen(self, agents: Iterable[str | int]) -> Self:
        """Return the field of some sensors, by name or number, in the order given.

        Examples
        --------
        >>> from halk.data import gulf
        >>> gulf().chosen([7, 3]).names
        ('7', '3')
        """
        known = Network(self.n_agents, names=self.names)
        chosen = np.array([known.index(agent) for agent in agents], dtype=np.int64)
        require(len(chosen) > 0, "agents", "not be empty", [])
        times = np.bincount(chosen)
        repeated = self.names[np.argmax(times)]
        require(times.max() == 1, "agents", "hold each sensor once", repeated)
        number = np.full(self.n_agents, -1)
        number[chosen] = np.arange(len(chosen))
        kept = self.subset(number[self.agent] >= 0)
        names = tuple(self.names[i] for i in chosen)
        places, agent = self.positions[chosen], number[kept.agent]
        return replace(kept, names=names, positions=places, agent=agent)

    def network(
        self,
        radius: float,
        tolerance: float | Callable[[Vector], ArrayLike] = 0.0,
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
            self.positions,
            radius,
            metric=metric,
            tolerance=tolerance,
            names=self.names,
        )

    def __repr__(self) -> str:
        what = f"{self.name} in {self.unit}" if self.unit else self.name
        size = f"{self.n_readings} readings of {self.n_agents} sensors"
        return f"{type(self).__name__}({what}: {size} by {', '.join(self.inputs)})"


def _checked_agents(agent: ArrayLike, n_agents: int) -> Indices:
    numbers: NDArray[np.generic] = np.asarray(agent)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"agent must hold whole numbers, got dtype {numbers.dtype}")
    require(numbers.ndim == 1, "agent", "have shape (any)", numbers.shape)
    result = numbers.astype(np.int64)
    outside = (result < 0) | (result >= n_agents)
    if outside.any():
        rule = f"be from 0 to {n_agents - 1}"
        require(False, "agent", rule, int(result[np.argmax(outside)]))
    return result
