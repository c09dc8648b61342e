"""Every finding of ``halk doctor`` and refusal of ``halk fit``, word for word."""

import re
from pathlib import Path

import pytest

import halk
from halk.data import Asked, examine
from tests.data.broken import CASES, GOOD, SENSORS

GOLDEN = Path(__file__).with_name("messages.txt")


def golden() -> dict[str, str]:
    """Return what is said about each broken table."""
    parts = GOLDEN.read_text().split("## ")[1:]
    return {name: text.rstrip("\n") for name, text in (p.split("\n", 1) for p in parts)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(case):
    """Write the files of a case; return how to read them."""
    Path("readings.csv").write_text(case.readings, newline="")
    if case.sensors is not None:
        Path("sensors.csv").write_text(case.sensors)
    options = dict(case.options)
    skips = options.pop("skips", False)
    return "sensors.csv" if case.sensors is not None else None, Asked(**options), skips


@pytest.mark.parametrize("name", CASES)
def test_says_what_is_wrong_where_and_what_to_do(name):
    case = CASES[name]
    sensors, asked, skips = written(case)
    found = examine("readings.csv", sensors, asked, (), skips).findings.found
    said = [one for one in found if (one.level, one.code) == (case.level, case.code)]
    assert [one.text for one in said] == [golden()[name]]


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.level == "error"]
)
def test_fit_refuses_with_the_same_words(name):
    case = CASES[name]
    sensors, asked, _ = written(case)
    with pytest.raises(halk.DataError) as refusal:
        halk.fit("readings.csv", sensors, **asked._asdict())
    assert golden()[name] in str(refusal.value)


def test_every_code_has_a_case():
    sources = Path(halk.__file__).parent.glob("data/*.py")
    source = "".join(path.read_text() for path in sources)
    found = re.findall(r'(?:ERROR|WARNING|NOTE|level),\s*"([a-z-]+)",', source)
    elsewhere = {"encoding", "sheets"}  # tried with files of their own
    assert set(found) - {case.code for case in CASES.values()} <= elsewhere
    assert len(set(found)) > 40
    assert set(golden()) == set(CASES)


def test_a_good_table_has_no_errors():
    Path("readings.csv").write_text(GOOD)
    Path("sensors.csv").write_text(SENSORS)
    found = examine("readings.csv", "sensors.csv")
    assert found.findings.of("error") == []
    assert found.schema.as_dict() == {
        "sensor": "station",
        "target": "temperature_C",
        "unit": "°C",
        "inputs": [["time", "time", ""]],
        "position": [],
        "dates": "",
        "decimal": "",
        "flags": "",
        "good": [],
        "limits": None,
        "missing": [],
    }


def test_what_is_called_missing_is_a_gap():
    Path("readings.csv").write_text(GOOD + "south,2024-01-04,-999\n")
    found = examine("readings.csv", missing=[-999.0])
    assert found.findings.of("error") == []
    assert found.readings.is_gap.sum() == 1


def test_what_can_be_is_no_code():
    Path("readings.csv").write_text(GOOD + "south,2024-01-04,-999\n")
    found = examine("readings.csv", None, Asked(limits=(-2000.0, 2000.0)))
    assert found.findings.of("error") == []
    assert -999 in found.readings.y
    found = examine("readings.csv", None, Asked(limits=(-20.0, 50.0)))
    assert [one.code for one in found.findings.found if one.level == "note"] == [
        "outside-range",
        "gaps",
    ]


def test_a_first_row_without_anything_is_no_row_of_units():
    Path("readings.csv").write_text("time,a,b\nNA,NA,NA\n2024-01-01,1,2\n")
    found = examine("readings.csv", None, Asked(wide=True))
    assert [one.code for one in found.findings.of("error")] == ["empty-input"]


def test_rows_that_are_skipped_are_neither_readings_nor_gaps():
    bad = "south,soon,3\n,2024-01-05,3\nsouth,2024-01-06,warm\n"
    Path("readings.csv").write_text(GOOD + bad)
    found = examine("readings.csv", skips=True)
    assert found.findings.of("error") == []
    assert found.readings.is_usable.tolist() == [True] * 6 + [False] * 3


def test_long_lists_are_cut():
    bad = "".join(f"south,2024-02-{k:02d},warm\n" for k in range(1, 10))
    Path("readings.csv").write_text(GOOD + GOOD.partition("\n")[2] + bad)
    (finding,) = examine("readings.csv").findings.of("error")
    assert "... and 4 more" in finding.text
    assert len(finding.as_dict()["places"]) == 9
