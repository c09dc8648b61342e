"""Look at what a neighbour says before an agent hears it."""

import numpy as np

from halk import agent as agents
from halk._validation import Vector
from halk.agent import CONSTANT, LARGEST, WARM_UP, CoreAgent
from halk.net.limits import Limits
from halk.net.messages import Answer, Query, Reason, refuse
from halk.state import ADOPTED, COUNT, MEAN, SQUARES, STD

LARGEST_RATIO = 1e12
"""Of two standard deviations; beyond it the smaller one is rounding of the other."""


def vet_value(limits: Limits, targets: Vector, value: float) -> None:
    """Refuse a value that is too large, or too far from an agent's own targets.

    ``targets`` are count, mean and sum of squares of those: of all of them, also where
    the agent itself takes offset and std from its first readings only.
    """
    if abs(value) > limits.value:
        refuse(Reason.VALUE, f"value {value:g} is above {limits.value:g} in size")
    n, mean, squares = targets[COUNT], targets[MEAN], targets[SQUARES]
    std = (squares / max(n, 1.0)) ** 0.5
    if n < WARM_UP or std <= CONSTANT * abs(mean):
        return
    if abs(value - mean) > limits.stds * std:
        away = abs(value - mean) / std
        far = f"{away:g} standard deviations away from {mean:g}"
        refuse(Reason.VALUE, f"value {value:g} is {far}")


def _own_std(agent: CoreAgent, query: Query) -> float:
    """Return the standard deviation the agent has when it hears the query."""
    target = agent.target
    is_new = target[COUNT] == 0.0 and target[ADOPTED] == 0.0
    adopts = is_new and agent.settings.removes_std
    return query.std if adopts else float(target[STD])


def vetted_query(
    limits: Limits, agent: CoreAgent, targets: Vector, query: Query
) -> tuple[agents.Query, list[Reason]]:
    """Return a query as an agent may hear it, and why it was weakened, if it was.

    Raises
    ------
    ProtocolError
        If it must not be heard at all.
    """
    if len(query.x) != agent.n_features:
        wrong = f"{len(query.x)} features, this agent has {agent.n_features}"
        refuse(Reason.DIMENSION, wrong)
    if max(map(abs, query.x)) > limits.point:
        refuse(Reason.INPUT, f"a point beyond {limits.point:g}")
    vet_value(limits, targets, query.value)
    is_label = agent.coupling == "readings" and agent.loss.takes_labels
    if is_label and abs(query.value) != 1:
        refuse(Reason.VALUE, f"value {query.value:g} is no label")
    own = _own_std(agent, query)
    if not 1 / LARGEST < query.std < LARGEST:
        refuse(Reason.STD, f"std {query.std:g}")
    if not 1 / LARGEST_RATIO <= own / query.std <= LARGEST_RATIO:
        refuse(Reason.STD, f"std {query.std:g}, this agent's is {own:g}")
    multiplier, weakened = query.multiplier, []
    largest = limits.multiplier * (query.std / own) ** 2
    # second order has a bound of its own, in that unit too
    if multiplier > largest and limits.multiplier < agent.settings.largest_multiplier:
        multiplier, weakened = largest, [Reason.MULTIPLIER]
    if agent.order >= limits.atoms:
        if agent.coupling == "readings":
            refuse(Reason.FULL, f"this agent has {agent.order} atoms")
        if agent.coupling != "paper" and multiplier > 0:
            multiplier, weakened = 0.0, [*weakened, Reason.FULL]
    heard = agents.Query(np.array(query.x), query.value, multiplier, query.std)
    return heard, weakened


def vetted_answer(limits: Limits, targets: Vector, answer: Answer) -> agents.Answer:
    """Return an answer as an agent may use it, or refuse it."""
    vet_value(limits, targets, answer.value)
    if abs(answer.log_scale) > limits.log_scale:
        refuse(Reason.SCALE, f"log scale {answer.log_scale:g} is too large")
    if answer.variance > limits.value**2:
        refuse(Reason.VARIANCE, f"variance {answer.variance:g} is too large")
    return agents.Answer(*answer[2:])
