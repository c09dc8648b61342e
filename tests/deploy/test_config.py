"""What is wrong with a configuration is said with its file, its key and a way out."""

import pytest

from halk import HALK, Network, NewtonHALK, kernels
from halk.deploy import ConfigError, named, read_config
from halk.net import Limits
from tests.deploy.agents import AGENT, second, written


def test_what_is_left_out_has_the_defaults_of_halk(tmp_path):
    config = read_config(written(tmp_path))
    bare = AGENT.replace('kernel = { name = "gaussian", length_scale = 0.2 }\n', "")
    bare = bare.replace("step_size = 0.3\nepsilon = 0.03\n", "")
    bare = bare.split("[checkpoint]")[0]
    other = read_config(written(tmp_path, bare, "bare.toml"))
    plain = HALK(Network.path(2, 0.01)).agent(0, 1)
    agent = other.model.agent([0.01])
    assert agent.settings == plain.settings
    assert (agent.pace, agent.components) == (plain.pace, plain.components)
    assert other.limits == Limits()
    assert other.checkpoint is None
    assert other.health is None
    assert config.checkpoint == tmp_path / "north.halk"
    assert config.neighbours[0].endpoints == ("tcp/127.0.0.1:7448",)


CASES = {
    "a near miss": (
        ("step_size", "stepsize"),
        "there is no key 'model.stepsize', did you mean 'step_size'?; keys of [model] "
        "are inputs, order, kernel, loss, proximity, adaptation, step_size, "
        "dual_step_size, regularization, dual_regularization, tightening, epsilon, "
        "parsimony, alpha, coupling, step, norm_bound, standardize",
    ),
    "a missing key": (
        ('value = "t_C"', ""),
        'readings.value is missing; such as value = "t_C", the column of what was '
        "measured",
    ),
    "a missing key that is misspelt": (
        ('name = "north"', 'nmae = "north"'),
        "name is missing, perhaps it is 'nmae'?; such as name = \"north\"",
    ),
    "a missing table": (
        ("[model]", "[models]"),
        "model is missing, perhaps it is 'models'?; such as [model] with inputs and a "
        "kernel",
    ),
    "an unknown kernel": (
        ("gaussian", "gaussia"),
        "model.kernel must be one of 'gaussian', 'laplacian', 'matern32', 'matern52', "
        "'rational_quadratic', 'periodic', 'linear', 'polynomial', 'constant', got "
        "'gaussia', did you mean 'gaussian'?",
    ),
    "an unknown parameter": (
        ("length_scale = 0.2", "length = 0.2"),
        "model.kernel has no parameter 'length', did you mean 'length_scale'?; those "
        "of gaussian are length_scale",
    ),
    "a wrong parameter": (
        ("length_scale = 0.2", "length_scale = -0.2"),
        "model.kernel: length_scale must be positive, got -0.2",
    ),
    "a kernel of another kind": (
        ("length_scale = 0.2", "length_scale = [0.2, 0.3]"),
        "model.kernel: length_scale must be a number or have one entry per feature "
        "(1), got 2 entries",
    ),
    "a wrong value": (
        ("step_size = 0.3", "step_size = -0.3"),
        "model.step_size must be positive, got -0.3",
    ),
    "a wrong type": (
        ("step_size = 0.3", 'step_size = "fast"'),
        "model.step_size must be a number, got 'fast'",
    ),
    "a list": (
        ("step_size = 0.3", "step_size = [0.3]"),
        "model.step_size must be one value, got [0.3]",
    ),
    "two budgets": (
        ("epsilon = 0.03", "epsilon = 0.03\nalpha = 1.0"),
        "model.budget must be given once, as epsilon, parsimony or alpha, got "
        "epsilon=0.03 and alpha=1.0",
    ),
    "an unknown mode": (
        ('name = "north"', 'name = "north"\nmode = "fre"'),
        "mode must be one of 'free', 'lockstep', got 'fre', did you mean 'free'?",
    ),
    "a name that cannot be": (
        ('name = "north"', 'name = "no/rth"'),
        "name must be letters, digits and '-_.', and begin with one of the former, got "
        "'no/rth'",
    ),
    "its own neighbour": (
        ('name = "south"', 'name = "north"'),
        "neighbours[1].name must be another agent's, got 'north'",
    ),
    "a wrong tolerance": (
        ("tolerance = 0.01", "tolerance = -1"),
        "neighbours[1].tolerance must be a number, not negative, got -1",
    ),
    "no tolerance": (
        ("tolerance = 0.01", ""),
        "neighbours[1].tolerance is missing; such as tolerance = 0.25, how far it may "
        "differ",
    ),
    "an endpoint that is none": (
        ('"127.0.0.1:7448"', '"127.0.0.1"'),
        "neighbours[1].endpoints must be like 192.168.1.12:7447, got '127.0.0.1'",
    ),
    "encryption without certificates": (
        ('"127.0.0.1:7448"', '"tls/127.0.0.1:7448"'),
        "neighbours[1].endpoints must begin with tcp/, got 'tls/127.0.0.1:7448': there "
        "are no certificates",
    ),
    "plain text beyond this machine": (
        ('"127.0.0.1:7448"', '"10.0.0.2:7448"'),
        "security must name certificate, key and authority, since tcp/10.0.0.2:7448 is "
        "not on this machine; `halk certs` makes them. With plain = true instead, "
        "anybody on the network can read, change and invent what agents say",
    ),
    "half a certificate": (
        ("[limits]", '[security]\nkey = "north.key"\n[limits]'),
        "security.certificate is missing; such as what `halk certs` makes",
    ),
    "a plain certificate": (
        ("[limits]", '[security]\nkey = "north.key"\nplain = true\n[limits]'),
        "security.plain must not go with key: it means no certificates",
    ),
    "health for everybody": (
        ("[limits]", '[health]\nlisten = "0.0.0.0:9464"\n[limits]'),
        "health.listen must be on this machine, such as 127.0.0.1:9464, got "
        "'0.0.0.0:9464'; with public = true anybody who can reach it may read it",
    ),
    "health nowhere": (
        ("[limits]", '[health]\nlisten = "9464"\n[limits]'),
        "health.listen must be like 127.0.0.1:9464, got '9464'",
    ),
    "a wrong limit": (
        ("burst = 1e6", "burst = 0.5"),
        "limits.burst must be at least 1, got 0.5",
    ),
    "an unknown limit": (
        ("burst = 1e6", "brust = 5"),
        "there is no key 'limits.brust', did you mean 'burst'?; keys of [limits] are "
        "value, stds, multiplier, point, log_scale, atoms, rate, burst",
    ),
    "a checkpoint without a path": (
        ('path = "north.halk"', ""),
        'checkpoint.path is missing; such as path = "agent.halk"',
    ),
    "a wrong interval": (
        ("every = 5.0", "every = 0"),
        "checkpoint.every must be positive, got 0",
    ),
    "a flag that is none": (
        ('value = "t_C"', 'value = "t_C"\nfollow = "yes"'),
        "readings.follow must be true or false, got 'yes'",
    ),
    "a value that is an input": (
        ('value = "t_C"', 'value = "depth_m"'),
        "readings.value must not be an input, got 'depth_m'",
    ),
    "columns that are not as many": (
        ('value = "t_C"', 'value = "t_C"\ninputs = ["a", "b"]'),
        "readings.inputs must be 1, as in [model], got ['a', 'b']",
    ),
    "a topic without a key": (
        ('path = "north.csv"', 'source = "topic"'),
        'readings.key is missing; such as key = "buoys/north"',
    ),
    "steps of one who runs free": (
        ('name = "north"', 'name = "north"\nsteps = 5'),
        'steps must go with "lockstep", got 5',
    ),
}


