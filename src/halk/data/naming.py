"""What the names of columns say."""

import re
from collections.abc import Iterable, Sequence

SENSOR = (
    "node", "sensor", "station", "buoy", "site", "location", "device", "gauge",
    "logger", "probe", "mote", "detector", "platform", "messstelle", "id", "agent",
    "name",
)  # fmt: skip
LATITUDE = ("lat", "latitude", "latitud", "latitudine", "breite", "breitengrad")
LONGITUDE = ("lon", "lng", "long", "longitude", "longitud", "longitudine", "länge",
             "laenge", "längengrad")  # fmt: skip
INPUTS = ("depth_m", "depth", "time", "hour", "day")
TIMES = ("time", "timestamp", "datetime", "date", "date_time", "epoch", "unix",
         "unixtime", "ts")  # fmt: skip
CALENDAR = {
    "%Y": ("year", "yyyy", "yr"), "%m": ("month", "mon", "mm", "mo"),
    "%d": ("day", "dd", "dy"), "%H": ("hour", "hh", "hr"),
    "%M": ("minute", "min", "mi"), "%S": ("second", "sec", "ss"),
    "%j": ("doy", "dayofyear", "day_of_year", "julian_day", "yday"),
}  # fmt: skip
"""Columns of parts of a time, by what ``strftime`` calls the part."""
FLAGS = ("qc", "qf", "qa", "flag", "flags", "quality", "qartod")
ADDED = ("filled", "predicted", "std", "low", "high", "method", "fqc")
QUANTITIES = (
    "temp", "humid", "rh", "press", "wind", "gust", "speed", "direc", "rain", "precip",
    "salin", "pm", "no2", "o3", "ozone", "so2", "co2", "co", "turb", "flow", "level",
    "volt", "batt", "power", "solar", "radia", "dewp", "oxygen", "ph", "conduc",
    "min", "max", "mean", "avg", "median", "sum", "std",
)  # fmt: skip
SEASONS = ("annual", "winter", "spring", "summer", "autumn")
UNITS = {"c": "°C", "degc": "°C", "psu": "psu", "m": "m", "k": "K", "pa": "Pa"}


def alike(header: Sequence[str], known: Iterable[str]) -> str:
    """Return the column with the first possible of the ``known`` names, or nothing."""
    plain = {name.casefold(): name for name in reversed(header)}
    return next((plain[k.casefold()] for k in known if k.casefold() in plain), "")


def is_about(column: str, *words: str) -> bool:
    """Whether a name is one of some words, or goes on after it with another one.

    Examples
    --------
    >>> is_about("depth_cm", "time", "depth"), is_about("timer", "time")
    (True, False)
    """
    name = column.casefold()
    return any(
        name.startswith(word) and not name[len(word) : len(word) + 1].isalnum()
        for word in map(str.casefold, words)
    )


def of_variable(header: Sequence[str], name: str, season: str) -> list[str]:
    """Return the columns of a variable in a season.

    Examples
    --------
    >>> of_variable(["t_annual_C", "t_winter_C", "s"], "t", "winter")
    ['t_winter_C']
    """
    about = [column for column in header if is_about(column, name)]
    seasonal = [column for column in about if is_about(column, f"{name}_{season}")]
    exact = [column for column in about if column.casefold() == name.casefold()]
    others = [word for word in SEASONS if word != season]
    # A column of winter must not pass for one of the whole year.
    free = [c for c in about if not any(word in c.casefold() for word in others)]
    return seasonal or exact or free


def place_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of latitude and longitude, or of x and y; none if neither."""
    for pair in ((LATITUDE, LONGITUDE), (("x",), ("y",))):
        found = tuple(alike(header, known) for known in pair)
        if all(found):
            return found
    return ()


def are_geographic(columns: Sequence[str]) -> bool:
    """Whether columns are called latitude and longitude."""
    names = [name.casefold() for name in columns]
    return len(names) == 2 and names[0].startswith("lat") and names[1].startswith("l")


def find_sensor(header: Sequence[str]) -> str:
    """Return the column that is called as sensors' names are, or nothing."""
    return alike(header, SENSOR + tuple(f"{word}_id" for word in SENSOR))


def is_input(name: str) -> bool:
    """Whether a column is called as a time, a depth or a place is."""
    return is_about(name, *INPUTS, *LATITUDE, *LONGITUDE)


def is_flag(name: str) -> bool:
    """Whether a column is called as quality flags are: t_C_qc, QC_Flag."""
    return any(word in FLAGS for word in re.split(r"[^a-z]+", name.casefold()))


def quantity_of(name: str) -> str:
    """Return what a column's name says was measured; nothing if it says none.

    Examples
    --------
    >>> quantity_of("temp_1"), quantity_of("Humidity (%)"), quantity_of("north")
    ('temp', 'humid', '')
    """
    found = (
        quantity
        for word in re.split(r"[^a-z0-9]+", name.casefold())
        for quantity in QUANTITIES
        if word == quantity or (len(quantity) > 3 and word.startswith(quantity))
    )
    return next(found, "")


def without_added(names: Sequence[str]) -> list[str]:
    """Return names without what :mod:`halk` adds beside another: t_C_std, t_C_low."""
    added = {f"{name}_{end}" for name in names for end in ADDED}
    return [name for name in names if name not in added]


def unit_of(column: str, name: str = "") -> str:
    """Return the unit that a column's name ends in; nothing if it names none.

    Examples
    --------
    >>> unit_of("temperature_annual_C"), unit_of("S", "salinity")
    ('°C', 'psu')
    >>> unit_of("Wind speed (m/s)")
    'm/s'
    """
    if found := re.search(r"[(\[]([^()\[\]]+)[)\]]$", column.strip()):
        return found[1]
    _, mark, end = column.casefold().rpartition("_")
    if mark and end in UNITS:
        return UNITS[end]
    return "psu" if "salinity" in (name.casefold(), column.casefold()) else ""
