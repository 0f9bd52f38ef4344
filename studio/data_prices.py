"""The prices on the Data page: read from a file, filled in by hand, in the user's currency."""

from __future__ import annotations

import streamlit as st

from csmd_core.faults import BadInput
from csmd_core.prices import PriceList, price_table
from csmd_core.study import Study
from studio import choosing
from studio.data_study import change_study
from studio.tests_grid import fees_grid, tests_grid
from studio.text import count, plain, show_faults

_CURRENCIES = ["$", "€", "£", "CA$", "A$", "CHF ", "¥", "₹"]


def own_prices(study: Study) -> None:
    """Let the user fill in prices and shared fees, or read them from another file."""
    tests_grid(study, "own prices")
    left, right = st.columns([2, 1])
    with left:
        st.caption("Fees paid once by all tests that share them, such as a blood draw:")
        fees_grid(study, "own fees")
    with right:
        _choose_currency(study.currency)
        if all(fee in study.fees for test in study.tests for fee in test.fees):
            content = price_table(study).to_csv(index=False).encode("utf-8-sig")
            st.download_button(
                "Download this price table", content, "tests.csv", icon=":material/download:",
                on_click="ignore",
            )  # fmt: skip
    with st.expander("Read prices from a file"):
        _price_file()


def _choose_currency(currency: str) -> None:
    state = st.session_state
    state["currency"] = currency
    st.selectbox(
        "Currency", list(dict.fromkeys([*_CURRENCIES, currency])), key="currency",
        accept_new_options=True,
        on_change=lambda: change_study(currency=str(state["currency"] or "$")[:8]),
    )  # fmt: skip


def _price_file() -> None:
    turn = st.session_state.setdefault("price turn", 0)
    given = st.file_uploader("Price table (CSV, Excel or Parquet)", key=f"table {turn}")
    if given is None:
        return
    try:
        told = choosing.price_list(given.getvalue(), given.name)
    except BadInput as bad:
        show_faults(bad.faults)
        return
    show_faults(told.faults)
    if told.tests:
        n_faults = f", {count(len(told.faults), 'fault')} to mend" if told.faults else ""
        st.caption(plain(f"{count(len(told.tests), 'test')}{n_faults}."))
        st.button(
            "Use these prices instead of the present ones", type="primary",
            on_click=_use_prices, args=(told,),
        )  # fmt: skip


def _use_prices(told: PriceList) -> None:
    st.session_state["price turn"] += 1
    choosing.use_prices(told)
