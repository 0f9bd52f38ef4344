"""A long run seen from the page: how far it is, how long it still takes, and a way to stop it."""

from __future__ import annotations

import streamlit as st

from studio import jobs
from studio.shelf import shelf
from studio.text import count, duration


@st.fragment(run_every=0.3)
def watch_runs(key: str) -> None:
    """Show how many runs of a job are done; the page goes on when it has ended.

    A job that runs on a cluster puts the address of its dashboard on the shelf.
    """
    job = jobs.find(key)
    if job is None or not job.running:
        st.rerun()
    st.progress(job.share, _words(job))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Stop and keep what is done", icon=":material/stop_circle:", key=f"stop {key}",
            on_click=job.stop, disabled=job.stopping,
        )  # fmt: skip
        if dashboard := shelf().get(dashboard_key(key)):
            st.link_button("The cluster's dashboard", dashboard, icon=":material/monitoring:")
    st.caption("You may go on with other pages meanwhile, or come back later.")


def dashboard_key(key: str) -> str:
    return f"{key} dashboard"


def _words(job: jobs.Job) -> str:
    if job.stopping:
        return "Stopping …"
    if not job.total:
        return "Preparing the engine …"
    left = f", about {duration(job.seconds_left)} left" if job.seconds_left is not None else ""
    return f"{job.done:,} of {count(job.total, 'run')}{left}"
