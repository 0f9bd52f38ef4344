"""From a file to tables: CSV, Excel and Parquet, as hospitals export them.

What the tables look like: `tabular`. What a cell may say: `cells`. Which files are tables: `files`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from csmd_core.cells import Decimal, read_columns
from csmd_core.delimited import SEPARATORS, split_cells
from csmd_core.files import FileKind, decode, file_fault, kind_of, load
from csmd_core.tabular import as_text, make_frame, make_frame_of_typed

_PATIENT_SHEETS = ("patients", "patient")
_PRICE_SHEETS = ("tests", "test", "prices", "price", "price table", "costs")


@dataclass(frozen=True)
class Tables:
    """What a file holds: patients, prices where it is a workbook with both, and how it was read."""

    patients: pd.DataFrame
    prices: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()


def read_table(
    source: bytes | str | Path, filename: str = "", decimal: Decimal | None = None
) -> Tables:
    """Read a file of patients, or a workbook with a `patients` and a `tests` sheet.

    decimal: the decimal mark, where the file leaves it open.
    """
    data, name = load(source, filename)
    kind = kind_of(data, name)
    if kind != "excel":
        frame, note = _read_single(data, name, kind, decimal)
        return Tables(frame, notes=(note,))
    sheets = _workbook(data, name)
    prices = _named(sheets, _PRICE_SHEETS)
    patients = _named(sheets, _PATIENT_SHEETS)
    patients = patients or next((sheet for sheet in sheets if sheet != prices), None)
    if patients is None:
        raise file_fault(
            name, "has no sheet of patients.", "Put one row a patient in a sheet called 'patients'."
        )
    return Tables(
        _from_sheet(sheets, patients, name, decimal),
        None if prices is None else _from_sheet(sheets, prices, name, None),
        (f"Excel, patients in sheet '{patients}', prices in sheet '{prices}'",)
        if prices
        else (f"Excel, patients in sheet '{patients}'",),
    )


def read_price_table(
    source: bytes | str | Path, filename: str = "", decimal: Decimal | None = None
) -> pd.DataFrame:
    """Read a price table: a file of its own, a workbook's `tests` sheet, or its first sheet."""
    data, name = load(source, filename)
    kind = kind_of(data, name)
    if kind != "excel":
        return _read_single(data, name, kind, decimal)[0]
    sheets = _workbook(data, name)
    return _from_sheet(sheets, _named(sheets, _PRICE_SHEETS) or next(iter(sheets)), name, decimal)


def _read_single(
    data: bytes, name: str, kind: FileKind, decimal: Decimal | None
) -> tuple[pd.DataFrame, str]:
    if kind == "parquet":
        return _read_parquet(data, name), "Parquet"
    text, encoding = decode(data, name)
    cells = split_cells(text, name)
    texts = dict(enumerate(cells.columns))
    columns, mark = read_columns(texts, decimal, cells.separator == ";")
    ordered = [columns[k] for k in range(len(columns))]
    frame = make_frame(cells.headings, ordered, name, cells.row_of_heading + 1)
    decimals = ", decimal comma" if mark == "," else ""
    return frame, f"CSV, {encoding.upper()}, separated by {SEPARATORS[cells.separator]}{decimals}"


def _read_parquet(data: bytes, name: str) -> pd.DataFrame:
    try:
        table = arrow_parquet.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError):
        mend = "Save it again, or send it again if it came by mail."
        raise file_fault(name, "is a broken Parquet file.", mend) from None
    nested = [column.name for column in table.schema if pa.types.is_nested(column.type)]
    if nested:
        what = f"has lists inside cells, in column '{nested[0]}'."
        raise file_fault(name, what, "Write one value in each cell.")
    frame = table.to_pandas()
    if frame.index.name is not None or frame.index.nlevels > 1:
        frame = frame.reset_index()
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    return make_frame_of_typed([str(column) for column in frame.columns], columns, name, 2)


def _workbook(data: bytes, name: str) -> dict[str, pd.DataFrame]:
    """Read all sheets that hold anything, cells as they are, heading and all."""
    try:
        sheets = pd.read_excel(
            io.BytesIO(data),
            sheet_name=None,
            header=None,
            dtype=object,
            na_filter=False,
            engine="calamine",
        )
    except Exception:  # a broken workbook may fail anywhere in the library, in any way
        mend = "Open it in Excel and save it again as .xlsx without a password."
        raise file_fault(name, "is an Excel file that cannot be read.", mend) from None
    sheets = {str(sheet): frame for sheet, frame in sheets.items() if (frame != "").any(axis=None)}
    if not sheets:
        raise file_fault(name, "is empty.", "Put a heading row and one row a patient in it.")
    return sheets


def _named(sheets: Iterable[str], wanted: Sequence[str]) -> str | None:
    return next((sheet for sheet in sheets if sheet.strip().casefold() in wanted), None)


def _from_sheet(
    sheets: dict[str, pd.DataFrame], sheet: str, name: str, decimal: Decimal | None
) -> pd.DataFrame:
    frame = sheets[sheet]
    heading = int((frame != "").any(axis=1).argmax())
    names = [as_text(cell) or "" for cell in frame.iloc[heading]]
    below = frame.iloc[heading + 1 :]
    columns = [below.iloc[:, k] for k in range(below.shape[1])]
    return make_frame_of_typed(names, columns, f"{name}, sheet {sheet}", heading + 2, decimal)
