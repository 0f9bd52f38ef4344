"""From CSV text to cells: which separator, which rows, every cell still text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from csmd_core.cells import MISSING
from csmd_core.faults import BadInput, Fault
from csmd_core.files import file_fault

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 1 << 16  # bytes, and the rest of their line, looked at to tell the separator


@dataclass(frozen=True)
class Cells:
    """The headings and the columns below them, all text; row_of_heading counts from 1."""

    headings: list[str]
    columns: list[pa.ChunkedArray]
    separator: str
    row_of_heading: int


def split_cells(text: bytes, name: str) -> Cells:
    """Split UTF-8 text into headings and columns of text."""
    body = text.lstrip(b"\r\n")
    blank = text[: len(text) - len(body)].decode()
    heading = 1 + len(blank.splitlines())
    separator = None
    if body[:4].lower() == b"sep=" and body[5:6] in {b"\r", b"\n"}:  # Excel's own first line
        separator = chr(body[4]) if chr(body[4]) in SEPARATORS else None
        body, heading = body[5:].lstrip(b"\r\n"), heading + 1
    end = body.find(b"\n", _SAMPLE)
    sample = (body if end < 0 else body[:end]).decode()
    try:
        separator = separator or _separator(sample, name)
        headings = next(_rows(sample, separator))
        _require_closed_quotes(body, separator)
        table = _table(body, separator, headings)
    except (pa.ArrowException, csv.Error):
        raise BadInput(_why_not(body, separator or ",", name, heading)) from None
    return Cells(headings, table.columns, separator, heading)


def _table(body: bytes, separator: str, headings: list[str]) -> pa.Table:
    return arrow_csv.read_csv(
        pa.BufferReader(body if body.endswith((b"\n", b"\r")) else body + b"\n"),
        read_options=arrow_csv.ReadOptions(block_size=1 << 22),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator,
            ignore_empty_lines=False,  # keeps count of the rows
            newlines_in_values=b'"' in body,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(headings, pa.string()),
            null_values=sorted(MISSING),
            strings_can_be_null=True,
        ),
    )


def _separator(sample: str, name: str) -> str:
    """Choose the separator that gives the first rows as many cells as the heading, and most."""
    scores: dict[str, tuple[float, int]] = {}
    for separator in SEPARATORS:
        widths = _widths(sample, separator)
        if widths[0] > 1:
            scores[separator] = (float(np.mean(np.equal(widths, widths[0]))), widths[0])
    best = [separator for separator in scores if scores[separator] == max(scores.values())]
    if len(best) > 1:
        either = " or ".join(SEPARATORS[separator] for separator in best)
        raise file_fault(
            name, f"may be separated by {either}.", "Save it with one separator only, or as .xlsx."
        )
    return best[0] if best else ","


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _require_closed_quotes(body: bytes, separator: str) -> None:
    """Raise csv.Error where a quotation mark swallows the rest of the file."""
    if body.count(b'"') % 2:
        text = io.StringIO(body.decode(), newline="")
        for _ in csv.reader(text, delimiter=separator, strict=True):
            pass


def _widths(text: str, separator: str) -> list[int]:
    """Count the cells of each row; a row without an end counts as one cell."""
    try:
        return [len(row) for row in _rows(text, separator)]
    except csv.Error:
        return [1]


def _why_not(body: bytes, separator: str, name: str, heading: int) -> Fault:
    """Find the rows that do not fit the heading."""
    widths = _widths(body.decode(), separator)
    uneven = [k for k, width in enumerate(widths) if width not in {0, widths[0]}]
    if not uneven:
        return Fault(
            f"The file '{name}'",
            "cannot be split into rows and cells.",
            "Look for a quotation mark that is not closed, or save it as .xlsx.",
        )
    more = f" (and {len(uneven) - 1:,} more rows)" if len(uneven) > 1 else ""
    return Fault(
        f"The file '{name}', row {heading + uneven[0]:,}{more},",
        f"has {widths[uneven[0]]} cells where the heading has {widths[0]}.",
        "Look for a missing cell, or a comma or quotation mark inside a cell.",
    )
