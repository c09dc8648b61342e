"""Small runs of every learner, setting and component, whose results are stored.

``CASES`` maps the name of a case to a function that runs it and returns its results.
Numbers are odd on purpose: 0.05 times a slope of 0.4 would meet a budget of 0.02.
"""

from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from halk import Network, bandwidth, features, kernels, learners, losses, proximity

N_STEPS = 200
PIECE = 40
"""Steps after which predictions are kept."""

EXACT = ("model_order", "n_atoms", "bytes_sent")
"""Results that must be equal; the others may differ by rounding."""


class Field(NamedTuple):
    """A network, and what suits its inputs."""

    network: Network
    n_features: int
    kernel: Any
    step_size: Any
    epsilon: Any
    missing: float = 0.0
    """Share of the readings that are NaN."""


_PAIRS = [
    (0, 1),
    (0, 2),
    (1, 2),
    (1, 5),
    (2, 3),
    (3, 4),
    (3, 7),
    (4, 6),
    (5, 6),
    (2, 6),
]

FIELDS = {
    "path": Field(Network.path(4, 0.0173), 1, kernels.Gaussian(0.067), 0.23, 0.0313),
    "ring": Field(Network.ring(6, 0.0231), 2, kernels.Gaussian(0.23), 0.23, 0.0413),
    "random": Field(
        Network(8, _PAIRS, np.linspace(0.0037, 0.0713, len(_PAIRS))),
        3,
        kernels.Gaussian((0.37, 0.41, 0.53)),
        np.linspace(0.17, 0.31, 8),
        np.linspace(0.0213, 0.0617, 8),
        missing=0.2,
    ),
}

GUARDS: dict[str, Any] = {"rate": 0.037, "warm_up": 10, "threshold": 0.043}
ADAPTATIONS = {
    "fixed": None,
    "leave-one-out": bandwidth.LeaveOneOut(**GUARDS),
    "loss-following": bandwidth.LossFollowing(**GUARDS),
}
STANDARDIZE = {"raw": False, "offset": "offset", "standardized": True}


FEATURES = {
    "RBFNetwork": (None, 0.37),
    "RFFDiffusion": (20, 0.37, 3),
    "RFFADMM": (20, 0.37, 3),
}
"""First arguments of learners: number of features, length scale, seed."""


def make_learner(name: str, network: Network, options: dict[str, Any]) -> Any:
    """Return a learner by the name of its class."""
    return getattr(learners, name)(network, *FEATURES.get(name, ()), **options)


def make_stream(field: Field, seed: int, labels: bool = False) -> tuple[Any, Any]:
    """Return X (T, V, p) and Y (T, V): a wave with a phase and offset per agent."""
    rng = np.random.default_rng(seed)
    V, p = field.network.n_agents, field.n_features
    X = rng.uniform(size=(N_STEPS, V, p))
    Y = np.sin(5 * X.mean(axis=2) + np.linspace(0, 0.9, V))
    Y += 0.1 * rng.normal(size=Y.shape) + np.linspace(0, 0.3, V)
    Y = np.where(Y > 0.6, 1.0, -1.0) if labels else Y
    Y[rng.uniform(size=Y.shape) < field.missing] = np.nan
    return X, Y


def _grid(n_features: int) -> Any:
    """Return 5 points (5, p) that fill the unit cube."""
    steps = np.arange(1, 6)[:, None] * np.array([0.618, 0.755, 0.819])[:n_features]
    return steps % 1.0


def look_inside(learner: Any) -> dict[str, Any]:
    """Return what a learner holds."""
    agents = range(learner.network.n_agents)
    X = _grid(learner.n_features)
    scales = learner.length_scales
    return {
        "predictions": np.array([learner.predict(i, X) for i in agents]),
        "model_order": learner.model_order,
        "n_atoms": learner.n_atoms,
        "multipliers": learner.multipliers,
        "violations": learner.violations,
        "length_scales": [] if scales is None else scales,
        "bytes_sent": learner.bytes_sent,
    }


def _half_way(learner: Any) -> Any:
    return learner


