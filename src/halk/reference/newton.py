r"""Second-order HALK, dense and slow: every agent a sparse online Gaussian process.

The same problem S1, by Newton steps with gains that fall as 1/t. Agent i keeps atoms D,
the values ``m = f_i(D)``, their covariance ``S`` and ``n_i``, how many readings it had;
per edge of its own, the multiplier ``mu_ij`` and a running disagreement ``hbar_ij``.
K is the Gram matrix of the atoms, ``Q = K^-1``, ``w = Q m``, ``f_i(x) = k_D(x)'w``::

    OBS(x, z, n)  "f(x) = z with noise variance n"
      u = Q k_D(x);  g = S u;  s = k(x,x) - k_D(x)'u;  v = s + u'g;  r = z - u'm
      q = |r| / (phi sqrt(n + v));  if q > 1: n <- (n + v) q^2 - v
      if s > novelty k(x,x): x becomes an atom, m_new = u'm, S_new = (g, v), g <- (g, v)
      m += g r / (n + v);  S -= g g' / (n + v)

    N0  forgetting   S <- beta S + (1 - beta) K;  m <- sqrt(beta) m
        lambda       d = S w;  m -= min(lambda / sigma2, w'd / d'Qd) d
    N1  adapt        OBS(x_i, y_i, sigma2)
    N2  talk         query (x_i, F_i = f_i(x_i), mu_ij); answer (a_ij, v_ij), mean and
                     variance of f_j(x_i), j after its own N1
    N3  own edges    om_ij = mu_ij c / (c + v_ij), c = min(sigma2, 0.01); W = sum om_ij;
                     OBS(x_i, sum om_ij a_ij / W, sigma2 / W)
    N4  pulls        OBS(x_j, F_j, sigma2 / mu_ji) for each query received
    N5  multipliers  h = (F_i - a_ij)^2 / 2;
                     mu_ij += kappa / (n_i + t0) (1 + sum_j (mu_ij + mu_ji))
                              (h - gamma_ij + nu) / (4 (hbar_ij + gamma_ij)),
                     clipped to [0, mu_max];
                     then hbar_ij += max(1 / n_i, 0.01) (h - hbar_ij)
    N6  compression  remove atom k at a cost of w_k^2 / Q_kk: drop m_k, and row and
                     column k of S

An agent without a reading answers, and does N4 and N6 alone.

What the equations leave open, and what is done here:

- **Order.** N3, then N4 one query after another, in the order of the agent's edges. An
  edge with a multiplier of at most 1e-9 neither pulls nor counts in N3. Multipliers
  told are taken as ``mu_max`` at most.
- **Robust weight.** ``phi`` is ``1.5 robust`` while ``n_i < 20``, ``robust`` after; a
  reading counts in ``n_i`` once N1 is done. N3 weighs each answer by itself: OBS's rule
  raises ``sigma2 / om_ij``, with the residual ``a_ij - F_i`` and f_i's variance after
  N1. No value then moves f(x) by more than ``phi sqrt(v)``, whoever sends it.
- **Multipliers.** The first h of an edge is its ``hbar_ij`` from the start; N5's
  denominator gets 1e-12 more. ``mu_ji`` is what j told last: with this step's query if
  it asked, else earlier, the start of mu_ij if never. They start from
  ``min(mu_0, sigma2 / (sigma2 + 2 gamma_ij))``, 0 for an infinite tolerance. All edges
  move at once, by the sum before; not those without an answer.
- **Compression.** At the end of the step, if atoms were added or there are more than
  ``max_atoms``. The cheapest atom goes, in a tie the newest, while there are more than
  ``max_atoms`` or the sum of all costs of this sweep is at most ``budget^2``.
- **Losses.** A loss l enters by a parabola above it that touches it at the present f:
  l(f + d) <= l(f) + l'(f) d + c d^2 / 2. Up to a constant that is c (f + d - z)^2 / 2
  with z = f - l'(f) / c, so with the ridge sigma2 it is OBS(x, z, sigma2 / c). `BOUNDS`
  has z and c; logistic: c = 1/4, hence z = f - 4 l'(f) and noise 4 sigma2. Such losses
  say themselves what a large residual counts: N1 has no robust weight then.
- **Exchange of readings.** N2 to N5 become OBS(x_j, y_j, sigma2 + 2 gamma_ij) for each
  neighbour that read (with sigma2 / c by the loss), in the order of the edges.
  ``identity`` g multiplies the kernel between points of different agents by exp(-g),
  which for the Gaussian is a further input sqrt(g) e_i.

Guards against rounding: an s above novelty k(x,x) counts as 0 unless it is above
1e-14 (sqrt k(x,x) + sum_a |k_a| sqrt Q_aa)^2; v is at least g_a^2 / S_aa; g_a is 0
where S_aa is, which never falls below; before N6, if atoms were added, the one of the
largest Q_aa K_aa goes until Q times its column of K is a unit vector up to 1e-6.
Observations with ``|r| >= 1e150``, or without a positive and finite gain, are skipped.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from halk.reference.formulas import Array, Kernel

ROUNDING, DRIFT, TIE, SILENT, HUGE = 1e-14, 1e-6, 1e-9, 1e-9, 1e150
SETTLED = 20  # readings after which the robust threshold is no longer wider by half

Bound = Callable[[float, float, float], tuple[float, float]]
SMOOTHING = 0.5  # of kinks, in standard deviations of the noise


def _quantile(tau: float) -> Bound:
    def bound(f: float, y: float, sigma: float) -> tuple[float, float]:
        width = max(abs(y - f), SMOOTHING * sigma)
        return y + (2 * tau - 1) * width, sigma / (2 * width)

    return bound


def _insensitive(epsilon: float) -> Bound:
    def bound(f: float, y: float, sigma: float) -> tuple[float, float]:
        beyond = abs(y - f) - epsilon
        if beyond <= 0:
            return y, 0.0
        nearest = y - epsilon * float(np.sign(y - f))
        return nearest, sigma / max(beyond, SMOOTHING * sigma)

    return bound


BOUNDS: dict[str, Callable[..., Bound]] = {
    "huber": lambda phi: lambda f, y, sigma: (y, phi / max(abs(y - f), phi)),
    "absolute": lambda: _insensitive(0.0),
    "insensitive": _insensitive,
    "quantile": _quantile,
    "logistic": lambda: lambda f, y, sigma: (f + 4 * y / (1 + np.exp(y * f)), 0.25),
}
"""Target z and curvature c of a bound, from f, y and the standard deviation of noise.

