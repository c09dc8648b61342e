"""Save a model to a file and go on later, as if it had never stopped.

A checkpoint is a safetensors file: every array of the state and of the arguments, and
in the metadata JSON with the learner's name, its arguments, its number of steps, and a
SHA-256 digest of all that, since the format has no checksum of its own. Nothing is
pickled and nothing is imported: the components of a file come back through their
constructors, which validate. A user's own kernel, loss or proximity is named in the
file; it is taken from the modules that are imported already, or passed to ``load``.

Going on from a checkpoint gives the same bits as never having stopped.
"""

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import numpy as safetensors

from halk._atomic import replacing
from halk._validation import Vector, check_state, require
from halk._version import __version__
from halk.bandwidth import Adaptation
from halk.component import Component, find_arguments, subclasses
from halk.errors import CheckpointError
from halk.features import FeatureMap
from halk.kernels import Kernel, as_kernel, rescale
from halk.losses import Loss, as_loss
from halk.network import Network
from halk.proximity import Proximity, as_proximity
from halk.state import SCALE

__all__ = ["FORMAT", "VERSION", "load", "save"]

FORMAT = "halk-checkpoint"
"""The one key of the metadata: safetensors writes several in an arbitrary order."""
VERSION = 4

Arrays = dict[str, NDArray[Any]]
PathLike = str | os.PathLike[str]

_STATE = "state."
_VALUES = "kernel_values"
_FAMILIES = (Kernel, Loss, Proximity, Adaptation, FeatureMap)
_CHECKS = {"kernel": as_kernel, "loss": as_loss, "proximity": as_proximity}
_SAMPLE = 32  # atoms at which a kernel is compared with the one that was saved

_WIDE = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "<i8"}
_TYPES = {"f4": "<f4", "i1": "<i1"}
"""What arrays are saved as, by kind; small ones as they are."""

WRONG = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What contents raise that fit no model."""


class RefusedError(Exception):
    """What is wrong, and what to do about it; the path is added outside."""


def refuse(wrong: str, advice: str = "take an older copy, or learn again") -> NoReturn:
    """Raise a :class:`RefusedError`."""
    raise RefusedError(f"{wrong}; {advice}")


L = TypeVar("L")


def save(learner: Any, path: PathLike) -> None:
    """Save a learner; an earlier file is replaced whole, or not at all.

    Parameters
    ----------
    learner : Learner
        Any; also one that has not learned yet. The arguments of its constructor are
        attributes of the same names, and it has ``n_steps``, ``n_features`` (None
        before the first reading), ``state_dict`` and ``load_state_dict``.
    path : str or path
        The name is taken as it is, whatever it ends in.

    Raises
    ------
    CheckpointError
        If the learner holds something that no file could bring back.
    OSError
        If the disk is full, the folder missing, ...

    Notes
    -----
    Functions, and classes that are not halk's, are saved by name and parameters only.
    Tuples of numbers come back as lists, arrays as float64 or int64 arrays.
    """
    try:
        data = pack(*contents(learner))
    except (RefusedError, ValueError) as error:
        raise CheckpointError(f"{path} was not saved: the model {error}") from None
    with replacing(path) as file:
        file.write(data)


def load(
    path: PathLike,
    cls: type[L],
    kernel: Any = None,
    loss: Any = None,
    proximity: Any = None,
) -> L:
    """Bring back a saved learner.

    Parameters
    ----------
    path : str or path
    cls : type
        The class of the learner that was saved.
    kernel, loss, proximity : optional
        What was saved; needed if it is the user's own and not in an imported module.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    CheckpointError
        If the file is damaged, foreign, of another version or of another learner.
    """
    given = {"kernel": kernel, "loss": loss, "proximity": proximity}
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        _CHECKS[name](value)
    try:
        return rebuild(*unpack(Path(path).read_bytes()), cls, given)
    except FileNotFoundError:
        message = f"{path} does not exist; check the name, or save a model there first"
        raise FileNotFoundError(message) from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder; give a file in it") from None
    except RefusedError as refusal:
        raise CheckpointError(f"{path} {refusal}") from None


# --- the file -------------------------------------------------------------------------


def pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of a file; the same for the same contents."""
    # safetensors takes the memory of an array as it is: it must be contiguous
    arrays = {
        name: np.ascontiguousarray(a, _TYPES.get(a.dtype.str[1:], _WIDE[a.dtype.kind]))
        for name, a in arrays.items()
    }
    header = {"version": VERSION, "halk": __version__} | header
    return safetensors.save(arrays, {FORMAT: _metadata(header, arrays)})


