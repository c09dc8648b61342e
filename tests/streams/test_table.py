import gzip
import hashlib
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.streams import naming, read_ocean_table, read_table

BUOYS = """\
buoy,lat,lon,depth_m,temperature_C
north,29,-90,0,24.5
south,25,-90,0,26.0
north,29,-90,50,21.25
south,25,-90,50,
"""


def write(folder, text, name="readings.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in (
            *("name", "unit", "inputs", "names", "positions", "is_geographic"),
            *("agent", "x", "y"),
        )
    )


def test_a_table_is_recognised(tmp_path):
    path = write(tmp_path, BUOYS)
    field = read_table(path, name="temperature")
    assert (field.name, field.unit) == ("temperature", "°C")
    assert field.inputs == ("depth_m",)
    assert field.names == ("north", "south")
    assert field.positions.tolist() == [[29, -90], [25, -90]]
    assert field.is_geographic
    assert field.agent.tolist() == [0, 1, 0]
    assert field.x.tolist() == [[0], [0], [50]]
    assert field.y.tolist() == [24.5, 26.0, 21.25]
    assert field.source == "readings.csv, column temperature_C"
    assert field.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: "# made by hand\n#\n\n" + text,
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("south,25", '"south","25"'),
        lambda text: text.replace("\nsouth,25,-90,0", "\n\n,,,,\nsouth,25,-90,0"),
        lambda text: text.rstrip("\n"),
    ],
    ids=["semicolons", "tabs", "CRLF", "CR", "BOM", "comments", "spaces", "quotes",
         "blank lines", "no last newline"],
)  # fmt: skip
def test_dialects(tmp_path, change):
    plain = read_table(write(tmp_path, BUOYS), name="temperature")
    other = read_table(write(tmp_path, change(BUOYS), "other.csv"), name="temperature")
    assert same(plain, other)


def test_a_packed_table(tmp_path):
    plain = read_table(write(tmp_path, BUOYS), name="temperature")
    path = tmp_path / "readings.csv.gz"
    path.write_bytes(gzip.compress(BUOYS.encode()))
    packed = read_table(path, name="temperature")
    assert same(plain, packed)
    assert packed.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_columns_can_be_named(tmp_path):
    text = "who,breite,laenge,p,q,T\na,1,2,3,4,5\nb,1,3,3,4,6\n"
    field = read_table(
        write(tmp_path, text),
        sensor="WHO",
        position=("breite", "laenge"),
        inputs=["p", "q"],
        target="T",
        unit="K",
    )
    assert (field.name, field.unit, field.inputs) == ("T", "K", ("p", "q"))
    assert field.x.tolist() == [[3, 4], [3, 4]]
    assert not field.is_geographic
    options = {"sensor": "who", "position": ("breite", "laenge"), "inputs": "p"}
    path = tmp_path / "readings.csv"
    assert read_table(path, **options, target="T", is_geographic=True).is_geographic


@pytest.mark.parametrize(
    ("header", "inputs"),
    [
        ("Station,Latitude,LONGITUDE,Depth,v", ("Depth",)),
        ("id,lat,lng,depth_cm,v", ("depth_cm",)),
        ("Sensor_ID,x,y,time_s,v", ("time_s",)),
        ("name,X,Y,Time,v", ("Time",)),
        ("name,timer,lat,lon,depth,v", ("depth",)),
    ],
)
def test_names_in_any_case(tmp_path, header, inputs):
    rows = [["a", 1, 2, 3, 5, 6], ["b", 1, 2, 3, 5, 6]]
    width = len(header.split(","))
    lines = [header, *(",".join(map(str, row[:width])) for row in rows)]
    field = read_table(write(tmp_path, "\n".join(lines)), target="v")
    assert field.inputs == inputs
    assert field.is_geographic == ("x," not in header.lower())


def test_depth_comes_before_time(tmp_path):
    text = "node,lat,lon,time,depth,v\na,1,2,3,4,5\nb,1,3,3,4,6\n"
    assert read_table(write(tmp_path, text), target="v").inputs == ("depth",)


def test_the_target_is_no_position(tmp_path):
    text = "node,lat,lon,x,y\na,1,2,3,4\nb,1,3,3,5\n"
    field = read_table(write(tmp_path, text), target="y", inputs="x")
    assert field.y.tolist() == [4, 5]
    assert field.is_geographic


