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


def check_value(component: Any) -> None:
    """Check that a component is a value: equality, hash, pickle, repr.

    A :class:`halk.kernels.Custom` has no repr that evaluates back, and is pickled only
    if its function can be imported.
    """
    same, parts = tuple(component), list(_parts(component))
    law(component == component, "equality", component, "it differs from itself")
    law(component != same, "equality", component, f"it equals the tuple {same!r}")
    customs = [part for part in parts if isinstance(part, Custom)]
    if all(_is_importable(custom.source) for custom in customs):
        try:
            twin = pickle.loads(pickle.dumps(component))
        except Exception as error:
            law(False, "pickling", component, f"{type(error).__name__}: {error}")
        _check_twin(component, twin, "pickling")
    if not customs:
        names = {type(part).__name__: type(part) for part in parts}
        try:
            twin = eval(repr(component), names)
        except Exception as error:
            law(False, "repr evaluates back", component, str(error))
        _check_twin(component, twin, "repr evaluates back")


def _check_twin(component: Any, twin: Any, name: str) -> None:
    law(twin == component, name, component, f"it came back as {twin!r}")
    law(hash(twin) == hash(component), "hash", component, "its equal has another")


def _is_importable(function: Any) -> bool:
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__qualname__, None) is function


def _parts(component: Any) -> Iterator[Any]:
    yield component
    for field in component:
        if isinstance(field, Component):
            yield from _parts(field)
