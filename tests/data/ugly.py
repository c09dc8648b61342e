"""Files as people have them, each ugly in its own way, with the same readings.

Three stations, hourly from 2024-03-29 22:00, a few gaps; what differs is the writing.
"""

import io
from datetime import datetime, timedelta

import numpy as np

NAMES = ("001", "Nordhöhe", "south pier")
PLACES = {"001": (53.5, 8.1), "Nordhöhe": (54.2, 8.9), "south pier": (53.9, 7.7)}
BEGIN = datetime(2024, 3, 29, 22)
N = 48


def readings():
    """Return times, and values (N, 3) with gaps as NaN."""
    t = np.arange(N)
    values = 8 + 3 * np.sin(t / 24 * 2 * np.pi)[:, None] + np.array([0.0, 0.7, -1.2])
    values = np.round(values + 0.3 * np.cos(np.outer(t, [1.0, 1.7, 2.3])), 2)
    values[5, 0] = values[17:20, 1] = values[40, 2] = np.nan
    return [BEGIN + timedelta(hours=int(h)) for h in t], values


def cell(value, comma=False, missing=""):
    text = missing if value != value else f"{value:.2f}"
    return text.replace(".", ",") if comma else text


def sensors():
    lines = ["station,lat,lon", *(f"{n},{a},{b}" for n, (a, b) in PLACES.items())]
    return "\n".join(lines) + "\n"


def german_wide():
    """Semicolons, decimal commas, dd.mm.yyyy, Latin-1, lines above the header."""
    times, values = readings()
    lines = ["Messnetz Küste", "Export vom 01.04.2024", ""]
    lines.append("Zeit;" + ";".join(NAMES))
    for t, row in zip(times, values, strict=True):
        lines.append(f"{t:%d.%m.%Y %H:%M};" + ";".join(cell(v, True) for v in row))
    return "\r\n".join(lines).encode("latin-1")


def american_long():
    """Dates with the month first, AM and PM, quotes, a column of remarks, a BOM."""
    times, values = readings()
    lines = ['"Station","Date/Time","Temp (°C)","Remark"']
    for t, row in zip(times, values, strict=True):
        for name, v in zip(NAMES, row, strict=True):
            remark = "sensor down" if v != v else ""
            lines.append(f'"{name}","{t:%m/%d/%Y %I:%M %p}","{cell(v)}","{remark}"')
    return ("\ufeff" + "\n".join(lines)).encode()


def erddap():
    """Two header rows, ISO times in UTC, NaN, places in every row."""
    times, values = readings()
    lines = ["time,station,latitude,longitude,sea_water_temperature"]
    lines.append("UTC,,degrees_north,degrees_east,degree_C")
    for t, row in zip(times, values, strict=True):
        for name, v in zip(NAMES, row, strict=True):
            lat, lon = PLACES[name]
            lines.append(
                f"{t.isoformat()}Z,{name},{lat},{lon},{cell(v, missing='NaN')}"
            )
    return "\n".join(lines).encode()


def logger():
    """Date and time of day apart, -999 for nothing, tabs, comments, UTF-16."""
    times, values = readings()
    lines = ["# logger 7", "# firmware 2.1", "site\tdate\tclock\tdegC"]
    for t, row in zip(times, values, strict=True):
        for name, v in zip(NAMES, row, strict=True):
            shown = cell(v, missing="-999")
            lines.append(f"{name}\t{t:%Y/%m/%d}\t{t:%H:%M:%S}\t{shown}")
    lines.insert(50, "# battery changed")
    return "\n".join(lines).encode("utf-16")


def calendar():
    """Year, month, day and hour in columns of their own, quality flags."""
    times, values = readings()
    lines = ["station|year|month|day|hour|temp|temp_qc"]
    for k, (t, row) in enumerate(zip(times, values, strict=True)):
        for j, (name, v) in enumerate(zip(NAMES, row, strict=True)):
            flag = 9 if v != v else 4 if (k, j) == (30, 0) else 1
            shown = "77.7" if (k, j) == (30, 0) else cell(v)
            lines.append(f"{name}|{t.year}|{t.month}|{t.day}|{t.hour}|{shown}|{flag}")
    return "\n".join(lines).encode()


def epoch():
    """Milliseconds since 1970, a column without a name, all sensors in a row each."""
    times, values = readings()
    lines = [",timestamp,sensor_id,value"]
    n = 0
    for t, row in zip(times, values, strict=True):
        for name, v in zip(NAMES, row, strict=True):
            ms = int((t - datetime(1970, 1, 1)).total_seconds() * 1000)
            lines.append(f"{n},{ms},{name},{cell(v, missing='null')}")
            n += 1
    return "\n".join(lines).encode()


