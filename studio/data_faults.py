"""Faults on the Data page, each beside where it is mended."""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st

from csmd_core.checks import NO_PRICE
from csmd_core.faults import Fault
from studio import data_study, session, work
from studio.tests_grid import about_tests
from studio.text import count, plain, show_faults

Place = Literal["label", "columns", "prices"]


def place_of(fault: Fault) -> Place:
    """Say on which part of the page a fault is mended."""
    if fault.where.startswith("Label ") or fault.what.startswith("has no label"):
        return "label"
    return "prices" if about_tests(fault) else "columns"


def show_at(place: Place) -> None:
    """Show the faults that are mended here."""
    found = [fault for fault in work.faults() if place_of(fault) == place]
    if place == "columns":
        found = _with_buttons(found)
    if place == "prices":
        found = _as_written(found)
    show_faults(found)


def _with_buttons(found: list[Fault]) -> list[Fault]:
    """Show columns that may identify patients with a button; return the other faults."""
    others = []
    for fault in found:
        column = re.fullmatch(r"Column '(.*)'", fault.where, re.DOTALL)
        own = session.get("study")["source"] == "upload"
        if not (own and column and fault.warning and fault.what.startswith("looks like")):
            others.append(fault)
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                plain(f"{fault.where} {fault.what} Patients must not be recognised."),
                width="stretch",
            )
            st.button(
                "Leave out", key=f"leave out {column[1]}", icon=":material/visibility_off:",
                on_click=data_study.leave_out, args=(column[1],),
            )  # fmt: skip
    if len(others) < len(found):
        st.caption(
            "Left out of all work, a column still stands in the uploaded file. To have it off this "
            "server, delete it from the file and upload that."
        )
    return others


def _as_written(found: list[Fault]) -> list[Fault]:
    """Say what the price table said where a price is still missing; ask to check the rest."""
    told = [Fault(*parts) for parts in session.get("study").get("price_faults", [])]
    unpriced = {fault.where for fault in found if fault.what == NO_PRICE}
    about_price = [fault for fault in told if fault.what.startswith("has the price")]
    open_still = [fault for fault in about_price if fault.where in unpriced]
    unclear = [fault for fault in told if fault not in about_price]
    if unclear:
        show_faults(Fault(f.where, f.what, f.mend, warning=True) for f in unclear)
        st.button(
            "I have checked these", on_click=data_study.change_study, kwargs={"price_faults": []}
        )
    said = {fault.where for fault in open_still}
    found = [f for f in found if not (f.what == NO_PRICE and f.where in said)]
    return open_still + _together(found)


def _together(found: list[Fault]) -> list[Fault]:
    """Say in one sentence that many tests have no price yet."""
    unpriced = [fault for fault in found if fault.what == NO_PRICE]
    if len(unpriced) <= 3:
        return found
    names = ", ".join(fault.where.removeprefix("Test ") for fault in unpriced)
    one = Fault(
        count(len(unpriced), "test"),
        f"have no price yet: {names}.",
        "Give each a price of 0 or more.",
    )
    return [one, *(fault for fault in found if fault not in unpriced)]
