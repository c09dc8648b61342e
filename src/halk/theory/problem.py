"""The problem as the theorems see it, and where its numbers come from."""

from dataclasses import dataclass
from typing import Any

from halk._validation import (
    choice,
    integer,
    nonnegative,
    per_item,
    positive,
    real,
    require,
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What the theorems need to know of S1 and S2.

    Parameters
    ----------
    n_agents, n_edges : int
        V and E. Edges are directed: each link counts in both directions.
    loss_lipschitz, proximity_lipschitz : float
        C and L_h, the steepest slopes of the loss in the prediction and of h in either
        argument, for predictions that the norm ball allows.
    proximity_bound : float
        The largest value of h, or the largest tolerance if that is more. As long as
        ``nu <= xi / 2``, no step pushes a multiplier harder; its square is K_1.
    norm_bound : float
        R_B, radius of the ball that each agent's function is kept in (S8).
    slater_slack : float
        xi, by how much all constraints can be met to spare at once. Functions that
        agree have h = 0, so the smallest tolerance will do.
    kernel_bound : float
        X, the square root of the largest k(x, x); 1 for Gaussian, Laplacian, Matern.
    regularization : float
        lambda, weight of the squared norms in the objective.
    dual_regularization : float, optional
        delta, how fast multipliers are forgotten. By default ``16 V X^2 L_h^2 E``,
        which is admissible whenever any delta is.
    n_features : int
        p, dimension of the inputs; only the model order depends on it.
    """

    n_agents: int
    n_edges: int
    loss_lipschitz: float
    proximity_lipschitz: float
    proximity_bound: float
    norm_bound: float
    slater_slack: float
    kernel_bound: float = 1.0
    regularization: float = 0.0
    dual_regularization: float | None = None
    n_features: int = 1

    def __post_init__(self) -> None:
        values = {
            name: value for name, value in vars(self).items() if value is not None
        }
        for name, value in values.items():
            if name.startswith("n_"):
                checked: float = integer(name, value, int(name != "n_edges"))
            elif name.endswith("regularization"):
                checked = nonnegative(name, value)
            else:
                checked = positive(name, value)
            object.__setattr__(self, name, checked)
        n_edges, most = self.n_edges, self.n_agents * (self.n_agents - 1)
        rule = f"be even (each link has two directions) and at most {most}"
        require(n_edges % 2 == 0 and n_edges <= most, "n_edges", rule, n_edges)
        xi, bound = self.slater_slack, self.proximity_bound
        require(xi <= bound, "slater_slack", f"not exceed proximity_bound {bound}", xi)


def squared_loss_lipschitz(reach: float, target_bound: float) -> float:
    """Return C of the squared loss ``(a - y)^2 / 2``: ``X R_B + y_max``.

    ``reach`` is ``X R_B``, the largest prediction in the ball, ``target_bound`` the
    largest reading. Absolute, epsilon-insensitive, hinge and logistic loss have C = 1,
    Huber's is at most its phi, the quantile loss has ``max(tau, 1 - tau)``.

    Examples
    --------
    >>> squared_loss_lipschitz(reach=3.0, target_bound=2.0)
    5.0
    """
    y_max = nonnegative("target_bound", target_bound)
    return real("loss_lipschitz", positive("reach", reach) + y_max)


def proximity_constants(
    proximity: str, reach: float, tolerance: float, width: float = 1.0
) -> tuple[float, float]:
    """Return ``proximity_lipschitz`` and ``proximity_bound`` on the norm ball.

    Predictions differ by at most ``d = 2 X R_B``, twice the ``reach``, and there h and
    its slope are largest. The slope is d ("squared"), the smaller of d and ``width``
    ("huber") or 1 ("absolute"). ``tolerance`` is the largest gamma of all edges.

    Examples
    --------
    >>> proximity_constants("squared", reach=1.0, tolerance=0.5)
    (2.0, 2.0)
    >>> proximity_constants("absolute", reach=1.0, tolerance=3.0)
    (1.0, 3.0)
    """
    choice("proximity", proximity, ("squared", "huber", "absolute"))
    d = 2 * positive("reach", reach)
    slope = d if proximity == "squared" else min(d, positive("width", width))
    slope, h = (1.0, d) if proximity == "absolute" else (slope, slope * (d - slope / 2))
    return slope, real("proximity_bound", max(h, positive("tolerance", tolerance)))


def regression_problem(
    n_agents: int,
    n_edges: int,
    *,
    norm_bound: float,
    target_bound: float,
    tolerance: Any,
    kernel_bound: float = 1.0,
    **others: Any,
) -> Problem:
    """Return the problem of squared loss and proximity, from what an operator knows.

    ``tolerance`` is gamma, one number or one for each edge; the smallest serves as the
    Slater slack. ``others`` are further parameters of `Problem`.

    Examples
    --------
    >>> pair = regression_problem(2, 2, norm_bound=1, target_bound=1, tolerance=1)
    >>> pair.loss_lipschitz, pair.proximity_lipschitz, pair.slater_slack
    (2.0, 2.0, 1.0)
    """
    n_tolerances = max(integer("n_edges", n_edges), 1)
    gamma = per_item("tolerance", tolerance, n_tolerances, "edge")
    least, most = float(gamma.min()), float(gamma.max())
    require(least > 0, "tolerance", "be positive (consensus has no slack)", least)
    reach = positive("kernel_bound", kernel_bound) * positive("norm_bound", norm_bound)
    slope, bound = proximity_constants("squared", reach, most)
    return Problem(
        n_agents=n_agents,
        n_edges=n_edges,
        loss_lipschitz=squared_loss_lipschitz(reach, target_bound),
        proximity_lipschitz=slope,
        proximity_bound=bound,
        norm_bound=norm_bound,
        slater_slack=least,
        kernel_bound=kernel_bound,
        **others,
    )