SECOND_CASES = {
    "a near miss": (
        ("noise = 0.02", "noise = 0.02\nforgeting = 0.99"),
        "there is no key 'model.forgeting', did you mean 'forgetting'?; keys of "
        "[model] are inputs, order, kernel, loss, length_scale, noise, forgetting, "
        "max_atoms, novelty, epsilon, robust, regularization, exchange, identity, "
        "first_multiplier, dual_gain, warm_up, largest_multiplier, tightening, "
        "standardize",
    ),
    "a key of the other order": (
        ("noise = 0.02", "noise = 0.02\nstep_size = 0.1"),
        "there is no key 'model.step_size'; keys of [model] are inputs, order, kernel, "
        "loss, length_scale, noise, forgetting, max_atoms, novelty, epsilon, robust, "
        "regularization, exchange, identity, first_multiplier, dual_gain, warm_up, "
        "largest_multiplier, tightening, standardize",
    ),
    "no noise": (
        ("noise = 0.02\n", ""),
        "model.noise is missing; such as noise = 0.02. NewtonHALK(..., "
        "standardize=True) finds it with past readings: noise_ after learn_many",
    ),
    "a length scale to be found": (
        ("length_scale = 0.2", 'length_scale = "auto"'),
        "model.length_scale must be a number, got 'auto'; such as length_scale = 50.0. "
        "NewtonHALK(..., standardize=True) finds it with past readings: length_scale_ "
        "after learn_many",
    ),
    "no length scale": (
        ("length_scale = 0.2\n", ""),
        "model.length_scale is missing; such as length_scale = 50.0. NewtonHALK(..., "
        "standardize=True) finds it with past readings: length_scale_ after learn_many",
    ),
    "too many length scales": (
        ("length_scale = 0.2", "length_scale = [0.2, 0.3]"),
        "model.length_scale must be a number or have one entry per feature (1), got 2 "
        "entries",
    ),
    "two length scales": (
        ("noise", 'kernel = { name = "gaussian", length_scale = 0.2 }\nnoise'),
        "model.length_scale must be left out where the kernel has its own, got 0.2",
    ),
    "a wrong noise": (
        ("noise = 0.02", "noise = -1.0"),
        "model.noise must be positive, got -1.0",
    ),
    "another exchange": (
        ("noise = 0.02", 'noise = 0.02\nexchange = "all"'),
        "model.exchange must be one of 'predictions', 'readings', got 'all'",
    ),
    "a common unit": (
        ("noise = 0.02", 'noise = 0.02\nstandardize = "common"'),
        'model.standardize must be true, "offset", false or [mean, std]; no agent '
        "knows what is common, got 'common'",
    ),
    "a unit of nothing": (
        ("noise = 0.02", "noise = 0.02\nstandardize = [20.0, 0.0]"),
        "model.standardize must be positive, got 0.0",
    ),
    "a third order": (
        ("noise = 0.02", 'noise = 0.02\norder = "third"'),
        "model.order must be one of 'first', 'second', got 'third'",
    ),
    "a loss without a parabola": (
        ("noise = 0.02", 'noise = 0.02\nloss = "hinge"'),
        "model.loss must be one that a parabola bounds (Squared, Huber, Absolute, "
        "EpsilonInsensitive, Quantile, Logistic), got Hinge(); HALK takes any",
    ),
}


