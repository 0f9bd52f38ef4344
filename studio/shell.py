"""What every page stands in: the menu, the sidebar that says what is active, notices."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from csmd_core.faults import BadInput
from csmd_core.problem import Problem
from studio import decision, known, session, work
from studio.text import count, lam_meaning, lam_text, plain, show_faults

MENU: dict[str, tuple[str, str]] = {
    "pages/home.py": ("Start", ":material/home:"),
    "pages/data.py": ("Data", ":material/table_chart:"),
    "pages/tests.py": ("Tests", ":material/science:"),
    "pages/trade_off.py": ("Trade-off", ":material/balance:"),
    "pages/weak_dominance.py": ("Weak dominance", ":material/verified:"),
    "pages/live.py": ("Live", ":material/play_circle:"),
    "pages/experiments.py": ("Experiments", ":material/query_stats:"),
    "pages/paper.py": ("Paper", ":material/article:"),
    "pages/workspaces.py": ("Workspaces", ":material/folder_open:"),
}


def header(title: str, question: str) -> None:
    """Open a page: its title and the question it answers."""
    if PagesManager.uses_pages_directory:
        _hand_over()
    st.title(title)
    st.markdown(question)


def _hand_over() -> None:
    """Have app.py run instead of this page alone.

    Until the first `st.navigation`, Streamlit takes a folder called pages for its own kind of
    pages, so the first visit after a restart would run the page without the app around it.
    """
    PagesManager.uses_pages_directory = False
    st.rerun()


def notices() -> None:
    """Say what the user must know before going on: a conflict, a link that leads nowhere."""
    if st.session_state.pop("not_found", False):
        st.warning(
            "The link names a workspace that is not on this server: it was deleted, or kept in "
            "memory only and the server has restarted since. You are looking at a fresh start."
        )
    conflict = st.session_state.get("conflict")
    if conflict is not None:
        st.warning(plain(f"{conflict} Your last change here is not saved yet."))
        if "cannot keep" in st.session_state:
            show_faults(st.session_state["cannot keep"].faults)
        with st.container(horizontal=True):
            st.button("Use the other version", on_click=session.use_theirs)
            st.button("Keep mine", on_click=session.keep_mine)


def sidebar() -> None:
    """Say what is active: study, patients, panels, λ with its meaning, weak dominance."""
    with st.sidebar:
        known.remember()
        held = session.workspace()
        if held is not None:
            st.caption(f"Workspace: {plain(held.name)}")
        found = work.study()
        st.markdown(f"**{plain(found.about.title or found.name)}**")
        st.caption(f"{count(found.n_patients, 'patient')}, {count(len(found.tests), 'test')}")
        serious = [fault for fault in work.faults() if not fault.warning]
        if serious:
            st.caption(f"Not ready: {count(len(serious), 'fault')} to mend.")
            st.page_link("pages/data.py", label="Go to Data", icon=":material/arrow_forward:")
            return
        try:
            _active()
        except BadInput as bad:
            show_faults(bad.faults)


def _active() -> None:
    made = work.panels()
    kind = "Cascade" if made.mode == "cascade" else "Subsets"
    st.caption(f"{kind}: {count(len(made), 'panel')}")
    if not work.at_hand():
        st.caption("Not fitted yet.")
        st.page_link("pages/tests.py", label="Fit on the Tests page", icon=":material/science:")
        return
    asked = decision.problem()
    _lam(asked)
    _dominance(asked)


def _lam(asked: Problem) -> None:
    lam = asked.one_lam
    if lam is None:
        st.caption("λ: one for each panel")
        return
    currency = work.study().currency
    st.caption(f"λ = {lam_text(lam)}: {plain(lam_meaning(lam, currency))}")


def _dominance(asked: Problem) -> None:
    found = decision.verdict(asked)
    if found.vacuous:
        st.badge("Weak dominance: nothing to check", icon=":material/info:", color="gray")
    elif found.holds is None:
        st.badge("Weak dominance: cannot hold", icon=":material/close:", color="orange")
    elif not asked.evidence.has_truth:
        st.badge("Weak dominance: unknown without labels", icon=":material/help:", color="gray")
    elif found.holds:
        st.badge("Weak dominance holds", icon=":material/check:", color="green")
    else:
        st.badge("Weak dominance fails", icon=":material/close:", color="orange")