Piecewise linear losses are sigma times those of `LOSSES`, so that noise stays a
variance and multipliers keep their unit; kinks are parabolas up to `SMOOTHING` sigma.
The quantile loss is ``|r| / 2``, which is bounded, plus ``(tau - 1/2) r``, which is
kept. What lies within the insensitive zone is not learned.
"""


def _with_identity(kernel: Kernel, g: float) -> Kernel:
    """Return the kernel of points whose last feature says whose they are."""

    def labelled(X: Array, Y: Array) -> Array:
        factor = np.where(X[:, -1:] == Y[:, -1], 1.0, np.exp(-g))
        return kernel(X[:, :-1], Y[:, :-1]) * factor

    return labelled


class Settings(NamedTuple):
    """The numbers of an agent; noise is sigma2, relative to a prior variance of 1."""

    noise: float = 0.01
    forgetting: float = 1.0
    regularization: float = 0.0
    robust: float | None = 3.0
    novelty: float = 1e-4
    max_atoms: int = 60
    budget: float = 0.0
    first_multiplier: float = 0.1
    dual_gain: float = 2.0
    warm_up: float = 20.0
    largest_multiplier: float = 10.0
    tightening: float = 0.0


class Query(NamedTuple):
    """What an agent tells a neighbour about its own point."""

    x: Array  # (p,)
    value: float  # F_i
    multiplier: float  # mu_ij


class Point(NamedTuple):
    """What an agent knows of f at one point."""

    u: Array  # (M,)
    gain: Array  # (M,) g
    is_new: bool  # whether it would become an atom
    variance: float  # v
    value: float  # u'm


class NewtonInfo(NamedTuple):
    """What one step exchanged; NaN where nothing."""

    own: Array  # (V,) F_i after N1
    answers: Array  # (E,) a_ij
    variances: Array  # (E,) v_ij


def _excess(r: Any, noise: Any, variance: float, phi: float | None) -> Any:
    """Return the noise that the robust weight adds: ``(n + v) (q^2 - 1)`` if q > 1."""
    return np.maximum(0.0, (r / phi) ** 2 - noise - variance) if phi else 0.0


class NewtonAgent:
    """One agent; what it has per edge is in the order of its edges.

    Parameters
    ----------
    kernel : function (X, Y) -> Gram matrix
    n_features : int
    tolerance : gamma_ij of its edges
    bound : of `BOUNDS`, or None for the squared loss
    settings : Settings
    """

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        tolerance: Array,
        bound: Bound | None,
        settings: Settings,
    ) -> None:
        self.kernel, self.tolerance = kernel, tolerance
        self.bound, self.settings = bound, settings
        self.atoms = np.empty((0, n_features))
        self.values, self.covariance = np.empty(0), np.empty((0, 0))
        self.n_readings, self.has_grown = 0, False
        ratio = settings.noise / (settings.noise + 2 * tolerance)
        start = np.minimum(settings.first_multiplier, ratio)
        self.multipliers, self.told = start, start.copy()
        self.disagreement = np.full(len(tolerance), np.nan)

    @property
    def gram(self) -> Array:
        """K, computed anew."""
        return self.kernel(self.atoms, self.atoms)

    @property
    def inverse(self) -> Array:
        """Q, computed anew."""
        return np.asarray(np.linalg.inv(self.gram))

    def answer(self, x: Array) -> tuple[float, float]:
        """N2: return mean and variance of f(x)."""
        at = self._look(x)
        return at.value, at.variance

    def adapt(self, x: Array, y: float) -> float:
        """N0 and N1: learn the own reading; return f(x), which the query carries."""
        self._forget()
        self._regularize()
        self.read(x, y)
        self.n_readings += 1
        return self._look(x).value

    def read(self, x: Array, y: float, extra: float = 0.0) -> None:
        """OBS of a reading by the bound of its loss, with extra noise."""
        noise, z, c, phi = self.settings.noise, y, 1.0, self._threshold()
        if self.bound is not None:
            z, c = self.bound(self._look(x).value, y, float(np.sqrt(noise)))
            phi = None
        if c > 0:
            self._observe(x, z, noise / c + extra, phi)

    def update(
        self,
        x: Array | None,
        own: float,
        answers: Array,
        variances: Array,
        queries: Sequence[Query | None],
    ) -> None:
        """N3 to N6, from the answers per edge and the queries per edge.

        ``x`` is None without an own reading, ``own`` is what `adapt` returned; answers
        that did not come are NaN, queries None.
        """
        answers = np.where(np.abs(answers - own) < HUGE, answers, np.nan)
        if x is not None:
            self._obey(x, answers, variances)
        for k, query in enumerate(queries):
            if query is not None:
                self._follow(k, query)
        if x is not None:
            self._update_multipliers((own - answers) ** 2 / 2)
        self.compress()

    def compress(self) -> None:
        """N6, if there is a reason to."""
        limit, spent = self.settings.budget**2, 0.0
        has_grown, self.has_grown = self.has_grown, False
        if has_grown:
            self._drop_dependent()
        while len(self.atoms) > 1:
            Q = self.inverse
            costs = (Q @ self.values) ** 2 / np.diag(Q)
            is_affordable = has_grown and 0 < limit >= spent + costs.min()
            if len(self.atoms) <= self.settings.max_atoms and not is_affordable:
                break
            ties = costs <= costs.min() + TIE * (spent + costs.min())
            spent += costs.min()
            self._remove(int(np.flatnonzero(ties)[-1]))

    def _threshold(self) -> float | None:
        robust = self.settings.robust
        return 1.5 * robust if robust and self.n_readings < SETTLED else robust

    def _look(self, x: Array) -> Point:
        """Return u, g, v and f(x) of OBS, guarded against rounding."""
        k, kxx = self.kernel(self.atoms, x[None])[:, 0], self.kernel(x[None], x[None])
        novelty, Q = self.settings.novelty * kxx.item(), self.inverse
        u, left = Q @ k, np.diag(self.covariance)
        size = np.sqrt(kxx.item()) + np.abs(k) @ np.sqrt(np.abs(np.diag(Q)))
        s = max(0.0, kxx.item() - float(k @ u))
        if novelty < s <= ROUNDING * size**2:
            s = 0.0
        g = np.where(left > 0, self.covariance @ u, 0.0)
        least = np.max(g[left > 0] ** 2 / left[left > 0], initial=0.0)
        v = s + max(float(u @ g), float(least))
        return Point(u, g, s > novelty, v, float(u @ self.values))

    def _observe(self, x: Array, z: float, noise: float, phi: float | None) -> None:
        """OBS."""
        at = self._look(x)
        r, g = z - at.value, at.gain
        if not abs(r) < HUGE:
            return
        total = noise + at.variance + _excess(r, noise, at.variance, phi)
        if not 0 < 1 / total < np.inf:
            return
        if at.is_new:
            g = self._grow(x, at)
        self.values = self.values + g * (r / total)
        self.covariance = self.covariance - np.outer(g, g) / total
        np.fill_diagonal(self.covariance, np.diag(self.covariance).clip(min=0.0))

    def _grow(self, x: Array, at: Point) -> Array:
        """Make x an atom; return the gain of all values, the new one's too."""
        S, g = self.covariance, at.gain
        self.atoms = np.vstack([self.atoms, x])
        self.values = np.append(self.values, at.value)
        last = np.array([[at.variance]])
        self.covariance = np.block([[S, g[:, None]], [g[None], last]])
        self.has_grown = True
        return np.append(g, at.variance)

    def _remove(self, k: int) -> None:
        self.atoms, self.values = np.delete(self.atoms, k, 0), np.delete(self.values, k)
        self.covariance = np.delete(np.delete(self.covariance, k, 0), k, 1)

    def _drop_dependent(self) -> None:
        """Remove the riskiest atom as long as Q does not invert its column of K."""
        while len(self.atoms) > 1:
            K, Q = self.gram, self.inverse
            a = int(np.argmax(np.diag(Q) * np.diag(K)))
            error = np.abs(Q @ K[:, a] - np.eye(len(K))[a])
            if error.max() <= DRIFT:
                break
            self._remove(a)

    def _forget(self) -> None:
        """N0: back towards the prior."""
        beta = self.settings.forgetting
        if beta < 1:
            self.covariance = beta * self.covariance + (1 - beta) * self.gram
            self.values = np.sqrt(beta) * self.values

    def _regularize(self) -> None:
        """Shrink f by lambda of S1, at most to where its norm is least."""
        Q, pace = self.inverse, self.settings.regularization / self.settings.noise
        w = Q @ self.values
        d = self.covariance @ w
        slope, curvature = float(w @ d), float(d @ Q @ d)
        if pace > 0 and slope > 0 and curvature > 0:
            self.values = self.values - min(pace, slope / curvature) * d

    def _obey(self, x: Array, answers: Array, variances: Array) -> None:
        """N3: the answers as one observation, weighed by certainty and robustly."""
        noise, at = self.settings.noise, self._look(x)
        heard = ~np.isnan(answers) & (self.multipliers > SILENT)
        a, c = answers[heard], min(noise, 0.01)
        weights = self.multipliers[heard] * c / (c + variances[heard])
        each = noise / weights
        each = each + _excess(a - at.value, each, at.variance, self._threshold())
        precision = float(np.sum(1 / each))
        if precision > 0:
            self._observe(x, float(a @ (1 / each)) / precision, 1 / precision, None)

    def _follow(self, k: int, query: Query) -> None:
        """N4: the query of the neighbour on edge k as an observation."""
        self.told[k] = min(query.multiplier, self.settings.largest_multiplier)
        if self.told[k] > SILENT:
            noise = self.settings.noise / float(self.told[k])
            self._observe(query.x, query.value, noise, self._threshold())

    def _update_multipliers(self, h: Array) -> None:
        """N5, for the edges of finite tolerance where h (deg,) is known."""
        s, gamma, n = self.settings, self.tolerance, self.n_readings
        known = np.flatnonzero(~np.isnan(h) & np.isfinite(gamma))
        h, gamma, old = h[known], gamma[known], self.disagreement[known]
        size = np.where(np.isnan(old), h, old)
        pace = s.dual_gain / (n + s.warm_up)
        pace *= 1 + float(self.multipliers.sum() + self.told.sum())
        move = pace * (h - gamma + s.tightening) / (4 * (size + gamma) + 1e-12)
        moved = np.clip(self.multipliers[known] + move, 0, s.largest_multiplier)
        self.multipliers[known] = moved
        self.disagreement[known] = size + max(1 / n, 0.01) * (h - size)


