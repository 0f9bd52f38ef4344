"""What is done to the list of tests as a whole: begin anew, join some, undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from csmd_core.bundled import ONE_PER_COLUMN, groupings
from csmd_core.study import Test
from studio import session, work

PRICE_TABLE = "the uploaded price table"
_TOUCHED = ("study", "tests", "fees", "chosen")
_MOST = 30  # steps that can be undone


def change(**settings: Any) -> None:
    """Change the tests so that `undo` can go back."""
    before = {name: session.get(name) for name in _TOUCHED}
    session.change(**settings)
    if before != {name: session.get(name) for name in _TOUCHED}:
        _history().append(before)
        del _history()[:-_MOST]


def can_undo() -> bool:
    """Whether there is a step back that belongs to this study."""
    past = _history()
    return bool(past) and _patients_of(past[-1]["study"]) == _patients_of(session.get("study"))


def undo() -> None:
    """Go one step back."""
    if can_undo():
        session.change(**_history().pop())


def starts() -> list[str]:
    """Name what the list of tests may begin from."""
    study = session.get("study")
    if study["source"] == "bundled":
        return list(groupings(study["name"]))
    return [ONE_PER_COLUMN, *([PRICE_TABLE] if study.get("as_uploaded") else [])]


def started_from() -> str | None:
    """What the tests are from, if they are as they were then."""
    study = session.get("study")
    if study["source"] == "bundled":
        return None if is_own() else str(study["grouping"])
    now = {"tests": session.get("tests"), "fees": session.get("fees")}
    return PRICE_TABLE if study.get("as_uploaded") == now else None


def is_own() -> bool:
    return session.get("tests") is not None


def start_from(start: str) -> None:
    """Begin the list of tests anew."""
    study = session.get("study")
    if study["source"] == "bundled":
        change(study={**study, "grouping": start}, tests=None, fees=None, chosen=None)
    elif start == PRICE_TABLE:
        change(**study["as_uploaded"], chosen=None)
    else:
        change(tests=_one_per_column(), chosen=None)


def _one_per_column() -> list[dict[str, Any]]:
    """Make every column a test; one that was a test of its own already keeps price and fees."""
    found = work.study()
    alone = {test.columns[0]: test for test in found.tests if len(test.columns) == 1}
    names = [c for c in found.patients.columns if c != found.label and c not in found.derived]
    return [
        work.as_row(alone[column])
        if column in alone
        else {"name": column, "columns": [column], "price": None, "fees": []}
        for column in names
    ]


def join(names: Sequence[str], name: str) -> None:
    """Make one test of several: all their columns, prices and fees, at the place of the first."""
    tests = work.study().tests
    joined = [test for test in tests if test.name in names]
    if len(joined) < 2:
        return
    called = name.strip() or " + ".join(test.name for test in joined)
    one = Test(
        name=called,
        columns=tuple(column for test in joined for column in test.columns),
        price=round(sum(test.price for test in joined), 5),
        fees=tuple(fee for test in joined for fee in test.fees),
    )
    rows = [work.as_row(test) for test in tests if test.name not in names]
    rows.insert(tests.index(joined[0]), work.as_row(one))
    change(
        tests=rows, fees=work.fees_as_kept(work.study().fees),
        chosen=renamed_in(session.get("chosen"), dict.fromkeys(names, called)),
    )  # fmt: skip


def renamed_in(
    chosen: list[list[str]] | None, names: Mapping[str, str | None]
) -> list[list[str]] | None:
    """Follow renamed tests into the chosen subsets; None stands for a deleted one.

    >>> renamed_in([["A", "B"], ["C"]], {"A": "X", "C": None})
    [['X', 'B'], []]
    """
    if chosen is None:
        return None
    new = [[names.get(test, test) for test in tests] for tests in chosen]
    return [list(dict.fromkeys(test for test in tests if test is not None)) for tests in new]


def _history() -> list[dict[str, Any]]:
    past: list[dict[str, Any]] = st.session_state.setdefault("tests past", [])
    return past


def _patients_of(study: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in study.items() if name != "grouping"}
