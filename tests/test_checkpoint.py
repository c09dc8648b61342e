"""Checkpoints: going on gives the same bits; damage is always named, never believed."""

import errno
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import halk
from halk import HALK, CheckpointError, Network, checkpoint, kernels, learners
from halk import bandwidth as adaptations
from halk.arena import dictionary_of
from halk.checkpoint import arguments
from halk.checkpoint.archive import VERSION
from halk.component import subclasses
from halk.compression import square
from halk.step import SPREAD

Array = NDArray[Any]

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "per agent": {
        "step_size": np.array([0.1, 0.2, 0.3]),
        "epsilon": [0.01, 0.02, 0.01],
    },
    "standardized": {"standardize": True},
    "adaptive": {"bandwidth": adaptations.LeaveOneOut(warm_up=5)},
}


def network() -> Network:
    return Network(
        3,
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        [0.01, 0.02, 0.03, 0.04],
        names=["nord", "süd", "\ud800"],
        positions=[[0.0, 1.5], [1.0, 0.0], [2.0, 0.1]],
    )


def model(**changes: Any) -> HALK:
    return HALK(network(), kernel=kernels.Gaussian(0.2), **changes)


def stream(n_steps: int = 120, missing: float = 0.0) -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n_steps, 3, 1))
    Y = np.sin(6 * X[..., 0]) + 0.1 * rng.normal(size=(n_steps, 3)) + 2.0
    Y[rng.uniform(size=Y.shape) < missing] = np.nan
    return X, Y


def learned(n_steps: int = 60, **changes: Any) -> HALK:
    result = model(**changes)
    result.learn_many(*(part[:n_steps] for part in stream()))
    return result


def content(learner: HALK, path: Path) -> bytes:
    """Return all that is saved; equal models give equal files."""
    learner.save(path)
    return path.read_bytes()


def members_of(path: Path) -> dict[str, Array]:
    with np.load(path) as file:
        return dict(file)


def written(path: Path, members: dict[str, Array]) -> Path:
    with path.open("wb") as file:
        np.savez(file, **members)  # type: ignore[arg-type]
    return path


def header_of(members: dict[str, Array]) -> Any:
    return json.loads(members["header"].tobytes())


def with_header(members: dict[str, Array], header: Any) -> dict[str, Array]:
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    return {**members, "header": text}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "model.halk"
    learned().save(path)
    return path


# --- going on -------------------------------------------------------------------------

CONTINUE = """
import sys
import numpy as np
from halk import HALK
for k in range(1, len(sys.argv), 3):
    start, data, end = sys.argv[k : k + 3]
    model = HALK.load(start)
    with np.load(data) as file:
        model.learn_many(file["X"], file["Y"])
    model.save(end)
"""


