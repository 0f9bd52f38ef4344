"""Choosing a study: bundled or uploaded, and never at the cost of work the user did not give up."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import streamlit as st

from csmd_core.guesses import suggest_label, suggest_positive
from csmd_core.prices import PriceList, blank_prices, parse_prices
from csmd_core.readers import read_price_table
from csmd_core.tabular import as_text
from studio import session, work
from studio.shelf import kept
from studio.store import Settings, blob_ref
from studio.text import plain

_ABOUT_ANY_STUDY = ("mode", "shared_fees", "fitting", "cohort")


def choose(study: Settings, new_blobs: Iterable[bytes] = (), **also: Any) -> None:
    """Take up another study; ask first where that would throw the user's own work away."""
    if study == session.get("study"):
        return  # a second click on the same button
    fresh = {k: v for k, v in session.DEFAULTS.items() if k not in _ABOUT_ANY_STUDY}
    changes = {**copy.deepcopy(fresh), "study": study, **also}
    if _has_own_work():
        st.session_state["offer"] = (changes, list(new_blobs))
    else:
        session.change(new_blobs, **changes)


def _has_own_work() -> bool:
    uploaded = session.get("study")["source"] == "upload"
    return uploaded or session.get("tests") is not None or bool(session.get("scenarios"))


def ask_about_offer() -> None:
    """Show the question that `choose` left open, if any."""
    if "offer" in st.session_state:
        _ask()


def _start_new() -> None:
    changes, new_blobs = st.session_state.pop("offer", ({}, []))
    if changes:
        session.start(new_blobs, **changes)


def _replace() -> None:
    changes, new_blobs = st.session_state.pop("offer", ({}, []))
    session.change(new_blobs, **changes)


def _forget_offer() -> None:
    st.session_state.pop("offer", None)


@st.dialog("Keep what you have?", on_dismiss=_forget_offer)
def _ask() -> None:
    held = session.workspace()
    name = plain(held.name) if held else "this workspace"
    uploaded = session.get("study")["source"] == "upload"
    what = "your uploaded patients, your tests and prices" if uploaded else "your tests and prices"
    st.markdown(
        f"**{name}** holds {what}. Start a new workspace to keep them: you find the present one "
        "again on the Workspaces page. Replaced, they are deleted for good."
    )
    with st.container(horizontal=True):
        if st.button("Start a new workspace", type="primary", on_click=_start_new):
            st.rerun()
        if st.button("Replace", on_click=_replace):
            st.rerun()


def proposal(data: bytes, name: str, prices: tuple[bytes, str] | None = None) -> Settings:
    """Read uploaded files and guess what they do not say; raise BadInput where that fails."""
    ref = blob_ref(data)
    tables = work.read(lambda: data, ref, name)
    frame, label = tables.patients, suggest_label(tables.patients)
    table = tables.prices if prices is None else _read_prices(*prices)
    columns = [str(column) for column in frame.columns]
    told = PriceList() if table is None else parse_prices(table, columns)
    begun = told.tests or parse_prices(blank_prices(frame, label), columns).tests
    study = {
        **copy.deepcopy(session.UPLOAD),
        "file": name,
        "patients": ref,
        "label": label,
        "positive": positive_guess(frame[label]) if label else [],
    }
    rows = [work.as_row(test) for test in begun]
    return {"study": {**study, **as_told(told)}, "tests": rows, "fees": _fees(told)}


def as_told(told: PriceList) -> Settings:
    """Write what the study keeps of a price table: its tests to go back to, and what is unclear."""
    rows = [work.as_row(test) for test in told.tests]
    return {
        "priced": bool(rows),
        "as_uploaded": {"tests": rows, "fees": _fees(told)} if rows else None,
        "price_faults": [[fault.where, fault.what, fault.mend] for fault in told.faults],
    }


def use_prices(told: PriceList) -> None:
    """Put the tests of a price table in place of the present ones."""
    session.change(
        study={**session.get("study"), **as_told(told)},
        tests=[work.as_row(test) for test in told.tests],
        fees=_fees(told),
        chosen=None,
    )


def _fees(told: PriceList) -> dict[str, float | None]:
    return work.fees_as_kept(told.fees)


def positive_guess(label: Any) -> list[str]:
    return [as_text(value) or "" for value in suggest_positive(label)]


def price_list(data: bytes, name: str) -> PriceList:
    """Read a price table for the present patients."""
    frame = work.tables().patients.drop(columns=session.get("study")["left_out"], errors="ignore")
    return parse_prices(_read_prices(data, name), [str(column) for column in frame.columns])


def _read_prices(data: bytes, name: str) -> Any:
    return kept(lambda: read_price_table(data, name), "prices", blob_ref(data), name)
