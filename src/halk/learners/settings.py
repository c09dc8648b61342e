"""From the arguments of a learner to the numbers of the engine."""

import re
from typing import Any

import numpy as np

from halk import kernels, losses
from halk import proximity as proximities
from halk._validation import (
    Matrix,
    Vector,
    choice,
    nonnegative,
    per_item,
    positive,
    require,
)
from halk.agent import Components, Settings
from halk.bandwidth import Adaptation, Fixed
from halk.kernels import as_kernel, rescale
from halk.losses import as_loss
from halk.proximity import as_proximity

KERNEL, LOSS = kernels.Gaussian(1.0), losses.Squared()
PROXIMITY = proximities.Squared()
"""The components of a learner that was given none."""

DEFAULT_EPSILON = 0.01

STANDARDIZE = {False: (False, False), "offset": (True, False), True: (True, True)}
"""What removing the target's offset, or offset and std, means to the core."""


def budgets(epsilon: Any, parsimony: Any, alpha: Any, step_size: Vector) -> Vector:
    """Return every agent's compression budget from the one way it was given.

    ``epsilon`` itself, ``parsimony * eta^(3/2)``, or ``alpha * eta``; 0.01 if none.
    """
    values = {"epsilon": epsilon, "parsimony": parsimony, "alpha": alpha}
    given = {name: value for name, value in values.items() if value is not None}
    if len(given) > 1:
        listed = " and ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(
            f"budget must be given once, as epsilon, parsimony or alpha, got {listed}"
        )
    name, value = next(iter(given.items()), ("epsilon", DEFAULT_EPSILON))
    number = per_item(name, value, len(step_size), "agent")
    require(bool((number >= 0).all()), name, "not be negative", value)
    power = {"epsilon": 0.0, "parsimony": 1.5, "alpha": 1.0}[name]
    return number * step_size**power


def make_paces(learner: Any, n_agents: int) -> Matrix:
    """Return step size, dual step size and budget of every agent, (V, 3)."""
    eta = per_item("step_size", learner.step_size, n_agents, "agent")
    require(bool((eta > 0).all()), "step_size", "be positive", learner.step_size)
    dual, given = eta, learner.dual_step_size
    if given is not None:
        dual = per_item("dual_step_size", given, n_agents, "agent")
        require(bool((dual >= 0).all()), "dual_step_size", "not be negative", given)
    names = "epsilon", "parsimony", "alpha"
    epsilon, parsimony, alpha = (getattr(learner, name, None) for name in names)
    budget = budgets(epsilon, parsimony, alpha, eta)
    return np.column_stack([eta, dual, budget])


def make_settings(learner: Any, paces: Matrix) -> Settings:
    """Return the shared numbers; refuse those that shrink past zero in one step."""
    choice("coupling", learner.coupling, ("exact", "paper"))
    choice("step", learner.step, ("normalized", "plain"))
    standardize = getattr(learner, "standardize", False)
    choice("standardize", standardize, STANDARDIZE)
    lam = nonnegative("regularization", learner.regularization)
    delta = nonnegative("dual_regularization", learner.dual_regularization)
    shrinks = {
        ("step_size * regularization", "function"): lam * paces[:, 0].max(),
        ("dual_regularization * dual_step_size^2", "multipliers"): (
            delta * paces[:, 1].max() ** 2
        ),
    }
    for (name, what), share in shrinks.items():
        rule = f"be at most 1, or a step would shrink the {what} past zero"
        require(share <= 1, name, rule, float(share))
    removes_offset, removes_std = STANDARDIZE[standardize]
    bound = learner.norm_bound
    return Settings(
        regularization=lam,
        dual_regularization=delta,
        tightening=nonnegative("tightening", learner.tightening),
        norm_bound=np.inf if bound is None else positive("norm_bound", bound),
        is_exact=learner.coupling == "exact",
        is_normalized=learner.step == "normalized",
        removes_offset=removes_offset,
        removes_std=removes_std,
    )


def make_components(learner: Any) -> Components:
    """Return the components after checking that they are ones, and fit together."""
    adaptation, standardize = learner.adaptation, learner.standardize
    adaptation = Fixed() if adaptation is None else adaptation
    kernel, loss = as_kernel(learner.kernel), as_loss(learner.loss)
    require_component("adaptation", adaptation, Adaptation, "bandwidth.LeaveOneOut()")
    if not isinstance(adaptation, Fixed) and not hasattr(kernel, "length_scale"):
        raise ValueError(
            f"adaptation needs a kernel with a length scale, such as Gaussian(1.0); "
            f"{kernel!r} has none"
        )
    if not isinstance(adaptation, Fixed):
        rescale(kernel, 2.0)  # raises now what would be raised at the first change
    if standardize and loss.takes_labels:
        raise ValueError(
            f"standardize must be False for the {type(loss).__name__} loss, whose "
            f"targets are labels, got {standardize!r}"
        )
    return Components(kernel, loss, as_proximity(learner.proximity), adaptation)


def require_component(name: str, value: Any, family: type[Any], example: str) -> None:
    """Raise ``TypeError`` unless ``value`` is a component of this family."""
    if not isinstance(value, family):
        kind = re.sub("(?<!^)([A-Z])", r" \1", family.__name__).lower()
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(
            f"{name} must be {article} {kind} such as {example}, got {value!r}"
        )