SEASONS = """\
node,lat,lon,depth_m,temperature_annual_C,temperature_winter_est_C,salinity,ph_total
0,1,1,0,20,10,35,
0,1,1,5,19,,36,7
1,2,1,0,21,11,,8
"""


@pytest.mark.parametrize(
    ("variable", "season", "values"),
    [
        ("temperature", "annual", [20, 19, 21]),
        ("temperature", "winter", [10, 11]),
        ("salinity", "winter", [35, 36]),
        ("ph", "summer", [7, 8]),
    ],
)
def test_columns_of_seasons(tmp_path, variable, season, values):
    field = read_ocean_table(write(tmp_path, SEASONS), variable, season)
    assert field.name == variable
    assert field.y.tolist() == values
    assert field.names == ("0", "1")


def test_units():
    units = {"temperature_degC": "°C", "p_Pa": "Pa", "salinity": "psu", "C": ""}
    assert {c: naming.unit_of(c, c) for c in units} == units


MAP = "station,x,y\nc,0,0\nb,0,1\na,1,0\n"
READINGS = "sensor,time,v\na,0,5\nb,0,6\na,1,7\n"


def test_a_map_of_sensors(tmp_path):
    chart = write(tmp_path, MAP, "map.csv")
    field = read_table(write(tmp_path, READINGS), target="v", map=chart)
    assert field.names == ("c", "b", "a")
    assert field.positions.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert field.agent.tolist() == [2, 1, 2]
    assert field.counts.tolist() == [0, 1, 2]
    assert not field.is_geographic


def test_a_map_with_the_same_name_for_the_sensors(tmp_path):
    chart = write(tmp_path, "id,who,x,y\n1,b,0,1\n2,a,1,0\n", "map.csv")
    readings = write(tmp_path, "who,time,v\na,0,5\nb,0,6\n")
    field = read_table(readings, target="v", sensor="who", map=chart)
    assert field.names == ("b", "a")


def to_parquet(path, columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


CELLS = st.floats(-1e6, 1e6)


@given(
    st.lists(st.tuples(st.integers(0, 3), CELLS, st.none() | CELLS), min_size=2),
    st.booleans(),
)
def test_csv_and_parquet_of_the_same_table_are_the_same(tmp_path_factory, rows, as_int):
    folder = tmp_path_factory.mktemp("tables")
    rows = [*{(row[0], row[1] + 0.0): row for row in rows}.values()]
    rows += [(4, 0.0, 1.0), (5, 0.0, 2.0)]
    names = [row[0] if as_int else f"s {row[0]}" for row in rows]
    columns = {
        "node": names,
        "lat": [float(row[0]) for row in rows],
        "lon": [-row[0] for row in rows],
        "depth": [row[1] for row in rows],
        "v": [row[2] for row in rows],
    }
    cells = zip(*columns.values(), strict=True)
    lines = [",".join("" if c is None else str(c) for c in row) for row in cells]
    text = "\n".join([",".join(columns), *lines])
    one = read_table(write(folder, text), target="v")
    other = read_table(to_parquet(folder / "readings.parquet", columns), target="v")
    assert same(one, other)


def test_parquet_types(tmp_path):
    columns = {
        "node": pyarrow.array(["a", "b", "b"]).dictionary_encode(),
        "lat": pyarrow.array([1, 2, 2], pyarrow.int8()),
        "lon": pyarrow.array([1, 2, 2], pyarrow.float32()),
        "depth": pyarrow.array([1, 2, 3], pyarrow.decimal128(5)),
        "v": ["1.5", None, "2"],
    }
    field = read_table(to_parquet(tmp_path / "readings", columns), target="v")
    assert field.y.tolist() == [1.5, 2]
    assert field.x.tolist() == [[1], [3]]


def test_whole_numbers_name_sensors_as_in_text(tmp_path):
    columns = {"id": [7.0, 8.0], "x": [1, 2], "y": [1, 2], "time": [0, 0], "v": [1, 2]}
    field = read_table(to_parquet(tmp_path / "readings", columns), target="v")
    assert field.names == ("7", "8")


def test_the_shared_table():
    path = Path(__file__).parents[3] / "shared" / "data" / "gulf_woa18_50nodes.csv"
    if not path.exists():
        pytest.skip("the larger table is not here")
    temperature = read_ocean_table(path, "temperature")
    salinity = read_ocean_table(path, "salinity")
    assert (temperature.n_agents, temperature.n_readings) == (50, 3009)
    assert (salinity.n_readings, salinity.unit) == (2774, "psu")
    assert temperature.counts.min() == 21
