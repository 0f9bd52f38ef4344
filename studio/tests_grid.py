"""The tests of a study as a table to edit: order, names, prices, columns, shared fees."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from csmd_core.faults import Fault
from csmd_core.study import Study
from studio import session, tests_changes, work
from studio.grid import grid
from studio.tests_rows import (
    SHOWN,
    fees_frame,
    read_fees,
    read_tests,
    tests_frame,
    with_fees_renamed,
)
from studio.text import plain, sentence_case


def edit_tests(study: Study) -> None:
    """Show the tests and their shared fees to be edited, and what is wrong with them."""
    _actions(study)
    tests_grid(study, "tests grid")
    show_test_faults()
    left, right = st.columns([1, 1], vertical_alignment="center")
    with left:
        fees_grid(study, "fees grid")
    with right:
        st.session_state["share fees"] = session.get("shared_fees")
        st.toggle(
            "Share fees", key="share fees", on_change=_share,
            help="On: one blood draw serves all blood tests and is paid once. "
            "Off: every test pays its fees in full.",
        )  # fmt: skip


def tests_grid(study: Study, key: str) -> None:
    """Let the user order, name, price, group, add and delete tests."""
    free = [c for c in study.patients.columns if c != study.label and c not in study.derived]
    named = [column for test in study.tests for column in test.columns]
    column = st.column_config
    looks = {
        "order": column.NumberColumn(
            "No.", width=60, format="%d", help="The order of a cascade: write another number."
        ),
        "name": column.TextColumn("Test", width=150),
        "price": column.NumberColumn(f"Price ({study.currency})", format="%.2f", width=95),
        "fees": column.MultiselectColumn(
            "Shared fees", options=list(_all_fees(study)), accept_new_options=True, width=140,
            help="Paid once, however many tests need it. A new name becomes a new fee.",
        ),
        "columns": column.MultiselectColumn(
            "Columns it reveals", options=list(dict.fromkeys([*free, *named])), width="large",
        ),
    }  # fmt: skip
    grid(
        key, lambda: tests_frame(work.study().tests), _save_tests, column_config=looks,
        column_order=SHOWN, num_rows="dynamic",
        alt="Tests with their order, prices, columns and shared fees, to be edited",
    )  # fmt: skip


def fees_grid(study: Study, key: str) -> None:
    """Let the user name and price the fees that several tests share."""
    looks = {
        "name": st.column_config.TextColumn("Shared fee"),
        "amount": st.column_config.NumberColumn(f"Fee ({study.currency})", format="%.2f"),
    }
    grid(
        key, lambda: fees_frame(_all_fees(work.study())), _save_fees, column_config=looks,
        column_order=("name", "amount"), num_rows="dynamic",
        alt="Shared fees and their amounts, to be edited",
    )  # fmt: skip


def show_test_faults() -> None:
    """Say in one box everything that is wrong with the tests."""
    wrong = [fault for fault in work.faults() if not fault.warning and about_tests(fault)]
    if wrong:
        st.error("\n".join(f"- {plain(fault)}" for fault in wrong))


def about_tests(fault: Fault) -> bool:
    """Whether this is mended in the grid of tests."""
    return (
        fault.where.startswith(("Test '", "A test", "Shared fee '", "All subsets"))
        or fault.what == "has no tests."
        or " belongs to " in f" {fault.what}"
    )


def _all_fees(study: Study) -> dict[str, float]:
    named = {fee: math.nan for test in study.tests for fee in test.fees}
    return {**study.fees, **{fee: nan for fee, nan in named.items() if fee not in study.fees}}


def _save_tests(frame: pd.DataFrame) -> bool:
    rows, names, moved = read_tests(frame)
    gone: dict[str, str | None] = {t.name: None for t in work.study().tests}
    fees = work.fees_as_kept(work.study().fees)
    new_fees = {fee: None for row in rows for fee in row["fees"] if fee not in fees}
    chosen = tests_changes.renamed_in(session.get("chosen"), gone | names)
    tests_changes.change(tests=rows, fees=fees | new_fees, chosen=chosen)
    return moved


def _save_fees(frame: pd.DataFrame) -> None:
    fees, names = read_fees(frame)
    rows = [work.as_row(test) for test in work.study().tests]
    tests_changes.change(tests=with_fees_renamed(rows, names), fees=fees)


def _actions(study: Study) -> None:
    """Offer to begin anew, to join tests, to undo."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.session_state["start from"] = tests_changes.started_from()
        st.selectbox(
            "Start from", tests_changes.starts(), key="start from", on_change=_start, width=230,
            placeholder="your own tests", format_func=sentence_case,
        )  # fmt: skip
        with st.popover("Join tests", icon=":material/merge:", disabled=len(study.tests) < 2):
            _join(study)
        st.button(
            "Undo", icon=":material/undo:", on_click=tests_changes.undo,
            disabled=not tests_changes.can_undo(),
        )  # fmt: skip
        if session.get("study")["source"] == "bundled" and tests_changes.is_own():
            st.button("Back to the bundled prices", on_click=_back)


def _join(study: Study) -> None:
    st.caption("One test of several: all their columns, their prices added, their fees shared.")
    names = list(dict.fromkeys(test.name for test in study.tests))
    st.multiselect("Tests to join", names, key="join these")
    st.text_input("Name of the new test", key="join name", max_chars=80)
    st.button("Join", on_click=_joined, type="primary")


def _joined() -> None:
    tests_changes.join(st.session_state["join these"], st.session_state["join name"])
    st.session_state["join these"], st.session_state["join name"] = [], ""


def _start() -> None:
    start = st.session_state["start from"]
    if start is not None:
        tests_changes.start_from(start)


def _back() -> None:
    tests_changes.start_from(session.get("study")["grouping"])


def _share() -> None:
    session.change(shared_fees=st.session_state["share fees"])
