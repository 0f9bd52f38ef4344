"""Teaching mode of the Live page: large type, prepared situations, a class that guesses."""

from __future__ import annotations

from typing import Any

import streamlit as st

from csmd_core.problem import Problem
from csmd_core.situations import SITUATIONS
from csmd_core.study import Study
from studio import live_run
from studio.live_controls import choice_of, toggle
from studio.live_run import Live, setting
from studio.text import lam_meaning, percent, plain

MAX_BUTTONS = 8  # panels that get a button each
_LARGE = """<style>
html { font-size: 20px; }
[data-testid=stMainBlockContainer] { padding-top: 2.5rem; }
</style>"""


def switches() -> None:
    """Turn teaching on and off; there, choose a situation and whether the class guesses."""
    toggle("Teaching mode", "teaching", help="Large type, few controls, prepared situations.")
    if not setting("teaching"):
        return
    st.html(_LARGE)
    options: dict[Any, str] = {None: "My study", **SITUATIONS}
    choice_of(
        "Situation", "situation", list(options), widget=st.segmented_control, required=True,
        format_func=options.__getitem__, label_visibility="collapsed",
    )  # fmt: skip
    toggle("Guess first", "guess", help="The class says what it will choose, then it is shown.")


def situation_line(study: Study, problem: Problem) -> None:
    """Say which study a prepared situation is made of."""
    if setting("teaching") and setting("situation") and problem.one_lam is not None:
        worth = lam_meaning(problem.one_lam, study.currency)
        best = problem.best
        named = "" if best is None else f" The best panel is {problem.panels.names[best]}."
        st.caption(plain(f"{study.about.title}, when {worth}.{named} Your own study is untouched."))


def guessing() -> bool:
    return bool(setting("teaching") and setting("guess"))


def ask(live: Live) -> None:
    """Ask what the policy will choose for the next patient; a click reveals it."""
    t, names = live_run.cursor(), live.problem.panels.names
    if t >= live.watched.n_patients:
        st.info("The run is over. Start over with a new seed.")
        return
    who = live.watched.policy.name
    st.subheader(plain(f"Patient {t + 1:,} is next: what will {who} choose?"))
    choice = int(live.watched.choices[t])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(names) <= MAX_BUTTONS:
            for panel, name in enumerate(names):
                st.button(plain(name), key=f"guess {panel}", on_click=_guess, args=(panel, choice))
        else:
            panel = st.selectbox("Panel", range(len(names)), format_func=names.__getitem__)
            st.button("Reveal", key="guess", on_click=_guess, args=(panel, choice))
    _tally(live, t)


def _guess(panel: int, choice: int) -> None:
    right, asked = setting("tally")
    live_run.change(tally=[right + int(panel == choice), asked + 1])
    st.session_state["live guessed"] = (live_run.cursor() + 1, panel)
    live_run.move(live_run.cursor() + 1)


def _tally(live: Live, t: int) -> None:
    right, asked = setting("tally")
    patient, panel = st.session_state.get("live guessed", (0, 0))
    if asked and patient == t and panel < live.problem.n_panels:
        choice = int(live.watched.choices[t - 1])
        name = plain(live.problem.panels.names[choice])
        if panel == choice:
            st.success(f"Right: it chose {name}.", icon=":material/check:")
        else:
            st.warning(f"Not this time: it chose {name}.", icon=":material/close:")
    if asked:
        st.markdown(f"Guessed right: **{right} of {asked}** ({percent(right / asked, 0)})")
