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
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import numpy as safetensors

import halk
from halk import HALK, CheckpointError, Network, checkpoint, kernels, learners
from halk import bandwidth as adaptations
from halk.checkpoint import FORMAT, VERSION
from halk.component import subclasses
from halk.state import SCALE
from tests.conformance.test_learners import BASELINES
from tests.conformance.test_own import Bump, Derived, Distance, Residual

Array = NDArray[Any]

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "per agent": {
        "step_size": np.array([0.1, 0.2, 0.3]),
        "epsilon": [0.01, 0.02, 0.01],
    },
    "standardized": {"standardize": True},
    "adaptive": {"adaptation": adaptations.LeaveOneOut(warm_up=5)},
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


def read(path: Path) -> tuple[Any, dict[str, Array]]:
    """Return header and arrays of a file, to be changed."""
    header, arrays = checkpoint.unpack(path.read_bytes())
    return header, {name: value.copy() for name, value in arrays.items()}


def write(path: Path, header: Any, arrays: dict[str, Array]) -> Path:
    path.write_bytes(checkpoint.pack(header, arrays))
    return path


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


def test_loading_gives_back_the_arguments(tmp_path: Path) -> None:
    original = model(step_size=np.array([0.1, 0.2, 0.3]), alpha=[0.1, 0.2, 0.3])
    original.save(tmp_path / "a")
    loaded = HALK.load(tmp_path / "a")
    for name in signature(HALK).parameters:
        mine, other = getattr(original, name), getattr(loaded, name)
        assert np.array_equal(mine, other) if np.ndim(mine) else mine == other, name
        assert type(mine) is type(other), name
    assert loaded.network.names == ("nord", "süd", "\ud800")
    assert loaded.n_steps == 0
    assert loaded.n_features is None


def test_files_hold_no_spare_room(saved: Path) -> None:
    _, arrays = read(saved)
    order = arrays["state.order"]
    assert arrays["state.weights"].shape == (order.sum(),)
    assert arrays["state.inverse"].shape == ((order**2).sum(),)


def test_files_are_safetensors(saved: Path) -> None:
    with_digest = safetensors.load(saved.read_bytes())
    assert sorted(with_digest) == sorted(read(saved)[1])


def test_arrays_in_any_layout_are_written_as_they_are() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    for value in (matrix.T, matrix[::2, ::-1], matrix.astype(">f8"), matrix > 5):
        _, arrays = checkpoint.unpack(checkpoint.pack({}, {"a": value}))
        np.testing.assert_array_equal(arrays["a"], value)


def test_saving_changes_nothing(tmp_path: Path) -> None:
    learner = learned()
    first = content(learner, tmp_path / "a")
    assert content(learner, tmp_path / "a") == first
    assert write(tmp_path / "c", *read(tmp_path / "a")).read_bytes() == first
    assert content(HALK.load(tmp_path / "a"), tmp_path / "b") == first


def test_a_network_of_one(tmp_path: Path) -> None:
    one = HALK(Network(1), kernel=kernels.Gaussian(0.2))
    one.learn_many(np.ones((3, 1, 1)), np.ones((3, 1)))
    one.save(tmp_path / "a")
    assert content(HALK.load(tmp_path / "a"), tmp_path / "b") == content(
        one, tmp_path / "c"
    )


# --- every learner --------------------------------------------------------------------

LEARNERS: dict[str, Any] = {name: (name, part) for name, part in BASELINES.items()} | {
    "own": ("HALK", {"kernel": Derived(), "proximity": Distance()}),
    "adaptive": ("HALK", SETTINGS["adaptive"]),
    "offset": ("POLK", {"standardize": "offset"}),
    "penalty, standardized": ("Penalty", {"penalty": 0.3, "standardize": True}),
}


def any_model(name: str) -> Any:
    cls, arguments = LEARNERS[name]
    return getattr(learners, cls)(network(), **arguments)


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
    expected, got = straight.state_dict(), resumed.state_dict()
    for key, value in expected.items():
        np.testing.assert_array_equal(got[key], value, err_msg=key)
    assert list(got) == list(expected)
    assert resumed.bytes_sent == straight.bytes_sent
    assert np.array_equal(resumed.violations, straight.violations)
    assert np.array_equal(resumed.multipliers, straight.multipliers)
    assert np.array_equal(resumed.predict_one(X[0]), straight.predict_one(X[0]))
    assert repr(resumed) == repr(straight)


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
    arrays: dict[str, Array] = {}
    node = json.loads(json.dumps(checkpoint.encode(component, "kernel", arrays)))
    assert checkpoint.decode(node, arrays, "kernel") == component


