"""The random field of the paper's first figure."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector, integer, nonnegative, positive
from halk.network import Network

__all__ = ["RandomField", "RandomFieldDraw"]


class RandomFieldDraw(NamedTuple):
    """A network, what it measures and what it should have measured."""

    network: Network
    X: NDArray[np.float64]  # (T, V, 1): times
    Y: Matrix  # (T, V)
    truth: Matrix  # (T, V): Y without the noise of measuring


@dataclass(frozen=True)
class RandomField:
    r"""A correlated field over a square, whose agents learn what they measure when.

    .. math:: s_t = \pi + C^\top (1 \sin(2 t) + v_t), \quad v_t \sim N(0, 0.1 I),
              \quad y_t = s_t + N(0, 0.5 I)

    with :math:`\pi_i = i / V` for i from 1 to V and the correlation
    :math:`R_{ij} = \exp(-|l_i - l_j|) = C^\top C` of the agents' places. The
    tolerance of an edge is its correlation.

    Parameters
    ----------
    n_agents : int, at least 1
    side : float, positive
        Of the square over which agents are scattered uniformly.
    radius : float, not negative
        Agents at this distance or less are neighbours.
    n_steps : int, at least 1
    horizon : float, positive
        Times are uniform on [0, horizon], one per step, the same for all agents.
    frequency : float
        The 2 of the formula.
    field_variance, noise_variance : float, not negative
        Of v and of the measurement: 0.1 and 0.5 are variances.

    Notes
    -----
    The paper calls C the Cholesky factor of R and multiplies by its transpose: with
    the upper factor, ``R = C'C``, the vector ``C'v`` has the covariance of R. It says
    neither which agents are neighbours nor what the times are: radius and horizon are
    chosen to give the model order it reports.

    Examples
    --------
    >>> network, X, Y, truth = RandomField(n_steps=100).draw(seed=0)
    >>> network.n_agents, X.shape, Y.shape
    (40, (100, 40, 1), (100, 40))
    """

    n_agents: int = 40
    side: float = 100.0
    radius: float = 30.0
    n_steps: int = 1500
    horizon: float = 2.0
    frequency: float = 2.0
    field_variance: float = 0.1
    noise_variance: float = 0.5

    def __post_init__(self) -> None:
        integer("n_agents", self.n_agents, minimum=1)
        integer("n_steps", self.n_steps, minimum=1)
        positive("side", self.side)
        positive("horizon", self.horizon)
        for name in ("radius", "frequency", "field_variance", "noise_variance"):
            nonnegative(name, getattr(self, name))

    def draw(self, seed: int | np.random.Generator) -> RandomFieldDraw:
        """Scatter the agents and measure."""
        rng = np.random.default_rng(seed)
        places = rng.uniform(0.0, self.side, size=(self.n_agents, 2))
        network = Network.from_positions(places, self.radius, tolerance=_correlation)
        times = rng.uniform(0.0, self.horizon, size=self.n_steps)
        shape = (self.n_steps, self.n_agents)
        v = rng.normal(0.0, self.field_variance**0.5, size=shape)
        wave = np.sin(self.frequency * times)[:, None] + v
        offset = np.arange(1, self.n_agents + 1) / self.n_agents
        distance = np.linalg.norm(places[:, None] - places[None], axis=2)
        truth = offset + wave @ np.linalg.cholesky(_correlation(distance)).T
        Y = truth + rng.normal(0.0, self.noise_variance**0.5, size=shape)
        X = np.repeat(times[:, None, None], self.n_agents, axis=1)
        return RandomFieldDraw(network, X, Y, truth)


def _correlation(distance: Vector) -> Vector:
    return np.asarray(np.exp(-distance))
