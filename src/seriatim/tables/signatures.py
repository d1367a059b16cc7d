"""Files that are neither CSV nor Parquet, known by how they begin: refused plainly instead of read as text."""

from __future__ import annotations

from pathlib import Path

from seriatim.errors import Fault, TableError

_BEGINNINGS = {
    b"\x1f\x8b": ("is compressed (gzip)", "unpack it"),
    b"BZh": ("is compressed (bzip2)", "unpack it"),
    b"\xfd7zXZ": ("is compressed (xz)", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("is compressed (zstd)", "unpack it"),
    b"PK\x03\x04": ("is a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    b"\xd0\xcf\x11\xe0": ("is a spreadsheet", "save the sheet as CSV"),
    b"ARROW1": ("is a Feather file", "save it as Parquet"),
    b"FEA1": ("is a Feather file", "save it as Parquet"),
    b"SQLite format 3": ("is a database", "export the table as CSV"),
    b"$FL2": ("is an SPSS file", "export it as CSV"),
    b"<stata_dta>": ("is a Stata file", "export it as CSV"),
    b"\x89HDF": ("is an HDF5 file", "export it as CSV"),
    b"%PDF": ("is a PDF", "export the table as CSV"),
}
_PARQUET = b"PAR1"


def refuse_other_signatures(path: Path) -> None:
    """Raise when a file is plainly something else, also a Parquet file under another name."""
    with path.open("rb") as file:
        start = file.read(16)
    for beginning, (found, remedy) in _BEGINNINGS.items():
        if start.startswith(beginning):
            raise TableError(Fault(path.name, found, "a CSV or Parquet file", remedy))
    if start.startswith(_PARQUET) and path.suffix.lower() not in (".parquet", ".pq"):
        raise TableError(Fault(path.name, "is a Parquet file by another name", "a CSV file", "call it .parquet"))
