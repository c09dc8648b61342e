"""Tables of readings and of sensors, from files and frames, and what is wrong there."""

from halk.tables.doctor import Examined, examine
from halk.tables.findings import Finding, Findings
from halk.tables.readings import Rows, rows_of
from halk.tables.schema import Asked, Input, Schema
from halk.tables.sensors import Sensors
from halk.tables.sources import table_of

__all__ = [
    "Asked",
    "Examined",
    "Finding",
    "Findings",
    "Input",
    "Rows",
    "Schema",
    "Sensors",
    "examine",
    "rows_of",
    "table_of",
]