def run_python(program: str, *arguments: Any) -> str:
    source = str(Path(halk.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_goes_on_in_a_new_process_bit_for_bit(tmp_path: Path) -> None:
    whole: dict[str, bytes] = {}
    jobs: list[Path] = []
    for name, changes in SETTINGS.items():
        for missing in (0.0, 0.4):
            key = f"{name}-{missing}"
            X, Y = stream(missing=missing)
            start, data, end = (tmp_path / f"{key}.{kind}" for kind in "abc")
            first = model(**changes)
            first.learn_many(X[:50], Y[:50])
            first.save(start)
            first.learn_many(X[50:], Y[50:])
            whole[key] = content(first, tmp_path / f"{key}.whole")
            with data.open("wb") as file:
                np.savez(file, X=X[50:], Y=Y[50:])
            jobs += [start, data, end]
    run_python(CONTINUE, *jobs)
    for key, expected in whole.items():
        assert (tmp_path / f"{key}.c").read_bytes() == expected, key


def test_every_array_of_the_state_goes_on(tmp_path: Path) -> None:
    """The same law on the arrays themselves, should the packing forget one."""
    X, Y = stream(missing=0.3)
    straight = model(**SETTINGS["adaptive"])
    straight.learn_many(X[:50], Y[:50])
    straight.save(tmp_path / "a")
    resumed = HALK.load(tmp_path / "a")
    for learner in (straight, resumed):
        learner.learn_many(X[50:], Y[50:])
        for agent in range(3):
            learner.learn_readings([agent], X[agent, :1], [2.0])
    assert straight.state is not None
    assert resumed.state is not None
    for name in straight.state._fields[1:]:
        assert np.array_equal(
            getattr(straight.state, name), getattr(resumed.state, name)
        ), name
    assert straight.state.scale.std() > 0, "the case must adapt bandwidths"
    for i in range(3):
        m, D = straight.model_order[i], dictionary_of(straight.state.arena, i)
        assert m == resumed.model_order[i] > 0
        E = dictionary_of(resumed.state.arena, i)
        assert np.array_equal(D.atoms[:, :m], E.atoms[:, :m])
        assert np.array_equal(square(D.inverse, m), square(E.inverse, m))
        for part in ("weights", "diagonal", "norms"):
            assert np.array_equal(getattr(D, part)[:m], getattr(E, part)[:m]), part
    assert straight.n_steps == resumed.n_steps == 123


def test_loading_gives_back_the_arguments(tmp_path: Path) -> None:
    original = model(step_size=np.array([0.1, 0.2, 0.3]), alpha=[0.1, 0.2, 0.3])
    original.save(tmp_path / "a")
    loaded = HALK.load(tmp_path / "a")
    for name in arguments.names_of(HALK):
        mine, other = getattr(original, name), getattr(loaded, name)
        assert np.array_equal(mine, other) if np.ndim(mine) else mine == other, name
        assert type(mine) is type(other), name
    assert loaded.network.names == ("nord", "süd", "\ud800")
    assert loaded.n_steps == 0
    assert loaded.n_features is None


def test_unlearned_model_goes_on(tmp_path: Path) -> None:
    model().save(tmp_path / "a")
    loaded = HALK.load(tmp_path / "a")
    loaded.learn_many(*(part[:60] for part in stream()))
    assert content(loaded, tmp_path / "b") == content(learned(), tmp_path / "c")


def test_files_hold_no_spare_room(saved: Path) -> None:
    members = members_of(saved)
    order = members["state.order"]
    assert members["state.weights"].shape == (order.sum(),)
    assert members["state.norms"].shape == (order.sum(),)
    assert members["state.inverse"].shape == ((order**2).sum(),)


def test_saving_changes_nothing(tmp_path: Path) -> None:
    learner = learned()
    first = content(learner, tmp_path / "a")
    assert content(learner, tmp_path / "a") == first
    assert content(HALK.load(tmp_path / "a"), tmp_path / "b") == first


def test_a_network_of_one(tmp_path: Path) -> None:
    one = HALK(Network(1), kernel=kernels.Gaussian(0.2))
    one.learn_many(np.ones((3, 1, 1)), np.ones((3, 1)))
    one.save(tmp_path / "a")
    assert content(HALK.load(tmp_path / "a"), tmp_path / "b") == content(
        one, tmp_path / "c"
    )


# --- every learner --------------------------------------------------------------------

BASES = {"Learner", "DictionaryLearner", "FeatureLearner"}
LEARNERS: dict[str, dict[str, Any]] = {
    "HALK": {},
    "Penalty": {"penalty": 0.3, "standardize": True},
    "Consensus": {},
    "Alone": {"standardize": True},
    "POLK": {"standardize": "offset"},
    "Linear": {"features": halk.features.RandomFourier(9, 0.2, seed=3)},
    "RBFNetwork": {"centres": np.linspace(0, 1, 5)[:, None], "bandwidth": 0.2},
    "RFFDiffusion": {"n_frequencies": 9, "bandwidth": 0.2},
    "RFFADMM": {"n_frequencies": 9, "bandwidth": 0.2, "threshold": 0.1},
    "NLMS": {"step_size": np.array([0.1, 0.2, 0.3])},
}


def any_model(name: str) -> Any:
    return getattr(learners, name)(network(), **LEARNERS[name])


def test_every_learner_is_saved_below() -> None:
    assert set(LEARNERS) | BASES == set(learners.__all__)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_goes_on(tmp_path: Path, name: str) -> None:
    X, Y = stream(missing=0.4)
    Y[:60, 2] = np.nan
    straight = any_model(name)
    straight.save(tmp_path / "fresh")
    resumed = type(straight).load(tmp_path / "fresh")
    for part in (slice(0, 50), slice(50, 90), slice(90, 120)):
        straight.learn_many(X[part], Y[part])
        resumed.learn_many(X[part], Y[part])
        resumed.save(tmp_path / "b")
        resumed = type(straight).load(tmp_path / "b")
        assert content(resumed, tmp_path / "c") == content(straight, tmp_path / "d")
    assert resumed.bytes_sent == straight.bytes_sent
    assert np.array_equal(resumed.violations, straight.violations)
    assert np.array_equal(resumed.multipliers, straight.multipliers)
    assert np.array_equal(resumed.predict_one(X[0]), straight.predict_one(X[0]))
    assert repr(resumed) == repr(straight)


@pytest.mark.parametrize("name", ["Linear", "RFFADMM", "NLMS", "POLK"])
def test_wrong_states_of_other_learners(tmp_path: Path, name: str) -> None:
    learner, path = any_model(name), tmp_path / "a"
    learner.learn_many(*stream(missing=0.4))
    learner.save(path)
    whole = members_of(path)
    for member, value in whole.items():
        if not (member.startswith("state.") and value.size):
            continue
        field = member.removeprefix("state.")
        wrong = {**whole, member: value[:-1]}
        with pytest.raises(CheckpointError, match="must have shape"):
            type(learner).load(written(path, wrong))
        del wrong[member]
        with pytest.raises(CheckpointError, match=f"missing: {member}"):
            type(learner).load(written(path, wrong))
        if value.dtype.kind == "f":
            wrong[member] = np.full_like(value, np.inf)
            with pytest.raises(CheckpointError, match=f"{field} must be finite"):
                type(learner).load(written(path, wrong))
        else:
            wrong[member] = np.full_like(value, -1)
            with pytest.raises(CheckpointError, match=r"not be negative|shape"):
                type(learner).load(written(path, wrong))


def test_learners_without_a_kernel_take_none(tmp_path: Path) -> None:
    any_model("NLMS").save(tmp_path / "a")
    with pytest.raises(CheckpointError, match="kernel must be left out"):
        learners.NLMS.load(tmp_path / "a", kernel=kernels.Gaussian(0.2))
    with pytest.raises(CheckpointError, match="holds a NLMS model, not Linear"):
        learners.Linear.load(tmp_path / "a")


# --- components -----------------------------------------------------------------------

FAMILIES = (
    halk.kernels.Kernel,
    halk.features.FeatureMap,
    halk.losses.Loss,
    halk.proximity.Proximity,
    halk.bandwidth.Adaptation,
)
COMPONENTS = [
    example
    for family in FAMILIES
    for cls in subclasses(family)
    if cls.__module__.startswith("halk.")
    for example in cls.examples()
    if not isinstance(example, kernels.Custom)
]


@pytest.mark.parametrize("component", COMPONENTS, ids=repr)
def test_components_come_back(component: Any) -> None:
    members: dict[str, Array] = {}
    node = json.loads(json.dumps(arguments.encoded(component, "component", members)))
    assert arguments.decoded(node, members) == component


def periodic(x: Array, y: Array) -> float:
    return 1.0 if x[0] == y[0] else 0.5


def other(x: Array, y: Array) -> float:
    return 1.0 if x[0] == y[0] else 0.25


@pytest.mark.parametrize(
    "wrap",
    [lambda k: k, lambda k: 2.0 * k + kernels.Gaussian(0.2)],
    ids=["alone", "in"],
)
def test_functions_must_be_given_again(
    tmp_path: Path, wrap: Callable[[Any], Any]
) -> None:
    path, kernel = tmp_path / "a", wrap(kernels.Custom(periodic))
    HALK(network(), kernel=kernel).save(path)
    with pytest.raises(CheckpointError, match=r"periodic.*HALK.load\(path, kernel="):
        HALK.load(path)
    assert HALK.load(path, kernel=kernel).kernel == kernel
    with pytest.raises(CheckpointError, match="was saved with the kernel"):
        HALK.load(path, kernel=kernels.Gaussian(0.2))


def test_another_function_is_noticed_at_the_atoms(tmp_path: Path, saved: Path) -> None:
    """Values at the atoms tell functions apart, whatever their names."""
    path = tmp_path / "a"
    members = members_of(saved)
    header = header_of(members)
    node = arguments.encoded(kernels.Custom(other), "kernel", {})
    header["arguments"]["kernel"] = node
    written(path, with_header(members, header))
    with pytest.raises(CheckpointError, match="another function"):
        HALK.load(path, kernel=kernels.Custom(other))


def test_given_kernel_must_be_the_saved_one(saved: Path) -> None:
    assert HALK.load(saved, kernel=kernels.Gaussian(0.2)).n_steps == 60
    for wrong in (kernels.Gaussian(0.3), kernels.Laplacian(0.2)):
        with pytest.raises(CheckpointError, match=r"Gaussian\(bandwidth=0.2\), got"):
            HALK.load(saved, kernel=wrong)
    with pytest.raises(TypeError, match="kernel must be a kernel, got 'Gaussian'"):
        HALK.load(saved, kernel="Gaussian")


@pytest.mark.compiled
@pytest.mark.parametrize(("width", "epsilon"), [(0.05, 1e-6), (10.0, 1e-4)])
def test_ill_conditioned_models_know_their_kernel(
    tmp_path: Path, width: float, epsilon: float
) -> None:
    """Rounding in an inverse must not pass for another function."""
    rng, path, kernel = (
        np.random.default_rng(0),
        tmp_path / "a",
        kernels.Gaussian(width),
    )
    learner = HALK(Network(1), kernel, step_size=0.5, epsilon=epsilon)
    for _ in range(150):
        x = rng.uniform(size=50)
        x[::7] = 0.5 + 1e-9 * rng.normal(size=8)
        y = np.sin(9.0 * x) + rng.normal(size=50)
        learner.learn_many(x[:, None, None], y[:, None])
        learner.save(path)
        assert HALK.load(path, kernel=kernel).n_steps == learner.n_steps


class Mine(kernels.Gaussian):
    """A kernel that halk does not know."""

    __slots__ = ()


def test_foreign_components_are_refused_when_saving(tmp_path: Path) -> None:
    learner = model()
    learner.kernel = Mine(1.0)
    with pytest.raises(CheckpointError, match="not one of halk's own components"):
        learner.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_non_finite_models_are_not_saved(tmp_path: Path, saved: Path) -> None:
    learner = HALK.load(saved)
    assert learner.state is not None
    learner.state.scale[1] = np.nan
    with pytest.raises(CheckpointError, match="scale must be finite, got nan at"):
        learner.save(tmp_path / "a")


# --- writing, all or nothing ----------------------------------------------------------


class FullDisk(io.FileIO):
    """A file on a disk that has room for some bytes only."""

    room = 0

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


def opened_on_full_disk(path: Path, mode: str) -> FullDisk:
    return FullDisk(path, mode)


@pytest.mark.parametrize("room", [0, 1, 500, 3000])
def test_full_disk_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path, first = tmp_path / "a", learned()
    old = content(first, path)
    assert len(old) > room
    monkeypatch.setattr(FullDisk, "room", room)
    monkeypatch.setattr(Path, "open", opened_on_full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        learned(70).save(path)
    assert caught.value.errno == errno.ENOSPC
    assert "it still holds" in caught.value.__notes__[0]
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert HALK.load(path).n_steps == 60


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_before_the_end_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    old = content(learned(), tmp_path / "a")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(KeyboardInterrupt):
        learned(70).save(tmp_path / "a")
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 1


def test_written_before_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def noted(name: str) -> None:
        real = getattr(os, name)

        def call(*given: Any) -> None:
            calls.append(name)
            real(*given)

        monkeypatch.setattr(os, name, call)

    noted("fsync")
    noted("replace")
    model().save(tmp_path / "a")
    assert calls == ["fsync", "replace", "fsync"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    model().save(tmp_path / "a")
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    learned().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert HALK.load(tmp_path / "a").n_steps == 60


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        model().save(tmp_path / "none" / "a")


# --- reading what is not right --------------------------------------------------------


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"a does not exist; check the name"):
        HALK.load(tmp_path / "a")
    with pytest.raises(CheckpointError, match="is a folder"):
        HALK.load(tmp_path)


def zipped(names: list[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, "text " * 100)
    return buffer.getvalue()


def arrays(**members: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


FOREIGN = {
    "empty": (b"", "is empty"),
    "text": (b"depth,temperature\n1,2\n", "not a halk checkpoint"),
    "pickle": (pickle.dumps([1, 2]), "not a halk checkpoint"),
    "zip": (zipped(["a.txt"]), "not a halk checkpoint"),
    "empty zip": (zipped([]), "not a halk checkpoint"),
    "zip with a header": (zipped(["header.npy"]), "is compressed"),
    "npz": (arrays(a=np.zeros(3)), "not a halk checkpoint"),
    "header of floats": (arrays(header=np.zeros(3)), "not a halk checkpoint"),
    "header of objects": (arrays(header=np.array([{}])), "another kind"),
    "header of JSON": (
        arrays(header=np.frombuffer(b'{"format": "x"}', np.uint8)),
        "not a halk checkpoint",
    ),
    "deep JSON": (
        arrays(header=np.frombuffer(b"[" * 100_000, np.uint8)),
        "not a halk checkpoint",
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(FOREIGN[name][0])
    with pytest.raises(CheckpointError, match=rf"file .*{FOREIGN[name][1]}.*; \w+"):
        HALK.load(path)


def test_npz_written_by_numpy_is_read(tmp_path: Path, saved: Path) -> None:
    """The layout is NumPy's: rewriting all members with NumPy changes nothing."""
    path = written(tmp_path / "a", members_of(saved))
    assert content(HALK.load(path), tmp_path / "b") == saved.read_bytes()


def test_every_truncation_is_named(tmp_path: Path, saved: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "a"
    lengths = {*range(0, len(whole), 37), *range(len(whole) - 60, len(whole))}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(
            CheckpointError, match=r"take an older copy|save has written"
        ):
            HALK.load(path)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_flipped_bytes_are_named_or_harmless(data: st.DataObject, saved: Path) -> None:
    whole = bytearray(saved.read_bytes())
    places = st.integers(0, len(whole) - 1) | st.integers(-1200, -1)
    for _ in range(data.draw(st.integers(1, 2))):
        whole[data.draw(places)] ^= data.draw(st.integers(1, 255))
    path = saved.with_name("flipped")
    path.write_bytes(whole)
    with suppress(CheckpointError):
        assert content(HALK.load(path), path) == saved.read_bytes()


def test_flips_inside_members_are_named(tmp_path: Path, saved: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "a"
    for name, value in members_of(saved).items():
        at = whole.index(value.tobytes()) + value.nbytes // 2
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(CheckpointError, match="damaged"):
            HALK.load(path)
        assert name


def change(key: str, value: Any) -> Callable[[Any], None]:
    """Return a function that sets an entry of a header, by its dotted path."""

    def apply(header: Any) -> None:
        *path, last = key.split(".")
        for part in path:
            header = header[part]
        header[last] = value

    return apply


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else {"family": [[]]}


KERNEL, NETWORK = "arguments.kernel", "arguments.network.parameters"
HEADERS: dict[str, tuple[Callable[[Any], None], str]] = {
    "other format": (change("format", "other"), "not a halk checkpoint"),
    "newer": (change("version", VERSION + 1), rf"version {VERSION + 1}, .*newer one"),
    "older": (change("version", 1), r"version 1, .*use the halk that wrote it"),
    "odd version": (change("version", True), "format version True"),
    "other learner": (change("learner", "Alone"), "holds a Alone model.*Alone.load"),
    "unknown key": (change("more", 1), "has unknown .*'more'"),
    "missing key": (lambda h: h.pop("n_steps"), "lacks .*'n_steps'"),
    "unknown argument": (change("arguments.more", 1), "has unknown .*'more'"),
    "missing argument": (lambda h: h["arguments"].pop("step"), "lacks .*'step'"),
    "arguments": (change("arguments", 3), "not consistent"),
    "negative steps": (change("n_steps", -1), "n_steps must be at least 0, got -1"),
    "half a step": (change("n_steps", 0.5), "n_steps must be a whole number"),
    "features": (change("n_features", 2), r"atoms must have shape \(\d+, 2\)"),
    "no features": (change("n_features", None), "n_steps must be 0"),
    "zero features": (change("n_features", 0), "n_features must be at least 1"),
    "huge features": (change("n_features", 2**50), "not consistent|more memory"),
    "no number": (change("arguments.step_size", float("nan")), "must be finite"),
    "deep": (change("arguments.step_size", nested(300)), "not consistent"),
    "step size": (change("arguments.step_size", -1), "step_size must be positive"),
    "coupling": (change("arguments.coupling", "x"), "coupling must be one of"),
    "loss for kernel": (
        change(
            "arguments.kernel",
            {"family": "losses", "type": "Squared", "parameters": {}},
        ),
        "kernel must be a kernel",
    ),
    "bandwidth": (change(f"{KERNEL}.parameters.bandwidth", -1), "must be positive"),
    "type": (change(f"{KERNEL}.type", "system"), "has no kernels.system"),
    "base class": (change(f"{KERNEL}.type", "Kernel"), "has no kernels.Kernel"),
    "function": (
        change(f"{KERNEL}.type", "kernel_value"),
        "has no kernels.kernel_value",
    ),
    "module": (change(f"{KERNEL}.family", "os"), "has no os.Gaussian"),
    "list": (change(f"{KERNEL}.type", ["Gaussian"]), "has no kernels"),
    "parameters": (change(f"{KERNEL}.parameters", [1]), "not consistent"),
    "parameter": (change(f"{KERNEL}.parameters.more", 1), "not consistent"),
    "agents": (change(f"{NETWORK}.n_agents", 4), "positions must have shape"),
    "too few agents": (change(f"{NETWORK}.n_agents", 2), "edges must join"),
    "names": (change(f"{NETWORK}.names", ["a", "a", "b"]), "names must be unique"),
    "array": (change(f"{NETWORK}.edges", {"array": "none"}), "member none is missing"),
    "array twice": (
        change(f"{NETWORK}.positions", {"array": "arguments.network.edges"}),
        "arguments.network.edges is missing",
    ),
    "unused array": (change(f"{NETWORK}.positions", None), "unknown members"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_wrong_headers(tmp_path: Path, saved: Path, name: str) -> None:
    members = members_of(saved)
    header = header_of(members)
    apply, message = HEADERS[name]
    apply(header)
    path = written(tmp_path / "a", with_header(members, header))
    with pytest.raises(CheckpointError, match=message):
        HALK.load(path)


def at(name: str, place: Any, value: float) -> Callable[[dict[str, Array]], None]:
    def apply(members: dict[str, Array]) -> None:
        members[f"state.{name}"][place] = value

    return apply


def cut(name: str) -> Callable[[dict[str, Array]], None]:
    def apply(members: dict[str, Array]) -> None:
        members[f"state.{name}"] = members[f"state.{name}"][:-1]

    return apply


STATES: dict[str, tuple[Callable[[dict[str, Array]], Any], str]] = {
    "order": (at("order", 1, -1), "not consistent"),
    "more order": (at("order", 1, 99), "atoms must have shape"),
    "huge order": (at("order", 1, 2**62), "not consistent"),
    "atoms": (at("atoms", (1, 0), np.nan), r"atoms must be finite, got nan at \(1,"),
    "norms": (at("norms", 2, np.inf), r"norms must be finite, got inf at \(2,\)"),
    "multipliers": (at("multipliers", 0, -1.0), "multipliers must not be negative"),
    "scale": (at("scale", 0, 0.0), "scale must be positive"),
    "spread": (at("target", (0, SPREAD), 0.0), "spread must be positive"),
    "asked": (at("asked", 0, -1), "asked must not be negative"),
    "missing": (lambda m: m.pop("state.norms"), "members are missing: state.norms"),
    "extra": (lambda m: m.update(more=np.zeros(2)), "unknown members more"),
    "kind": (
        lambda m: m.update({"state.order": m["state.order"].astype(float)}),
        "order must have shape .* of kind i, got .* of kind f",
    ),
    **{
        f"short {name}": (cut(name), f"{name} must have shape|atoms must have shape")
        for name in (
            "order", "atoms", "weights", "norms", "inverse", "multipliers", "scale",
            "target", "adaptation", "violation", "asked", "readings",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_wrong_states(tmp_path: Path, saved: Path, name: str) -> None:
    members = members_of(saved)
    apply, message = STATES[name]
    apply(members)
    with pytest.raises(CheckpointError, match=message):
        HALK.load(written(tmp_path / "a", members))


def test_every_field_of_the_state_is_cut_above(saved: Path) -> None:
    fields = {name for name in members_of(saved) if name.startswith("state.")}
    assert fields == {
        f"state.{name[6:]}" for name in STATES if name.startswith("short ")
    }


def test_arrays_larger_than_their_bytes(tmp_path: Path, saved: Path) -> None:
    """A huge shape with a right checksum must not take memory."""
    path = tmp_path / "a"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "state.scale.npy":
                claim = {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
                start = io.BytesIO()
                np.lib.format.write_array_header_1_0(start, claim)
                data = start.getvalue() + data[-24:]
            new.writestr(info.filename, data)
    with pytest.raises(CheckpointError, match="damaged"):
        HALK.load(path)


def test_members_that_are_there_twice(tmp_path: Path, saved: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(saved.read_bytes())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(match="Duplicate"):
        archive.writestr("state.scale.npy", b"")
    with pytest.raises(CheckpointError, match="a member is there twice"):
        HALK.load(path)


def test_save_and_load_without_the_methods(tmp_path: Path) -> None:
    checkpoint.save(learned(), tmp_path / "a")
    assert checkpoint.load(str(tmp_path / "a"), HALK).n_steps == 60
