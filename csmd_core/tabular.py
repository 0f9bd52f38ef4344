"""From columns to one table: headings, types and rows made plain.

Every column comes out as whole numbers, numbers or text. The index holds the row as seen in the
file (a heading in the first row is row 1), so that a complaint can name it.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal as ExactNumber
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from csmd_core.cells import Decimal, parse_number, plain_numbers, read_columns, trimmed
from csmd_core.faults import BadInput, Fault

ROW = "row"  # the name of the index
Column: TypeAlias = "pd.Series[Any]"


def make_frame(
    headings: list[str], columns: list[Column], name: str, first_row: int
) -> pd.DataFrame:
    """Join columns under their headings; rows and nameless columns with nothing in them go."""
    headings = [" ".join(heading.replace("\ufeff", "").split()) for heading in headings]
    kept = [k for k, column in enumerate(columns) if headings[k] or column.notna().any()]
    names = {k: headings[k] or f"column {k + 1}" for k in kept}
    faults = _heading_faults(names, name)
    if faults:
        raise BadInput(faults)
    frame = pd.DataFrame({names[k]: columns[k].array for k in kept})
    frame.index = pd.RangeIndex(first_row, first_row + len(frame), name=ROW)
    blank = frame.isna().all(axis=1)
    if blank.all():
        mend = "Put one row for each patient or test below the headings."
        raise BadInput(Fault(f"The file '{name}'", "has no rows below its headings.", mend))
    return frame[~blank] if blank.any() else frame


def row_in_file(frame: pd.DataFrame | Column, position: int) -> int:
    """Return the row as seen in the file; a table that was not read has its heading in row 1."""
    return int(frame.index[position]) if frame.index.name == ROW else position + 2


def _heading_faults(names: dict[int, str], file: str) -> list[Fault]:
    faults = [
        Fault(
            f"Column name '{heading}'",
            f"stands {count} times in the file '{file}', in columns "
            + ", ".join(str(k + 1) for k in names if names[k] == heading)
            + ".",
            "Give every column a name of its own.",
        )
        for heading, count in Counter(names.values()).items()
        if count > 1
    ]
    if len(names) > 1 and all(parse_number(heading) is not None for heading in names.values()):
        what = "has numbers in its first row, where the column names should be."
        faults.insert(0, Fault(f"The file '{file}'", what, "Add a first row of column names."))
    return faults


def make_frame_of_typed(
    headings: list[str],
    columns: list[Column],
    name: str,
    first_row: int,
    decimal: Decimal | None = None,
) -> pd.DataFrame:
    """Make a table of cells that already have types (Excel, Parquet); text may hold numbers."""
    ready: dict[int, Column] = {}
    texts: dict[int, pa.ChunkedArray] = {}
    for k, column in enumerate(columns):
        told = _typed(column)
        if isinstance(told, pd.Series):
            ready[k] = told
        else:
            texts[k] = told
    ready |= read_columns(texts, decimal, semicolons=False)[0]
    return make_frame(headings, [ready[k] for k in range(len(columns))], name, first_row)


def as_text(cell: object) -> str | None:
    """Write a cell as text, or None where it is empty.

    >>> as_text(3.0), as_text(True), as_text(dt.datetime(1950, 2, 1)), as_text("")
    ('3', 'true', '1950-02-01', None)
    """
    if cell is None or cell is pd.NA or cell is pd.NaT or cell == "":
        return None
    if isinstance(cell, float | np.floating) and np.isnan(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    if isinstance(cell, float | np.floating) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        return str(cell.date() if cell.time() == dt.time() else cell)
    return str(cell)


def _typed(column: Column) -> Column | pa.ChunkedArray:
    """Return numbers as a series and pure text as text still to be read."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(column.dtype) or not _is_number(column):
        return _from_objects(column)
    if column.dtype == "uint64" and column.max() >= 1 << 63:
        return column.astype("str")  # as a number it would change
    if pd.api.types.is_integer_dtype(column.dtype) and column.notna().all():
        return pd.Series(column.to_numpy(dtype="int64"))
    return pd.Series(column.to_numpy(dtype="float64", na_value=np.nan))


def _is_number(column: Column) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype)


def _from_objects(column: Column) -> Column | pa.ChunkedArray:
    if isinstance(column.dtype, pd.StringDtype):
        return pa.table([pa.array(column.array)], ["text"])["text"].cast(pa.string())
    cells = column.tolist()
    written = [as_text(cell) for cell in cells]
    types = {type(cell) for cell, text in zip(cells, written, strict=True) if text is not None}
    if types <= {int, float, ExactNumber}:
        exact = [
            np.nan if text is None else cell for cell, text in zip(cells, written, strict=True)
        ]
        return pd.Series(exact, dtype="float64" if None in written or types != {int} else None)
    text = pa.chunked_array([pa.array(written, type=pa.string())])
    if types == {str}:
        return text
    # Numbers among text: "1.234" here is a number's own writing, so no other mark is looked for.
    numbers = plain_numbers(trimmed(text))
    return pd.Series((trimmed(text) if numbers is None else numbers).to_pandas())
