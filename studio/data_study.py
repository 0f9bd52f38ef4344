"""The second half of the Data page: what the study's table says, and what only the user knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from csmd_core.bundled import groupings, load_bundled
from csmd_core.columns import column_table, revealing
from csmd_core.guesses import guess_kinds
from csmd_core.predictions import RULES
from csmd_core.study import Study
from csmd_core.tabular import as_text
from studio import choosing, session, work
from studio.grid import grid
from studio.shelf import kept

_MARKS = {"": "as found", ",": "comma: 1,5", ".": "point: 1.5"}
_NONE = "(no label)"
_MOST_VALUES = 50


def change_study(**changes: Any) -> None:
    """Change what the user says about the study; its tests follow the columns that are left."""
    chosen = {**session.get("study"), **changes}
    if not {"label", "left_out"} & changes.keys():
        session.change(study=chosen)
        return
    columns = [
        str(column)
        for column in work.tables().patients.columns
        if column not in {chosen["label"], *chosen["left_out"]}
    ]
    tests = revealing(work.study().tests, columns, one_each=not chosen["priced"])
    session.change(study=chosen, tests=[work.as_row(test) for test in tests])


def bundled_choices() -> None:
    """Choose how a bundled study's columns are joined, and what its zeros mean."""
    chosen, state = session.get("study"), st.session_state
    left, right = st.columns(2, vertical_alignment="bottom")
    state["grouping"] = chosen["grouping"]
    left.selectbox(
        "Columns joined into tests", groupings(chosen["name"]), key="grouping",
        on_change=lambda: choosing.choose({**chosen, "grouping": state["grouping"]}),
        help="As a clinic orders them, as in the paper, or each column a test of its own.",
    )  # fmt: skip
    zeros = kept(lambda: load_bundled(chosen["name"]), "card", chosen["name"]).zero_missing
    if zeros:
        state["zeros"] = chosen["zero_missing"]
        right.toggle(
            "A zero means “not measured”", key="zeros", help=f"In {', '.join(zeros)}.",
            on_change=lambda: session.change(study={**chosen, "zero_missing": state["zeros"]}),
        )  # fmt: skip


def own_choices(study: Study) -> None:
    """Say what the columns are, which holds the diagnosis, and which values mean disease."""
    chosen, state = session.get("study"), st.session_state
    state["results"] = bool(chosen["results"])
    st.toggle(
        "My columns already are test results (0/1)", key="results",
        on_change=lambda: change_study(results=state["results"]),
        help="Nothing is learnt then: each test is one column, its result 1 or 0, yes or no, "
        "positive or negative. A label is not needed.",
    )  # fmt: skip
    left, middle, right = st.columns([2, 2, 1])
    columns = [str(column) for column in work.tables().patients.columns]
    state["label"] = chosen["label"] or _NONE
    left.selectbox(
        "Which column holds the diagnosis?", [_NONE, *columns], key="label", on_change=_set_label
    )
    with middle:
        if chosen["results"]:
            _choose_rule(chosen["rule"])
        if study.label is not None:
            _choose_positive(study)
    state["decimal"] = chosen["decimal"] or ""
    right.selectbox(
        "Decimal mark", list(_MARKS), key="decimal", format_func=_MARKS.__getitem__,
        on_change=lambda: change_study(decimal=state["decimal"] or None),
    )  # fmt: skip


def _choose_rule(rule: str) -> None:
    state = st.session_state
    state["rule"] = rule
    st.selectbox(
        "With several results, what counts?", list(RULES), key="rule",
        on_change=lambda: change_study(rule=state["rule"]),
    )  # fmt: skip


def _set_label() -> None:
    label = st.session_state["label"]
    if label == _NONE:
        change_study(label=None, positive=[])
        return
    frame, left_out = work.tables().patients, session.get("study")["left_out"]
    positive = choosing.positive_guess(frame[label])
    change_study(label=label, positive=positive, left_out=[c for c in left_out if c != label])


def _choose_positive(study: Study) -> None:
    state = st.session_state
    common = study.patients[study.label].value_counts().index[:_MOST_VALUES]
    chosen = [str(value) for value in study.positive]
    values = list(dict.fromkeys([as_text(value) or "" for value in common] + chosen))
    state["positive"] = chosen
    st.multiselect(
        "Which values mean disease?", values, key="positive", placeholder="Choose one or more",
        on_change=lambda: change_study(positive=state["positive"]),
    )  # fmt: skip


def columns_grid() -> None:
    """Show every column with its guessed type, to be changed or left out."""
    looks = {
        "column": st.column_config.TextColumn("Column", disabled=True, pinned=True),
        "use": st.column_config.CheckboxColumn("Use"),
        "kind": st.column_config.SelectboxColumn(
            "Read as", options=["number", "category"], required=True
        ),
        "zero": st.column_config.CheckboxColumn("0 = not measured"),
        "missing": st.column_config.NumberColumn("Missing", format="percent", disabled=True),
        "different": st.column_config.NumberColumn("Different values", disabled=True),
        "examples": st.column_config.TextColumn("Examples", disabled=True),
    }
    grid(
        "columns", _columns_frame, _save_columns, column_config=looks,
        alt="Columns with their types, missing shares and examples",
    )  # fmt: skip


def _columns_frame() -> pd.DataFrame:
    chosen, frame = session.get("study"), work.tables().patients
    kinds = guess_kinds(frame) | chosen["kinds"]
    whole = replace(work.study(), patients=frame, kinds=kinds)
    names = ("patients", "label", "kinds", "zero_missing", "decimal")
    parts = [chosen[name] for name in names]
    table = kept(lambda: column_table(whole), "columns", parts)
    used = ~table["column"].isin(chosen["left_out"])
    zero = table["column"].isin(chosen["zero_missing"])
    return table.assign(use=used, zero=zero)[
        ["column", "use", "kind", "zero", "missing", "different", "examples"]
    ]


def _save_columns(frame: pd.DataFrame) -> None:
    guessed = guess_kinds(work.tables().patients)
    kinds = dict(zip(frame["column"], frame["kind"], strict=True))
    changed = {column: kind for column, kind in kinds.items() if kind != guessed[column]}
    left_out = list(frame["column"][~frame["use"].astype(bool)])
    zeros = list(frame["column"][frame["zero"].astype(bool)])
    same = left_out == session.get("study")["left_out"]
    told: dict[str, Any] = {} if same else {"left_out": left_out}
    change_study(kinds=changed, zero_missing=zeros, **told)


def leave_out(column: str) -> None:
    """Use a column no more; the uploaded file stays as it is."""
    change_study(left_out=[*session.get("study")["left_out"], column])
