"""The Tests page's controls: which panels, which classifier, and the fit of a large study."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from csmd_core.panels import Panels, cascade, n_subsets
from csmd_core.predictions import CLASSIFIERS, Fitting, fit_scores
from csmd_core.study import Study
from studio import jobs, session, work
from studio.grid import grid
from studio.shelf import shelf
from studio.text import count, duration, sentence_case, show_faults

_MODES = {"cascade": "One after the other (cascade)", "subsets": "Any subset"}
_FOLDS = (2, 3, 5, 10, 20)


def choose_panels(study: Study) -> None:
    """Let the user choose a cascade or subsets, and say how many panels that makes."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.session_state["mode"] = session.get("mode")
        st.segmented_control(
            "How tests are given", list(_MODES), format_func=_MODES.__getitem__, key="mode",
            required=True, on_change=lambda: session.change(mode=st.session_state["mode"]),
            help="A cascade gives the tests in the order of their numbers and stops after one of "
            "them. Subsets may leave out any test.",
        )  # fmt: skip
        if session.get("mode") == "subsets":
            _choose_subsets(study)
    if session.get("mode") == "subsets" and session.get("chosen") is not None:
        _chosen_grid(study)


def _choose_subsets(study: Study) -> None:
    n_tests, at_most = len(study.tests), session.get("at_most")
    which = "chosen" if session.get("chosen") is not None else "few" if at_most else "all"
    names = {"all": f"All {n_subsets(n_tests):,}", "few": "Small ones", "chosen": "Chosen ones"}
    st.session_state["which subsets"] = which
    st.segmented_control(
        "Which subsets", list(names), format_func=names.__getitem__, key="which subsets",
        required=True, on_change=_subsets_changed, args=(study,),
    )  # fmt: skip
    if which == "few":
        st.session_state["at most"] = at_most
        st.number_input(
            "Tests at most", 1, max(n_tests, at_most), key="at most", width=130,
            on_change=lambda: session.change(at_most=int(st.session_state["at most"])),
        )  # fmt: skip
        st.caption(f"= {count(n_subsets(n_tests, at_most), 'panel')}")


def _subsets_changed(study: Study) -> None:
    """Begin small subsets at pairs, chosen ones with the panels of the cascade."""
    which = st.session_state["which subsets"]
    steps = [list(names) for names in _cascade_names(study)]
    session.change(
        at_most=2 if which == "few" else None, chosen=steps if which == "chosen" else None
    )


def _cascade_names(study: Study) -> list[tuple[str, ...]]:
    if not study.tests:
        return []
    made = cascade(study.tests, study.fees)
    return [tuple(test.name for test in made.tests_of(i)) for i in range(len(made))]


def _chosen_grid(study: Study) -> None:
    names = list(dict.fromkeys(test.name for test in study.tests))
    looks = {
        "tests": st.column_config.MultiselectColumn("Tests of one panel", options=names),
    }
    grid(
        "chosen subsets", lambda: pd.DataFrame({"tests": session.get("chosen")}), _save_chosen,
        column_config=looks, num_rows="dynamic", alt="Chosen subsets of tests, to be edited",
    )  # fmt: skip


def _save_chosen(frame: pd.DataFrame) -> None:
    sets = [cell for cell in frame["tests"] if isinstance(cell, list) and cell]
    session.change(chosen=sets)


def choose_classifier() -> None:
    """Let the user choose how the panels' tests are read; a new threshold needs no new fit."""
    how = work.fitting()
    folds = sorted({*_FOLDS, how.folds} - {0})
    one, two, three, four = st.columns([3, 3, 3, 2])
    with one:
        _fitting_widget(
            st.selectbox, "Classifier", "classifier", list(CLASSIFIERS), format_func=sentence_case
        )
    with two:
        _fitting_widget(
            st.selectbox, "Tested on", "folds", [*folds, 0], format_func=_folds_words,
            help="Cross-validation fits on some patients and predicts others, in turns.",
        )  # fmt: skip
    with three:
        _fitting_widget(
            st.slider, "Call a patient ill from", "threshold", 0.01, 0.99, step=0.01,
            format="percent", help="The probability of disease from which a panel says “ill”.",
        )  # fmt: skip
    with four:
        _fitting_widget(
            st.number_input, "Seed", "seed", 0, 2**31 - 1,
            help="The same seed deals the patients into the same folds.",
        )  # fmt: skip
    if how.folds == 0:
        st.warning(
            "Each panel predicts the very patients it was fitted on, so error rates look better "
            "than they will be for new patients. Choose other patients for an honest answer."
        )


def _folds_words(folds: int) -> str:
    return f"Other patients, {folds} folds" if folds else "The same patients"


def _fitting_widget(widget: Any, label: str, name: str, *args: Any, **looks: Any) -> None:
    """Show one entry of the fitting settings; a change is saved before the page runs."""
    key = f"fitting {name}"
    st.session_state[key] = session.get("fitting")[name]

    def changed() -> None:
        session.change(fitting={**session.get("fitting"), name: st.session_state[key]})

    widget(label, *args, key=key, on_change=changed, **looks)


def wait_for_fit(study: Study, made: Panels) -> None:
    """Have a large study fitted beside the page, and stop here until it is."""
    how = work.fitting()
    if work.at_hand():
        _note_fitted(study, made, how)
        return
    key = work.fit_key(study, made, how)
    job = jobs.find(key)
    if job is not None and job.running:
        _watch(key)
    else:
        _offer_fit(study, made, how, job)
    work.stop()


def _note_fitted(study: Study, made: Panels, how: Fitting) -> None:
    if not work.brought_results() and not work.is_small(study, made, how):
        session.change(fitted=work.fit_key(study, made, how))


def _offer_fit(study: Study, made: Panels, how: Fitting, job: jobs.Job | None) -> None:
    about = duration(work.fit_seconds(study, made, how))
    if job is not None and job.faults:
        show_faults(job.faults)
    elif job is not None and job.stopping:
        st.info("Stopped before the end; nothing was kept.")
    st.markdown(
        f"{count(len(made), 'panel')} are to be fitted with {how.classifier}: about {about} on "
        "this server. You may go on with other pages meanwhile, or come back later."
    )
    st.button(
        f"Fit {count(len(made), 'panel')}", type="primary", icon=":material/model_training:",
        on_click=start_fit, args=(study, made, how),
    )  # fmt: skip


def start_fit(study: Study, made: Panels, how: Fitting) -> None:
    """Fit in a thread of its own; the scores go to the shelf, whoever is still looking."""
    key, kept = work.fit_key(study, made, how), shelf()

    def fit(progress: jobs.Progress) -> None:
        kept.put(key, fit_scores(study, made, how, progress=progress))

    jobs.start(key, fit)


@st.fragment(run_every=0.5)
def _watch(key: str) -> None:
    """Show how far the fit is, with a button to stop it; the page goes on when it has ended."""
    job = jobs.find(key)
    if job is None or not job.running:
        st.rerun()
    left = job.seconds_left
    words = "Stopping …" if job.stopping else f"Fitted {job.done:,} of {job.total:,}"
    time_left = f", about {duration(left)} left" if left is not None else ""
    st.progress(job.share, words if job.stopping else words + time_left)
    st.button("Stop", icon=":material/stop_circle:", on_click=job.stop, disabled=job.stopping)
