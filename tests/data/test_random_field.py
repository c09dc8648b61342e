import numpy as np
import pytest
from scipy.spatial.distance import cdist

from halk.data import RandomField

DENSE = RandomField(n_agents=6, side=2.0, radius=1.5, n_steps=20_000)


def correlation(network):
    return np.exp(-cdist(network.positions, network.positions))


def test_the_default_is_the_papers_size():
    network, X, Y, truth = RandomField().draw(seed=0)
    assert network.n_agents == 40
    assert X.shape == (1500, 40, 1)
    assert Y.shape == truth.shape == (1500, 40)
    assert network.positions.min() >= 0
    assert 90 < network.positions.max() <= 100


def test_neighbours_are_within_the_radius_and_may_differ_by_their_correlation():
    network = DENSE.draw(seed=0).network
    distance = cdist(network.positions, network.positions)
    near = np.argwhere((distance <= 1.5) & (distance > 0))
    assert network.edges.tolist() == near.tolist()
    i, j = network.edges.T
    assert network.tolerance == pytest.approx(np.exp(-distance[i, j]))


def test_one_time_a_step_uniform_over_the_horizon():
    X = DENSE.draw(seed=0).X[..., 0]
    assert (X[:, :1] == X).all()
    counts, _ = np.histogram(X[:, 0], bins=10, range=(0, 2))
    assert counts == pytest.approx(2000, abs=200)
    assert abs(np.corrcoef(X[1:, 0], X[:-1, 0])[0, 1]) < 0.03


def test_mean_and_covariance_of_the_field():
    network, X, _, truth = DENSE.draw(seed=0)
    R = correlation(network)
    mean = np.arange(1, 7) / 6 + np.sin(2 * X[:, :1, 0]) * np.linalg.cholesky(R).sum(1)
    rest = truth - mean
    assert rest.mean(axis=0) == pytest.approx(0, abs=0.01)
    assert np.cov(rest.T) == pytest.approx(0.1 * R, abs=0.005)


def test_noise_is_independent_of_everything():
    _, _, Y, truth = DENSE.draw(seed=0)
    noise = Y - truth
    assert np.cov(noise.T) == pytest.approx(0.5 * np.eye(6), abs=0.02)


def test_without_variances_the_field_is_a_function_of_time():
    quiet = RandomField(n_agents=3, n_steps=5, field_variance=0, noise_variance=0)
    network, X, Y, truth = quiet.draw(seed=1)
    C = np.linalg.cholesky(correlation(network)).T
    t = X[2, 0, 0]
    wanted = np.arange(1, 4) / 3 + C.T @ np.full(3, np.sin(2 * t))
    assert Y[2] == pytest.approx(wanted)
    assert (truth == Y).all()


def test_seeds():
    field = RandomField(n_steps=3)
    assert (field.draw(5).Y == field.draw(5).Y).all()
    assert (field.draw(5).Y != field.draw(6).Y).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_agents": 0}, "n_agents must be at least 1, got 0"),
        ({"side": 0.0}, "side must be positive"),
        ({"noise_variance": -1.0}, "noise_variance must not be negative"),
    ],
)
def test_broken_settings(changes, message):
    with pytest.raises(ValueError, match=message):
        RandomField(**changes)
