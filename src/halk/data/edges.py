"""Who talks to whom, from a file: an edge list or GraphML."""

from pathlib import Path
from typing import Any

import numpy as np

from halk.data import naming
from halk.data.files import PathLike
from halk.data.findings import problems, suggest
from halk.data.sources import import_extra, read_table
from halk.data.table import Table, labels, read_numbers
from halk.errors import DataError

ENDS = (("from", "to"), ("source", "target"), ("a", "b"), ("i", "j"), ("u", "v"))
TOLERANCE = ("tolerance", "gamma")

Edge = tuple[str, str, float | None]
"""Two sensors, and how far they may differ if the file says so."""


def read_edges(source: Any) -> list[Edge]:
    """Return the pairs of a graph.

    Parameters
    ----------
    source : path, frame, or iterable of pairs
        An edge list (CSV or Parquet: two columns of names, perhaps one called
        tolerance), a GraphML file, or pairs of names.
    """
    is_path = isinstance(source, str) or hasattr(source, "__fspath__")
    if is_path and Path(source).suffix.casefold() in {".graphml", ".xml"}:
        rows = _read_graphml(source)
    elif is_path or not isinstance(source, list | tuple | set):
        return _from_table(read_table(source, "graph"))
    else:
        rows = [tuple(edge) if isinstance(edge, list) else edge for edge in source]
    for edge in rows:
        if not isinstance(edge, tuple) or len(edge) not in (2, 3):
            rule = "an edge must be two names, perhaps a tolerance"
            raise DataError(f"{rule}, got {edge!r}")
    if not rows:
        return []
    columns = zip(*[(*edge, None)[:3] for edge in rows], strict=True)
    named = dict(zip(("from", "to", "tolerance"), columns, strict=True))
    return _from_table(read_table(named, "graph"))


def _read_graphml(path: PathLike) -> list[Any]:
    networkx = import_extra("networkx", "GraphML", "graphs")
    try:
        graph = networkx.read_graphml(path)
    except FileNotFoundError:
        raise DataError(f"{path} must exist, got no such file") from None
    except Exception as error:  # of whatever kind the XML parser has
        raise DataError(f"{path} must be a GraphML file, got: {error}") from None
    names = {
        node: str(data.get("label") or data.get("name") or node)
        for node, data in graph.nodes(data=True)
    }
    return [
        (names[one], names[other], *(data[key] for key in TOLERANCE if key in data))
        for one, other, data in graph.edges(data=True)
    ]


def _from_table(table: Table) -> list[Edge]:
    header = [name for name in table.header if name]
    pairs = [[naming.alike(header, [end]) for end in ends] for ends in ENDS]
    ends = next(filter(all, pairs), header[:2])
    if len(ends) < 2:
        raise DataError(
            f"{table.path}: an edge list must have two columns of sensors, got "
            f"{', '.join(header)}"
        )
    one, other = (labels(table, name) for name in ends)
    column = naming.alike(header, TOLERANCE)
    if not column:
        return [(*pair, None) for pair in zip(one, other, strict=True)]
    found = read_numbers(table, column)
    wrong = np.flatnonzero(found.is_wrong | (found.values < 0)).tolist()
    if wrong:
        listed = [f"{table.where(row)}: {table.cell(column, row)!r}" for row in wrong]
        raise problems(listed, "tolerances must be numbers, not negative")
    limits = [None if v != v else v for v in found.values.tolist()]
    return list(zip(one, other, limits, strict=True))


def number_edges(
    edges: list[Edge], names: tuple[str, ...], path: str = "graph"
) -> tuple[list[tuple[int, int]], list[float | None]]:
    """Return the edges by number, each pair once; sensors must be known."""
    number = {name: i for i, name in enumerate(names)}
    unknown = sorted({end for edge in edges for end in edge[:2]} - set(number))
    if unknown:
        listed = [f"{path}: {name!r}{suggest(name, names)}" for name in unknown]
        raise problems(listed, "a graph must connect sensors that are known")
    found: dict[tuple[int, int], float | None] = {}
    for one, other, tolerance in edges:
        i, j = sorted((number[one], number[other]))
        if i != j:
            found.setdefault((i, j), tolerance)
    return list(found), list(found.values())