def run_stream(
    name: str,
    field: Field,
    options: dict[str, Any],
    seed: int = 0,
    changes: Any = (),
    half_way: Any = _half_way,
) -> dict[str, Any]:
    """Learn a dense stream.

    ``changes`` are (method, argument) to call in the middle, ``half_way`` returns the
    learner to go on with there.
    """
    learner = make_learner(name, field.network, options)
    X, Y = make_stream(field, seed, learner.loss.takes_labels)
    before, disagreement = [], []
    for k, part in enumerate(learner.dense_pieces(X, Y, PIECE)):
        if k == 3:
            learner = half_way(learner)
            for method, argument in changes:
                getattr(learner, method)(argument)
        record = learner.observe(part)
        before.append(record.prediction[part.start[-2] :])
        disagreement.append(record.disagreement[-1])
    return look_inside(learner) | {
        "before": np.concatenate(before),
        "disagreement": disagreement,
    }


def _run_readings(name: str, field: Field, options: dict[str, Any]) -> dict[str, Any]:
    """Learn whole steps, then readings of single agents, then steps one by one."""
    learner = make_learner(name, field.network, options)
    X, Y = make_stream(field, 0)
    learner.learn_many(X[:50], Y[:50])
    V = field.network.n_agents
    agents = np.random.default_rng(1).integers(V, size=400)
    steps = 50 + np.arange(400) % 100
    learner.learn_readings(agents, X[steps, agents], Y[steps, agents])
    for x, y in zip(X[150:], Y[150:], strict=True):
        learner.learn_one(x, y)
    return look_inside(learner) | {
        "own": learner.predict_one(X[0]),
        "listed": learner.predict_readings(agents[:20], X[-1, agents[:20]]),
    }


def _run_messages(name: str, field: Field, options: dict[str, Any]) -> dict[str, Any]:
    """Let agents talk by messages, in lockstep; return what they say and end with."""
    learner = make_learner(name, field.network, options)
    V, p = field.network.n_agents, field.n_features
    agents = [learner.agent(i, p) for i in range(V)]
    X, Y = make_stream(field, 0)
    said = []
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        queries = {i: agents[i].ask(x[i], y[i]) for i in np.flatnonzero(y == y)}
        answers: dict[int, Any] = {i: {} for i in queries}
        for i, to in queries.items():
            for j, query in to.items():
                answer = answers[i][j] = agents[j].answer(int(i), query)
                if t % PIECE == PIECE - 1:
                    said += [query.value, query.multiplier, query.std, *answer[:2]]
        for i, agent in enumerate(agents):
            agent.update(answers.get(i))
    return {
        "said": said,
        "predictions": [[agent.predict(x) for x in _grid(p)] for agent in agents],
        "model_order": [agent.order for agent in agents],
        "multipliers": np.concatenate([agent.multipliers for agent in agents]),
        "scales": [agent.scale for agent in agents],
    }


# every learner with every setting


def _settings(field: Field) -> dict[str, Any]:
    return {
        "kernel": field.kernel,
        "step_size": field.step_size,
        "epsilon": field.epsilon,
    }


