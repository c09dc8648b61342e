"""Kernels, losses, schemes: things that files and commands have by their names."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from halk.component import subclasses
from halk.data.findings import suggest


def named(
    what: str, value: Any, family: type[Any], others: tuple[Any, ...] = ()
) -> Any:
    """Return one of a family from its name, or from a table of name and parameters.

    Parameters
    ----------
    what : str
        How messages call it.
    value : str or dict
    family : type
        Of which all public subclasses are known, but ``others``.
    others : tuple of types

    Raises
    ------
    ValueError
        That says what would be right.
    """
    known = {plain(cls): cls for cls in subclasses(family) if cls not in others}
    given: Mapping[str, Any] = {"name": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        first = next(iter(known))
        rule = f"must be a name, or a table such as {{ name = {first!r}, ... }}"
        raise ValueError(f"{what} {rule}, got {value!r}".replace("'", '"'))
    name = given["name"]
    if name not in known:
        listed = ", ".join(map(repr, known))
        hint = suggest(name, list(known))
        raise ValueError(f"{what} must be one of {listed}, got {name!r}{hint}")
    parameters = {word: v for word, v in given.items() if word != "name"}
    words = list(inspect.signature(known[name]).parameters)
    for word in parameters:
        if word not in words:
            listed = ", ".join(words) or "none"
            raise ValueError(
                f"{what} has no parameter {word!r}{suggest(word, words)}; those of "
                f"{name} are {listed}"
            )
    try:
        return known[name](**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from None


def plain(cls: type[Any]) -> str:
    """Return the name of a class as files have it: ``LeaveOneOut``, leave_one_out."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).casefold()


def table_of(component: Any) -> dict[str, Any]:
    """Return what a file has to say for a dataclass to be made from it."""
    return {"name": plain(type(component))} | asdict(component)


def spelled(what: str, text: str) -> Any:
    """Return what a command line says: ``poisson``, ``bernoulli:q=0.3``.

    Several parameters are separated by commas.
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    try:
        return {"name": name} | tomllib.loads(f"it = {{{rest}}}")["it"]
    except tomllib.TOMLDecodeError:
        raise ValueError(
            f"{what} must be a name, or name:parameter=value,..., got {text!r}"
        ) from None
