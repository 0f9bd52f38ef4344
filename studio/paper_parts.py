"""The Paper page's controls and cases: settings as in the paper, each case opened elsewhere."""

from __future__ import annotations

from typing import Any

import streamlit as st

from csmd_core.paper import CASES, PRINTED, Case, Pricing, paper_panels
from csmd_core.reproduce import Settings
from studio import session, work
from studio.text import plain

USUAL: dict[str, Any] = {
    "prices": "as in the paper", "n_patients": 10_000, "n_repeats": 100, "seed": 0,
}  # fmt: skip
PRICES: dict[str, Pricing] = {
    "as in the paper": Pricing(),
    "shared fees paid once": Pricing(shared_fees=True),
    "as Table I prints them": Pricing(printed_costs=True),
}
_MOST = 2**53 - 1
_PLACES = {
    "pages/trade_off.py": ("Trade-off", ":material/balance:"),
    "pages/weak_dominance.py": ("Weak dominance", ":material/verified:"),
    "pages/live.py": ("Live", ":material/play_circle:"),
}


def chosen() -> dict[str, Any]:
    """What is chosen on the page; a file from elsewhere may hold anything."""
    held = session.get("paper")
    sound = {name: held[name] for name in USUAL if isinstance(held.get(name), type(USUAL[name]))}
    if sound.get("prices") not in PRICES:
        sound.pop("prices", None)
    if sound.get("seed", 0) < 0:
        sound.pop("seed")
    return USUAL | sound


def settings() -> Settings:
    """The chosen settings as the core takes them."""
    now = chosen()
    return Settings(now["n_patients"], now["n_repeats"], now["seed"], PRICES[now["prices"]])


def choose_prices() -> None:
    """Let the user choose what the tests cost."""
    _widget(
        st.segmented_control, "Prices", "prices", list(PRICES), required=True,
        format_func=lambda name: name[0].upper() + name[1:],
        help="The paper adds full prices, as if every test paid its own blood draw.",
    )  # fmt: skip


def choose_size() -> None:
    """Let the user choose patients, repeats and seed."""
    one, two, three = st.columns(3)
    with one:
        _widget(st.number_input, "Patients", "n_patients", max_value=_MOST, step=1000)
    with two:
        _widget(st.number_input, "Repeats", "n_repeats", max_value=_MOST, step=10)
    with three:
        _widget(st.number_input, "Seed", "seed", min_value=0, max_value=_MOST, step=1)


def back_to_the_paper() -> None:
    """Offer the paper's own settings where others are chosen."""
    if chosen() != USUAL:
        st.button(
            "Settings as in the paper", icon=":material/restart_alt:", key="paper usual",
            on_click=lambda: session.change(paper={}),
        )  # fmt: skip


def _widget(widget: Any, label: str, name: str, *args: Any, **looks: Any) -> None:
    """Show one choice; a change is saved before the page runs."""
    key = f"paper {name}"
    st.session_state[key] = chosen()[name]

    def changed() -> None:
        value = st.session_state[key]
        session.change(paper={**session.get("paper"), name: 0 if value is None else value})

    widget(label, *args, key=key, on_change=changed, **looks)


def case_buttons(case: Case) -> None:
    """Open one case on another page, by one click."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"Case {case.number}:", width=60)
        for page, (title, icon) in _PLACES.items():
            st.button(
                title, key=f"{case.study} {case.number} {title}", icon=icon, type="tertiary",
                on_click=open_case, args=(case, PRICES[chosen()["prices"]], page),
            )  # fmt: skip


def go_on() -> None:
    """Go to the page on which a case was opened."""
    if page := st.session_state.pop("paper goes to", None):
        st.switch_page(page)


def all_cases() -> None:
    """List the ten cases, each with its ways out."""
    st.caption(
        "A case opens in a workspace of its own, with the paper's classifier and λ for each panel; "
        "what you are working on stays where it is."
    )
    for study, column in zip(PRINTED, st.columns(2), strict=True):
        with column, st.container(border=True, gap="xsmall"):
            st.markdown(f"**{plain(study.capitalize())}**")
            for case in CASES:
                if case.study == study:
                    case_buttons(case)


def open_case(case: Case, pricing: Pricing, page: str) -> None:
    """Begin a workspace with one case of the paper, equal to the core's, and go to a page."""
    session.start(**case_settings(case, pricing))
    held = session.workspace()
    assert held is not None
    session.store().rename(held.id, f"Paper: {case.study}, case {case.number}")
    st.session_state["paper goes to"] = page


def case_settings(case: Case, pricing: Pricing) -> dict[str, Any]:
    """Say in settings what `paper_problem` says in the core."""
    panels = paper_panels(case.study, pricing)
    printed = pricing.printed_costs  # else the bundled study's own tests and fees
    return {
        "study": {
            "source": "bundled", "name": case.study, "grouping": "paper", "zero_missing": False,
            "complete_rows": case.study == "heart",
        },
        "tests": [work.as_row(test) for test in panels.tests] if printed else None,
        "fees": work.fees_as_kept(panels.fees) if printed else None,
        "shared_fees": pricing.shared_fees,
        "mode": "cascade",
        "lam": list(case.lam),
        "fitting": {
            "classifier": "as in the paper", "folds": PRINTED[case.study].folds,
            "threshold": 0.5, "seed": 0,
        },
    }  # fmt: skip
