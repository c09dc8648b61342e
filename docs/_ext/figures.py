"""The directive ``halk-figure``: a script that computes a figure, and what it draws.

A script defines ``figure()``, which returns a figure of ``halk.report``. It runs when
it, or halk, has changed since it last ran; pictures are kept in ``_build/figures``.
"""

import hashlib
import runpy
from contextlib import chdir
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import halk
from halk import _core, report

LOGGER = logging.getLogger(__name__)


@cache
def sources() -> bytes:
    """Return a hash of halk: what it computes may have changed when this has."""
    root = Path(str(halk.__file__)).parent
    digest = hashlib.sha256(_core.build_info()["digest"].encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _drawn(app: Sphinx, script: Path) -> tuple[str, str]:
    """Return the picture, relative to the source folder, and its caption."""
    folder = Path(app.srcdir) / "_build" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    tables = sorted(script.parent.glob("*.csv"))
    parts = [sources(), *(path.read_bytes() for path in (script, *tables))]
    own = hashlib.sha256(b"".join(parts)).hexdigest()[:16]
    picture = folder / f"{script.stem}-{own}.svg"
    caption = picture.with_suffix(".txt")
    if not caption.exists():
        began = perf_counter()
        with chdir(script.parent):  # tables lie beside their scripts
            figure: Any = runpy.run_path(str(script))["figure"]()
        for old in folder.glob(f"{script.stem}-????????????????.*"):
            old.unlink()
        picture.write_bytes(report.picture(figure).svg)
        caption.write_text(figure.caption, encoding="utf-8")
        LOGGER.info("%s took %.1f s", script.name, perf_counter() - began)
    uri = f"/{picture.relative_to(app.srcdir).as_posix()}"
    return uri, caption.read_text(encoding="utf-8")


class HalkFigure(SphinxDirective):
    """Show what a script draws, and with ``:code:`` the script, folded."""

    required_arguments = 1
    option_spec = {"code": directives.flag, "alt": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Return a figure with its caption, and the code below it."""
        name, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(name)
        uri, caption = _drawn(self.env.app, Path(path))
        image = nodes.image(uri=uri, alt=self.options.get("alt", caption))
        self.env.images.add_file(self.env.docname, uri.lstrip("/"))
        image["uri"], image["candidates"] = uri.lstrip("/"), {"*": uri.lstrip("/")}
        shown = nodes.figure("", image, classes=["computed"])
        shown += nodes.caption(caption, caption)
        self.set_source_info(shown)
        return [shown, *(self._code(Path(path)) if "code" in self.options else [])]

    def _code(self, path: Path) -> list[nodes.Node]:
        text = path.read_text(encoding="utf-8")
        before = f"<details class='code'><summary>The code: {path.name}</summary>"
        return [
            nodes.raw("", before, format="html"),
            nodes.literal_block(text, text, language="python"),
            nodes.raw("", "</details>", format="html"),
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("halk-figure", HalkFigure)
    return {"version": "1", "parallel_read_safe": False}
