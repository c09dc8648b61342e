"""What the checks share: how a broken law is told, and the laws of any component."""

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from halk.component import Component
from halk.errors import LawError
from halk.kernels import Custom


def law(holds: Any, name: str, component: object, counterexample: str) -> None:
    """Raise ``LawError`` unless ``holds``: the law, who breaks it, and where."""
    if not bool(holds):
        raise LawError(f"{component!r} breaks a law, {name}: {counterexample}")


def law_everywhere(holds: Any, name: str, component: object, **seen: Any) -> None:
    """Apply :func:`law` to arrays; the counterexample is the first entry to fail.

    ``seen`` holds arrays that broadcast to the shape of ``holds``.
    """
    bad = ~np.asarray(holds, dtype=bool)
    if bad.any():
        first = tuple(np.argwhere(bad)[0])
        values = (np.broadcast_to(value, bad.shape)[first] for value in seen.values())
        listed = (f"{k} = {v:.17g}" for k, v in zip(seen, values, strict=True))
        law(False, name, component, ", ".join(listed))


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
    if all(map(_is_importable, [*functions, *map(type, parts)])):
        _check_copy(
            component, "pickling", lambda: pickle.loads(pickle.dumps(component))
        )
    if not functions:
        names = {type(part).__name__: type(part) for part in parts}
        text = repr(component)
        for cls in names.values():
            text = text.replace(cls.__qualname__, cls.__name__)
        _check_copy(component, "repr evaluates back", lambda: eval(text, names))


def _check_copy(component: Component, name: str, make: Any) -> None:
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