def _every_learner() -> dict[str, Any]:
    coupled = ("exact", "paper")
    dictionary: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
        "HALK": (coupled, {}),
        "Consensus": (coupled, {}),
        "Penalty": (coupled, {"penalty": 0.37}),
        "Alone": (("",), {}),
        "POLK": (("",), {"step_size": 0.23, "epsilon": 0.0413}),
    }
    fixed: dict[str, tuple[tuple[str, ...], tuple[str, ...], Any]] = {
        "Linear": (coupled, ("normalized", "plain"), {}),
        "RBFNetwork": (coupled, ("normalized", "plain"), {"n_centres": 12}),
        "RFFDiffusion": (("",), ("normalized", "plain"), {}),
        "RFFADMM": (("",), ("normalized", "plain"), {"threshold": 0.0713}),
        "NLMS": (("",), ("",), {}),
    }
    cases: dict[str, Any] = {}
    for at, (name, (couplings, changes)) in product(FIELDS, dictionary.items()):
        for coupling, step, adaptation, scaling in product(
            couplings, ("normalized", "plain"), ADAPTATIONS, STANDARDIZE
        ):
            options = _settings(FIELDS[at]) | changes
            options |= {"coupling": coupling} if coupling else {}
            options |= {
                "step": step,
                "adaptation": ADAPTATIONS[adaptation],
                "standardize": STANDARDIZE[scaling],
            }
            parts = (name, at, coupling, step, adaptation, scaling)
            case = partial(run_stream, name, FIELDS[at], options)
            cases["-".join(filter(None, parts))] = case
    for at, (name, (couplings, steps, changes)) in product(FIELDS, fixed.items()):
        for coupling, step in product(couplings, steps):
            slower = 0.3 if step == "plain" else 1.0  # or it diverges
            options = {"step_size": slower * FIELDS[at].step_size} | changes
            options |= {"low": [0.0] * FIELDS[at].n_features} if "BF" in name else {}
            options |= {"coupling": coupling} if coupling else {}
            options |= {"step": step} if step else {}
            case = partial(run_stream, name, FIELDS[at], options)
            cases["-".join(filter(None, (name, at, coupling, step)))] = case
    return cases


# every component


def exponential(X: Any, Y: Any) -> Any:
    """Return a kernel as a user writes it: the Laplacian in the sum of distances."""
    return np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2) / 0.83)


def _every_component() -> dict[str, Any]:
    field = FIELDS["ring"]
    smooth, rough = kernels.Gaussian(0.23), kernels.Laplacian(0.61)
    # not Linear by itself: past two atoms, which one compression removes is a tie
    parts: dict[str, dict[str, Any]] = {
        "laplacian": {"kernel": rough},
        "laplacian-tuple": {"kernel": kernels.Laplacian((0.43, 0.57))},
        "matern32": {"kernel": kernels.Matern32(0.43)},
        "matern32-tuple": {"kernel": kernels.Matern32((0.43, 0.57))},
        "matern52": {"kernel": kernels.Matern52(0.43)},
        "matern52-tuple": {"kernel": kernels.Matern52((0.43, 0.57))},
        "rational-quadratic": {"kernel": kernels.RationalQuadratic(0.27, 1.3)},
        "periodic": {"kernel": kernels.Periodic(0.67, 1.7)},
        "polynomial": {"kernel": kernels.Polynomial(3, 0.5, 1.1)},
        "constant": {"kernel": kernels.Constant(0.9)},
        "gaussian-plus-linear": {"kernel": smooth + 0.7 * kernels.Linear(0.3)},
        "laplacian-times-polynomial": {
            "kernel": rough * kernels.Polynomial(2, 0.5, 1.0)
        },
        "matern52-plus-constant": {"kernel": kernels.Matern52(0.31) + 0.5},
        "custom": {"kernel": exponential},
        "huber": {"loss": losses.Huber(0.31)},
        "absolute": {"loss": losses.Absolute()},
        "insensitive": {"loss": losses.EpsilonInsensitive(0.11)},
        "quantile": {"loss": losses.Quantile(0.73)},
        "logistic": {"loss": losses.Logistic()},
        "hinge": {"loss": losses.Hinge()},
        "proximity-absolute": {"proximity": proximity.Absolute()},
        "proximity-huber": {"proximity": proximity.Huber(0.17)},
        "laplacian-leave-one-out": {
            "kernel": rough,
            "adaptation": ADAPTATIONS["leave-one-out"],
        },
        "matern52-loss-following": {
            "kernel": kernels.Matern52((0.43, 0.57)),
            "adaptation": ADAPTATIONS["loss-following"],
        },
    }
    settings = _settings(field)
    cases = {
        f"component-{name}": partial(run_stream, "HALK", field, settings | part)
        for name, part in parts.items()
    }
    maps = {
        "identity": features.Identity(),
        "monomials": features.Monomials(3),
        "sine": features.Sine(1.3),
        "radial": features.RadialBasis(_grid(2), 0.37),
        "fourier": features.RandomFourier(20, (0.37, 0.51), 3),
    }
    for name, found in maps.items():
        linear = {"features": found, "step_size": 0.23}
        cases[f"features-{name}"] = partial(run_stream, "Linear", field, linear)
    return cases


