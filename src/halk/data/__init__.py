"""Tables of readings and of sensors, from files and frames, and what is wrong there."""

from halk.data.doctor import Examined, examine
from halk.data.findings import ERROR, NOTE, WARNING, Finding, Findings
from halk.data.graphs import number_edges, read_edges
from halk.data.readings import Readings, read_readings
from halk.data.schema import NUMBER, TIME, Asked, Input, Schema
from halk.data.sensors import Sensors, read_sensors
from halk.data.sources import read_table
from halk.data.suspicions import find_copies, sort_readings
from halk.data.times import format_times, to_seconds
from halk.streams.rows import Table

__all__ = [
    "ERROR",
    "NOTE",
    "NUMBER",
    "TIME",
    "WARNING",
    "Asked",
    "Examined",
    "Finding",
    "Findings",
    "Input",
    "Readings",
    "Schema",
    "Sensors",
    "Table",
    "examine",
    "find_copies",
    "format_times",
    "number_edges",
    "read_edges",
    "read_readings",
    "read_sensors",
    "read_table",
    "sort_readings",
    "to_seconds",
]
