"""Learners that must be the same under some choice, and what baselines promise."""

import numpy as np
import pytest

from halk import HALK, DivergenceError, Network, features, kernels, losses
from halk.bandwidth import LeaveOneOut
from halk.learners import (
    NLMS,
    POLK,
    RFFADMM,
    Alone,
    Consensus,
    Linear,
    Penalty,
    RBFNetwork,
    RFFDiffusion,
)
from halk.learners.fixed_features import IndependentAgents
from halk.state import ASKED, READINGS

KERNEL = kernels.Gaussian(0.3)
NETWORK = Network(5, [(0, 1), (1, 2), (2, 3), (0, 2)], tolerance=0.01)
GRID = np.linspace(0, 1, 9)[:, None]


def stream(n_steps=60, missing=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_steps, 5, 1))
    Y = np.sin(6 * X[..., 0]) + 0.2 * np.arange(5) + 0.1 * rng.normal(size=(n_steps, 5))
    Y[rng.uniform(size=Y.shape) < missing] = np.nan
    Y[:, 2] = np.nan  # never reads anything
    return X, Y


def taught(learner, **options):
    learner.learn_many(*stream(**options))
    return learner


def predictions(learner):
    return np.array([learner.predict(i, GRID) for i in range(learner.network.n_agents)])


def assert_same_state(first, second):
    assert set(first) == set(second)
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


def assert_same(first, second):
    np.testing.assert_array_equal(predictions(first), predictions(second))
    np.testing.assert_array_equal(first.model_order, second.model_order)


# Dictionaries -------------------------------------------------------------------------

CHOICES = {
    "default": {},
    "plain": {"step": "plain", "step_size": 0.2, "norm_bound": 0.5},
    "offset": {"standardize": "offset"},
    "std": {"standardize": True},
    "adaptive": {"adaptation": LeaveOneOut(rate=0.5, warm_up=3, threshold=0.01)},
}


@pytest.mark.parametrize("name", CHOICES)
def test_alone_is_halk_without_edges(name):
    alone = taught(Alone(NETWORK, KERNEL, **CHOICES[name]))
    assert_same(alone, taught(HALK(Network(5), KERNEL, **CHOICES[name])))
    assert alone.bytes_sent == 0
    assert not alone.multipliers.any()
    assert alone.model_order[2] == 0, "an agent without readings is untouched"
    assert (alone.predict(2, GRID) == 0).all()


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_a_penalty_of_zero_is_alone(name, coupling):
    free = Penalty(NETWORK, KERNEL, penalty=0, coupling=coupling, **CHOICES[name])
    alone = taught(Alone(NETWORK, KERNEL, **CHOICES[name]))
    assert_same(taught(free), alone)
    assert free.bytes_sent == 0
    np.testing.assert_array_equal(free.violations, alone.violations)
    # at multiplier zero points would still count in S9, if k(x, x) varies
    assert not free.agent(0).settings.is_exact


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_a_penalty_is_a_fixed_multiplier(coupling):
    made = Penalty(NETWORK, KERNEL, penalty=0.3, coupling=coupling)
    assert (made.multipliers == 0.3).all()
    taught(made)
    assert (made.multipliers == 0.3).all()
    alone = taught(Alone(NETWORK, KERNEL))
    assert (made.violations <= alone.violations).mean() > 0.8
    assert (predictions(made) != predictions(alone)).any()


@pytest.mark.parametrize("name", CHOICES)
def test_consensus_is_halk_with_tolerance_zero(name):
    consensus = taught(Consensus(NETWORK, KERNEL, **CHOICES[name]))
    strict = taught(HALK(Network(5, NETWORK.edges), KERNEL, **CHOICES[name]))
    assert_same(consensus, strict)
    np.testing.assert_array_equal(consensus.multipliers, strict.multipliers)
    apart = strict.violations - consensus.violations
    asked = consensus.state_dict()["edges"][:, ASKED] > 0
    np.testing.assert_allclose(apart, np.where(asked, NETWORK.tolerance, 0.0), 1e-12)
    assert consensus.network == NETWORK


