"""Live: watch policies choose tests, patient by patient."""

import streamlit as st

from studio import live_controls, live_run, live_teach, live_view, shell, work

shell.header(
    "Live",
    "How does a policy learn which tests to give, without ever being told who was ill?",
)
with st.container():  # whatever is said while fitting: what follows keeps its place, so its charts
    study, problem = live_run.source()
with st.container(horizontal=True, vertical_alignment="center"):
    live_teach.switches()
    if not live_run.setting("teaching"):
        live_controls.choices(problem)
live_teach.situation_line(study, problem)
if not live_teach.guessing():
    live_controls.transport()

with st.container():
    live = live_run.prepare(study, problem)
if live is None:
    st.info("Choose a policy to watch.")
    work.stop()
if live_teach.guessing():
    live_teach.ask(live)

with st.container(horizontal=True, horizontal_alignment="distribute"):
    live_controls.measure_switch(live_view.measures(live))
    live_controls.watched_switch(live)
live_view.show(live)
