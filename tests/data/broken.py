"""Broken tables, each with what is said about it."""

from typing import NamedTuple

GOOD = """station,time,temperature_C
north,2024-01-01,1.0
north,2024-01-02,2.0
north,2024-01-03,3.5
south,2024-01-01,4.0
south,2024-01-02,5.0
south,2024-01-03,6.5
"""

SENSORS = """station,lat,lon,elevation_m
north,29,-90,10
south,25,-90,20
"""


class Broken(NamedTuple):
    """Files, the finding that they must lead to, and options of reading them."""

    readings: str
    level: str
    code: str
    sensors: str | None = SENSORS
    options: dict = {}  # noqa: RUF012


def many(n=40, value="{k}.5", name="north"):
    """Return a table of many readings of one sensor, and of a few others."""
    lines = [f"{name},{k},{value.format(k=k)}" for k in range(n)]
    return (
        "station,depth_m,value\n"
        + "\n".join(lines)
        + "\n"
        + "\n".join(f"south,{k},{k % 7}.25" for k in range(n))
    )


CASES = {
    "empty file": Broken(" ", "error", "unreadable"),
    "header only": Broken("station,time,temperature_C\n", "error", "unreadable"),
    "ragged": Broken(GOOD + "south,2024-01-04\n", "error", "unreadable"),
    "open quote": Broken(GOOD + 'south,"2024-01-04,3\n', "error", "unreadable"),
    "twice the same column": Broken("station,t,t\na,1,2\n", "error", "unreadable"),
    "spreadsheet": Broken("PK\x03\x04 and so on", "error", "unreadable"),
    "mixed zones": Broken(
        GOOD.replace("01-02,2.0", "01-02T12:00+02:00,2.0"), "warning", "mixed-zones"
    ),
    "no header": Broken("north,0,1.5\nsouth,1,2.5\n", "error", "no-header"),
    "no sensor": Broken(
        "time,value\n2024-01-01,1\n2024-01-02,2\n",
        "error",
        "no-sensor-column",
        None,
    ),
    "no input": Broken("station,value\na,1\nb,2\n", "error", "no-input", None),
    "times in a zone of words": Broken(
        "station,time,t_C\na,2024-01-01 12:00 CET,1\nb,2024-01-02 12:00 CET,2\n",
        "error",
        "no-input",
        None,
    ),
    "values below a limit": Broken(
        "station,time,flow\na,2024-01-01,<0.5\nb,2024-01-02,<0.7\n",
        "error",
        "no-target",
        None,
    ),
    "no target": Broken(
        "station,time\na,2024-01-01\nb,2024-01-02\n", "error", "no-target", None
    ),
    "unclear target": Broken(
        "station,time,t_C,s_psu\na,2024-01-01,1,2\nb,2024-01-02,2,3\n",
        "error",
        "unclear-target",
        None,
    ),
    "column asked for": Broken(
        GOOD, "error", "no-such-column", SENSORS, {"target": "temprature_C"}
    ),
    "target is input": Broken(
        GOOD,
        "error",
        "target-is-input",
        SENSORS,
        {"target": "temperature_C", "inputs": ["temperature_C"]},
    ),
    "text as value": Broken(GOOD + "south,2024-01-04,warm\n", "error", "bad-cell"),
    "decimal comma": Broken(
        GOOD.replace(",", ";") + "south;2024-01-04;3,5\n", "error", "bad-cell"
    ),
    "infinite": Broken(GOOD + "south,2024-01-04,inf\n", "error", "bad-cell"),
    "bad time": Broken(GOOD + "south,2024-13-04,3\n", "error", "bad-cell"),
    "empty input": Broken(GOOD + "south,,3\n", "error", "empty-input"),
    "nameless row": Broken(GOOD + ",2024-01-04,3\n", "error", "empty-sensor"),
    "unknown sensor": Broken(GOOD + "nroth,2024-01-04,3\n", "error", "unknown-sensor"),
    "no values": Broken(
        "station,time,temperature_C\nnorth,2024-01-01,\nsouth,2024-01-02,\n",
        "error",
        "no-readings",
        SENSORS,
        {"target": "temperature_C"},
    ),
    "sentinel": Broken(GOOD + "south,2024-01-04,-999\n", "error", "sentinel"),
    "sensors without names": Broken(
        GOOD, "error", "no-sensor-column", "place,lat,lon\nnorth,1,2\n"
    ),
    "nameless sensor": Broken(GOOD, "error", "empty-sensor", SENSORS + ",1,2,3\n"),
    "sensor twice": Broken(
        GOOD, "error", "sensor-twice", SENSORS + "north,30,-90,10\n"
    ),
    "sensor nowhere": Broken(GOOD, "error", "bad-position", SENSORS + "west,,-91,10\n"),
    "outside the Earth": Broken(GOOD, "error", "outside", SENSORS + "west,-91,25,10\n"),
    "outside, in the readings": Broken(
        "station,lat,lon,depth_m,t_C\na,95,0,1,2\na,95,0,2,3\nb,5,0,1,2\n",
        "error",
        "outside",
        None,
    ),
    "attribute missing": Broken(
        GOOD, "warning", "attribute-missing", SENSORS + "west,24,-91,\n"
    ),
    "same place": Broken(GOOD, "warning", "same-place", SENSORS + "west,25,-90,5\n"),
    "skipped": Broken(
        GOOD + "south,2024-01-04,warm\n",
        "warning",
        "bad-cell",
        SENSORS,
        {"skips": True},
    ),
    "far out": Broken(
        many(120, "{k}") + "\nnorth,99,12345\n", "warning", "far-out", None
    ),
    "few": Broken(GOOD, "warning", "few"),
    "repeated": Broken(GOOD + "south,2024-01-03,6.5\n", "warning", "repeated"),
    "stuck": Broken(many(value="7.77"), "warning", "stuck", None),
    "constant input": Broken(
        "station,depth_m,value\na,5,1\na,5,2\nb,5,3\n",
        "warning",
        "constant-input",
        None,
    ),
    "one sensor": Broken(
        "station,depth_m,value\na,5,1\na,6,2\n", "warning", "one-sensor", None
    ),
    "same inputs": Broken(GOOD + "south,2024-01-03,6.25\n", "note", "same-inputs"),
    "silent": Broken(GOOD, "note", "silent", SENSORS + "west,24,-91,3\n"),
    "gaps": Broken(GOOD + "south,2024-01-04,\n", "note", "gaps"),
    "moving": Broken(
        "buoy,lat,lon,time,t_C\na,1,2,2024-01-01,3\na,1.5,2,2024-01-02,4\nb,2,2,2024-01-01,3\n",
        "warning",
        "moving",
        None,
    ),
    "decimals or thousands": Broken(
        "station;time;flow\na;2024-01-01;1,234\nb;2024-01-02;2,345\n",
        "error",
        "unclear-decimals",
        None,
    ),
    "day or month first": Broken(
        "station,time,t_C\na,1/12/2024,3.5\nb,2/12/2024,4.5\n",
        "error",
        "unclear-dates",
        None,
    ),
    "day first and month first": Broken(
        "station,time,t_C\na,1/12/2024,3\nb,31/12/2024,4\nb,12/31/2024,4\n",
        "error",
        "mixed-dates",
        None,
    ),
    "sensors or quantities": Broken(
        "time,temperature,humidity\n2024-01-01,3,80\n2024-01-02,4,90\n",
        "error",
        "wide-or-long",
        None,
    ),
    "nothing is wide": Broken(
        GOOD,
        "error",
        "no-wide",
        None,
        {"wide": True, "inputs": ["time", "temperature_C"]},
    ),
    "wide": Broken(
        "time,north,south\n2024-01-01,3,4\n2024-01-02,4,5\n", "note", "wide", None
    ),
    "columns of unknown sensors": Broken(
        "time,north,south,nroth2\n2024-01-01,3,4,5\n2024-01-02,4,5,5\n",
        "warning",
        "unknown-columns",
    ),
    "flags that are not used": Broken(
        "station,time,t_C,t_qc\na,2024-01-01,3,1\nb,2024-01-02,4,9\n",
        "note",
        "flags",
        None,
    ),
    "flags without good ones": Broken(
        "station,time,t_C,t_qc\na,2024-01-01,3,1\nb,2024-01-02,4,9\n",
        "error",
        "no-good",
        None,
        {"flags": "t_qc"},
    ),
    "flagged": Broken(
        "station,time,t_C,t_qc\na,2024-01-01,3,1\nb,2024-01-02,4,9\n",
        "note",
        "flagged",
        None,
        {"flags": "t_qc", "good": ("1", "2")},
    ),
    "outside the range": Broken(
        GOOD + "south,2024-01-04,99\n",
        "note",
        "outside-range",
        SENSORS,
        {"limits": (-20.0, 50.0)},
    ),
    "extremes again and again": Broken(
        GOOD
        + GOOD.partition("\n")[2].replace("2024", "2023")
        + "south,2024-01-04,85.25\nsouth,2024-01-05,85.25\nnorth,2024-01-04,85.25\n",
        "warning",
        "sentinel",
    ),
    "epoch": Broken(
        "station,timestamp,t_C\na,1704067200,3\nb,1704070800,4\n",
        "note",
        "epoch",
        None,
    ),
    "title": Broken("Buoys of the bay\n" + GOOD, "note", "preamble"),
    "comments": Broken(GOOD + "# the end\n", "note", "comments"),
    "unused": Broken(
        "station,time,t_C,remark\na,2024-01-01,3,ok\nb,2024-01-02,4,\n",
        "note",
        "unused",
        None,
    ),
    "huge": Broken("station,depth_m,value\na,5,1e200\nb,6,2\n", "error", "size", None),
    "constant": Broken(
        "station,depth_m,value\na,5,2\nb,6,2\na,7,2\na,8,2\na,9,2\n",
        "warning",
        "constant",
        None,
    ),
    "one reading": Broken(
        "station,depth_m,value\na,5,2\n", "error", "one-reading", None
    ),
    "fahrenheit": Broken(
        "station,time,t_C\n"
        + "".join(
            f"{name},2024-01-{day:02d},{scale * (15 + day) + zero}\n"
            for name, scale, zero in [*((n, 1, 0) for n in "abcd"), ("e", 1.8, 32)]
            for day in range(1, 9)
        ),
        "warning",
        "unit",
        None,
    ),
    "swapped": Broken(
        "station,time,t_C\n"
        + "".join(f"{k},2024-01-0{d},{k + d}\n" for k in range(5) for d in range(1, 4)),
        "warning",
        "swapped",
        "station,lat,lon\n0,47,8\n1,47.2,8.3\n2,46.9,8.1\n3,47.1,7.9\n4,8.2,47.1\n",
    ),
    "fahrenheit for a while": Broken(
        "time,a,b,c,d\n"
        + "".join(
            f"2024-01-{1 + k // 24:02d}T{k % 24:02d}:00,{k % 24},{k % 24 + 1},"
            f"{k % 24 - 1},{1.8 * (k % 24) + 32 if k >= 24 else k % 24}\n"
            for k in range(72)
        ),
        "warning",
        "unit",
        None,
    ),
    "west without a minus": Broken(
        "station,time,t_C\n"
        + "".join(f"{k},2024-01-0{d},{k + d}\n" for k in range(5) for d in range(1, 4)),
        "warning",
        "swapped",
        "station,lat,lon\n0,47,-8\n1,47.2,-8.3\n2,46.9,-8.1\n3,47.1,-7.9\n4,47,8.2\n",
    ),
    "all swapped": Broken(
        "station,time,t_C\n"
        + "".join(f"{k},2024-01-0{d},{k + d}\n" for k in range(4) for d in range(1, 4)),
        "warning",
        "swapped",
        "station,lat,lon\n0,-74,43\n1,-75,42\n2,-76,41\n3,-77,44\n",
    ),
    "clocks set back": Broken(
        "time,a,b\n2024-10-27 01:00,1,2\n2024-10-27 02:00,2,3\n"
        "2024-10-27 02:00,3,4\n2024-10-27 03:00,4,5\n",
        "note",
        "same-inputs",
        None,
    ),
    "flags beside": Broken(
        "time,a,a_qc,b,b_qc\n2024-01-01,1,G,2,G\n2024-01-02,2,B,3,G\n",
        "note",
        "flags",
        None,
    ),
    "hours apart": Broken(
        "station,date," + ",".join(f"H{h:02d}" for h in range(24)) + "\n"
        + "".join(f"n,2024-01-0{d}" + ",1" * 24 + "\n" for d in (1, 2)),
        "error",
        "hours-apart",
        None,
    ),
}  # fmt: skip