def test_polk_is_one_agent_with_everybodys_readings():
    X, Y = stream()
    pooled, single = taught(POLK(NETWORK, KERNEL)), HALK(Network(1), KERNEL)
    has = ~np.isnan(Y)
    n = int(has.sum())
    single.learn_readings([0] * n, X[has], Y[has])
    np.testing.assert_array_equal(pooled.predict(3, GRID), single.predict(0, GRID))
    assert pooled.n_atoms == single.n_atoms > 0
    assert pooled.model_order.tolist() == [single.n_atoms] * 5
    assert pooled.bytes_sent == n * 8 * 2
    assert pooled.n_steps == len(X)
    np.testing.assert_array_equal(pooled.state_dict()["readings"], has.sum(axis=0))
    asked = NETWORK.edges[:, 0] != 2
    np.testing.assert_array_equal(pooled.violations, np.where(asked, -0.01, 0.0))
    function = pooled.function(4)
    np.testing.assert_array_equal(function.weights, single.function(0).weights)


def test_readings_are_counted():
    has = ~np.isnan(stream()[1])
    for learner in (HALK(NETWORK, KERNEL), Alone(NETWORK, KERNEL)):
        count = taught(learner).state_dict()["agents"][:, READINGS]
        np.testing.assert_array_equal(count, has.sum(axis=0))
    count = taught(RFFADMM(NETWORK)).state_dict()["readings"]
    np.testing.assert_array_equal(count, has.sum(axis=0))


# Fixed features -----------------------------------------------------------------------

PHI = features.RandomFourier(20, 0.3)


# (with the exact coupling, S9 counts the neighbours' points, whatever their multiplier)
@pytest.mark.parametrize(
    ("coupling", "step"),
    [("paper", "normalized"), ("paper", "plain"), ("exact", "plain")],
)
def test_linear_without_multipliers_is_agents_alone(coupling, step):
    choices = {"dual_step_size": 0.0, "coupling": coupling, "step": step}
    free = taught(Linear(NETWORK, PHI, **choices))
    assert_same(free, taught(Linear(Network(5), PHI, step=step)))
    assert not free.weights[2].any()


def test_linear_teaches_who_reads_nothing():
    exact, paper = (
        taught(Linear(NETWORK, PHI, coupling=coupling, step_size=0.5))
        for coupling in ("exact", "paper")
    )
    assert exact.weights[2].any()
    assert not paper.weights[2].any()
    assert exact.bytes_sent == 2 * paper.bytes_sent  # (1 + 2) + 1 numbers, 1 + 1


def test_rbf_networks_are_linear_on_radial_features():
    drawn = RBFNetwork(NETWORK, length_scale=0.2, n_centres=9, seed=4)
    phi = features.RadialBasis.uniform(9, 0.0, 1.0, 0.2, seed=4)
    assert_same(taught(drawn), taught(Linear(NETWORK, phi)))
    given = RBFNetwork(NETWORK, np.array(phi.centres), 0.2)
    assert_same(taught(given), drawn)
    np.testing.assert_array_equal(given.multipliers, drawn.multipliers)
    assert drawn.length_scales.tolist() == [0.2] * 5
    assert drawn.model_order.tolist() == [9] * 5
    assert drawn.n_atoms == 45


def test_rbf_networks_are_halk_on_frozen_atoms():
    """Every reading at a centre, as far apart as to be orthogonal: the same steps."""
    centres = np.arange(4.0)[:, None] * 100.0
    rng = np.random.default_rng(1)
    X = centres[rng.integers(0, 4, size=(50, 5))]
    Y = rng.normal(size=(50, 5))
    choices = {"step_size": 0.3, "tightening": 0.01}
    radial = RBFNetwork(NETWORK, centres, 1.0, **choices)
    kernel = HALK(NETWORK, kernels.Gaussian(1.0), epsilon=0.0, **choices)
    for learner in (radial, kernel):
        learner.learn_many(X, Y)
    np.testing.assert_allclose(radial.multipliers, kernel.multipliers, rtol=1e-9)
    for i in range(5):
        values = kernel.predict(i, centres)
        np.testing.assert_allclose(radial.predict(i, centres), values, rtol=1e-9)


@pytest.mark.parametrize("step", ["normalized", "plain"])
@pytest.mark.parametrize("cls", [RFFDiffusion, RFFADMM])
def test_without_edges_mixing_is_least_mean_squares(cls, step):
    choices = {"step_size": 0.1, "step": step}
    made = taught(cls(Network(5), 20, 0.3, **choices))
    assert_same(made, taught(Linear(Network(5), PHI, **choices)))
    assert made.bytes_sent == 0