def pandas_wide():
    """A frame as pandas writes it: the index has no name."""
    times, values = readings()
    lines = ["," + ",".join(NAMES)]
    for t, row in zip(times, values, strict=True):
        lines.append(f"{t},{','.join(cell(v) for v in row)}")
    return "\n".join(lines).encode()


def spreadsheet():
    """An Excel sheet: a title above, a row of units, times as Excel has them."""
    openpyxl = __import__("openpyxl")
    times, values = readings()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    sheet.append(["Coast network"])
    sheet.append([])
    sheet.append(["time", *NAMES])
    sheet.append([None, "degC", "degC", "degC"])
    for t, row in zip(times, values, strict=True):
        sheet.append([t, *(None if v != v else float(v) for v in row)])
    book.create_sheet("Notes").append(["nothing of use"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def netcdf():
    """CF stations as an indexed ragged array, names as characters."""
    xarray = __import__("xarray")
    times, values = readings()
    index, t = np.tile(np.arange(3), N), np.repeat(np.array(times, "datetime64[s]"), 3)
    dataset = xarray.Dataset(
        {
            "stationIndex": ("obs", index, {"instance_dimension": "station"}),
            "time": ("obs", t),
            "temperature": ("obs", values.reshape(-1), {"units": "degC"}),
            "station_name": (
                "station", np.array([n.encode() for n in NAMES]),
                {"cf_role": "timeseries_id"},
            ),
            "lat": ("station", [p[0] for p in PLACES.values()]),
            "lon": ("station", [p[1] for p in PLACES.values()]),
        },
        attrs={"featureType": "timeSeries"},
    )  # fmt: skip
    return bytes(dataset.to_netcdf())


def unclear():
    """Dates that could be of day and month, or month and day; thousands or decimals."""
    return (
        b"station;date;flow\nnorth;01/02/2024;1,234\nnorth;02/02/2024;2,345\n"
        b"south;01/02/2024;1,500\nsouth;02/02/2024;1,250\n"
    )


def german_units():
    """A row of units, decimal commas, dashes for nothing, a sheet's empty columns."""
    times, values = readings()
    lines = ["Messnetz;;;", "Zeitpunkt;" + ";".join(NAMES), "MEZ;" + "µg/m³;" * 3]
    lines[-1] = lines[-1].rstrip(";")
    for t, row in zip(times, values, strict=True):
        cells = ";".join(cell(v, True, "---") for v in row)
        lines.append(f"{t:%d.%m.%Y %H:%M};{cells}")
    return "\r\n".join(lines).encode("latin-1")


def hours_of_day():
    """A date without separators, hours from 1 to 24, each the end of one."""
    times, values = readings()
    lines = ["Station,Date,Hour,Temp"]
    for t, row in zip(times, values, strict=True):
        day, hour = (t - timedelta(days=1), 24) if t.hour == 0 else (t, t.hour)
        lines += [
            f"{name},{day:%Y%m%d},{hour},{cell(v)}"
            for name, v in zip(NAMES, row, strict=True)
        ]
    return "\n".join(lines).encode()


def two_values():
    """ERDDAP's two header rows, a unit of 1, another value, codes for nothing."""
    times, values = readings()
    lines = ["time,station,latitude,longitude,temp,temp_qc,salinity"]
    lines.append("UTC,,degrees_north,degrees_east,degree_C,1,PSU")
    for t, row in zip(times, values, strict=True):
        for name, v in zip(NAMES, row, strict=True):
            lat, lon = PLACES[name]
            shown, flag = cell(v, missing="-9999.0"), 9 if v != v else 1
            lines.append(f"{t.isoformat()}Z,{name},{lat},{lon},{shown},{flag},30.1")
    return "\n".join(lines).encode()


def flags_beside():
    """Each sensor's flags beside it, as letters."""
    times, values = readings()
    lines = ["time," + ",".join(f"{name},{name}_flag" for name in NAMES)]
    for k, (t, row) in enumerate(zip(times, values, strict=True)):
        cells = [f"{cell(v)},{'M' if v != v else 'V'}" for v in row]
        if k == 30:
            cells[0] = "77.7,S"
        lines.append(f"{t},{','.join(cells)}")
    return "\n".join(lines).encode()


FILES = {
    "german_units.csv": german_units, "hours_of_day.csv": hours_of_day,
    "two_values.csv": two_values, "flags_beside.csv": flags_beside,
    "german_wide.csv": german_wide, "american_long.csv": american_long,
    "erddap.csv": erddap, "logger.txt": logger, "calendar.csv": calendar,
    "epoch.csv": epoch, "pandas_wide.csv": pandas_wide, "sheet.xlsx": spreadsheet,
    "stations.nc": netcdf, "unclear.csv": unclear,
}  # fmt: skip
