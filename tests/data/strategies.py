"""Fields for laws to be tried on."""

import numpy as np
from hypothesis import strategies as st

from halk.data import Field


def field_of(agent, n_agents, /, **changes):
    """Return a field whose reading r is 100 + r, at input r."""
    given = {
        "name": "temperature",
        "unit": "°C",
        "inputs": ("depth_m",),
        "names": tuple(f"s{i}" for i in range(n_agents)),
        "positions": np.column_stack((np.arange(n_agents), np.zeros(n_agents))),
        "is_geographic": True,
        "agent": np.asarray(agent, dtype=np.int64),
        "x": np.arange(len(agent), dtype=float)[:, None],
        "y": 100.0 + np.arange(len(agent)),
    }
    return Field(**(given | changes))


@st.composite
def fields(draw):
    """Return a field of a few sensors, some perhaps without readings."""
    n_agents = draw(st.integers(1, 5))
    agent = draw(st.lists(st.integers(0, n_agents - 1), max_size=40))
    return field_of(agent, n_agents)


def seeds():
    return st.integers(0, 2**32 - 1)
