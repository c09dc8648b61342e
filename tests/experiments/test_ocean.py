"""The ocean experiments on the World Ocean Atlas: what adapting the bandwidth does."""

from pathlib import Path

import numpy as np
import pytest

from halk.experiments.claims import COUPLINGS
from halk.experiments.experiment import final, steady
from halk.experiments.ocean import Salinity, Temperature
from halk.experiments.runs import Options
from tests.experiments.conftest import GULF

ATLAS = Path(__file__).parents[3] / "shared/data/gulf_woa18_50nodes.csv"


def test_readings_are_drawn_from_those_of_the_agent():
    experiment = Temperature(Options(scale="smoke", data=GULF))
    X, Y, (agents, at, values) = experiment.stream(1)
    assert X.shape == (100, 10, 1)
    field = experiment.field
    for i in range(10):
        own = field.agent == i
        readings = np.column_stack([field.x[own] / 1000, field.y[own]]).tolist()
        drawn = np.column_stack([X[:, i, 0], Y[:, i]]).tolist()
        assert all(pair in readings for pair in drawn)
    assert (agents, len(at), len(values)) == (field.agent.tolist(), *2 * [len(field.y)])
    assert not np.array_equal(X, experiment.stream(0)[0])


def test_the_further_the_tighter():
    network = Temperature(Options(data=GULF)).network
    assert network.n_agents == 50
    assert network.tolerance.max() < 1.0
    assert network.tolerance.min() > np.exp(-1.0) - 1e-12
    small = Temperature(Options(data=GULF, radius=300.0)).network
    assert 0 < small.n_edges < network.n_edges
    assert small.tolerance.min() > np.exp(-0.3) - 1e-12


@pytest.mark.slow
@pytest.mark.skipif(not ATLAS.exists(), reason="the table is not here")
@pytest.mark.parametrize("kind", [Temperature, Salinity])
def test_adaptation_beats_the_fixed_bandwidth_on_the_ocean(kind):
    experiment = kind(Options(seeds=1, data=ATLAS))
    runs = {run.name: run for run in experiment.runs()}
    assert experiment.field.n_agents == 50
    for coupling in COUPLINGS:
        fixed, *adaptive = (
            experiment.execute(runs[f"{key}-{coupling}-0"], None, lambda share: None)
            for key in ("halk", "halk-adaptive", "halk-following")
        )
        assert steady(fixed) < np.inf
        for one in adaptive:
            assert one.numbers["diverged_at"] is None
            assert np.isfinite(one.trace.agents["length_scale"]).all()
            assert steady(one) < steady(fixed)
            assert final(one, "order_mean") < final(fixed, "order_mean")