def test_diffusion_on_a_complete_network_keeps_all_equal():
    network, (X, _) = Network.complete(5), stream()
    made = RFFDiffusion(network, 20, 0.3)
    made.learn_many(X, np.sin(6 * X[..., 0]) + np.arange(5))
    np.testing.assert_allclose(made.weights, made.weights[[0] * 5], rtol=1e-9)
    assert made.violations.max() == pytest.approx(0.0, abs=1e-12)


def test_diffusion_keeps_the_mean_of_the_weights_when_mixing():
    """Metropolis weights are doubly stochastic: with all reading, nothing is lost."""
    X, Y = stream(1)
    Y[:] = np.arange(5.0)
    mixed = RFFDiffusion(NETWORK, 20, 0.3)
    apart = RFFDiffusion(Network(5), 20, 0.3)
    for learner in (mixed, apart):
        learner.learn_many(X, Y)
    sums = apart.weights.sum(axis=0)
    np.testing.assert_allclose(mixed.weights.sum(axis=0), sums, rtol=1e-12, atol=1e-15)
    assert np.ptp(mixed.weights, axis=0).max() < np.ptp(apart.weights, axis=0).max()


def test_admm_makes_agents_agree():
    X, Y = stream(400, missing=0.5)
    made = RFFADMM(NETWORK, 20, 0.3, penalty=1.0)
    made.learn_many(X, Y)
    values = predictions(made)[:4]
    apart = predictions(taught(RFFADMM(Network(5), 20, 0.3), n_steps=400))[[0, 1, 3]]
    assert np.ptp(values, axis=0).max() < 0.5 * np.ptp(apart, axis=0).max()
    assert not made.weights[4].any() or NETWORK.degree[4] == 0


# What all of them share ---------------------------------------------------------------


@pytest.mark.parametrize("learner", [Linear, RFFDiffusion, RFFADMM, NLMS])
def test_divergence_keeps_the_last_finite_state(learner):
    X, Y = stream(400, missing=0.0)
    choices = {"step_size": 50.0} | ({} if learner is NLMS else {"step": "plain"})
    if learner is RFFADMM:
        choices["penalty"] = 0.0
    made = learner(NETWORK, **choices)
    before = {}

    def learn():
        for x, y in zip(X, Y, strict=True):
            before.update(made.state_dict())
            made.learn_one(x, y)

    with pytest.raises(DivergenceError, match="a prediction passed 1e50"):
        learn()
    assert_same_state(before, made.state_dict())
    assert np.isfinite(made.predict_one(X[0])).all()
    again = learner(NETWORK, **choices)
    with pytest.raises(DivergenceError) as caught:
        again.learn_many(X, Y)
    assert again.n_steps == made.n_steps == caught.value.n_steps > 0
    np.testing.assert_array_equal(again.weights, made.weights)


def test_polk_diverges_at_a_reading():
    X, Y = stream(400, missing=0.0)
    made = POLK(NETWORK, KERNEL, step="plain", step_size=9.0)
    with pytest.raises(DivergenceError, match="use step='normalized'") as caught:
        made.learn_many(X, Y)
    assert made.n_steps == caught.value.n_steps > 0
    assert made.state_dict()["readings"].max() - made.n_steps in (0, 1)
    assert np.isfinite(made.predict_one(X[0])).all()