def steps(X: Array, Y: Array) -> Array:
    return np.where(X[:, :1] == Y[:, 0], 1.0, 0.5)


def other_steps(X: Array, Y: Array) -> Array:
    return np.where(X[:, :1] == Y[:, 0], 1.0, 0.25)


OWN: dict[str, dict[str, Any]] = {
    "function": {"kernel": steps},
    "in a sum": {"kernel": 2.0 * kernels.Custom(steps) + kernels.Gaussian(0.2)},
    "class": {"kernel": Bump(0.3)},
    "plain class": {"kernel": Derived(0.3)},
    "proximity": {"proximity": Distance(0.05)},
}
GIVEN: dict[str, dict[str, Any]] = {
    "lambda": {"kernel": lambda X, Y: np.exp(-((X[:, :1] - Y[:, 0]) ** 2))},
    "duck loss": {"loss": Residual()},
    "duck proximity": {"proximity": Residual()},
}


def own_model(changes: dict[str, Any]) -> HALK:
    made = HALK(network(), **{"kernel": kernels.Gaussian(0.2)} | changes)
    made.learn_many(*(part[:30] for part in stream()))
    return made


@pytest.mark.parametrize("name", OWN)
def test_own_components_of_imported_modules_are_found(
    tmp_path: Path, name: str
) -> None:
    path, model = tmp_path / "a", own_model(OWN[name])
    model.save(path)
    for loaded in (HALK.load(path), HALK.load(path, **OWN[name])):
        for argument, value in OWN[name].items():
            assert getattr(loaded, argument) == value
        for learner in (model, loaded):
            learner.learn_many(*(part[30:60] for part in stream()))
        assert content(loaded, tmp_path / "b") == content(model, tmp_path / "c")
        model = HALK.load(path)


@pytest.mark.parametrize("name", GIVEN)
def test_own_components_that_no_name_leads_to_are_given_again(
    tmp_path: Path, name: str
) -> None:
    path, (argument,) = tmp_path / "a", GIVEN[name]
    own_model(GIVEN[name]).save(path)
    with pytest.raises(
        CheckpointError,
        match=rf"saved with the {argument} tests.*{argument}={argument}\)",
    ):
        HALK.load(path)
    assert HALK.load(path, **GIVEN[name]).n_steps == 30
    with pytest.raises(CheckpointError, match=f"was saved with the {argument}"):
        HALK.load(path, **{argument: {"kernel": Bump(), "loss": halk.losses.Huber(),
            "proximity": halk.proximity.Huber()}[argument]})  # fmt: skip


