"""Any readings, written in any layout, are read back as they were."""

import csv
import io
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halk.data import Asked, examine

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
arrow = pytest.importorskip("pyarrow")
xarray = pytest.importorskip("xarray")

BEGIN = datetime(1980, 1, 1)

FORMS = {
    "%Y-%m-%dT%H:%M": "", "%Y-%m-%d %H:%M:%S": "", "%Y/%m/%d %H:%M": "",
    "%Y-%m-%dT%H:%M:00Z": "", "%d.%m.%Y %H:%M": "", "%d.%m.%y %H:%M": "",
    "%d/%m/%Y %H:%M": "dmy", "%m/%d/%Y %I:%M %p": "mdy", "%d-%m-%Y %H:%M": "dmy",
    "%d-%b-%Y %H:%M": "", "%B %d, %Y %H:%M": "", "%Y%m%d%H%M": "",
}  # fmt: skip
"""Ways to write a time, and what must be said of those that do not tell."""

names = st.lists(
    st.text("aBÄö7 0-_.'\"();,", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda name: name.strip("-?0. ") != "" and name[0] not in '"\'')
    .filter(lambda name: not name.replace(",", "").replace(".", "").isdigit()),
    min_size=1, max_size=4, unique=True,
)  # fmt: skip
times = st.lists(
    st.integers(0, 60 * 24 * 365 * 40), min_size=1, max_size=6, unique=True
)
values = st.one_of(
    st.none(), st.integers(-9000, 9000), st.floats(-1e4, 1e4).map(lambda v: round(v, 3))
)


@st.composite
def networks(draw):
    """Draw names, times and values (T, V) with gaps as None."""
    who, when = draw(names), sorted(draw(times))
    n = len(who) * len(when)
    drawn = draw(st.lists(values, min_size=n, max_size=n))
    grid = [drawn[k : k + len(who)] for k in range(0, n, len(who))]
    return who, [BEGIN + timedelta(minutes=m) for m in when], grid


def assert_reads(found, network):
    who, when, grid = network
    assert found.readings is not None, [one.text for one in found.findings.sorted]
    at = {t.replace(tzinfo=UTC).timestamp(): k for k, t in enumerate(when)}
    made = [[None] * len(who) for _ in when]
    rows = found.readings
    for i, x, y in zip(rows.sensor, rows.x[:, 0], rows.y, strict=True):
        if y == y:
            made[at[x]][who.index(found.sensors.names[i])] = y
    assert made == grid
    assert rows.is_usable.all()


def written(value, comma):
    text = "" if value is None else repr(value)
    return text.replace(".", ",") if comma else text


@given(
    networks(), st.booleans(), st.sampled_from(",;\t|"), st.booleans(),
    st.sampled_from(list(FORMS)), st.sampled_from(["utf-8-sig", "utf-16", "latin-1"]),
    st.sampled_from(["\n", "\r\n"]), st.booleans(),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_text(network, is_wide, delimiter, comma, form, encoding, end, has_title):
    who, when, grid = network
    file = io.StringIO()
    out = csv.writer(file, delimiter=delimiter, lineterminator=end)
    if is_wide:
        out.writerow(["time", *who])
        for t, row in zip(when, grid, strict=True):
            out.writerow([t.strftime(form), *(written(v, comma) for v in row)])
    else:
        out.writerow(["station", "time", "v"])
        for t, row in zip(when, grid, strict=True):
            for name, v in zip(who, row, strict=True):
                out.writerow([name, t.strftime(form), written(v, comma)])
    text = ("# a network" + end if has_title else "") + file.getvalue()
    decimal = "comma" if comma else "point"
    asked = Asked(wide=is_wide, dates=FORMS[form], decimal=decimal,
                  target="v", inputs=["time"])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "readings.csv"
        path.write_bytes(text.encode(encoding))
        assert_reads(examine(path, None, asked), network)


def long_columns(network):
    who, when, grid = network
    return {
        "station": [name for _ in when for name in who],
        "time": [t for t in when for _ in who],
        "v": [np.nan if v is None else float(v) for row in grid for v in row],
    }


def wide_frame(network):
    who, when, grid = network
    cells = [[np.nan if v is None else float(v) for v in row] for row in grid]
    return pandas.DataFrame(cells, index=pandas.DatetimeIndex(when), columns=who)


def on_a_grid(network):
    who, when, _ = network
    cells = wide_frame(network).to_numpy()
    return xarray.Dataset(
        {"v": (("time", "station"), cells)},
        {"station": who, "time": np.array(when, "datetime64[s]")},
    )


def indexed(network):
    who, when, _ = network
    index = np.tile(np.arange(len(who)), len(when))
    return xarray.Dataset(
        {"which": ("obs", index, {"instance_dimension": "site"}),
         "v": ("obs", long_columns(network)["v"])},
        {"name": ("site", who, {"cf_role": "timeseries_id"}),
         "time": ("obs", np.repeat(np.array(when, "datetime64[s]"), len(who)))},
    )  # fmt: skip


def contiguous(network):
    who, when, _ = network
    cells = wide_frame(network).to_numpy().T.reshape(-1)
    counts = np.full(len(who), len(when))
    return xarray.Dataset(
        {"rows": ("site", counts, {"sample_dimension": "obs"}), "v": ("obs", cells)},
        {"name": ("site", who, {"cf_role": "timeseries_id"}),
         "time": ("obs", np.tile(np.array(when, "datetime64[s]"), len(who)))},
    )  # fmt: skip


WAYS = {
    "columns": long_columns,
    "pandas": lambda n: pandas.DataFrame(long_columns(n)),
    "polars": lambda n: polars.DataFrame(long_columns(n)),
    "arrow": lambda n: arrow.table(long_columns(n)),
    "wide pandas": wide_frame,
    "wide polars": lambda n: polars.from_pandas(wide_frame(n), include_index=True)
    .rename({"None": "time"}),
    "grid": on_a_grid, "indexed": indexed, "contiguous": contiguous,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@given(network=networks())
@settings(max_examples=40, deadline=None)
def test_frames_and_grids(way, network):
    asked = Asked(wide="wide" in way, target="v", inputs=["time"])
    assert_reads(examine(WAYS[way](network), None, asked), network)