# other settings, other ways in


def _other_settings() -> dict[str, Any]:
    rough, smooth = kernels.Laplacian(0.61), kernels.Gaussian(0.71)
    options: dict[str, dict[str, Any]] = {
        "norm-bound": {"norm_bound": 0.87},
        "norm-bound-paper": {"norm_bound": 0.87, "coupling": "paper"},
        "norm-bound-standardized": {"norm_bound": 0.87, "standardize": True},
        "no-budget": {"epsilon": 0.0, "kernel": rough},
        "wide": {"epsilon": 0.0131, "kernel": smooth},
        "wide-paper": {"epsilon": 0.0131, "kernel": smooth, "coupling": "paper"},
        "wide-small-budget": {"epsilon": 0.0013, "kernel": smooth},
        "parsimony": {"parsimony": 0.47, "epsilon": None},
        "alpha": {"alpha": 0.31, "epsilon": None},
        "dual-step": {"dual_step_size": 1.3, "dual_regularization": 0.037},
        "tightening": {"tightening": 0.0071, "regularization": 0.013},
        "own-paces": {
            "step_size": np.linspace(0.11, 0.43, 6),
            "dual_step_size": np.linspace(0.53, 0.07, 6),
            "epsilon": np.linspace(0.017, 0.113, 6),
        },
    }
    ring = FIELDS["ring"]
    cases: dict[str, Any] = {
        f"other-{name}": partial(run_stream, "HALK", ring, _settings(ring) | changed)
        for name, changed in options.items()
    }
    bound = {"norm_bound": 0.57, "step_size": 0.23}
    cases["other-norm-bound-linear"] = partial(run_stream, "Linear", ring, bound)
    return cases


def _changed_half_way() -> dict[str, Any]:
    cases: dict[str, Any] = {}
    for at, name in product(("ring", "random"), ("HALK", "Consensus")):
        field = FIELDS[at]
        tolerance = np.linspace(0.3, 0.002, field.network.n_edges)
        epsilon = np.linspace(0.113, 0.023, field.network.n_agents)
        both = (("set_tolerance", 0.0031), ("set_epsilon", 0.127))
        changes: dict[str, Any] = {
            "tolerance": (("set_tolerance", tolerance),),
            "budget": (("set_epsilon", epsilon),),
            "both": both,
        }
        for what, change in changes.items():
            case = partial(run_stream, name, field, _settings(field), changes=change)
            cases[f"changed-{name}-{at}-{what}"] = case
    return cases


def _other_ways() -> dict[str, Any]:
    both = {"adaptation": ADAPTATIONS["leave-one-out"], "standardize": True}
    kinds: dict[str, dict[str, Any]] = {
        "exact": {},
        "paper": {"coupling": "paper"},
        "plain": {"step": "plain"},
        "adapting": both,
    }
    cases: dict[str, Any] = {}
    for at, (kind, options) in product(FIELDS, kinds.items()):
        field = FIELDS[at]
        for way, run in (("readings", _run_readings), ("messages", _run_messages)):
            case = partial(run, "HALK", field, _settings(field) | options)
            cases[f"{way}-{at}-{kind}"] = case
    ring = FIELDS["ring"]
    for name in ("Consensus", "Penalty", "Alone", "POLK"):
        cases[f"readings-ring-{name}"] = partial(
            _run_readings, name, ring, _settings(ring)
        )
    for name in ("Consensus", "Penalty", "Alone"):
        cases[f"messages-ring-{name}"] = partial(
            _run_messages, name, ring, _settings(ring)
        )
    for name in ("Linear", "RBFNetwork", "RFFDiffusion", "RFFADMM", "NLMS"):
        options = {"low": [0.0, 0.0]} if name == "RBFNetwork" else {}
        cases[f"readings-ring-{name}"] = partial(_run_readings, name, ring, options)
    return cases


# estimators

