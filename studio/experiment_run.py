"""An experiment beside the page: started, watched, stopped, and its result kept."""

from __future__ import annotations

import streamlit as st

from csmd_core.cluster import on_cluster
from csmd_core.plan import Plan, run_plan
from csmd_core.summary import summary_table
from studio import jobs, results, session
from studio.shelf import shelf
from studio.text import show_faults
from studio.watching import dashboard_key, watch_runs

_KIND = "experiment"


def job_key() -> str:
    """One experiment at a time for each workspace, whichever tab asks."""
    held = session.workspace()
    return f"{_KIND} {held.id if held else ''}"


def start(plan: Plan, cluster: str | None) -> None:
    """Play the plan in a thread of its own, here or on the cluster at an address."""
    if session.workspace() is None:
        session.save()  # the result needs a workspace to be kept in
    key, about, keep = job_key(), results.describe(plan), shelf()
    keep.put(dashboard_key(key), "")

    def play(progress: jobs.Progress) -> None:
        if cluster is None:
            result = run_plan(plan, progress)
        else:
            with on_cluster(cluster) as client:
                keep.put(dashboard_key(key), client.dashboard_link)
                result = run_plan(plan, progress)
        summary = summary_table(result, plan.problems, plan.order)
        keep.put(key, (about, results.Tables(result, summary)))

    jobs.start(key, play, _KIND)


def collect() -> None:
    """Keep the result of an experiment that has ended, or say why there is none."""
    key = job_key()
    job = jobs.find(key)
    if job is None or job.running:
        return
    jobs.forget(key)
    ended = shelf().get(key)
    shelf().put(key, None)
    if job.faults:
        show_faults(job.faults)
    elif ended is None or not ended[1].result.n_done:
        st.info("Stopped before the first run had ended; there is nothing to keep.")
    else:
        results.keep(*ended)
        st.session_state["experiments shown"] = [session.get("experiments")[0]["when"]]


def is_running() -> bool:
    job = jobs.find(job_key())
    return job is not None and job.running


def watch() -> None:
    """Show how far the experiment is."""
    watch_runs(job_key())
