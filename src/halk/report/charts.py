"""Bars and maps: what they show, without how it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halk._validation import Matrix, Vector, integer, per_item, require
from halk.network import Network
from halk.report._values import assign, check_name, column
from halk.report.style import known

__all__ = ["Bars", "MapFigure"]


@dataclass(frozen=True, eq=False)
class Bars:
    """Groups of horizontal bars on one scale, each bar with its name and value.

    Parameters
    ----------
    name, caption : str
    groups : sequence of G str
        One small chart each, side by side: "20 % withheld".
    series : sequence of S str
        The bars of every group: methods.
    values : array (G, S)
        NaN is written as a dash.
    xlabel : str
        With the unit.
    styles : sequence of S keys of ``PALETTE``, optional
    low, high : array (G, S), optional
        Ends of a whisker, over seeds.
    log_x : bool
    columns : int, positive
        Charts in a row.
    """

    name: str
    caption: str
    groups: Sequence[str]
    series: Sequence[str]
    values: Matrix
    xlabel: str = ""
    styles: Sequence[str | None] | None = None
    low: Matrix | None = None
    high: Matrix | None = None
    log_x: bool = False
    columns: int = 3

    def __post_init__(self) -> None:
        check_name(self.name)
        integer("columns", self.columns, minimum=1)
        shape = (len(self.groups), len(self.series))
        require(min(shape) > 0, "groups and series", "not be empty", shape)
        for name in ("values", "low", "high"):
            value = getattr(self, name)
            if value is not None:
                array = np.array(value, dtype=np.float64)
                require(array.shape == shape, name, f"have shape {shape}", array.shape)
                array[~np.isfinite(array)] = np.nan
                assign(self, **{name: array})
        for style in self.styles or ():
            known(style)
        wanted = len(self.styles or self.series) == shape[1]
        require(wanted, "styles", f"have {shape[1]} entries", self.styles)


@dataclass(frozen=True, eq=False)
class MapFigure:
    """The agents of a network where they are, with a value on edges, agents or both.

    Parameters
    ----------
    name, caption : str
    network : Network
        Positions are (latitude, longitude) in degrees if ``is_geographic``, else the
        first two are x and y. Without positions the agents stand in a circle.
    values : array (E,), optional
        One a directed edge; of the two of a pair, the larger is shown.
    value_label : str
        Of the colour bar, with the unit.
    labels : sequence of names or numbers of agents
        Those to be named on the map.
    title : str
    node_values : array (V,), optional
        Larger markers for larger values; coloured too where edges have no values. NaN
        leaves a marker empty.
    node_label : str
    is_geographic : bool
    position_label : str
        Unit of the axes if not geographic: "km".
    width : float
        In inches, at most.
    value_limits : tuple of two float, optional
        Of the colours of edges; by default from 0, or less, to the largest.
    """

    name: str
    caption: str
    network: Network
    values: Vector | None = None
    value_label: str = "multiplier"
    labels: Sequence[str | int] = ()
    title: str = ""
    node_values: Vector | None = None
    node_label: str = ""
    is_geographic: bool = True
    position_label: str = ""
    width: float = 8.4
    value_limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        V, nodes = self.network.n_agents, self.node_values
        if self.values is not None:
            edges = per_item(
                "values", self.values, self.network.n_edges, "directed edge"
            )
            assign(self, values=edges)
        if nodes is not None:
            nodes = np.broadcast_to(np.asarray(nodes, np.float64), V)
            assign(self, node_values=column("node_values", nodes, V))
        assign(self, labels=tuple(self.network.index(agent) for agent in self.labels))
        places = self.network.positions
        if self.is_geographic:
            fits = places is not None and places.shape[1] == 2
            got = None if places is None else places.shape
            rule = "have positions (lat, lon); or give is_geographic=False"
            require(fits, "network", rule, got)
