"""The same readings from wherever they are lead to the same model."""

import io
import sys

import numpy as np
import pytest

import halk
from halk.data import read_table
from halk.data.edges import number_edges, read_edges
from halk.data.readings import read_times
from halk.data.table import labels, read_numbers
from halk.errors import DataError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
xarray = pytest.importorskip("xarray")

COLUMNS = {
    "station": ["north", "north", "south", "south"],
    "time": ["2024-01-01", "2024-01-02T12:00", "2024-01-01", "2024-01-03"],
    "t_C": [1.5, None, -2.0, 4.0],
}


def as_csv(folder):
    path = folder / "readings.csv"
    pandas.DataFrame(COLUMNS).to_csv(path, index=False)
    return path


def as_parquet(folder):
    path = folder / "readings.parquet"
    parquet.write_table(arrow.table(as_frame(folder)), path)
    return path


def as_frame(folder):
    frame = pandas.DataFrame(COLUMNS)
    frame["time"] = pandas.to_datetime(frame["time"], format="ISO8601")
    return frame


def as_zoned(folder):
    frame = as_frame(folder)
    frame["time"] = frame["time"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    return frame


def as_categories(folder):
    frame = as_frame(folder)
    frame["station"] = frame["station"].astype("category")
    return frame


def as_polars(folder):
    return polars.DataFrame(COLUMNS)


def as_lazy(folder):
    return polars.DataFrame(COLUMNS).lazy()


def as_arrow(folder):
    return arrow.table(COLUMNS)


def as_columns(folder):
    return COLUMNS


def as_dataset(folder):
    return xarray.Dataset.from_dataframe(as_frame(folder)).drop_vars("index")


def as_netcdf(folder):
    path = folder / "readings.nc"
    as_dataset(folder).to_netcdf(path)
    return path


WAYS = [
    as_csv, as_parquet, as_frame, as_zoned, as_categories, as_polars, as_lazy, as_arrow,
    as_columns, as_dataset, as_netcdf,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_source_says_the_same(way, tmp_path):
    table = read_table(way(tmp_path))
    assert labels(table, "station") == COLUMNS["station"]
    days = read_times(table, "time").values / 86400 - 19723
    np.testing.assert_allclose(days, [0, 1.5, 0, 2])
    values = read_numbers(table, "t_C")
    np.testing.assert_array_equal(values.values, [1.5, np.nan, -2.0, 4.0])
    assert values.is_empty.tolist() == [False, True, False, False]
    assert not values.is_wrong.any()


def test_standard_input(monkeypatch, tmp_path):
    data = as_csv(tmp_path).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert labels(read_table("-"), "station") == COLUMNS["station"]


def test_a_grid_becomes_rows_with_its_units(tmp_path):
    depth = xarray.DataArray([0.0, 10.0], dims="depth", attrs={"units": "m"})
    values = xarray.DataArray(
        [[1.0, 2.0], [3.0, np.nan]], dims=("buoy", "depth"), attrs={"units": "degC"}
    )
    grid = xarray.Dataset({"t": values}, {"buoy": ["a", "b"], "depth": depth})
    path = tmp_path / "grid.nc"
    grid.to_netcdf(path)
    table = read_table(path)
    assert labels(table, "buoy") == ["a", "a", "b", "b"]
    assert table.cells("depth").tolist() == [0.0, 10.0, 0.0, 10.0]
    assert dict(table.units) == {"depth": "m", "t": "degC"}
    found = halk.data.examine(path)
    assert found.schema.unit == "degC"
    assert found.readings.is_gap.tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (7, "must be a path, a frame, a dataset or a dict of columns"),
        ({"a": [1, 2], "b": [1]}, "columns must be of one length"),
        ({"a": []}, "table must have rows"),
        ("no-such.csv", "must exist"),
    ],
)
def test_other_sources_are_refused(source, words):
    with pytest.raises((TypeError, DataError), match=words):
        read_table(source)


def test_a_damaged_netcdf_file_is_refused(tmp_path):
    path = tmp_path / "bad.nc"
    path.write_bytes(b"CDF\x01 and no more")
    with pytest.raises(DataError, match="must be a NetCDF file"):
        read_table(path)


# graphs


def test_graphs_from_edge_lists_graphml_and_pairs(tmp_path):
    networkx = pytest.importorskip("networkx")
    edges = tmp_path / "edges.csv"
    edges.write_text("from,to,tolerance\na,b,0.5\nb,c,\n")
    assert read_edges(edges) == [("a", "b", 0.5), ("b", "c", None)]
    graph = networkx.Graph()
    graph.add_edge("a", "b", tolerance=0.5)
    graph.add_edge("b", "c")
    networkx.write_graphml(graph, tmp_path / "graph.graphml")
    assert read_edges(tmp_path / "graph.graphml") == read_edges(edges)
    assert read_edges([("a", "b")]) == [("a", "b", None)]
    assert read_edges(pandas.DataFrame({"u": ["a"], "v": ["b"]})) == [("a", "b", None)]


def test_a_graph_has_each_pair_once_and_no_loops():
    edges = [("a", "b", 0.5), ("b", "a", 0.7), ("a", "a", None), ("c", "b", None)]
    assert number_edges(edges, ("a", "b", "c")) == ([(0, 1), (1, 2)], [0.5, None])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from,to\nnroth,b\n", "did you mean 'north'"),
        ("from,to,tolerance\nnorth,b,-1\n", "tolerances must be numbers"),
        ("from\nnorth\n", "must have two columns of sensors"),
    ],
)
def test_bad_graphs_are_refused(tmp_path, text, words):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        number_edges(read_edges(path), ("north", "b"))


def test_bad_graphml_is_refused(tmp_path):
    pytest.importorskip("networkx")
    path = tmp_path / "g.graphml"
    path.write_text("<no graph")
    with pytest.raises(DataError, match="must be a GraphML file"):
        read_edges(path)
    with pytest.raises(DataError, match="must exist"):
        read_edges(tmp_path / "none.graphml")
