"""Which kind of file is this? Told by its content, since names and endings are often wrong."""

from __future__ import annotations

import codecs
import io
import zipfile
from pathlib import Path
from typing import Literal

from csmd_core.faults import BadInput, Fault

FileKind = Literal["text", "excel", "parquet"]

_SAVE_AS = "Open it in the program that made it and save it as .xlsx or .csv."
_NOT_TABLES = (
    (b"%PDF", "is a PDF document, not a table.", _SAVE_AS),
    (b"\xff\xd8\xff", "is a picture (JPEG), not a table.", "Choose the table itself."),
    (b"\x89PNG", "is a picture (PNG), not a table.", "Choose the table itself."),
    (b"GIF8", "is a picture (GIF), not a table.", "Choose the table itself."),
    (
        b"\xd0\xcf\x11\xe0",
        "is an Excel file of the old kind (.xls) or locked with a password.",
        "Open it in Excel and save it as .xlsx without a password.",
    ),
    (b"\x1f\x8b", "is a compressed archive (gzip).", "Unpack it and choose the table inside."),
    (b"7z\xbc\xaf", "is a compressed archive (7-Zip).", "Unpack it and choose the table inside."),
    (b"Rar!", "is a compressed archive (RAR).", "Unpack it and choose the table inside."),
    (b"{\\rtf", "is a text document (RTF), not a table.", _SAVE_AS),
    (b"SQLite format", "is a database, not a table.", "Export the table as .csv or .xlsx."),
    (b"$FL2", "is an SPSS file.", "Export it from SPSS as .csv or .xlsx."),
    (b"<stata_dta>", "is a Stata file.", "Export it from Stata as .csv or .xlsx."),
)
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<table")
_BLANK = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n,;"  # nothing but byte order marks and empty cells
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def load(source: bytes | str | Path, filename: str = "") -> tuple[bytes, str]:
    """Return a file's content and name; one that cannot be opened or is empty is a fault."""
    if isinstance(source, bytes):
        data, name = source, filename or "table"
    else:
        name = filename or Path(source).name
        try:
            data = Path(source).read_bytes()
        except OSError:
            raise file_fault(name, "cannot be opened.", "Check its name and folder.") from None
    if not (data[:4096].strip(_BLANK) or data.strip(_BLANK)):
        raise file_fault(
            name, "is empty.", "Choose a file with a heading row and one row a patient."
        )
    return data, name


def kind_of(data: bytes, name: str) -> FileKind:
    """Tell text, Excel and Parquet apart; anything else is a fault that says what it is."""
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"PK"):
        return _kind_of_zip(data, name)
    for start, what, mend in _NOT_TABLES:
        if data.startswith(start):
            raise file_fault(name, what, mend)
    head = data[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if head.startswith((b"{", b"[{")):
        raise file_fault(name, "is a JSON file, not a table.", "Export the table as .csv or .xlsx.")
    if head.startswith(_MARKUP):
        raise file_fault(name, "is a web page or XML, whatever its ending.", _SAVE_AS)
    return "text"


def decode(data: bytes, name: str) -> tuple[bytes, str]:
    """Bring text to UTF-8 and tell how it was written: UTF-8, UTF-16 or Windows-1252/Latin-1."""
    encoding = next((encoding for bom, encoding in _BOMS if data.startswith(bom)), None)
    encoding = encoding or _utf16_without_mark(data)
    try:
        if encoding in {None, "utf-8"}:
            text = data.removeprefix(codecs.BOM_UTF8)
            text.decode("utf-8")
            encoding = "utf-8"
        else:
            text = data.decode(encoding or "utf-16").removeprefix("\ufeff").encode()
    except UnicodeDecodeError:
        encoding = _eight_bit(data)
        text = data.decode(encoding).encode()
    if b"\x00" in text:
        raise file_fault(name, "is not a table in a form that can be read.", _SAVE_AS)
    return text, encoding


def file_fault(name: str, what: str, mend: str) -> BadInput:
    """Make the complaint about a whole file."""
    return BadInput(Fault(f"The file '{name}'", what, mend))


def _kind_of_zip(data: bytes, name: str) -> FileKind:
    try:
        inside = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        mend = "Save it again, or send it again if it came by mail."
        raise file_fault(name, "is broken: a part of it is missing.", mend) from None
    if any(part.startswith("xl/") for part in inside):
        return "excel"
    if "content.xml" in inside:
        raise file_fault(name, "is an OpenDocument file.", _SAVE_AS)
    if any(part.startswith(("word/", "ppt/")) for part in inside):
        raise file_fault(name, "is a Word or PowerPoint document, not a table.", _SAVE_AS)
    raise file_fault(name, "is a zip archive.", "Unpack it and choose the table inside.")


def _utf16_without_mark(data: bytes) -> str | None:
    """Recognise UTF-16 that lacks its mark by the zero in every other byte of plain letters."""
    head = data[:2000]
    if head[1::2].count(0) > 0.4 * len(head) and head[::2].count(0) == 0:
        return "utf-16-le"
    if head[::2].count(0) > 0.4 * len(head) and head[1::2].count(0) == 0:
        return "utf-16-be"
    return None


def _eight_bit(data: bytes) -> str:
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"
