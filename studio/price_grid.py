"""The tests of a study as a table to edit: names, prices, columns, shared fees."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from csmd_core.study import Study
from studio import session, work
from studio.grid import grid

_FEE, _AMOUNT = "Shared fee", "Amount"


def price_grid(study: Study, key: str) -> None:
    """Let the user name, price, join, add and delete tests; a row's place is its place in the
    cascade."""
    columns = [c for c in study.patients.columns if c != study.label and c not in study.derived]
    named = [column for test in study.tests for column in test.columns]
    fees = dict.fromkeys([*study.fees, *(fee for test in study.tests for fee in test.fees)])
    looks = {
        "test": st.column_config.TextColumn("Test", required=True, width="medium"),
        "price": st.column_config.NumberColumn(
            f"Price ({study.currency})", min_value=0.0, step=0.01, format="%.2f"
        ),
        "columns": st.column_config.MultiselectColumn(
            "Columns it reveals", options=list(dict.fromkeys([*columns, *named])), width="large"
        ),
        "fees": st.column_config.MultiselectColumn("Shared fees it needs", options=list(fees)),
    }
    grid(
        key, _tests_frame, _save_tests, column_config=looks, num_rows="dynamic",
        alt="Tests with their prices, columns and shared fees, to be edited",
    )  # fmt: skip


def fee_grid(study: Study, key: str) -> None:
    """Let the user name and price the fees that several tests share."""
    looks = {
        _FEE: st.column_config.TextColumn(required=True),
        _AMOUNT: st.column_config.NumberColumn(
            f"{_AMOUNT} ({study.currency})", min_value=0.0, step=0.01, format="%.2f"
        ),
    }
    grid(
        key, _fees_frame, _save_fees, column_config=looks, num_rows="dynamic",
        alt="Shared fees and their amounts, to be edited",
    )  # fmt: skip


def _tests_frame() -> pd.DataFrame:
    rows = [
        {"test": t.name, "price": t.price, "columns": list(t.columns),
         "fees": list(dict.fromkeys(t.fees))}
        for t in work.study().tests
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["test", "price", "columns", "fees"])


def _save_tests(frame: pd.DataFrame) -> None:
    before = {test.name: test for test in work.study().tests}
    rows = []
    for k, cells in enumerate(frame.to_dict("records")):
        name = " ".join(str(cells["test"]).split()) if _told(cells["test"]) else f"Test {k + 1}"
        fees = list(cells["fees"]) if _told(cells["fees"]) else []
        was = before.get(name)
        if was is not None and list(dict.fromkeys(was.fees)) == fees:
            fees = list(was.fees)  # named once for each column: not to be seen in the grid
        columns = list(cells["columns"]) if _told(cells["columns"]) else []
        rows.append({"name": name, "columns": columns, "price": _amount(cells["price"]),
                     "fees": fees})  # fmt: skip
    session.change(tests=rows, fees=work.fees_as_kept(work.study().fees))


def _fees_frame() -> pd.DataFrame:
    found = work.study()
    named = dict.fromkeys([*found.fees, *(fee for test in found.tests for fee in test.fees)])
    rows = [(fee, found.fees.get(fee, math.nan)) for fee in named]
    return pd.DataFrame(rows, columns=[_FEE, _AMOUNT]).astype({_FEE: object, _AMOUNT: float})


def _save_fees(frame: pd.DataFrame) -> None:
    """Save the amounts; a fee that was renamed or deleted changes in its tests too."""
    told = {
        " ".join(str(fee).split()): _amount(amount)
        for fee, amount in zip(frame[_FEE], frame[_AMOUNT], strict=True)
        if _told(fee)
    }
    before = list(_fees_frame()[_FEE])
    renamed = dict(zip(before, told, strict=True)) if len(before) == len(told) else {}
    rows = [work.as_row(test) for test in work.study().tests]
    for row in rows:
        now = [renamed.get(fee, fee) for fee in row["fees"]]
        row["fees"] = [fee for fee in now if fee in told]
    session.change(tests=rows, fees=told)


def _told(cell: Any) -> bool:
    return isinstance(cell, list | tuple) or bool(pd.notna(cell) and str(cell).strip())


def _amount(cell: Any) -> float | None:
    return float(cell) if pd.notna(cell) and math.isfinite(cell) else None
