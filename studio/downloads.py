"""Tables to take away, as CSV and as Excel."""

from __future__ import annotations

import io

import pandas as pd
import streamlit as st


def downloads(table: pd.DataFrame, name: str) -> None:
    """Offer a table as CSV and as Excel; each is written when it is asked for."""
    with st.container(horizontal=True):
        st.download_button(
            "CSV", lambda: as_csv(table), f"{name}.csv", "text/csv", key=f"{name} csv",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "Excel", lambda: as_excel(table), f"{name}.xlsx", key=f"{name} xlsx",
            icon=":material/download:", on_click="ignore",
            mime="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        )  # fmt: skip


def as_csv(table: pd.DataFrame) -> bytes:
    """Write CSV that spreadsheets open as it is meant."""
    return _harmless(table).to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def as_excel(table: pd.DataFrame) -> bytes:
    """Write an Excel workbook of one sheet, its heading kept in sight."""
    workbook = io.BytesIO()
    with pd.ExcelWriter(workbook, engine="openpyxl") as writer:
        _harmless(table).to_excel(writer, index=False, freeze_panes=(1, 1))
    return workbook.getvalue()


def _harmless(table: pd.DataFrame) -> pd.DataFrame:
    """Keep a user's name that looks like a formula from being run by a spreadsheet."""
    safe = table.copy()
    for column in safe.select_dtypes(include=["object", "string"]):
        safe[column] = [
            f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" and cell else cell
            for cell in safe[column]
        ]
    return safe
