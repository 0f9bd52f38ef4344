"""Paper: does the published work come out again on the same data?"""

import streamlit as st

from csmd_core.faults import BadInput
from studio import paper_run, shell, work
from studio.paper_parts import (
    all_cases,
    back_to_the_paper,
    choose_prices,
    choose_size,
    go_on,
    settings,
)
from studio.paper_table import measured_table, show_differences, show_table
from studio.text import show_faults

shell.header(
    "Paper",
    "Do the results of *Unsupervised Online Feature Selection for Cost-Sensitive Medical "
    "Diagnosis* (Verma, Hanawal, Hemachandra, 2020) come out again on the same data?",
)

go_on()
choose_prices()
back_to_the_paper()
now = settings()

st.subheader("Table I: printed and measured")
show_table(now)
with st.expander("Why they differ", icon=":material/rule:", expanded=True):
    show_differences()

st.subheader("Open a case")
all_cases()

st.subheader("Figures 2 and 3, played again")
choose_size()
if paper_run.is_running(now):
    paper_run.watch(now)
else:
    try:
        paper_run.check(now)
    except BadInput as bad:
        show_faults(bad.faults)
        work.stop()
    st.caption(paper_run.size_words(now))
    st.button(
        "Play the paper's experiments", type="primary", icon=":material/play_arrow:",
        key="start paper", on_click=paper_run.start, args=(now,),
    )  # fmt: skip
    paper_run.say_how_it_ended(now)
made = paper_run.drawn(now)
if made is not None:
    paper_run.show(made, measured_table(now))