def own_subclasses(cls, everybody=named.subclasses):
    """Return the subclasses without those that other tests have made."""
    return [one for one in everybody(cls) if one.__module__.startswith("halk.")]


@pytest.mark.parametrize("name", CASES)
def test_refusals(tmp_path, monkeypatch, name):
    monkeypatch.setattr(named, "subclasses", own_subclasses)
    (old, new), words = CASES[name]
    assert old in AGENT
    path = written(tmp_path, AGENT.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    text = str(caught.value)
    assert text.replace(str(path), "agent.toml") == f"agent.toml: {words}"


@pytest.mark.parametrize("name", SECOND_CASES)
def test_refusals_of_second_order(tmp_path, name):
    (old, new), words = SECOND_CASES[name]
    path = written(tmp_path, second(AGENT).replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).replace(str(path), "agent.toml") == f"agent.toml: {words}"


def test_numbers_in_the_file_make_it_second_order(tmp_path):
    config = read_config(written(tmp_path, second(AGENT)))
    network = Network.path(2, 0.01)
    agent, plain = (
        config.model.agent([0.01]),
        NewtonHALK(network, length_scale=0.2, noise=0.02, standardize=True).agent(0, 1),
    )
    assert (agent.settings, agent.noise) == (plain.settings, plain.noise)
    assert agent.kernel == plain.kernel
    same = 'order = "second"\nkernel = "gaussian"\nnoise = 0.02'
    again = written(tmp_path, second(AGENT).replace("noise = 0.02", same), "same.toml")
    assert read_config(again).model.agent([0.01]).settings == agent.settings
    unit = "noise = 0.02\nstandardize = [15.0, 4.0]"
    own = written(tmp_path, second(AGENT).replace("noise = 0.02", unit), "unit.toml")
    assert read_config(own).model.agent([0.01]).predict([1.0]) == 15.0
    own = second(AGENT).replace("length_scale = 0.2", 'kernel = { name = "periodic" }')
    kernel = read_config(written(tmp_path, own, "own.toml")).model.agent([]).kernel
    assert kernel == kernels.Periodic()


def test_lockstep_needs_a_file(tmp_path):
    text = AGENT.replace('name = "north"', 'name = "north"\nmode = "lockstep"', 1)
    text = text.replace('path = "north.csv"', 'source = "stdin"')
    with pytest.raises(ConfigError, match="source must be 'csv' in lockstep, got 'st"):
        read_config(written(tmp_path, text))


def test_a_topic_with_certificates_needs_senders(tmp_path):
    text = AGENT.replace('path = "north.csv"', 'source = "topic"\nkey = "buoys/north"')
    for name in ("c", "k", "a"):
        (tmp_path / name).touch()
    text += '[security]\ncertificate = "c"\nkey = "k"\nauthority = "a"\n'
    with pytest.raises(ConfigError, match=r"readings\.senders is missing: with certif"):
        read_config(written(tmp_path, text))
    text = text.replace('"topic"', '"topic"\nsenders = ["probe"]')
    assert read_config(written(tmp_path, text)).readings.senders == ("probe",)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ConfigError, match="must be readable: No such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"must be a TOML file, got: .*line 1"):
        read_config(written(tmp_path, "name = north"))
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="must be a TOML file"):
        read_config(path)
