"""What leaves the compiled loop besides numbers: bytes on the wire, and divergence."""

from halk.errors import DivergenceError
from halk.formulas import Rules
from halk.step import Settings

DOUBLE = 8
"""Bytes of one number in a message."""


def bytes_an_edge(
    rules: Rules, settings: Settings, n_features: int, price: float | None = None
) -> int:
    """Return the bytes of one query and its answer; headers do not count.

    A query holds the point; under the exact coupling the asking agent's multiplier,
    unless everybody knows it (``price``); under it, or where targets are standardised,
    the asking agent's prediction; and its spread if targets are scaled to it. An answer
    holds the neighbour's prediction, and the log scale of its bandwidth if bandwidths
    adapt. Neighbours at price zero have nothing to say to each other.
    """
    if price == 0.0:
        return 0
    standardizes = settings.removes_offset or settings.removes_spread
    query = n_features + (settings.is_exact and price is None)
    query += (settings.is_exact or standardizes) + settings.removes_spread
    answer = 1 + hasattr(rules.adaptation, "sharing")  # not so Fixed
    return DOUBLE * (query + answer)


def divergence(agent: int, n_steps: int, step_size: float) -> DivergenceError:
    """Return the error that says where learning diverged."""
    error = DivergenceError(
        f"learning diverged: a prediction passed 1e50 (agent {agent}, step "
        f"{n_steps} of this call); use step='normalized', or a step size "
        f"below {step_size:g}. The model keeps its last finite state"
    )
    error.n_steps = n_steps
    return error
