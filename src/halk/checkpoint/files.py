"""Save a learner, and load it again."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from halk._atomic import replacing
from halk._validation import integer, require
from halk.checkpoint.archive import Members, RefusedError, read, refuse, write
from halk.checkpoint.arguments import decoded, encoded, kernel_of, names_of
from halk.checkpoint.state import check_kernel, kernel_values, packed, unpacked
from halk.errors import CheckpointError
from halk.kernels import Kernel

PathLike = str | os.PathLike[str]

_VALUES = "kernel_values"
_HEADER = {"learner", "n_steps", "n_features", "arguments"}
_WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Saveable(Protocol):
    """What a learner offers so that it can be saved and brought back.

    The arguments of its constructor are also attributes of the same names.
    """

    n_steps: int

    @property
    def n_features(self) -> int | None:
        """Length of the inputs; None before the first reading."""

    @property
    def state(self) -> Any:
        """What the next step needs, a named tuple; None before the first reading."""

    def restore(
        self, n_steps: int, n_features: int, change: Callable[[Any], Any]
    ) -> None:
        """Go on after ``n_steps`` from what ``change`` makes of a fresh state."""


L = TypeVar("L", bound=Saveable)


def save(learner: Saveable, path: PathLike) -> None:
    """Save a learner; an earlier file is replaced whole, or not at all.

    Parameters
    ----------
    learner : Learner
        Any; also one that has not learned yet.
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
    A :class:`halk.kernels.Custom` kernel is saved by the name of its function only.
    Tuples of numbers come back as lists, arrays as float64 or int64 arrays.
    """
    try:
        header, members = contents(learner)
    except RefusedError as refusal:
        raise CheckpointError(f"{path} was not saved: the model {refusal}") from None
    with replacing(path) as file:
        write(file, header, members)


def contents(learner: Saveable) -> tuple[dict[str, Any], Members]:
    """Return header and members of a learner's checkpoint."""
    members: Members = {}
    arguments = {
        name: encoded(getattr(learner, name), f"arguments.{name}", members)
        for name in names_of(type(learner))
    }
    if learner.state is not None:
        members |= packed(learner.state)
        if hasattr(learner.state, "arena"):
            kernel = getattr(learner, "kernel")  # noqa: B009
            members[_VALUES] = kernel_values(learner.state, kernel)
    header = {
        "learner": type(learner).__name__,
        "n_steps": learner.n_steps,
        "n_features": learner.n_features,
        "arguments": arguments,
    }
    return header, members


def load(path: PathLike, cls: type[L], kernel: Any = None) -> L:
    """Bring back a saved learner.

    Parameters
    ----------
    path : str or path
    cls : type
        The class of the learner that was saved.
    kernel : Kernel, optional
        The kernel that was saved; needed if a function of the user's is part of it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    CheckpointError
        If the file is damaged, foreign, of a newer version or of another learner.
    """
    if kernel is not None and not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a kernel, got {kernel!r}")
    try:
        with Path(path).open("rb") as file:
            return _loaded(file, cls, kernel)
    except FileNotFoundError:
        message = f"{path} does not exist; check the name, or save a model there first"
        raise FileNotFoundError(message) from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder; give a file in it") from None
    except RefusedError as refusal:
        raise CheckpointError(f"{path} {refusal}") from None


def _loaded(file: BinaryIO, cls: type[L], kernel: Any) -> L:
    header, members = read(file)
    return revived(header, members, cls, kernel)


def revived(
    header: dict[str, Any], members: Members, cls: type[L], kernel: Any = None
) -> L:
    """Return the learner of a checkpoint's contents, or refuse them."""
    try:
        _check_header(header, cls)
        learner = _rebuilt(header, members, cls, kernel)
    except _WRONG as error:
        refuse(f"is not consistent: {error}")
    except MemoryError:
        refuse("needs more memory than there is", "load it on a larger machine")
    values = members.pop(_VALUES, None)
    if members:
        refuse(f"is not consistent: unknown members {', '.join(sorted(members))}")
    if learner.state is not None and hasattr(learner.state, "arena"):
        if values is None:
            refuse(f"is not consistent: member {_VALUES} is missing")
        check_kernel(learner.state, getattr(learner, "kernel"), values)  # noqa: B009
    return learner


def _check_header(header: dict[str, Any], cls: type[Any]) -> None:
    _compare("the header", set(header), _HEADER)
    name = header["learner"]
    if name != cls.__name__:
        refuse(f"holds a {name} model, not {cls.__name__}", f"load it with {name}.load")
    _compare("the list of arguments", set(header["arguments"]), set(names_of(cls)))
    integer("n_steps", header["n_steps"])
    if header["n_features"] is not None:
        integer("n_features", header["n_features"], minimum=1)


def _compare(what: str, found: set[str], wanted: set[str]) -> None:
    """Refuse a file of a halk whose learners had other arguments, and damage."""
    lacking, unknown = sorted(wanted - found), sorted(found - wanted)
    if lacking or unknown:
        refuse(
            f"is not consistent: {what} lacks {lacking} and has unknown {unknown}",
            "use the halk that wrote it",
        )


def _rebuilt(header: dict[str, Any], members: Members, cls: type[L], kernel: Any) -> L:
    nodes = header["arguments"]
    arguments = {
        name: kernel_of(node, kernel, members)
        if name == "kernel"
        else decoded(node, members)
        for name, node in nodes.items()
    }
    if kernel is not None:
        require("kernel" in nodes, "kernel", "be left out for this learner", kernel)
    learner = cls(**arguments)
    n_steps, n_features = header["n_steps"], header["n_features"]
    if n_features is None:
        require(n_steps == 0, "n_steps", "be 0 for a model without a state", n_steps)
    else:
        learner.restore(n_steps, n_features, lambda fresh: unpacked(members, fresh))
    return learner