class NewtonHALK:
    """A network of `NewtonAgent`, dense and slow: N0 to N6 of all agents at once.

    Parameters
    ----------
    n_agents, n_features : int
        V and p.
    edges : directed edges (i, j), both directions of each
    tolerance : gamma, a number or one per directed edge
    kernel : function (X, Y) -> Gram matrix
    bound : of `BOUNDS`, or None for the squared loss
    exchange : "predictions", or "readings" for no multipliers
    identity : g, for the exchange of readings
    settings : of `Settings`, by name

    Examples
    --------
    >>> from halk.reference import gaussian
    >>> kernel = lambda X, Y: gaussian(X, Y, 1)
    >>> network = NewtonHALK(2, [(0, 1), (1, 0)], 0.1, 1, kernel, noise=0.25)
    >>> info = network.step(np.zeros((2, 1)), np.array([1.0, np.nan]))
    >>> network.predict(0, np.zeros((1, 1)))
    array([0.8])
    """

    def __init__(
        self,
        n_agents: int,
        edges: Sequence[tuple[int, int]],
        tolerance: ArrayLike,
        n_features: int,
        kernel: Kernel,
        bound: Bound | None = None,
        exchange: Literal["predictions", "readings"] = "predictions",
        identity: float = 0.0,
        **settings: Any,
    ) -> None:
        numbers, gamma = Settings(**settings), np.full(len(edges), tolerance, float)
        self.edges, self.tolerance = list(edges), gamma
        self.shares = exchange == "readings"
        if self.shares:
            kernel, n_features = _with_identity(kernel, identity), n_features + 1
            numbers = numbers._replace(first_multiplier=0.0)
        self.agents, self.own_edges = [], []
        for i in range(n_agents):
            own = [e for e, (k, _) in enumerate(edges) if k == i]
            agent = NewtonAgent(kernel, n_features, gamma[own], bound, numbers)
            self.agents.append(agent)
            self.own_edges.append(own)

    @property
    def multipliers(self) -> Array:
        """Return mu (E,)."""
        mu = np.zeros(len(self.edges))
        for agent, own in zip(self.agents, self.own_edges, strict=True):
            mu[own] = agent.multipliers
        return mu

    def predict(self, i: int, X: ArrayLike) -> Array:
        """Return f_i at points X (n, p)."""
        return np.array([self._answer(i, x)[0] for x in np.asarray(X, dtype=float)])

    def variance(self, i: int, X: ArrayLike) -> Array:
        """Return the variance of f_i at points X (n, p)."""
        return np.array([self._answer(i, x)[1] for x in np.asarray(X, dtype=float)])

    def step(self, x: ArrayLike, y: ArrayLike) -> NewtonInfo:
        """Take x (V, p) and y (V,), NaN for no reading; update all agents at once."""
        points, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        own, answers = np.full(len(y), np.nan), np.full((len(self.edges), 2), np.nan)
        readers = [int(i) for i in np.flatnonzero(~np.isnan(y))]
        for i in readers:
            own[i] = self.agents[i].adapt(self._point(i, points[i]), y[i])
        if self.shares:
            self._share(points, y)
            return NewtonInfo(own, *answers.T)
        received: list[list[Query | None]] = [[] for _ in self.agents]
        for e, (i, j) in enumerate(self.edges):  # all talk before any updates
            received[i].append(self._query(j, i, points[j], own[j]))
            if i in readers:
                answers[e] = self.agents[j].answer(points[i])
        for i, agent in enumerate(self.agents):
            a, v = answers[self.own_edges[i]].T
            point = points[i] if i in readers else None
            agent.update(point, own[i], a, v, received[i])
        return NewtonInfo(own, *answers.T)

    def _share(self, points: Array, y: Array) -> None:
        """Let all agents learn the readings of their neighbours."""
        for e, (i, j) in enumerate(self.edges):
            if not np.isnan(y[j]):
                extra = 2 * float(self.tolerance[e])
                self.agents[i].read(self._point(j, points[j]), float(y[j]), extra)
        for agent in self.agents:
            agent.compress()

    def _query(self, i: int, j: int, x: Array, own: float) -> Query | None:
        """Return what agent i tells its neighbour j; None without a reading."""
        edges = [self.edges[e] for e in self.own_edges[i]]
        mu = float(self.agents[i].multipliers[edges.index((i, j))])
        return None if np.isnan(own) else Query(x, own, mu)

    def _point(self, i: int, x: Array) -> Array:
        return np.append(x, i) if self.shares else x

    def _answer(self, i: int, x: Array) -> tuple[float, float]:
        return self.agents[i].answer(self._point(i, x))
