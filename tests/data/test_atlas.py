import gzip
import sys

import netCDF4
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.data import GULF, DataError, read_atlas
from halk.data.atlas import about, spread
from tests.data.atlas_files import LAT, LON, MARK, csv_lines, write_csv, write_netcdf

SMALL = {"n_agents": 3, "minimum_depths": 2}


def values_match_their_places(field):
    latitude, longitude = np.floor(np.abs(field.positions[field.agent])).T
    wanted = latitude * 100 + longitude + field.x[:, 0] / 100
    assert field.y == pytest.approx(wanted, rel=1e-6)


def same(one, other):
    assert one.names == other.names
    assert np.array_equal(one.positions, other.positions)
    assert np.array_equal(one.x, other.x)
    assert one.y == pytest.approx(other.y, rel=1e-6)


def test_csv(tmp_path):
    path = write_csv(tmp_path, csv_lines())
    field = read_atlas(path, **SMALL, start=(22.6, -92.6))
    assert (field.name, field.unit, field.inputs) == ("temperature", "°C", ("depth_m",))
    assert field.is_geographic
    assert field.names[0] == "22.5N 92.5W"
    assert field.source.endswith("csv, winter temperature at 3 grid cells")
    assert len(field.sha256) == 64
    values_match_their_places(field)
    whole = read_atlas(path, n_agents=35, minimum_depths=2)
    assert sorted(set(whole.positions[:, 0])) == [21.5, 22.5, 23.5, 24.5, 25.5]
    of_row = {lat: whole.counts[whole.positions[:, 0] == lat][0] for lat in LAT[1:4]}
    assert of_row == {21.5: 3, 22.5: 3, 23.5: 4}
    hole = whole.agent == whole.names.index("21.5N 90.5W")
    assert whole.x[hole, 0].tolist() == [0, 10, 20]


def test_every_layout_gives_the_same(tmp_path):
    plain = read_atlas(write_csv(tmp_path, csv_lines()), **SMALL)
    packed = tmp_path / "t13.csv.gz"
    packed.write_bytes(gzip.compress("\r\n".join(csv_lines()).encode()))
    same(plain, read_atlas(packed, **SMALL))
    same(plain, read_atlas(write_netcdf(tmp_path), **SMALL))
    classic = write_netcdf(tmp_path, "t13an.nc", "t_an", kind="NETCDF3_CLASSIC")
    same(plain, read_atlas(classic, **SMALL))
    east = write_csv(tmp_path, csv_lines(LON + 360), "t13.csv")
    same(plain, read_atlas(east, **SMALL))
    south, north, west, right = GULF
    box = (south, north, west + 360, right + 360)
    same(plain, read_atlas(east, **SMALL, box=box))
    unnamed = write_netcdf(tmp_path, "download.nc")
    same(plain, read_atlas(unnamed, **SMALL))


def test_only_cells_in_the_box(tmp_path):
    path = write_csv(tmp_path, csv_lines())
    field = read_atlas(path, n_agents=4, box=(23, 25, -95, -93), minimum_depths=2)
    assert sorted(field.names) == [
        *("23.5N 93.5W", "23.5N 94.5W", "24.5N 93.5W", "24.5N 94.5W")
    ]
    other = write_netcdf(tmp_path)
    same(field, read_atlas(other, n_agents=4, box=(23, 25, -95, -93), minimum_depths=2))


def naive(places, n_chosen, start):
    """Choose by the definition, with the cosine formula for distances."""

    def unit(point):
        lat, lon = np.radians(point)
        return np.array(
            [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
        )

    def angle(a, b):
        return np.arctan2(np.linalg.norm(np.cross(unit(a), unit(b))), unit(a) @ unit(b))

    chosen = [min(range(len(places)), key=lambda k: angle(places[k], start))]
    while len(chosen) < n_chosen:
        rest = [k for k in range(len(places)) if k not in chosen]
        chosen.append(
            max(rest, key=lambda k: min(angle(places[k], places[c]) for c in chosen))
        )
    return chosen


# Places in general position: at ties the two might choose differently.
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.data())
def test_chosen_cells_are_as_far_apart_as_possible(n_places, seed, data):
    rng = np.random.default_rng(seed)
    places = np.column_stack(
        (rng.uniform(-80, 80, n_places), rng.uniform(-180, 180, n_places))
    )
    n_chosen = data.draw(st.integers(1, n_places))
    start = (rng.uniform(-80, 80), rng.uniform(-180, 180))
    chosen = spread(places, n_chosen, start).tolist()
    assert chosen == naive(places, n_chosen, start)
    assert chosen == spread(places, n_places, start)[:n_chosen].tolist()


