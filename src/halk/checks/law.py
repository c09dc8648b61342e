"""What the checks share: how a broken law is reported, and the laws of any value."""

import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from halk.component import Component
from halk.errors import LawError
from halk.kernels import Custom


def law(holds: Any, name: str, who: object, where: str = "", **seen: Any) -> None:
    """Raise ``LawError`` unless ``holds`` everywhere: the law, who breaks it, where.

    ``seen`` holds arrays that broadcast to the shape of ``holds``; the message shows
    their entries at the first failure.
    """
    bad = ~np.asarray(holds, dtype=bool)
    if bad.any():
        first = tuple(np.argwhere(bad)[0])
        entries = {k: np.broadcast_to(v, bad.shape)[first] for k, v in seen.items()}
        where += ", ".join(f"{k} = {entry:.17g}" for k, entry in entries.items())
        raise LawError(f"{who!r} breaks a law, {name}: {where}")


def near(got: Any, wanted: Any, share: float, least: float = 0.0) -> Any:
    """Return where two arrays agree up to a share of ``wanted``."""
    return np.abs(got - wanted) <= share * np.abs(wanted) + least


def check_value(component: Component) -> None:
    """Check that a component is a value: equality, hash, pickle, repr.

    It is pickled only if its class, or the function of a
    :class:`halk.kernels.Custom`, can be imported; the latter has no repr that
    evaluates back.
    """
    parts, same = list(_parts(component)), tuple(vars(component).values())
    law(component == component, "equality", component, "it differs from itself")
    law(component != same, "equality", component, f"it equals the tuple {same!r}")
    functions = [part.function for part in parts if isinstance(part, Custom)]
    copies: dict[str, Callable[[], Any]] = {}
    if all(map(_is_importable, [*functions, *map(type, parts)])):
        copies["pickling"] = lambda: pickle.loads(pickle.dumps(component))
    if not functions:
        names = {type(part).__name__: type(part) for part in parts}
        text = repr(component)
        for cls in names.values():
            text = text.replace(cls.__qualname__, cls.__name__)
        copies["repr evaluates back"] = lambda: eval(text, names)
    for name, make in copies.items():
        try:
            twin = make()
        except Exception as error:
            law(False, name, component, f"{type(error).__name__}: {error}")
        law(twin == component, name, component, f"it came back as {twin!r}")
        law(hash(twin) == hash(component), "hash", component, "its equal has another")


def _is_importable(thing: Any) -> bool:
    module = sys.modules.get(getattr(thing, "__module__", ""))
    return getattr(module, getattr(thing, "__qualname__", ""), None) is thing


def _parts(component: Component) -> Iterator[Component]:
    yield component
    for value in vars(component).values():
        if isinstance(value, Component):
            yield from _parts(value)
