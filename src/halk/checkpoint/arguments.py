"""The arguments of a learner as JSON and arrays, and back.

Numbers, text and lists are themselves; an array is the name of its member; a component
or network is its family, type and parameters, and comes back through its constructor,
which validates them.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from halk import bandwidth, features, kernels, losses, proximity
from halk.checkpoint.archive import Members, refuse
from halk.component import Component
from halk.network import Network

_FAMILIES = (kernels, features, losses, proximity, bandwidth)
_NETWORK = ("n_agents", "edges", "tolerance", "names", "positions")


def _known() -> dict[tuple[str, str], type[Any]]:
    """Return all that a file may name: the public components, and the network."""
    known: dict[tuple[str, str], type[Any]] = {("network", "Network"): Network}
    for module in _FAMILIES:
        family = module.__name__.removeprefix("halk.")
        for name in module.__all__:
            cls = getattr(module, name)
            # the base classes of the families have no fields
            if isinstance(cls, type) and hasattr(cls, "_fields"):
                known[family, name] = cls
    return known


def names_of(cls: type[Any]) -> list[str]:
    """Return the names of the arguments that a learner is made with."""
    return list(inspect.signature(cls).parameters)


def encoded(value: Any, name: str, members: Members) -> Any:
    """Return an argument as JSON; arrays go to ``members`` under ``name``."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Component | Network):
        return _encoded_object(value, name, members)
    if isinstance(value, Sequence):
        parts = enumerate(value)
        return [encoded(part, f"{name}.{k}", members) for k, part in parts]
    content = np.asarray(value)
    if content.dtype.kind not in "fiub":
        refuse(f"has {name} = {value!r}", "use numbers, arrays and halk's components")
    if content.ndim == 0:
        return content.item()
    kind = "<f8" if content.dtype.kind == "f" else "<i8"
    members[name] = np.ascontiguousarray(content, dtype=kind)
    return {"array": name}


def _encoded_object(value: Any, name: str, members: Members) -> dict[str, Any]:
    keys = [key for key, cls in _known().items() if cls is type(value)]
    if not keys:
        refuse(
            f"has {name} = {value!r}, which is not one of halk's own components",
            "a kernel of your own is saved as kernels.Custom; a loss cannot be",
        )
    if isinstance(value, kernels.Custom):
        source = value.source
        function = getattr(source, "__qualname__", repr(source))
        parameters = {"function": f"{getattr(source, '__module__', '')}.{function}"}
    else:
        fields = _NETWORK if isinstance(value, Network) else value._fields
        parameters = {
            field: encoded(getattr(value, field), f"{name}.{field}", members)
            for field in fields
        }
    family, kind = keys[0]
    return {"family": family, "type": kind, "parameters": parameters}


def decoded(node: Any, members: Members) -> Any:
    """Return the argument that :func:`encoded` made ``node`` from.

    Takes its arrays out of ``members``; wrong parameters are the ``ValueError`` or
    ``TypeError`` of the constructor.
    """
    if isinstance(node, list):
        return [decoded(part, members) for part in node]
    if not isinstance(node, dict):
        return node
    if set(node) == {"array"}:
        if node["array"] not in members:
            refuse(f"is not consistent: member {node['array']} is missing")
        return members.pop(node["array"]).copy()
    family, kind = str(node.get("family")), str(node.get("type"))
    cls = _known().get((family, kind))
    if cls is None:
        refuse(
            f"is not consistent: this halk has no {family}.{kind}",
            "use the halk that wrote it, or a newer one",
        )
    return cls(
        **{key: decoded(part, members) for key, part in node["parameters"].items()}
    )


def kernel_of(node: Any, given: Any, members: Members) -> Any:
    """Return the saved kernel, or the given one if it is like the saved one.

    Functions are not saved, so they are not compared here.
    """
    if given is None:
        if _has_function(node):
            refuse(
                f"was saved with the kernel {_described(node)}, whose function is not "
                f"in the file",
                "pass the kernel, as in HALK.load(path, kernel=kernel)",
            )
        return decoded(node, members)
    if _without_functions(encoded(given, "kernel", {})) != _without_functions(node):
        refuse(
            f"was saved with the kernel {_described(node)}, got {given!r}",
            "pass the kernel that was saved",
        )
    return given


def _is_custom(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") == "Custom"


def _has_function(node: Any) -> bool:
    parts = node.get("parameters", {}).values() if isinstance(node, dict) else ()
    return _is_custom(node) or any(map(_has_function, parts))


def _without_functions(node: Any) -> Any:
    if _is_custom(node):
        return "Custom"
    if isinstance(node, dict):
        return {key: _without_functions(part) for key, part in node.items()}
    return node


def _described(node: Any) -> str:
    if not isinstance(node, dict) or not isinstance(node.get("parameters"), dict):
        return repr(node)
    parts = node["parameters"].items()
    listed = ", ".join(f"{key}={_described(part)}" for key, part in parts)
    return f"{node.get('type')}({listed})"
