"""Tables as Excel workbooks of one sheet, with the few parts that the format needs."""

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from halk.errors import HalkError

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""What a sheet can hold."""

_EPOCH = 25_569.0
"""1970-01-01 in days of Excel."""

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{_KIND}.worksheet+xml"/><Override PartName="/xl/styles.xml" '
        f'ContentType="{_KIND}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship '
        f'Id="r2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets><sheet name="readings" '
        f'sheetId="1" r:id="r1"/></sheets></workbook>'
    ),
    "xl/styles.xml": (  # the second format is that of times
        f'<styleSheet {_MAIN}><numFmts count="1"><numFmt numFmtId="164" '
        f'formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="1"><font/>'
        f'</fonts><fills count="1"><fill/></fills><borders count="1"><border/>'
        f'</borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2">'
        f'<xf/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>'
    ),
}


def write_excel(
    names: Sequence[str], columns: Sequence[Sequence[Any]], file: BinaryIO
) -> None:
    """Write columns of numbers, times or text; NaN, NaT and None are empty cells."""
    n_rows = len(columns[0]) + 1 if columns else 1
    if n_rows > MOST_ROWS or len(names) > MOST_COLUMNS:
        raise HalkError(
            f"an Excel sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, "
            f"got {n_rows:,} and {len(names):,}; write .csv or .parquet"
        )
    with ZipFile(file, "w", ZIP_DEFLATED) as book:
        for path, content in _PARTS.items():
            book.writestr(_part(path), _HEAD + content)
        with book.open(_part("xl/worksheets/sheet1.xml"), "w") as sheet:
            sheet.write(f"{_HEAD}<worksheet {_MAIN}><sheetData>".encode())
            rows = zip(*(_cells(column) for column in columns), strict=True)
            sheet.write(_row([_text(name) for name in names]))
            for row in rows:
                sheet.write(_row(row))
            sheet.write(b"</sheetData></worksheet>")


def _part(path: str) -> ZipInfo:
    part = ZipInfo(path)  # of 1980: the same table makes the same file
    part.compress_type = ZIP_DEFLATED
    return part


def _row(cells: Sequence[str]) -> bytes:
    return f"<row>{''.join(cells)}</row>".encode()


def _text(text: str) -> str:
    shown = escape("".join(c for c in text if c.isprintable() or c in "\t\n"))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'


def _cells(column: Any) -> Iterator[str]:
    """Return the cells of a column, empty ones too: places are counted."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        days = column.astype("datetime64[us]").astype(np.int64) / 8.64e10 + _EPOCH
        known = ~np.isnat(column)
        pairs = zip(days.tolist(), known.tolist(), strict=True)
        return (f'<c s="1"><v>{day!r}</v></c>' if is_ else "<c/>" for day, is_ in pairs)
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
        return (f"<c><v>{v!r}</v></c>" if v == v else "<c/>" for v in column.tolist())
    return (_text(str(cell)) if cell not in (None, "") else "<c/>" for cell in column)
