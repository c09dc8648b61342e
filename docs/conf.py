"""Settings of the documentation; ``make docs`` builds it.

Nothing is fetched, neither by the build nor by its pages.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes

from halk import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "halk"
author = "the halk developers"
project_copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "commands",
    "figures",
    "reference",
]
exclude_patterns = ["_build"]
highlight_language = "none"
nitpicky = False
smartquotes_action = "D"  # dashes only: quotes are there to be copied
suppress_warnings = ["ref.python"]  # types of attributes are no links

# markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# docstrings
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False

# pages
html_theme = "furo"
html_title = f"halk {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_css_files = ["halk.css"]
html_theme_options = {"top_of_page_buttons": []}

# MathJax out of its package: one file, which needs no fonts
_mathjax = Path(str(find_spec("sphinx-mathjax-offline").origin)).parent
html_static_path = ["_static", str(_mathjax / "static" / "mathjax" / "tex-svg.js")]
mathjax_path = "tex-svg.js"


def _without_last_line(app: Any, tree: nodes.document) -> None:
    """Drop the empty line that an example ends with, for doctest, from its block."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def setup(app: Any) -> None:
    """Connect what is ours alone."""
    app.connect("doctree-read", _without_last_line)
