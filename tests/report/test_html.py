"""The page: everything inside, all of it escaped, whole or not at all."""

import errno
import os
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from halk.report import (
    Bullets,
    ClaimRow,
    ClaimTable,
    Figure,
    Page,
    Section,
    Table,
    render,
    write,
)
from halk.report.text import inline

EVIL = '<script>alert("1")</script>"\'><img src=http://x.org/y onerror=z()>&{{ 7 * 7 }}'


class Reader(HTMLParser):
    """Tags, addresses and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(*items: object, **rest: object) -> Page:
    section = Section("S", "s", items)  # type: ignore[arg-type]
    return Page("T", "", [], [section], **rest)  # type: ignore[arg-type]


def test_text_is_escaped_in_every_place(make_page: Callable[[str], Page]) -> None:
    html = render(make_page(EVIL))
    reader = Reader(html)
    assert "script" not in reader.tags
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    sources = [value for name, value in reader.attributes if name in ("src", "href")]
    assert all(value.startswith(("data:", "#")) for value in sources)
    assert reader.tags.count("img") == 4
    # Title twice, subtitle, headline twice, contents and heading, paragraph, bullet,
    # captions of 3 figures and 2 tables, header, cell, claim (column, twice), 2 facts.
    assert reader.text.count(EVIL) >= 20
    assert [value for name, value in reader.attributes if name == "alt"][1:] == [
        EVIL
    ] * 3


def test_nothing_is_asked_from_outside(make_page: Callable[[str], Page]) -> None:
    html = render(make_page("plain"))
    assert "default-src 'none'" in html
    assert not re.search(r"https?://", html)
    assert not re.search(r"url\(|@import", html)
    assert '<link rel="icon" href="data:,">' in html


def test_figures_are_numbered_and_described(make_page: Callable[[str], Page]) -> None:
    reader = Reader(render(make_page("words")))
    for label in ("Figure 1.", "Figure 4.", "Table 1.", "Table 2."):
        assert label in reader.text
    assert "Figure 5." not in reader.text
    sources = [value for name, value in reader.attributes if name == "src"]
    assert len(set(sources)) == 4


def test_cells_are_formatted_and_aligned() -> None:
    rows = [["a", 0.123456, 1234567, None], ["b", None, 5, None]]
    html = render(page_of(Table("c", ["w", "x", "y", "z"], rows, highlight_rows=[1])))
    assert '<td class="right">0.123</td><td class="right">1,234,567</td>' in html
    assert (
        '<tr class="highlight"><td class="left">b</td><td class="right">–</td>' in html
    )
    assert '<td class="left">–</td>' in html
    mixed = render(page_of(Table("c", ["x"], [[1.0], ["diverged"], [2.0]])))
    assert '<td class="right">diverged</td>' in mixed
    centred = render(page_of(Table("c", ["w"], [[1]], align="c")))
    assert '<td class="centre">1</td>' in centred


def test_verdicts_are_words() -> None:
    rows = [
        ClaimRow("It learns.", "Fig. 1", [(True, "0.4 < 0.6"), (False, "`3`")]),
        ClaimRow("It ends.", "", [(None, ""), (None, "")]),
    ]
    text = " ".join(
        Reader(render(page_of(ClaimTable("c", ["p", "q"], rows)))).text.split()
    )
    assert "✓ 1 reproduced ✗ 1 not reproduced ○ 2 no verdict" in text
    assert "It learns.Fig. 1" in text
    assert "✓ reproduced0.4 < 0.6" in text
    assert "✗ not reproduced3" in text
    assert text.count("○ no verdict") == 2


def test_contents_from_three_sections_on() -> None:
    sections = [Section(f"Part {n}", f"part-{n}", []) for n in range(3)]
    assert "<nav" not in render(Page("T", "", [], sections[:2]))
    html = render(Page("T", "", [], sections))
    assert '<a href="#part-2">Part 2</a>' in html
    assert '<section id="part-2">' in html


def test_headline_and_facts() -> None:
    html = render(page_of("p", headline=[("error", 0.42, "°C"), ("count", 12, "")]))
    assert '<dt>error</dt><dd>0.420<span class="unit">°C</span></dd>' in html
    assert "<dt>count</dt><dd>12</dd>" in html
    assert "<footer>" not in html
    made = render(Page("T", "", [("seed", 7)], []))
    assert "<dt>seed</dt><dd>7</dd>" in made


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("one ` only", "one ` only"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](data:text/html,y)", "[x](data:text/html,y)"),
        ("[x](#part)", '<a href="#part" rel="noreferrer">x</a>'),
        (
            '[<b>](https://a/"b)',
            '<a href="https://a/&quot;b" rel="noreferrer">&lt;b&gt;</a>',
        ),
        ("`[x](#y)`", "<code>[x](#y)</code>"),
    ],
)
def test_code_and_links(text: str, html: str) -> None:
    assert inline(text) == html


def test_the_same_page_gives_the_same_text(make_page: Callable[[str], Page]) -> None:
    page = make_page("words")
    assert render(page) == render(page)


def test_write_puts_figures_beside(tmp_path: Path, curves: Figure) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    path = write(page_of(curves), tmp_path / "report.html", folder)
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert sorted(os.listdir(folder)) == ["curves.png", "curves.svg"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere must exist"):
        write(page_of("p"), tmp_path / "nowhere" / "report.html")


def test_a_failure_leaves_the_old_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    write(page_of("old"), path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="items must be text"):
        write(page_of(object()), path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write(page_of("new"), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["report.html"]


def test_half_a_character_does_not_stop_the_page(tmp_path: Path) -> None:
    path = write(page_of("name \udcff", Bullets(["b"])), tmp_path / "report.html")
    assert "name ?" in path.read_text(encoding="utf-8")


def test_without_jinja_the_error_is_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"reports need jinja2: pip install"):
        render(page_of("p"))


def test_telephones_get_one_panel_in_a_row(make_page: Callable[[str], Page]) -> None:
    reader = Reader(render(make_page("words")))
    assert reader.tags.count("source") > 0
    media = {value for name, value in reader.attributes if name == "media"}
    assert media == {"(max-width: 44rem)"}
    narrow = [value for name, value in reader.attributes if name == "srcset"]
    assert all(value.startswith("data:image/") for value in narrow)


def test_headers_explain_themselves() -> None:
    evil = f'[std](?"{EVIL.replace("(", "").replace(")", "")}")'
    table = Table("c", [evil, "plain"], [["[x](?y)", 1]])
    reader = Reader(render(page_of(table)))
    assert reader.tags.count("abbr") == 1  # cells are what they are
    titles = [value for name, value in reader.attributes if name == "title"]
    assert titles[0].startswith('"<script>')
    assert "[x](?y)" in reader.text
    assert "script" not in reader.tags


def test_long_tables_scroll() -> None:
    html = [
        render(page_of(Table("c", ["n"], [[k] for k in range(n)]))) for n in (9, 99)
    ]
    assert ["scroll long" in one for one in html] == [False, True]