def test_places_that_coincide_are_chosen_once_each():
    assert sorted(spread([(0, 0), (0, 0), (0, 0)], 3, (0, 0))) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"at most the number of places \(1\), got 2"):
        spread([(0, 0)], 2, (0, 0))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("woa18_decav_t00mn01.csv", ("temperature", "annual", "mn")),
        ("woa23_B5C2_s16an04.csv.gz", ("salinity", "autumn", "an")),
        ("woa18_decav_s14_01.nc", ("salinity", "spring", "")),
        ("T15.CSV", ("temperature", "summer", "")),
        ("t07.csv", ("temperature", "period 07", "")),
        ("woa18_decav_t13sd01.csv", ("", "", "")),
        ("gulf_t13.txt", ("", "", "")),
        ("boat13.csv", ("", "", "")),
    ],
)
def test_published_names(name, wanted):
    assert about(name) == wanted


def test_folders(tmp_path):
    for name in ("t13.csv", "s13.csv", "t00.csv", "woa18_decav_t13sd01.csv"):
        write_csv(tmp_path, csv_lines(), name)
    write_netcdf(tmp_path, "t13.nc")
    write_csv(tmp_path, csv_lines(), "t13an01.csv")
    field = read_atlas(tmp_path, "temperature", season="winter", **SMALL)
    assert field.source.startswith("t13.csv, winter temperature")
    assert read_atlas(tmp_path, "salinity", **SMALL).unit == "psu"
    there = r"s13.csv \(winter salinity\), t00.csv \(annual temperature\), t13.csv"
    with pytest.raises(DataError, match=f"atlas file of summer salinity, got {there}"):
        read_atlas(tmp_path, "salinity", season="summer")
    with pytest.raises(DataError, match="one atlas file of temperature, got t00"):
        read_atlas(tmp_path, "temperature")
    write_csv(tmp_path, csv_lines(), "woa18_decav_t00mn01.csv")
    with pytest.raises(DataError, match=r"one atlas file of annual .* or the file"):
        read_atlas(tmp_path, "temperature", season="annual")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="of one variable, got none"):
        read_atlas(tmp_path / "empty")