def _metadata(header: dict[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(header).encode())
    for name in sorted(arrays):
        value = arrays[name]
        digest.update(json.dumps([name, value.dtype.str, value.shape]).encode())
        digest.update(value.data)
    return json.dumps({"sha256": digest.hexdigest(), "header": header})


def unpack(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a file, or refuse it."""
    if not data:
        refuse("is empty")
    if data.startswith(b"PK\x03\x04"):
        refuse(
            "is a zip, as halk saved models before it used safetensors",
            "learn again, or use the halk that wrote it",
        )
    try:
        length = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + length])["__metadata__"][FORMAT]
        header = json.loads(metadata)["header"]
        version, maker = header["version"], header["halk"]
    except (*WRONG, OverflowError):
        refuse("is not a halk checkpoint", "give a file that save has written")
    if type(version) is not int or version != VERSION:
        refuse(
            f"has format version {version!r}, written by halk {maker}; this is halk "
            f"{__version__}, which reads version {VERSION}",
            "use the halk that wrote it, or a newer one",
        )
    try:
        arrays = safetensors.load(data)
    except Exception as error:
        # safetensors answers damage with errors of many kinds
        refuse(f"is damaged or cut short ({type(error).__name__}: {error})")
    if metadata != _metadata(header, arrays):
        refuse("is damaged: the digest of its contents is another")
    del header["version"], header["halk"]
    return header, arrays


# --- a learner ------------------------------------------------------------------------


def contents(learner: Any) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a learner's checkpoint."""
    arrays: Arrays = {}
    header = {
        "learner": type(learner).__name__,
        "n_steps": learner.n_steps,
        "n_features": learner.n_features,
        "arguments": {
            name: encode(getattr(learner, name), f"arguments.{name}", arrays)
            for name in inspect.signature(type(learner)).parameters
        },
    }
    return header, arrays | pack_state(learner.state_dict(), _kernel_of(learner))


def rebuild(
    header: dict[str, Any],
    arrays: Arrays,
    cls: type[L],
    given: dict[str, Any] | None = None,
) -> L:
    """Return the learner of a checkpoint's contents, or refuse them."""
    try:
        _check_header(header, cls)
        made = cls(**_decode_arguments(header["arguments"], arrays, given or {}))
        learner: Any = made
        state, values = unpack_state(arrays)
        n_steps, n_features = header["n_steps"], header["n_features"]
        if n_features is None:
            rule = "be 0 for a model without a state"
            require(n_steps == 0 and not state, "n_steps", rule, n_steps)
        else:
            learner.load_state_dict(n_steps, n_features, state)
            check_kernel(state, _kernel_of(learner), values)
    except WRONG as error:
        refuse(f"is not consistent: {error}")
    except MemoryError:
        refuse("needs more memory than there is", "load it on a larger machine")
    if arrays:
        refuse(f"is not consistent: unknown arrays {', '.join(sorted(arrays))}")
    return made


def _check_header(header: dict[str, Any], cls: type[Any]) -> None:
    _compare("the header", header, {"learner", "n_steps", "n_features", "arguments"})
    name = header["learner"]
    if name != cls.__name__:
        refuse(f"holds a {name} model, not {cls.__name__}", f"load it with {name}.load")
    wanted = set(inspect.signature(cls).parameters)
    _compare("the list of arguments", header["arguments"], wanted)


def _compare(what: str, found: Any, wanted: set[str]) -> None:
    """Refuse a file of a halk whose learners had other arguments."""
    lacking, unknown = sorted(wanted - set(found)), sorted(set(found) - wanted)
    if lacking or unknown:
        refuse(
            f"is not consistent: {what} lacks {lacking} and has unknown {unknown}",
            "use the halk that wrote it",
        )


def _kernel_of(learner: Any) -> Any:
    """Return the kernel that is in use, which may not be the argument itself."""
    return getattr(learner, "kernel_", getattr(learner, "kernel", None))


# --- the state ------------------------------------------------------------------------


def pack_state(state: Arrays, kernel: Any) -> Arrays:
    """Return the arrays of a state, and the kernel's values at some atoms."""
    check_state(state)
    arrays = {_STATE + name: value for name, value in state.items()}
    return arrays | {_VALUES: _kernel_values(state, kernel)}


def unpack_state(arrays: Arrays) -> tuple[Arrays, Vector]:
    """Take a state and a kernel's values out of ``arrays``; nothing is checked."""
    names = [name for name in arrays if name.startswith(_STATE)]
    state = {name.removeprefix(_STATE): arrays.pop(name) for name in names}
    return state, arrays.pop(_VALUES)


def _kernel_values(state: Arrays, kernel: Any) -> Vector:
    """Return the Gram matrix of some atoms of the first agent that has any, flat."""
    if not state.get("order", np.zeros(0)).any():
        return np.zeros(0)
    i = int(np.flatnonzero(state["order"])[0])
    atoms = state["atoms"][: min(int(state["order"][i]), _SAMPLE)]
    is_second = "covariance" in state  # whose length scales stay as they are
    scale = 1.0 if is_second else float(state["agents"][i, SCALE])
    values: Vector = rescale(as_kernel(kernel), scale)(atoms)
    return values.ravel()


def check_kernel(state: Arrays, kernel: Any, saved: Vector) -> None:
    """Refuse a kernel that has other values at the atoms than the one that learned."""
    values = _kernel_values(state, kernel)
    same = values.shape == saved.shape
    if not (same and np.allclose(values, saved, rtol=1e-6, atol=1e-9)):
        refuse(
            f"was learned with another function than that of {kernel!r}: their values "
            f"at the atoms differ",
            "pass the kernel that was saved",
        )


# --- the arguments --------------------------------------------------------------------


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """Return an argument as JSON; its arrays go to ``arrays`` under ``name``.

    Numbers, text and lists are themselves, an array is a name, a function is its module
    and name, an object is its class and parameters.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, FunctionType):
        return {"module": value.__module__, "function": value.__qualname__}
    if isinstance(value, Sequence):
        return [encode(v, f"{name}.{k}", arrays) for k, v in enumerate(value)]
    parts = {}
    if isinstance(value, Component | Network):
        arguments = find_arguments(value)
        parts = vars(value) if arguments is None else arguments
    elif not callable(getattr(value, "slope", value)):
        content = np.asarray(value)
        if content.dtype.kind not in "fiub":
            refuse(f"has {name} = {value!r}", "use numbers, arrays and components")
        if content.ndim == 0:
            return content.item()
        arrays[name] = content
        return {"array": name}
    return {
        "module": type(value).__module__,
        "type": type(value).__qualname__,
        "parameters": {k: encode(v, f"{name}.{k}", arrays) for k, v in parts.items()},
    }


def decode(node: Any, arrays: Arrays, name: str) -> Any:
    """Return the argument that :func:`encode` made ``node`` from.

    Takes its arrays out of ``arrays``; wrong parameters are the ``ValueError`` or
    ``TypeError`` of the constructor.
    """
    if isinstance(node, list):
        return [decode(part, arrays, name) for part in node]
    if not isinstance(node, dict):
        return node
    if set(node) == {"array"}:
        if node["array"] not in arrays:
            refuse(f"is not consistent: array {node['array']} is missing")
        return arrays.pop(node["array"]).copy()
    if "function" in node:
        return _find_function(str(node["module"]), str(node["function"]), name)
    cls = _find_class(str(node["module"]), str(node["type"]), name)
    parts = node["parameters"].items()
    return cls(**{key: decode(part, arrays, name) for key, part in parts})


def _find_class(module: str, kind: str, name: str) -> Any:
    """Return the network, or a component of any imported module, and nothing else."""
    known: list[Any] = [Network, *chain.from_iterable(map(subclasses, _FAMILIES))]
    # of one that was defined again, the newest
    classes = {(cls.__module__, cls.__qualname__): cls for cls in known}
    if (module, kind) not in classes:
        _refuse_missing(name, f"{module}.{kind}")
    return classes[module, kind]


def _find_function(module: str, kind: str, name: str) -> Any:
    """Return a function of an imported module that was defined there."""
    found: Any = sys.modules.get(module)
    for part in kind.split("."):
        found = getattr(found, part, None)
    is_own = isinstance(found, FunctionType) and found.__module__ == module
    # no file may have functions of the standard library called as kernels
    if not is_own or module.partition(".")[0] in sys.stdlib_module_names:
        _refuse_missing(name, f"{module}.{kind}")
    return found


def _refuse_missing(name: str, what: str) -> NoReturn:
    if what.startswith("halk.") or name not in _CHECKS:
        refuse(
            f"is not consistent: this halk has no {what.removeprefix('halk.')}",
            "use the halk that wrote it, or a newer one",
        )
    refuse(
        f"was saved with the {name} {what}, which no imported module has",
        f"import its module, or pass the {name}, as in HALK.load(path, {name}={name})",
    )


def _decode_arguments(
    nodes: dict[str, Any], arrays: Arrays, given: dict[str, Any]
) -> dict[str, Any]:
    for name, value in given.items():
        require(name in nodes, name, "be left out for this learner", value)
        _check_given(name, value, nodes[name], arrays)
    others = {name: node for name, node in nodes.items() if name not in given}
    return given | {name: decode(node, arrays, name) for name, node in others.items()}


def _check_given(name: str, given: Any, node: Any, arrays: Arrays) -> None:
    """Refuse a component that is not like the saved one; functions may differ."""
    own: Arrays = {}
    same = _describe(encode(given, f"arguments.{name}", own)) == _describe(node)
    if not same or any(not np.array_equal(own[key], arrays.pop(key)) for key in own):
        refuse(
            f"was saved with the {name} {_describe(node)}, got {given!r}",
            f"pass the {name} that was saved",
        )


def _describe(node: Any) -> str:
    """Return a node as text, without names of modules and functions."""
    if not isinstance(node, dict) or "module" not in node:
        return repr(node)
    if "function" in node:
        return "<function>"
    parts = {key: _describe(part) for key, part in node["parameters"].items()}
    if node["type"] == "Custom":
        return parts["function"]
    return f"{node['type']}({', '.join(f'{key}={v}' for key, v in parts.items())})"
