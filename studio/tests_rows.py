"""What an edited grid of tests or of shared fees means for the settings. No Streamlit here.

A grid carries, unseen, what each row was when it was drawn (its place and name, and `paid`: its
fees, once for each column that needs them), so that a renamed or moved test stays the same test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from csmd_core.study import Test

SHOWN = ("order", "name", "price", "fees", "columns")
_HIDDEN = ("place", "was", "paid")
Row = dict[str, Any]


def tests_frame(tests: Sequence[Test]) -> pd.DataFrame:
    """Write tests as the rows of a grid."""
    rows = [
        (k, t.name, t.price, list(dict.fromkeys(t.fees)), list(t.columns), k, t.name, list(t.fees))
        for k, t in enumerate(tests, 1)
    ]
    frame = pd.DataFrame(rows, columns=[*SHOWN, *_HIDDEN])
    return frame.astype({"order": float, "price": float, "place": float})


def read_tests(frame: pd.DataFrame) -> tuple[list[Row], dict[str, str | None], bool]:
    """Return the tests in their order, what became of each former name, and whether any moved."""
    cells = [row for row in _records(frame) if not _blank(row)]
    placed = [(_place(row), row) for row in cells]
    rows = [_row(row) for _, row in sorted(placed, key=lambda pair: pair[0])]
    names: dict[str, str | None] = {
        row["was"]: _text(row["name"]) for row in cells if _text(row["was"])
    }
    moved = any(place[1] for place, _ in placed)
    return rows, names, moved


def fees_frame(fees: Mapping[str, float]) -> pd.DataFrame:
    """Write shared fees as the rows of a grid."""
    rows = [(fee, amount, fee) for fee, amount in fees.items()]
    return pd.DataFrame(rows, columns=["name", "amount", "was"]).astype({"amount": float})


def read_fees(frame: pd.DataFrame) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the fees, and what each former name is now; of two with one name, one is marked."""
    fees: dict[str, float | None] = {}
    names: dict[str, str] = {}
    for row in _records(frame):
        name, amount = _text(row["name"]), _number(row["amount"])
        if not name and amount is None:
            continue
        name = name or "unnamed fee"
        while name in fees:
            name += " (2)"
        fees[name] = amount
        if _text(row["was"]):
            names[row["was"]] = name
    return fees, names


def with_fees_renamed(rows: Sequence[Row], names: Mapping[str, str]) -> list[Row]:
    """Let the tests follow their fees: renamed ones by their new name, deleted ones not at all."""
    return [{**row, "fees": [names[fee] for fee in row["fees"] if fee in names]} for row in rows]


def _row(cells: Row) -> Row:
    """Write one test as the settings keep it; what is still missing is None or empty."""
    paid = _items(cells["paid"])
    fees = [one for fee in _items(cells["fees"]) for one in [fee] * max(paid.count(fee), 1)]
    return {
        "name": _text(cells["name"]),
        "columns": _items(cells["columns"]),
        "price": _number(cells["price"]),
        "fees": paid if set(fees) == set(paid) else fees,
    }


def _place(row: Row) -> tuple[float, int]:
    """Where a row goes: moved up, before the test that had the number; moved down, behind it."""
    order, place = _number(row["order"]), _number(row["place"])
    if order is None:
        return (math.inf if place is None else place), 0
    if place is None:
        return order, -1
    return order, (order > place) - (order < place)


def _records(frame: pd.DataFrame) -> list[Row]:
    return [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]


def _blank(row: Row) -> bool:
    return not (_text(row["name"]) or _items(row["columns"]) or _number(row["price"]) is not None)


def _text(cell: object) -> str:
    return " ".join(cell.split()) if isinstance(cell, str) else ""


def _number(cell: Any) -> float | None:
    known = isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)
    return float(cell) if known else None


def _items(cell: Any) -> list[str]:
    return [str(item) for item in cell] if isinstance(cell, list | tuple) else []
