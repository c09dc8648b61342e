"""Readings: tables from files and frames and what is wrong there, fields, the atlas."""

from halk.data.atlas import GULF, read_atlas
from halk.data.bundled import field_of, gulf, read
from halk.data.doctor import Examined, examine, read_more
from halk.data.edges import number_edges, read_edges
from halk.data.field import Arrivals, Field, draw_arrivals, draw_steps, withhold
from halk.data.findings import ERROR, NOTE, WARNING, Finding, Findings
from halk.data.random_field import RandomField, RandomFieldDraw
from halk.data.readings import Readings, read_readings
from halk.data.schema import NUMBER, TIME, Asked, Input, Schema
from halk.data.sensors import Sensors, read_sensors
from halk.data.sources import read_table
from halk.data.suspicions import find_copies, sort_readings
from halk.data.table import Table
from halk.data.times import format_times, to_seconds
from halk.data.write import add_rows, write_csv, write_table
from halk.errors import DataError

__all__ = [
    "ERROR", "GULF", "NOTE", "NUMBER", "TIME", "WARNING", "Arrivals", "Asked",
    "DataError", "Examined", "Field", "Finding", "Findings", "Input", "RandomField",
    "RandomFieldDraw", "Readings", "Schema", "Sensors", "Table", "add_rows",
    "draw_arrivals", "draw_steps", "examine", "field_of", "find_copies",
    "format_times", "gulf", "number_edges", "read", "read_atlas", "read_edges",
    "read_more", "read_readings", "read_sensors", "read_table", "sort_readings",
    "to_seconds", "withhold", "write_csv", "write_table",
]  # fmt: skip
