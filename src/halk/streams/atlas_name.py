"""What the published name of an atlas file says about it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from halk.streams.errors import DataError
from halk.streams.files import PathLike

VARIABLES = {"temperature": "t", "salinity": "s"}
SEASONS = {
    "annual": "00",
    "winter": "13",
    "spring": "14",
    "summer": "15",
    "autumn": "16",
}

_PATTERN = re.compile(
    r"(?:^|_)(?P<variable>[ts])(?P<season>\d\d)(?P<kind>mn|an)?_?(?P<grid>\d\d)?"
    r"\.(?P<end>csv|csv\.gz|nc)$",
    re.IGNORECASE,
)


class About(NamedTuple):
    """A variable and a season; empty where unknown."""

    variable: str = ""
    season: str = ""
    kind: str = ""  # "mn": mean of what was measured, "an": analysed and filled up

    def __str__(self) -> str:
        return " ".join(word for word in (self.season, self.variable) if word)


def about(path: PathLike) -> About:
    """Return what a file name says.

    Examples
    --------
    >>> about("woa18_decav_t13mn01.csv.gz")
    About(variable='temperature', season='winter', kind='mn')
    >>> about("buoys.csv")
    About(variable='', season='', kind='')
    """
    found = _PATTERN.search(Path(path).name)
    if found is None:
        return About()
    variables = {code: name for name, code in VARIABLES.items()}
    seasons = {code: name for name, code in SEASONS.items()}
    variable = variables[found["variable"].lower()]
    season = seasons.get(found["season"], f"period {found['season']}")
    return About(variable, season, (found["kind"] or "").lower())


def chosen_file(folder: Path, variable: str | None, season: str | None) -> Path:
    """Return the file of a folder that holds a variable in a season."""
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        raise DataError(f"{folder} must be readable, got: {error.strerror}") from None
    known = {file: about(file) for file in files if about(file).variable}
    fitting = {
        file: found
        for file, found in known.items()
        if variable in (None, found.variable) and season in (None, found.season)
    }
    # Means as measured before analysed ones; text before NetCDF, which needs a package.
    best = sorted(fitting, key=lambda file: _rank(file, fitting[file]))
    ties = [f for f in best if _rank(f, fitting[f]) == _rank(best[0], fitting[best[0]])]
    if len(ties) == 1 and len({found[:2] for found in fitting.values()}) == 1:
        return ties[0]
    asked = " ".join(word for word in (season, variable) if word) or "one variable"
    if not fitting:
        there = _listed(known) if known else f"no atlas among {_names(files)}"
        raise DataError(f"{folder} must hold an atlas file of {asked}, got {there}")
    rule = f"must hold one atlas file of {asked}, got {_listed(fitting)}"
    raise DataError(f"{folder} {rule}; give variable= and season=, or the file itself")


def _rank(file: Path, found: About) -> tuple[bool, bool]:
    return found.kind == "an", file.suffix.lower() == ".nc"


def _listed(files: dict[Path, About]) -> str:
    return ", ".join(f"{file.name} ({found})" for file, found in files.items())


def _names(files: Iterable[Path]) -> str:
    names = [file.name for file in files]
    return ", ".join(names[:5] + ["..."] * (len(names) > 5)) or "no files"
