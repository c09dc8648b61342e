"""The directive ``halk-run``: commands, and what they really print.

The commands of a page run one after the other in one folder, ``_build/runs/<page>``,
which begins as a copy of the tables in ``examples`` and of the script that compares
them. They run when they, the tables or halk have changed since they last ran.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from figures import sources
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 84
"""Columns that a line of code has on a page."""


class Runs:
    """The commands of one page, in order."""

    def __init__(self, folder: Path, tables: Path) -> None:
        self.folder = folder
        self._tables = sorted((*tables.glob("*.csv"), *tables.glob("compare.py")))
        self._digest = hashlib.sha256(sources() + Path(__file__).read_bytes())
        for table in self._tables:
            self._digest.update(table.read_bytes())
        self._has_begun = False

    def output(self, command: str, code: int) -> str:
        """Return what a command prints, now or when it last ran."""
        self._digest.update(command.encode())
        known = self.folder / f".output-{self._digest.hexdigest()[:16]}.txt"
        if known.exists():
            self._has_begun = True
            return known.read_text(encoding="utf-8")
        if not self._has_begun:
            self._begin()
        printed = self._run(command, code)
        known.write_text(printed, encoding="utf-8")
        return printed

    def _begin(self) -> None:
        self._has_begun = True
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for table in self._tables:
            shutil.copy(table, self.folder)

    def _run(self, command: str, code: int) -> str:
        words = shlex.split(command)
        known = {"halk": [sys.executable, "-m", "halk"], "python": [sys.executable]}
        words[:1] = known.get(words[0], words[:1])
        made = subprocess.run(
            words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", check=False,
            env=os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1"},
        )  # fmt: skip
        if made.returncode != code:
            raise RuntimeError(f"{command} ended with {made.returncode}: {made.stdout}")
        return "\n".join(line.rstrip() for line in made.stdout.splitlines()).strip()


class HalkRun(SphinxDirective):
    """Show a command and what it prints, or a part of that."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "from": directives.unchanged,  # begins with the line that has this text
        "first": directives.positive_int,  # lines
        "code": directives.nonnegative_int,  # with which it must end
    }

    def run(self) -> list[nodes.Node]:
        """Return the command and its output."""
        command = " ".join(line.strip().rstrip("\\") for line in self.content)
        runs = self._runs()
        printed = runs.output(command, self.options.get("code", 0))
        lines = printed.splitlines()
        if "from" in self.options:
            begins = [self.options["from"] in line for line in lines].index(True)
            lines[:begins] = ["..."] if begins else []
        if len(lines) > self.options.get("first", len(lines)):
            lines[self.options["first"] :] = ["..."]
        shown = "\n".join(lines)
        asked = "\n".join(self.content)
        found = [nodes.literal_block(asked, asked, language="sh")]
        if shown:
            found.append(nodes.literal_block(shown, shown, language="none"))
            found[-1]["classes"].append("printed")
        return found

    def _runs(self) -> Runs:
        known: dict[str, Runs] = self.env.temp_data.setdefault("halk_runs", {})
        page = self.env.docname
        if page not in known:
            source = Path(self.env.srcdir)
            folder = source / "_build" / "runs" / page
            known[page] = Runs(folder, source / "examples")
        return known[page]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("halk-run", HalkRun)
    return {"version": "1", "parallel_read_safe": False}
