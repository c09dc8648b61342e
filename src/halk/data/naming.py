"""What the names of columns say."""

import re
from collections.abc import Iterable, Sequence

SENSOR = (
    "node", "sensor", "station", "buoy", "site", "location", "device", "gauge",
    "logger", "probe", "mote", "detector", "platform", "messstelle", "id", "agent",
    "name",
)  # fmt: skip
LATITUDE = ("lat", "latitude", "latitud", "latitudine", "breite", "breitengrad")
LONGITUDE = (
    "lon", "lng", "long", "longitude", "longitud", "longitudine", "länge", "laenge",
    "längengrad",
)  # fmt: skip
INPUTS = ("depth_m", "depth", "time", "hour", "day")
TIMES = (
    "time",
    "timestamp",
    "datetime",
    "date",
    "date_time",
    "epoch",
    "unix",
    "unixtime",
    "ts",
)
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
    """Return the column with the first possible of the ``known`` names, or nothing.

    Examples
    --------
    >>> alike(["Station", "LAT", "Lon"], ["latitude", "lat"])
    'LAT'
    """
    plain = {name.casefold(): name for name in reversed(header)}
    return next((plain[k.casefold()] for k in known if k.casefold() in plain), "")


def is_about(column: str, word: str) -> bool:
    """Whether a name is ``word``, or goes on after it with another one.

    Examples
    --------
    >>> is_about("depth_cm", "depth"), is_about("timer", "time")
    (True, False)
    """
    name, word = column.casefold(), word.casefold()
    return name.startswith(word) and not name[len(word) : len(word) + 1].isalnum()


def of_variable(header: Sequence[str], name: str, season: str | None) -> list[str]:
    """Return the columns of a variable, in a season if one is given.

    Examples
    --------
    >>> of_variable(["t_annual_C", "t_winter_C", "s"], "t", "winter")
    ['t_winter_C']
    """
    about = [column for column in header if is_about(column, name)]
    exact = [column for column in about if column.casefold() == name.casefold()]
    if season is None:
        return exact or about
    seasonal = [column for column in about if is_about(column, f"{name}_{season}")]
    others = [word for word in SEASONS if word != season]
    # A column of winter must not pass for one of the whole year.
    free = [c for c in about if not any(word in c.casefold() for word in others)]
    return seasonal or exact or free


def are_geographic(columns: Sequence[str]) -> bool:
    """Whether two columns are called latitude and longitude."""
    one, two = (name.casefold() for name in columns)
    return one.startswith(LATITUDE) and two.startswith(LONGITUDE)


def find_sensor(header: Sequence[str]) -> str:
    """Return the column that is called as sensors' names are, or nothing.

    Examples
    --------
    >>> find_sensor(["time", "Station_ID", "value"])
    'Station_ID'
    """
    return alike(header, SENSOR + tuple(f"{word}_id" for word in SENSOR))


def is_flag(name: str) -> bool:
    """Whether a column is called as quality flags are.

    Examples
    --------
    >>> is_flag("t_C_qc"), is_flag("QC_Flag"), is_flag("flagpole")
    (True, True, False)
    """
    return any(word in FLAGS for word in re.split(r"[^a-z]+", name.casefold()))


def quantity_of(name: str) -> str:
    """Return what a column's name says was measured; nothing if it says none.

    Examples
    --------
    >>> quantity_of("temp_1"), quantity_of("Humidity (%)"), quantity_of("north")
    ('temp', 'humid', '')
    """
    words = re.split(r"[^a-z0-9]+", name.casefold())
    found = (
        quantity
        for word in words
        for quantity in QUANTITIES
        if word == quantity or (len(quantity) > 3 and word.startswith(quantity))
    )
    return next(found, "")


def without_added(names: Sequence[str]) -> list[str]:
    """Return names without those of columns that :mod:`halk` adds beside another.

    Examples
    --------
    >>> without_added(["t_C", "t_C_std", "t_C_low", "wind_low"])
    ['t_C', 'wind_low']
    """
    known = set(names)
    parts = {name: name.rpartition("_") for name in names}
    return [
        name
        for name, (base, _, end) in parts.items()
        if not (end in ADDED and base in known)
    ]


def unit_of(name: str, column: str) -> str:
    """Return the unit that a column's name ends in; nothing if it names none.

    Examples
    --------
    >>> unit_of("temperature", "temperature_annual_C"), unit_of("salinity", "S")
    ('°C', 'psu')
    >>> unit_of("", "Wind speed (m/s)")
    'm/s'
    """
    found = re.search(r"[(\[]([^()\[\]]+)[)\]]$", column.strip())
    if found:
        return found[1]
    _, mark, end = column.casefold().rpartition("_")
    if mark and end in UNITS:
        return UNITS[end]
    return "psu" if name.casefold() == "salinity" else ""
