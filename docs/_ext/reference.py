"""The directive ``halk-api``: every public name of a module, first listed, then told.

Names are those of ``__all__``, so what is added to a module is documented by itself.
"""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_origin

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from halk.learners import settings


def public(module: str) -> list[str]:
    """Return the names to document, those of modules and of the version left out."""
    found = import_module(module)
    names = getattr(found, "__all__", None) or [
        name
        for name, value in vars(found).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module
    ]
    return [
        name
        for name in names
        if not name.startswith("__") and not inspect.ismodule(getattr(found, name))
    ]


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    is_alias = get_origin(value) is not None
    return "function" if callable(value) and not is_alias else "data"


def _comment(module: str, name: str) -> list[str]:
    """Return what stands below a constant, wherever in the package it is defined."""
    package = import_module(module)
    modules = [module]
    if hasattr(package, "__path__"):
        inside = pkgutil.iter_modules(package.__path__, f"{module}.")
        modules += [one.name for one in inside]
    for one in modules:
        found = ModuleAnalyzer.for_module(one).find_attr_docs().get(("", name))
        if found:
            return found
    return []


def _generic(name: str, function: Any) -> Iterator[str]:
    """Yield one entry for all the formulas of a function chosen by type."""
    names = ", ".join(inspect.signature(function).parameters)
    yield from (f".. py:function:: {name}({names})", "")
    yield from (f"   {line}" for line in (inspect.getdoc(function) or "").splitlines())


class HalkApi(SphinxDirective):
    """Document a module; names in the content, if any, in place of ``__all__``."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012
        "inherited": directives.unchanged,  # classes to show with all their methods
        "leave-out": directives.unchanged,
        "untitled": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of all entries."""
        module = self.arguments[0]
        left_out = self.options.get("leave-out", "").split()
        names = " ".join(self.content).split() or public(module)
        names = [name for name in names if name not in left_out]
        lines = ["```{eval-rst}", *self._lines(module, names), "```"]
        into = nodes.Element()
        source, line = self.get_source_info()
        self.state.nested_parse(StringList(lines, source), line, into)
        return list(into.children)

    def _lines(self, module: str, names: list[str]) -> Iterator[str]:
        found, inherited = import_module(module), self.options.get("inherited", "")
        yield from (f".. py:currentmodule:: {module}", "")
        kinds = {name: _kind(getattr(found, name)) for name in names}
        if len(names) > 1:
            yield from (".. autosummary::", "   :nosignatures:", "")
            yield from (f"   {name}" for name in names if kinds[name] != "data")
            yield ""
        for name, kind in kinds.items():
            if kind == "data":  # autodoc would tell of its type
                yield from (f".. py:data:: {name}", "")
                yield from (f"   {line}" for line in _comment(module, name))
            elif hasattr(getattr(found, name), "registry"):
                yield from _generic(name, getattr(found, name))
            else:
                yield f".. auto{kind}:: {name}"
            if kind in ("class", "exception"):
                yield from ("   :members:", "   :show-inheritance:")
            if name in inherited.split():
                yield "   :inherited-members: object, tuple"
            yield ""


def _skips(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out fields of named tuples, which their class tells of, and sklearn's."""
    text = getattr(member, "__doc__", None) or ""
    is_field = text.startswith("Alias for field number")
    is_request = name.startswith("set_") and name.endswith("_request")
    return True if is_field or is_request else None


def _spelled(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:  # fmt: skip
    """Put what a default is in place of the name that it has in the sources."""
    for constant in ("KERNEL", "LOSS", "PROXIMITY"):
        if signature is not None:
            value = repr(getattr(settings, constant))
            signature = signature.replace(f"={constant}", f"={value}")
    return signature, returns


def _readable(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Mend what people read well in a docstring, and reStructuredText does not."""
    if what in ("attribute", "property"):
        lines.insert(0, "")  # or what stands before a colon is taken for a type
    for number in reversed(range(1, len(lines))):
        line, before = lines[number], lines[number - 2].rstrip()
        if line.startswith("The others as for"):  # a last entry of the parameters
            lines[number : number + 1] = ["...", f"    {line}"]
        elif line.startswith("    ") and before.endswith(",") and not lines[number - 1]:
            lines[number:number] = ["::", ""]  # formulas that go on a sentence


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, and what mends docstrings before napoleon sees them."""
    app.connect("autodoc-skip-member", _skips)
    app.connect("autodoc-process-signature", _spelled)
    app.connect("autodoc-process-docstring", _readable, priority=400)
    app.add_directive("halk-api", HalkApi)
    return {"version": "1", "parallel_read_safe": True}
