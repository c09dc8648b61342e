"""Small files in the layouts of the World Ocean Atlas."""

import netCDF4
import numpy as np

MARK = "COMMA SEPARATED LATITUDE, LONGITUDE, AND VALUES AT DEPTHS (M):"
DEPTHS = [0, 5, 10, 20]

LAT = np.arange(20.5, 26)
LON = np.arange(-95.5, -89)
# Values name their cell and depth: 20.5 N, 95.5 W, 5 m is 2095.05.
VALUES = (
    np.floor(LAT)[:, None, None] * 100
    + np.floor(-LON)[None, :, None]
    + np.array(DEPTHS) / 100
)
VALUES[0, :, 1:] = np.nan  # too shallow
VALUES[1, :, 1] = np.nan  # a hole
VALUES[2, :, 3:] = np.nan


def csv_lines(longitude=LON):
    lines = ["#WOA, statistical mean", f"#{MARK}{','.join(map(str, DEPTHS))}"]
    for i, latitude in enumerate(LAT):
        for j, other in enumerate(longitude):
            cells = ["" if np.isnan(v) else f"{v:.3f}" for v in VALUES[i, j]]
            lines.append(f"{latitude},{other},{','.join(cells).rstrip(',')}")
    return lines


def write_csv(folder, lines, name="woa18_decav_t13mn01.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def write_netcdf(folder, name="woa18_decav_t13_01.nc", variable="t_mn", **options):
    path = folder / name
    kind = options.get("kind", "NETCDF4")
    values = np.ma.masked_invalid(np.moveaxis(VALUES, 2, 0))[None]
    dimensions = ("time", "depth", "lat", "lon")
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for key, axis in zip(dimensions, ([0], DEPTHS, LAT, LON), strict=True):
            file.createDimension(key, len(axis))
            file.createVariable(key, "f4", (key,))[:] = axis
        made = file.createVariable(variable, "f4", dimensions, fill_value=9.96921e36)
        made[:] = values
    return path
