"""What moves on the Live page: the scrubber, the chart, the patient, what the policy believes.

Fragments run by themselves while playing: the chart with its numbers ten times a second, the
patient and the beliefs as often as one can read them. They are kept to a few elements, since each
costs a good part of a millisecond, for each of all who play at once. The charts stay mounted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from csmd_core.explain import Explanation, explain
from csmd_core.figures.beliefs import RECENT, belief_figure, pairs_that_matter
from csmd_core.figures.live import MEASURES, progress_figure, share_figure
from csmd_core.simulation import Run
from studio import live_run
from studio.chart import chart
from studio.downloads import as_csv
from studio.live_card import next_card, patient_card, standings
from studio.live_run import Live, setting
from studio.scrub import scrub

READABLE = 0.5  # seconds between two patients that are shown in full while playing
MANY = 300  # panels from which an explanation takes a while
SHARES = "shares"

Draw = Callable[..., None]
_runs = itertools.count()


def measures(live: Live) -> dict[str, str]:
    """What the chart can show; less without labels."""
    scored = live.problem.evidence.has_truth
    names = {name: title for name, (title, _) in MEASURES.items() if scored or name == "money"}
    return names | {SHARES: "Share of each panel"}


def show(live: Live) -> None:
    """Draw all that moves, again and again while playing."""
    every = live_run.tick_length() if live_run.playing() else None
    slow = every and _reading_time(live, every)
    _explain(live)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _again(_course, every)(live, every)
        _again(_beliefs, slow)(live.watched)
    with right:
        _again(_patient, slow)(live)


def _again(draw: Draw, every: float | None) -> Draw:
    """Make a fragment with a name of its own in each run of the page.

    A tick that was asked for before this run and comes after it then finds no such fragment. Else
    it would take back what this run has drawn and not yet sent: the charts would blink.
    """

    def moving(*given: Any) -> None:
        draw(*given)

    moving.__qualname__ = f"{draw.__qualname__} {next(_runs)}"
    return st.fragment(moving, run_every=every)


def _reading_time(live: Live, every: float) -> float:
    """Seconds for which a patient is shown while playing: longer where showing is costly."""
    return 2.0 if every > 0.1 or live.problem.n_panels > MANY else READABLE


def _course(live: Live, every: float | None) -> None:
    """The run so far: scrubber, chart, how each policy stands."""
    if live_run.playing():
        if live_run.tick():
            live_run.pause()
            st.rerun()
        elif every != live_run.tick_length():
            st.rerun()  # others have come or gone: all of the page sets the timers anew
    t = live_run.cursor()
    with live_run.TURN:
        scrub(t, live.watched.n_patients, _scrubbed, key="live scrub", label="Patient")
        _progress(live, t)
        st.html(f"{standings(live, t)}<p>{escape(sentence(live, t))}</p>")
    if not (live_run.playing() or setting("teaching")):
        _download(live, t)


def _patient(live: Live) -> None:
    """The latest patient."""
    told = _explain(live)
    with live_run.TURN:
        st.html(patient_card(live, told) if told else next_card(live, 0))


def _beliefs(run: Run) -> None:
    """What the watched policy believed when it chose for the patient who is shown."""
    told: Explanation | None = st.session_state["live told"]
    with live_run.TURN:
        if not run.policy.learns:
            st.caption(f"{run.policy.name} learns nothing from disagreements.")
            return
        at = f"at patient {told.patient:,}" if told else "before the first patient"
        alt = f"What {run.policy.name} believes {at}: each disagreement against its cost gap"
        chart(belief_figure(run, pairs_that_matter(run, told)), key="live beliefs", alt=alt)


def _explain(live: Live) -> Explanation | None:
    """Explain the choice for the latest patient, for whoever shows it."""
    t = live_run.cursor()
    told = st.session_state["live told"] = explain(live.watched, t) if t else None
    return told


def _scrubbed(t: int) -> None:
    live_run.move(t)
    st.rerun()  # all of the page: the patient is not in the slider's fragment


def _download(live: Live, t: int) -> None:
    st.download_button(
        "Download the run so far", lambda: as_csv(live_run.table(live, t)), "run.csv", "text/csv",
        key="live csv", icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _progress(live: Live, t: int) -> None:
    measure = setting("measure")
    options = measures(live)
    measure = measure if measure in options else next(iter(options))
    if measure == SHARES:
        figure = share_figure(live.watched, t)
    else:
        figure = progress_figure(live.runs, t, measure, live.bands)
    alt = f"{options[measure]} after {t:,} patients. {sentence(live, t)}"
    chart(figure, key="live chart", alt=alt)


def sentence(live: Live, t: int) -> str:
    """Read the chart to the user."""
    run, names = live.watched, live.problem.panels.names
    if t == 0:
        return "Nobody has been seen yet: press Play, or Next for one patient."
    recent = run.choices[max(0, t - RECENT) : t]
    often = np.bincount(recent, minlength=len(names))
    usual = int(often.argmax())
    told = f"{run.policy.name} gave {names[usual]} to {often[usual]} of the last {len(recent)}"
    best = live.problem.best
    if best is None:
        return f"{told} patients."
    if usual == best:
        return f"{told} patients: the best panel."
    return f"{told} patients; the best panel is {names[best]}."