AT = "t13mn01.csv, line {}: "
BROKEN = {
    "no depths": (
        {1: "#WOA"},
        AT.format(2) + "last comment must list the depths after",
    ),
    "no comments": ({0: "1,2", 1: "3,4"}, AT.format(1) + "last comment must list"),
    "depths that fall": ({1: f"#{MARK}0,5,5"}, AT.format(2) + "depths must be rising"),
    "depths as text": (
        {1: f"#{MARK}0,x"},
        AT.format(2) + "depths .* got '0,X'; correct",
    ),
    "no longitude": ({4: "21.5"}, AT.format(5) + "cell must begin with latitude"),
    "latitude": (
        {4: "95,1,2"},
        AT.format(5) + r"cell must begin .* got '95,1,2'; corr",
    ),
    "longitude": ({4: "1,361,2"}, AT.format(5) + "cell must begin"),
    "text": (
        {10: "21.5,-94.5,24,x"},
        AT.format(11) + "values must be finite numbers, got 'x'; correct the line",
    ),
    "infinity": (
        {10: "21.5,-94.5,inf"},
        AT.format(11) + "values must be finite numbers",
    ),
    "too many": (
        {10: "21.5,-94.5,1,2,3,4,5"},
        AT.format(11) + "values must be 4 at most, got 5",
    ),
    "twice": (
        {10: "21.5,264.5,1"},
        AT.format(11)
        + r"cell must differ from that of line 10, got \(21.5, 264.5\) in",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_csv(tmp_path, changes, message):
    lines = csv_lines()
    for k, line in changes.items():
        lines[k] = line
    with pytest.raises(DataError, match=message):
        read_atlas(write_csv(tmp_path, lines), **SMALL)


def test_a_csv_file_without_cells(tmp_path):
    with pytest.raises(DataError, match="must hold grid cells, got comments only"):
        read_atlas(write_csv(tmp_path, csv_lines()[:2]))


def test_too_few_cells(tmp_path):
    path = write_csv(tmp_path, csv_lines())
    rule = r"box \(.*\) must hold at least 50 cells with 10 depths, got 0; choose"
    with pytest.raises(DataError, match=rule):
        read_atlas(path)
    with pytest.raises(DataError, match="at least 36 cells with 2 depths, got 35"):
        read_atlas(path, n_agents=36, minimum_depths=2)
    with pytest.raises(DataError, match="got 0; choose another box"):
        read_atlas(path, **SMALL, box=(-10, 10, 0, 10))


def test_what_the_name_says_holds(tmp_path):
    path = write_csv(tmp_path, csv_lines())
    with pytest.raises(DataError, match="variable must be 'temperature' by the file's"):
        read_atlas(path, "salinity")
    with pytest.raises(DataError, match=r"season must be 'winter' by .*, got 'summer'"):
        read_atlas(path, season="summer")
    other = write_csv(tmp_path, csv_lines(), "download.csv")
    with pytest.raises(DataError, match="variable must be given, as the file's name"):
        read_atlas(other)
    assert read_atlas(other, "salinity", **SMALL).name == "salinity"


def test_broken_netcdf(tmp_path, monkeypatch):
    path = write_netcdf(tmp_path, variable="o_mn")
    with pytest.raises(DataError, match=r"must hold t_mn or t_an on .*, got time \(1,"):
        read_atlas(path)
    path = write_netcdf(tmp_path, kind="NETCDF3_CLASSIC")
    data = path.read_bytes()
    for part in (data[:50], data[:-20]):
        path.write_bytes(part)
        with pytest.raises(DataError, match="NetCDF file, got a damaged or incomplete"):
            read_atlas(path, **SMALL)
    with netCDF4.Dataset(path, "w") as file:
        for key in ("lat", "lon", "depth", "time"):
            file.createDimension(key, 2)
            file.createVariable(key, "f4", (key,))[:] = [20, 21]
        made = file.createVariable("t_mn", "f4", ("time", "depth", "lat", "lon"))
        made[:] = np.zeros((2, 2, 2, 2))
    rule = (
        r"must hold t_mn or t_an on \(one time, depth, lat, lon\), got .* t_mn \(2, 2"
    )
    with pytest.raises(DataError, match=rule):
        read_atlas(path)
    with netCDF4.Dataset(path, "a") as file:
        file.createVariable("s_mn", "f4", ("depth", "lat", "lon"))[:] = 1
        file["depth"][:] = [5, 0]
    other = path.rename(tmp_path / "s13.nc")
    with pytest.raises(
        DataError, match=r"depths must be rising numbers, got \[5. 0.\]"
    ):
        read_atlas(other)
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    with pytest.raises(
        ImportError, match=r"needs netCDF4: pip install 'halk\[grids\]'"
    ):
        read_atlas(other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"box": (31, 18, -98, -80)}, "box must have south below north"),
        ({"box": (18, 31, -80, -98)}, "box must have west below east"),
        ({"box": (18, 31)}, r"box must be \(south, north, west, east\)"),
        ({"n_agents": 1}, "n_agents must be at least 2, got 1"),
        ({"variable": "oxygen"}, "variable must be one of 'temperature', 'salinity'"),
        ({"season": "monsoon"}, "season must be one of 'annual', 'winter'"),
    ],
)
def test_broken_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_atlas(write_csv(tmp_path, csv_lines()), **options)
