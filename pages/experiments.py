"""Experiments: how well do policies do over many runs?"""

import streamlit as st

from csmd_core import plan as planning
from csmd_core.faults import BadInput
from studio import decision, experiment_run, shell
from studio.experiment_choices import (
    check_cluster,
    choose,
    choose_place,
    chosen,
    expected_seconds,
    make_plan,
    size_words,
)
from studio.experiment_results import show_results
from studio.text import show_faults

shell.header(
    "Experiments",
    "How well does each policy do **on average**, and how sure is that? Each is played many times "
    "on patients of your study; the bands are 95% intervals of the mean.",
)

asked = decision.problem()
with st.container(border=True):
    choose(asked)
    choose_place()
    if experiment_run.is_running():
        experiment_run.watch()
    else:
        try:
            plan = make_plan(asked)
            planning.check(plan)
            seconds = expected_seconds(plan) if chosen()["cluster"] is None else None
            planning.check_time(seconds or 0.0)
            check_cluster()
        except BadInput as bad:
            show_faults(bad.faults)
        else:
            st.caption(size_words(plan, seconds))
            st.button(
                "Start", type="primary", icon=":material/play_arrow:", key="start experiment",
                on_click=experiment_run.start, args=(plan, chosen()["cluster"]),
            )  # fmt: skip

experiment_run.collect()
st.subheader("Results")
show_results()
