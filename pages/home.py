"""Start: what this is for, in one screen."""

import streamlit as st

from csmd_core.figures.panels import cost_error_figure
from studio import decision, shell, work
from studio.text import lam_meaning, money, percent, plain

shell.header(
    "Which tests should the next patient get?",
    "Every test costs money; more tests mean fewer wrong diagnoses; and most patients' true state "
    "is never learnt. CSMD Studio finds the best trade-off, and tells you when it can be found "
    "**without knowing a single diagnosis**.",
)

study, problem = work.usable_study(), decision.problem()
best = problem.best
with st.container(horizontal=True):
    for page, words, icon in (
        ("pages/weak_dominance.py", "Explore a study", ":material/travel_explore:"),
        ("pages/live.py", "Teach with a live run", ":material/school:"),
        ("pages/trade_off.py", "Plan a budget", ":material/savings:"),
    ):
        if st.button(words, icon=icon, type="primary", key=f"go {page}"):
            st.switch_page(page)

if best is None:
    st.info("This study has no labels: see what disagreement alone can say on Weak dominance.")
    work.stop()

cost, error = problem.panels.costs, problem.evidence.error_rates
left, right = st.columns([3, 2], gap="large")
with left:
    st.subheader(plain(study.about.title or study.name))
    st.plotly_chart(
        cost_error_figure(problem.panels, problem.evidence, best, study.currency),
        key="home chart",
        alt="Panels of tests by cost per patient and error rate",
    )
with right:
    st.subheader("Best panel now")
    st.markdown(f"**{plain(problem.panels.names[best])}**")
    with st.container(horizontal=True):
        st.metric("Cost per patient", money(cost[best], study.currency), border=True)
        st.metric("Error rate", percent(error[best]), border=True)
    if problem.one_lam is not None:
        st.caption(plain(f"When {lam_meaning(problem.one_lam, study.currency)}."))
    everything = problem.n_panels - 1
    st.markdown(
        f"Giving everyone every test would cost {plain(money(cost[everything], study.currency))} "
        f"per patient and be wrong for {plain(percent(error[everything]))}."
    )
    st.page_link("pages/data.py", label="Use another study, or your own", icon=":material/upload:")