NAMES: dict[str, dict[str, Any]] = {
    "module": {"module": "elsewhere.kernels", "function": "steps"},
    "unimported module": {"module": "wave", "function": "steps"},
    "function": {"module": __name__, "function": "no_steps"},
    "local function": {"module": __name__, "function": "stream.<locals>.steps"},
    "function of another module": {"module": __name__, "function": "signature"},
    "standard library": {"module": "shutil", "function": "rmtree"},
    "no function": {"module": __name__, "function": "NAMES"},
    "method": {"module": __name__, "type": "FullDisk", "parameters": {}},
    "class of the system": {
        "module": "subprocess", "type": "Popen", "parameters": {"args": ["true"]}
    },
    "class": {"module": "elsewhere", "type": "Bump", "parameters": {}},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_imported_or_called_by_name(
    tmp_path: Path, saved: Path, name: str
) -> None:
    header, arrays = read(saved)
    header["arguments"]["kernel"] = NAMES[name]
    path = write(tmp_path / "a", header, arrays)
    with pytest.raises(
        CheckpointError, match=r"which no imported module has; import its module, or"
    ):
        HALK.load(path)
    assert "wave" not in sys.modules


def test_classes_that_have_moved_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a"
    own_model(OWN["class"]).save(path)
    header, arrays = read(path)
    header["arguments"]["kernel"]["module"] = "elsewhere"
    write(path, header, arrays)
    assert HALK.load(path, kernel=Bump(0.3)).n_steps == 30
    with pytest.raises(CheckpointError, match=r"Bump\(length_scale=0.3\), got Bump\("):
        HALK.load(path, kernel=Bump(0.2))


def test_another_function_is_noticed_at_the_atoms(tmp_path: Path) -> None:
    """Values at the atoms tell functions apart, whatever their names."""
    path = tmp_path / "a"
    own_model({"kernel": steps}).save(path)
    assert HALK.load(path, kernel=kernels.Custom(steps)).n_steps == 30
    with pytest.raises(CheckpointError, match="another function"):
        HALK.load(path, kernel=other_steps)
    header, arrays = read(path)
    header["arguments"]["kernel"]["function"] = "other_steps"
    with pytest.raises(CheckpointError, match="another function"):
        HALK.load(write(path, header, arrays))


def test_given_kernel_must_be_the_saved_one(saved: Path) -> None:
    assert HALK.load(saved, kernel=kernels.Gaussian(0.2)).n_steps == 60
    for wrong in (kernels.Gaussian(0.3), kernels.Laplacian(0.2)):
        with pytest.raises(CheckpointError, match=r"Gaussian\(length_scale=0.2\), got"):
            HALK.load(saved, kernel=wrong)
    with pytest.raises(
        TypeError, match=r"kernel must be a kernel such as .*'Gaussian'"
    ):
        HALK.load(saved, kernel="Gaussian")


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


def test_arguments_that_no_file_can_hold(tmp_path: Path) -> None:
    learner = model()
    learner.step_size = {"eta": 1.0}
    with pytest.raises(CheckpointError, match=r"has arguments.step_size = \{'eta'"):
        learner.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_non_finite_models_are_not_saved(
    tmp_path: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = HALK.load(saved)
    state = learner.state_dict()
    state["agents"][1, SCALE] = np.nan
    monkeypatch.setattr(HALK, "state_dict", lambda _: state)
    with pytest.raises(
        CheckpointError, match=r"agents must be finite, got nan at \(1, 10\)"
    ):
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


def zipped(**contents: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in contents.items():
            archive.writestr(name, value)
    return buffer.getvalue()


def foreign(text: str | None) -> bytes:
    """Return a safetensors file of somebody else, or of a mad halk."""
    metadata = None if text is None else {FORMAT: text}
    return safetensors.save({"a": np.zeros(3)}, metadata)


FOREIGN = {
    "empty": (b"", "is empty"),
    "one byte": (b"H", "not a halk checkpoint"),
    "text": (b"depth,temperature\n1,2\n", "not a halk checkpoint"),
    "pickle": (pickle.dumps([1, 2]), "not a halk checkpoint"),
    "zip": (zipped(header="{}"), "is a zip, as halk saved"),
    "no metadata": (foreign(None), "not a halk checkpoint"),
    "other metadata": (
        safetensors.save({"a": np.zeros(3)}, {"format": "pt"}),
        "not a halk checkpoint",
    ),
    "no JSON": (foreign("x"), "not a halk checkpoint"),
    "a number": (foreign("3"), "not a halk checkpoint"),
    "a list": (foreign("[]"), "not a halk checkpoint"),
    "no header": (foreign('{"header": 3}'), "not a halk checkpoint"),
    "deep JSON": (foreign("[" * 100_000), "not a halk checkpoint"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(FOREIGN[name][0])
    with pytest.raises(CheckpointError, match=rf"file .*{FOREIGN[name][1]}.*; \w+"):
        HALK.load(path)


def test_every_truncation_is_named(tmp_path: Path, saved: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "a"
    lengths = {*range(0, len(whole), 37), *range(len(whole) - 60, len(whole))}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(
            CheckpointError, match=r"take an older copy|save has written"
        ):
            HALK.load(path)


def test_every_flipped_bit_is_named(saved: Path) -> None:
    """All bits of the header, and one of every eighth byte of the data."""
    whole = bytearray(saved.read_bytes())
    head = 8 + int.from_bytes(whole[:8], "little")
    bits = [*range(8 * head), *range(8 * head, 8 * len(whole), 61)]
    for bit in bits:
        whole[bit // 8] ^= 1 << bit % 8
        with pytest.raises(checkpoint.RefusedError):
            checkpoint.unpack(bytes(whole))
        whole[bit // 8] ^= 1 << bit % 8


def change(key: str, value: Any) -> Callable[[Any], None]:
    """Return a function that sets an entry of a header, by its dotted path."""

    def apply(header: Any) -> None:
        *path, last = key.split(".")
        for part in path:
            header = header[part]
        header[last] = value

    return apply


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else {"module": [[]]}


KERNEL, NETWORK = "arguments.kernel", "arguments.network.parameters"
HEADERS: dict[str, tuple[Callable[[Any], None], str]] = {
    "newer": (change("version", VERSION + 1), rf"version {VERSION + 1}, .*newer one"),
    "older": (change("version", 2), r"version 2, .*use the halk that wrote it"),
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
            {"module": "halk.losses", "type": "Squared", "parameters": {}},
        ),
        "kernel must be a kernel",
    ),
    "length": (change(f"{KERNEL}.parameters.length_scale", -1), "must be positive"),
    "type": (change(f"{KERNEL}.type", "system"), "has no kernels.system"),
    "base class": (change(f"{KERNEL}.type", "Kernel"), "has no kernels.Kernel"),
    "private class": (change(f"{KERNEL}.type", "_Pair"), "has no kernels._Pair"),
    "function": (change(f"{KERNEL}.type", "rescale"), "has no kernels.rescale"),
    "module": (change(f"{KERNEL}.module", "os"), "os.Gaussian, which no imported"),
    "list": (change(f"{KERNEL}.type", ["Gaussian"]), "has no kernels"),
    "parameters": (change(f"{KERNEL}.parameters", [1]), "not consistent"),
    "parameter": (change(f"{KERNEL}.parameters.more", 1), "not consistent"),
    "agents": (change(f"{NETWORK}.n_agents", 4), "positions must have shape"),
    "too few agents": (change(f"{NETWORK}.n_agents", 2), "edges must join"),
    "names": (change(f"{NETWORK}.names", ["a", "a", "b"]), "names must be unique"),
    "array": (change(f"{NETWORK}.edges", {"array": "none"}), "array none is missing"),
    "array twice": (
        change(f"{NETWORK}.positions", {"array": "arguments.network.edges"}),
        "arguments.network.edges is missing",
    ),
    "unused array": (change(f"{NETWORK}.positions", None), "unknown arrays"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_wrong_headers(tmp_path: Path, saved: Path, name: str) -> None:
    header, arrays = read(saved)
    apply, message = HEADERS[name]
    apply(header)
    path = write(tmp_path / "a", header, arrays)
    with pytest.raises(CheckpointError, match=message):
        HALK.load(path)


STATES: dict[str, tuple[Callable[[dict[str, Array]], Any], str]] = {
    "order": (lambda a: a.update({"state.order": -a["state.order"]}), "not consistent"),
    "huge": (lambda a: a.update({"state.order": a["state.order"] + 2**62}), "not cons"),
    "missing": (lambda a: a.pop("state.weights"), "not consistent: .*weights"),
    "extra": (lambda a: a.update(more=np.zeros(2)), "unknown arrays more"),
    "values": (lambda a: a.pop("kernel_values"), "not consistent: .*kernel_values"),
}


@pytest.mark.parametrize("name", STATES)
def test_wrong_states(tmp_path: Path, saved: Path, name: str) -> None:
    """That no wrong array is taken, `tests/core/test_state.py` says."""
    header, arrays = read(saved)
    apply, message = STATES[name]
    apply(arrays)
    with pytest.raises(CheckpointError, match=message):
        HALK.load(write(tmp_path / "a", header, arrays))


def test_arrays_larger_than_their_bytes(tmp_path: Path, saved: Path) -> None:
    """A huge shape must not take memory."""
    whole = saved.read_bytes()
    text = b'"state.agents":{"dtype":"F64","shape":[3,'
    huge = b'"state.agents":{"dtype":"F64","shape":[%d,' % 2**50
    assert text in whole
    n = int.from_bytes(whole[:8], "little") + len(huge) - len(text)
    path = tmp_path / "a"
    path.write_bytes(n.to_bytes(8, "little") + whole[8:].replace(text, huge))
    with pytest.raises(CheckpointError, match="damaged"):
        HALK.load(path)


def test_save_and_load_without_the_methods(tmp_path: Path) -> None:
    checkpoint.save(learned(), tmp_path / "a")
    assert checkpoint.load(str(tmp_path / "a"), HALK).n_steps == 60
