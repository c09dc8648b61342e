"""Readings: where they come from, and how they reach the learners."""

from halk.streams.atlas import GULF, read_atlas
from halk.streams.bundled import gulf
from halk.streams.draw import Arrivals, arriving, drawn, withheld
from halk.streams.errors import DataError
from halk.streams.field import Field
from halk.streams.random_field import RandomField, RandomFieldDraw
from halk.streams.reading import read
from halk.streams.table import read_ocean_table, read_table

__all__ = [
    "GULF",
    "Arrivals",
    "DataError",
    "Field",
    "RandomField",
    "RandomFieldDraw",
    "arriving",
    "drawn",
    "gulf",
    "read",
    "read_atlas",
    "read_ocean_table",
    "read_table",
    "withheld",
]
