"""The first half of the Data page: bundled studies as cards, or files of the user's own."""

from __future__ import annotations

import streamlit as st

from csmd_core.bundled import about, bundled_names, load_bundled
from csmd_core.faults import BadInput
from csmd_core.study import Study
from csmd_core.templates import templates
from studio import choosing, session, work
from studio.private import private_switch
from studio.shelf import kept
from studio.store import Settings, blob_ref
from studio.text import count, money, plain, show_faults


def cards() -> None:
    """Offer the bundled studies: source, size, prices, licence, citation."""
    chosen = session.get("study")
    for place, name in zip(st.columns(len(bundled_names())), bundled_names(), strict=True):
        with place.container(border=True, height="stretch"):
            _card(name, in_use=chosen["source"] == "bundled" and chosen["name"] == name)


def _card(name: str, *, in_use: bool) -> None:
    study = kept(lambda: load_bundled(name), "card", name)
    told = about(name)
    st.markdown(f"**{plain(told.title)}**")
    n_columns = len(study.columns_of(study.tests))
    size = f"{count(study.n_patients, 'patient')}, {count(n_columns, 'column')}"
    st.caption(f"{size}; {plain(_prices(study))}.")
    st.button(
        "In use" if in_use else "Use this study",
        key=f"use {name}",
        disabled=in_use,
        type="primary",
        icon=":material/check:" if in_use else None,
        on_click=_use_bundled,
        args=(name,),
    )
    with st.popover("Source and licence", type="tertiary"):
        for heading, text in (("Source", told.source), ("Licence", told.licence),
                              ("Please cite", told.citation)):  # fmt: skip
            st.markdown(f"**{heading}.** {plain(text)}")
        for note in told.notes:
            st.caption(plain(note))


def _prices(study: Study) -> str:
    prices = [test.price for test in study.tests]
    low, high = money(min(prices), study.currency), money(max(prices), study.currency)
    fees = f", {count(len(study.fees), 'shared fee')}" if study.fees else ""
    return f"{count(len(prices), 'test')}, {low} to {high} each{fees}"


def _use_bundled(name: str) -> None:
    choosing.choose({"source": "bundled", "name": name, "grouping": "clinic", "zero_missing": True})


def own_files() -> None:
    """Take files of patients and prices; a file that cannot be read changes nothing."""
    if session.get("study")["source"] == "upload":
        with st.expander("Load other files"):
            _uploaders()
    else:
        _uploaders()
    private_switch("data private")


def _uploaders() -> None:
    turn = st.session_state.setdefault("upload turn", 0)
    left, right = st.columns(2)
    patients = left.file_uploader(
        "Patients: one row each (CSV, Excel or Parquet)", key=f"patients {turn}"
    )
    prices = right.file_uploader(
        "Prices: one row a test (optional)", key=f"prices {turn}",
        help="Or a sheet called 'tests' in the patients' workbook. Or fill them in further down.",
    )  # fmt: skip
    if patients is not None:
        second = None if prices is None else (prices.getvalue(), prices.name)
        _offer(patients.getvalue(), patients.name, second)
    elif prices is not None:
        st.info("Choose a file of patients too.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Templates to fill in:", width="content")
        for name, content in kept(templates, "templates").items():
            st.download_button(name, content, name, icon=":material/download:", on_click="ignore")


def _offer(data: bytes, name: str, prices: tuple[bytes, str] | None) -> None:
    try:
        with st.spinner("Reading …"):
            proposed = choosing.proposal(data, name, prices)
            tables = work.read(lambda: data, blob_ref(data), name)
    except BadInput as bad:
        show_faults(bad.faults)
        st.caption("Nothing was changed: the study below is the one you had.")
        return
    n_rows, n_columns = tables.patients.shape
    tests = count(len(proposed["tests"]), "test")
    priced = f"{tests} from the price table" if proposed["study"]["priced"] else "no prices yet"
    st.success(
        plain(f"Read {count(n_rows, 'patient')}, {count(n_columns, 'column')}, {priced}. ")
        + plain(f"{'; '.join(tables.notes)}."),
        icon=":material/check:",
    )
    st.button("Use these patients", type="primary", on_click=_use_upload, args=(data, proposed))


def _use_upload(data: bytes, proposed: Settings) -> None:
    st.session_state["upload turn"] += 1
    choosing.choose(new_blobs=[data], **proposed)
