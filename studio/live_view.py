"""What moves on the Live page: the scrubber, the chart, the patient, what the policy believes.

It is a fragment that runs ten times a second while playing. The charts stay mounted; the patient
and the beliefs change less often while playing, since nobody could read them faster. It is kept to
a few elements, since each costs a millisecond, for each of all who play at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from csmd_core.explain import explain
from csmd_core.figures.beliefs import RECENT, belief_figure, pairs_that_matter
from csmd_core.figures.live import MEASURES, Figure, progress_figure, share_figure
from csmd_core.simulation import Run
from studio import live_run
from studio.chart import chart
from studio.downloads import as_csv
from studio.live_card import next_card, patient_card, standings
from studio.live_run import Live, setting
from studio.scrub import scrub

READABLE = 0.4  # seconds between two patients that are shown in full while playing
SHARES = "shares"


def measures(live: Live) -> dict[str, str]:
    """What the chart can show; less without labels."""
    scored = live.problem.evidence.has_truth
    names = {name: title for name, (title, _) in MEASURES.items() if scored or name == "money"}
    return names | {SHARES: "Share of each panel"}


def show(live: Live) -> None:
    """Draw all that moves, again and again while playing."""
    every = live_run.tick_length() if live_run.playing() else None
    st.fragment(_view, run_every=every)(live)


def _view(live: Live) -> None:
    if live_run.playing() and live_run.tick():
        live_run.pause()
        st.rerun()
    with live_run.TURN:
        _draw(live, live_run.cursor())


def _draw(live: Live, t: int) -> None:
    detail = _detail(live, t)
    scrub(t, live.watched.n_patients, live_run.move, key="live scrub", label="Patient")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _progress(live, t)
        if live.watched.policy.learns:
            chart(detail.beliefs, key="live beliefs", alt=detail.alt)
        else:
            st.caption(f"{live.watched.policy.name} learns nothing from disagreements.")
    right.html(f"{standings(live, t)}<p>{escape(sentence(live, t))}</p>{detail.card}")
    if not (live_run.playing() or setting("teaching")):
        _download(live, t)


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


@dataclass(frozen=True)
class Detail:
    """The patient and the beliefs at one moment."""

    run: Run
    t: int
    made: float
    card: str
    beliefs: Figure
    alt: str


def _detail(live: Live, t: int) -> Detail:
    """Explain patient t; while playing, keep the patient shown for a moment."""
    held: Detail | None = st.session_state.get("live detail")
    if held is not None and held.run is live.watched:
        young = live_run.playing() and live_run.clock() - held.made < READABLE
        if held.t == t or young:
            return held
    made = Detail(live.watched, t, live_run.clock(), *_told(live, t))
    st.session_state["live detail"] = made
    return made


def _told(live: Live, t: int) -> tuple[str, Figure, str]:
    run = live.watched
    told = explain(run, t) if t else None
    card = patient_card(live, told) if told else next_card(live, 0)
    alt = f"What {run.policy.name} believes at patient {t:,}: disagreement against cost gap"
    return card, belief_figure(run, pairs_that_matter(run, told)), alt
