"""Trade-off: what avoiding one misdiagnosis is worth, and which panel is then best."""

import streamlit as st

from csmd_core.figures.trade_off import frontier_figure, loss_bars_figure, loss_figure
from studio import decision, shell, trade_off_parts, work
from studio.chart import chart
from studio.lam_control import lam_control, set_lam
from studio.text import money, percent, plain

shell.header(
    "Trade-off",
    "How much is avoiding one misdiagnosis worth, and which panel of tests is then best?",
)

asked = decision.problem()
currency = work.study().currency
lam_control(asked)

if asked.best is None:
    st.info(
        "This study has no labels, so nobody can say how often a panel is wrong. "
        "See what disagreement alone can say."
    )
    st.page_link("pages/weak_dominance.py", label="Go to Weak dominance")
    st.stop()

best, windows = asked.best, decision.windows(asked.panels, asked.evidence)
with st.container(horizontal=True, vertical_alignment="center"):
    st.metric("Cost per patient", money(asked.panels.costs[best], currency), border=True)
    st.metric("Error rate", percent(asked.evidence.error_rates[best]), border=True)
    st.markdown(f"Best panel: **{plain(asked.panels.names[best])}**")

left, right = st.columns([3, 2], gap="medium")
with left:
    if asked.one_lam is None:
        chart(
            loss_bars_figure(asked), key="losses",
            alt="Loss of each panel: its error rate and its scaled cost",
        )  # fmt: skip
    else:
        chart(
            loss_figure(asked, windows, currency), key="losses over lam", on_pick=set_lam,
            alt="Loss of the panels over λ; click or drag to set λ",
        )  # fmt: skip
with right:
    chart(
        frontier_figure(asked, currency), key="frontier",
        alt="Panels by cost per patient and error rate, with the budget line",
    )  # fmt: skip
st.markdown(plain(trade_off_parts.window_sentence(asked, windows, currency)))

trade_off_parts.cohort_input()
year, what_if, sensitivity, scenarios = st.tabs(
    ["A year's patients", "What if prices change", "Which price matters", "Scenarios"]
)
with year:
    trade_off_parts.year(asked, currency)
with what_if:
    trade_off_parts.what_if(asked, windows, currency)
with sensitivity:
    trade_off_parts.sensitivity(asked, currency)
with scenarios:
    trade_off_parts.kept_scenarios(asked, currency)