@pytest.mark.parametrize("learner", [Linear, RFFADMM])
@pytest.mark.parametrize("at", [0, 2, 4])
def test_an_interrupt_loses_and_tears_no_step(monkeypatch, learner, at):
    """Wherever storing is interrupted, the step is stored whole, and counted."""
    X, Y = stream(20)
    made, whole = learner(NETWORK), learner(NETWORK)
    store, calls = IndependentAgents._store, []

    class Interrupting(list):
        def __iter__(self):
            for k, write in enumerate(super().__iter__()):
                if k == at and len(calls) == 7:
                    raise KeyboardInterrupt
                yield write

    def interrupted(self):
        calls.append("store")
        if len(calls) == 7:
            self._writes = Interrupting(self._writes)
        store(self)

    monkeypatch.setattr(IndependentAgents, "_store", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.learn_many(X, Y)
    monkeypatch.undo()
    assert made.n_steps == 7
    whole.learn_many(X[:7], Y[:7])
    assert_same_state(made.state_dict(), whole.state_dict())
    for each in (made, whole):
        each.learn_many(X[7:], Y[7:])
    assert_same(made, whole)


def test_polk_counts_what_it_learned_before_an_interrupt(monkeypatch):
    """A signal is heard as soon as the core returns, before anything is counted."""
    X, Y = stream(20, missing=0.0)
    made, whole = POLK(NETWORK, KERNEL), POLK(NETWORK, KERNEL)
    made.learn_one(X[0], Y[0])
    run = made._executor._one.run

    def interrupted(*arguments):
        run(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(made._executor._one, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.learn_many(X[1:], Y[1:])
    monkeypatch.undo()
    whole.learn_many(X, Y)
    assert made.n_steps == 20
    assert_same_state(made.state_dict(), whole.state_dict())


@pytest.mark.parametrize("learner", [Linear, RFFDiffusion, RFFADMM])
def test_single_readings_in_a_large_network_are_cheap(learner):
    V = 20_000
    made = learner(Network.ring(V, tolerance=0.1))
    made.learn_readings([5, 19_999], [[0.1], [0.2]], [0.5, 0.6])
    assert made.n_steps == 2
    touched = np.flatnonzero(made.weights.any(axis=1)).tolist()
    assert set(touched) <= {4, 5, 6, 0, 19_998, 19_999}
    assert {5, 19_999} <= set(touched)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Penalty(NETWORK, penalty=-1.0), "penalty must not be negative"),
        (
            lambda: Linear(NETWORK, losses.Squared()),
            "features must be a feature map such as",
        ),
        (lambda: Linear(NETWORK, loss=KERNEL), "loss must be a loss such as"),
        (lambda: Linear(NETWORK, proximity=KERNEL), "proximity must be a proximity"),
        (lambda: Linear(NETWORK, coupling="x"), "coupling must be one of"),
        (lambda: Linear(3), "network must be a Network, got 3"),
        (lambda: RBFNetwork(NETWORK, n_centres=0), "n_centres must be at least 1"),
        (lambda: RFFDiffusion(NETWORK, 0), "n_frequencies must be at least 1"),
        (lambda: RFFDiffusion(NETWORK, step_size=0), "step_size must be positive"),
        (lambda: RFFADMM(NETWORK, penalty=-1), "penalty must not be negative"),
        (lambda: RFFADMM(NETWORK, threshold=-1), "threshold must not be negative"),
        (lambda: RFFADMM(NETWORK, decay=0.0), "decay must be positive"),
        (lambda: RFFADMM(NETWORK, decay=1.5), "decay must be at most 1, got 1.5"),
        (lambda: NLMS(NETWORK, intercept=2), "intercept must be one of"),
        (lambda: Linear(NETWORK).weights, "weights must be learned first"),
        (lambda: POLK(NETWORK, step_size=[0.1, 0.2]), "step_size must be a number"),
        (lambda: taught(RBFNetwork(NETWORK, np.zeros((3, 2)))), "as the centres"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_state_is_loaded_as_a_copy_or_refused():
    for learner in (Linear, RFFADMM, RFFDiffusion, NLMS):
        made, again = taught(learner(NETWORK)), learner(NETWORK)
        state = made.state_dict()
        again.load_state_dict(made.n_steps, 1, state)
        for value in state.values():
            value[:] = 7
        for each in (made, again):
            each.learn_many(*stream(5, seed=1))
        assert_same_state(made.state_dict(), again.state_dict())
        for bad in (np.zeros((4, 3)), state["weights"].astype(int), None):
            with pytest.raises(ValueError, match="state weights must be float64"):
                again.load_state_dict(1, 1, state | {"weights": bad})
        assert_same_state(made.state_dict(), again.state_dict())


class Odd:
    """A loss with value and slope, and nothing else; the slope may be wrong."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def value(self, a, y):
        return 0.5 * (a - y) ** 2

    def slope(self, a, y):
        return self.factor * (a - y)


def test_a_wrong_loss_changes_nothing():
    wrong = Linear(NETWORK, PHI, Odd(np.nan))
    with pytest.raises(ValueError, match="must return finite numbers, got nan"):
        taught(wrong)
    assert wrong.n_steps == 0
    with pytest.raises(ValueError, match="must return numbers of shape"):
        taught(Linear(NETWORK, PHI, Odd(np.ones((2, 1)))))


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_features_made_in_pieces_are_the_same(monkeypatch, size):
    whole = taught(RFFDiffusion(NETWORK, 20, 0.3))
    monkeypatch.setattr("halk.learners.fixed_features._NUMBERS_PER_CALL", 20 * size)
    assert_same(taught(RFFDiffusion(NETWORK, 20, 0.3)), whole)
