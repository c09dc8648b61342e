"""The page: one HTML file with everything inside."""

import os
from base64 import b64encode
from dataclasses import replace
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from halk._atomic import replacing
from halk.report.blocks import Block, Numbers, block
from halk.report.charts import Bars, MapFigure
from halk.report.draw import Picture, picture, save
from halk.report.pages import AnyFigure, Page
from halk.report.text import inline, number

__all__ = ["render", "write"]

PathLike = str | os.PathLike[str]

_HEAVY = 400_000  # bytes of SVG beyond which a browser is quicker with pixels
_PIXELS_PER_INCH = 90
_PHONE = 5.2  # inches: the width of a telephone, at three quarters of the size


def render(page: Page, figures_folder: PathLike | None = None) -> str:
    """Return the HTML of a page.

    Styles and figures are inside, so it asks for nothing from outside; a policy in its
    head forbids it to. All text is escaped.

    Parameters
    ----------
    page : Page
    figures_folder : path, optional
        Also write the figures there, as ``draw`` does.

    Raises
    ------
    ImportError
        If Jinja2, or Matplotlib for a page with figures, is not installed.
    """
    environment = _environment()
    pictures = {}
    for figure in page.figures:
        drawn, narrow = picture(figure), _narrowed(figure)
        pictures[figure.name] = drawn, None if narrow is None else picture(narrow)
        if figures_folder is not None:
            save(figure.name, drawn, figures_folder)
    numbers = Numbers()
    sections = [
        (section, [_finished(block(item, numbers), pictures) for item in section.items])
        for section in page.sections
    ]
    template = environment.from_string(_resource("page.html"))
    style = _resource("page.css")
    return str(template.render(page=page, sections=sections, style=style))


def write(page: Page, path: PathLike, figures_folder: PathLike | None = None) -> Path:
    """Write a page to a file, whole or not at all.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist; it is not made.
    """
    with replacing(path) as file:
        # A name from the system may hold half a character, which no file may.
        file.write(render(page, figures_folder).encode("utf-8", "replace"))
    return Path(path)


def _environment() -> Any:
    try:
        jinja = import_module("jinja2")
    except ImportError:
        raise ImportError("reports need jinja2: pip install 'halk[demo]'") from None
    environment = jinja.Environment(
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    markup = import_module("markupsafe").Markup
    environment.filters["inline"] = lambda text: markup(inline(str(text)))
    environment.filters["number"] = number
    return environment


def _narrowed(figure: AnyFigure) -> AnyFigure | None:
    """Return the figure for a telephone: one panel in a row; None if it is narrow."""
    if isinstance(figure, MapFigure):
        return replace(figure, width=_PHONE) if figure.width > _PHONE else None
    if isinstance(figure, Bars):
        is_wide = min(figure.columns, len(figure.groups)) > 1
        return replace(figure, columns=1) if is_wide else None
    is_wide = min(figure.columns, len(figure.panels)) > 1
    if is_wide or (figure.width or 0) > _PHONE:
        return replace(figure, columns=1, width=None)
    return None


def _finished(
    made: Block, pictures: dict[str, tuple[Picture, Picture | None]]
) -> Block:
    """Add to the block of a figure its pictures, for wide screens and for narrow."""
    if made["kind"] != "figure":
        return made
    wide, narrow = pictures[made["name"]]
    return made | _shown(wide) | {"narrow": None if narrow is None else _shown(narrow)}


def _shown(drawn: Picture) -> Block:
    return {
        "width": round(drawn.width * _PIXELS_PER_INCH),
        "height": round(drawn.height * _PIXELS_PER_INCH),
        "source": _data_address(drawn),
    }


def _data_address(drawn: Picture) -> str:
    """Return the picture as an address that holds it.

    As an image, not inside the page: identifiers of several SVG would clash there.
    """
    if len(drawn.svg) > _HEAVY:
        return "data:image/png;base64," + b64encode(drawn.png).decode()
    return "data:image/svg+xml;base64," + b64encode(drawn.svg).decode()


def _resource(name: str) -> str:
    folder = resources.files("halk.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")