FOUND = {"length_scale": 0.8, "noise": 0.01}
"""A search decides by differences that another machine may round away."""


def make_table(seed: int) -> tuple[Any, Any]:
    """Return X (150, 2) and y (150,)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(150, 2)) * [3.0, 0.5] + [10.0, -1.0]
    return X, np.sin(2 * X[:, 0]) + 3 * X[:, 1] + 0.1 * rng.normal(size=150)


def _run_sklearn(name: str, options: dict[str, Any]) -> dict[str, Any]:
    from halk import sklearn as estimators  # noqa: PLC0415 (an extra)

    X, y = make_table(0)
    classes = np.digitize(y, [-2.3, -1.1])
    y = classes if name.endswith("Classifier") else y
    if name.startswith("Network"):
        X = np.column_stack([np.arange(150) % 3, X])
        options = options | {"sensor": 0, "edges": [(0, 1), (1, 2)]}
    model = getattr(estimators, name)(random_state=0, **FOUND | options)
    model.fit(X[:100], y[:100])
    kind = "decision_function" if name.endswith("Classifier") else "predict"
    first = getattr(model, kind)(X[100:110])
    n_atoms = [model.n_atoms_]
    model.partial_fit(X[100:130], y[100:130])
    return {
        "first": first,
        "predictions": getattr(model, kind)(X[130:]),
        "n_atoms": [*n_atoms, model.n_atoms_],
    }


def _run_river(name: str, options: dict[str, Any]) -> dict[str, Any]:
    from halk import river as estimators  # noqa: PLC0415 (an extra)

    X, y = make_table(1)
    is_classifier = name.endswith("Classifier")
    model = getattr(estimators, name)(**FOUND | options)
    before = []
    for n, ((a, b), target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = {"a": a, "b": b} if n % 7 else {"a": a}
        if n % 10 == 9 and is_classifier:
            before += [p for _, p in sorted(model.predict_proba_one(x).items())]
        elif n % 10 == 9:
            before.append(model.predict_one(x))
        model.learn_one(x, int(target > -1.1) if is_classifier else target)
    return {"before": before, "n_atoms": model.n_atoms_}


def _estimators() -> dict[str, Any]:
    matern = {"kernel": kernels.Matern52(0.83), "length_scale": "auto"}
    sklearn: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "KernelRegressor": [("", {}), ("-matern", matern)],
        "KernelClassifier": [("", {})],
        "NetworkRegressor": [("", {}), ("-huber", {"loss": "huber"})],
        "NetworkClassifier": [("", {})],
    }
    cases: dict[str, Any] = {
        f"sklearn-{name}{what}": partial(_run_sklearn, name, options)
        for name, kinds in sklearn.items()
        for what, options in kinds
    }
    for name in ("KernelRegressor", "KernelClassifier"):
        cases[f"river-{name}"] = partial(_run_river, name, {})
    return cases


CASES: dict[str, Any] = (
    _every_learner()
    | _every_component()
    | _other_settings()
    | _changed_half_way()
    | _other_ways()
    | _estimators()
)

ILL_CONDITIONED = {
    "Consensus-path-exact-plain-loss-following-standardized",
    "POLK-path-normalized-fixed-offset",
    "POLK-path-normalized-fixed-standardized",
    "POLK-path-normalized-leave-one-out-raw",
    "POLK-path-plain-fixed-offset",
    "POLK-path-plain-fixed-raw",
    "Penalty-ring-exact-plain-leave-one-out-standardized",
    "other-wide-small-budget",
    "sklearn-NetworkClassifier",
}
"""Cases in which changes of the inputs grow a hundredfold or more, or the condition
number of a Gram matrix passes 1e5."""

RESUMED = [
    name
    for name in CASES
    if "-random" in name
    and name.endswith(
        ("normalized", "NLMS-random", "normalized-leave-one-out-standardized")
    )
]
"""Cases that must come out the same after a save and a load in the middle."""


def flat(results: dict[str, Any]) -> Any:
    """Return the results of a case as one array, as they are stored."""
    return np.concatenate([np.ravel(value) for value in results.values()])
