"""One entry for all files, and what comes with halk."""

import gzip
import hashlib
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import halk.data
from halk.data import DataError, gulf, read, read_atlas
from tests.data.atlas_files import csv_lines, write_csv, write_netcdf

SMALL = {"n_agents": 3, "minimum_depths": 2}
TABLE = "node,x,y,depth,temperature_annual,salinity\na,0,0,1,20,35\nb,0,1,1,21,36\n"


def test_files_are_known_by_their_content(tmp_path):
    table = tmp_path / "one"
    table.write_text(TABLE)
    assert read(table, "temperature").y.tolist() == [20, 21]
    assert read(table, target="salinity").name == "salinity"
    packed = tmp_path / "two"
    packed.write_bytes(gzip.compress(TABLE.encode()))
    assert read(packed, "salinity").y.tolist() == [35, 36]
    parquet = tmp_path / "three"
    columns = zip(*(line.split(",") for line in TABLE.splitlines()), strict=True)
    arrow = pyarrow.table({name: cells for name, *cells in columns})
    pyarrow.parquet.write_table(arrow, parquet)
    assert read(parquet, "salinity", unit="g/kg").unit == "g/kg"


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: write_csv(folder, csv_lines(), "unnamed"),
        lambda folder: write_netcdf(folder, "unnamed"),
        lambda folder: write_csv(folder, csv_lines(), "t13.csv").parent,
    ],
    ids=["CSV", "NetCDF", "folder"],
)
def test_the_atlas_is_known_by_its_content(tmp_path, write):
    field = read(write(tmp_path), "temperature", **SMALL)
    assert field.n_agents == 3
    one = read_atlas(write_csv(tmp_path, csv_lines()), **SMALL)
    assert field.names == one.names


def test_a_number_of_sensors(tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("node,lat,lon,depth,heat\n0,1,1,5,9\n1,2,2,5,8\n2,3,3,5,7\n")
    assert read(path, "heat", n_agents=2).names == ("0", "1")
    assert read(path, "heat", n_agents=9).names == ("0", "1", "2")
    with pytest.raises(ValueError, match="n_agents must be at least 2, got 1"):
        read(path, "heat", n_agents=1)
    others = {name: value for name, value in SMALL.items() if name != "n_agents"}
    atlas = write_csv(tmp_path, csv_lines())
    assert read(atlas, "temperature", n_agents=2, **others).n_agents == 2


def test_files_that_are_nothing(tmp_path):
    path = tmp_path / "sheet.csv"
    with pytest.raises(DataError, match=r"sheet.csv must exist, got no such file"):
        read(path, "temperature")
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="got a damaged spreadsheet or an archive"):
        read(path, "temperature")
    path.write_text("# comment only\n")
    with pytest.raises(DataError, match="must begin with a header"):
        read(path, "temperature")
    path.write_text(TABLE)
    with pytest.raises(TypeError, match="minimum_depths"):
        read(path, "temperature", minimum_depths=5)
    with pytest.raises(DataError, match="a column of annual oxygen"):
        read(path, "oxygen")


def test_the_gulf():
    annual, winter, salinity = gulf(), gulf(season="winter"), gulf("salinity")
    assert [f.n_agents for f in (annual, winter, salinity)] == [50] * 3
    assert [f.n_readings for f in (annual, winter, salinity)] == [774] * 3
    assert (annual.counts.min(), annual.counts.max()) == (11, 18)
    assert [f.unit for f in (annual, salinity)] == ["°C", "psu"]
    # Winter is colder above and the same below.
    shallow = annual.x[:, 0] < 50
    assert (winter.y[shallow] < annual.y[shallow]).mean() > 0.9
    assert np.array_equal(
        winter.y[annual.x[:, 0] > 400], annual.y[annual.x[:, 0] > 400]
    )
    assert annual.y[0] == 26.577
    assert annual.network(1000).is_connected


def test_the_bundled_table_is_the_published_one():
    data = files("halk.data") / "bundle"
    content = (data / "gulf_levitus_50nodes.csv").read_bytes()
    assert gulf().sha256 == hashlib.sha256(content).hexdigest()
    told = (data / "PROVENANCE.md").read_text(encoding="utf-8")
    for column in content.decode().splitlines()[0].split(","):
        assert f"`{column}`" in told


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";").replace(".", ","),
        lambda text: "Gulf of Mexico\n\n" + text,
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.replace(",", "|").encode()),
    ],
)
def test_fields_are_read_as_tables_are(tmp_path, change):
    """Whatever ``halk fit`` reads, ``halk reproduce --data`` reads."""
    data = files("halk.data") / "bundle" / "gulf_levitus_50nodes.csv"
    changed = change(data.read_text(encoding="utf-8"))
    path = tmp_path / "gulf.csv"
    path.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    field, same = read(path, "temperature"), gulf()
    assert field.names == same.names
    np.testing.assert_array_equal(field.x, same.x)
    np.testing.assert_array_equal(field.y, same.y)
    np.testing.assert_array_equal(field.positions, same.positions)


def test_sensors_of_a_field_may_be_in_a_table_of_their_own(tmp_path):
    (tmp_path / "r.csv").write_text("node,depth,heat\nb,5,9\na,5,8\na,6,7\na,6,7\n")
    (tmp_path / "s.csv").write_text("node,lat,lon\na,1,2\nb,3,4\n")
    field = read(tmp_path / "r.csv", "heat", sensors=tmp_path / "s.csv")
    assert field.names == ("b", "a")
    assert field.positions.tolist() == [[3, 4], [1, 2]]
    assert field.n_readings == 3  # the copy is learned once
    with pytest.raises(DataError, match="positions of sensors must be known"):
        read(tmp_path / "r.csv", "heat")


def test_broken_choices():
    with pytest.raises(
        ValueError, match="variable must be one of 'temperature', 'sali"
    ):
        gulf("oxygen")
    with pytest.raises(
        ValueError, match="season must be 'annual' for salinity, got 'win"
    ):
        gulf("salinity", "winter")


def test_exported_members():
    assert all(hasattr(halk.data, name) for name in halk.data.__all__)


def test_the_import_needs_no_extras():
    code = (
        "import sys; sys.modules['pyarrow'] = sys.modules['netCDF4'] = None; "
        "from halk.data import gulf; print(gulf().n_readings)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "774"
