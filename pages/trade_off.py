"""Trade-off: what avoiding one misdiagnosis is worth, and which panel is then best."""

import streamlit as st

from studio import decision, shell, trade_off_parts, what_if_parts, work
from studio.lam_control import lam_control
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
    work.stop()

best, windows = asked.best, decision.windows(asked.panels, asked.evidence)
with st.container(horizontal=True, vertical_alignment="center"):
    st.metric("Cost per patient", money(asked.panels.costs[best], currency), border=True)
    st.metric("Error rate", percent(asked.evidence.error_rates[best]), border=True)
    st.markdown(f"Best panel: **{plain(asked.panels.names[best])}**")

left, right = st.columns([3, 2], gap="medium")
with left:
    trade_off_parts.losses(asked, windows, currency)
with right:
    trade_off_parts.cost_and_error(asked, currency)
st.markdown(plain(trade_off_parts.window_sentence(asked, windows, currency)))

parts = {
    "A year's patients": trade_off_parts.year,
    "What if prices change": what_if_parts.what_if,
    "Which price matters": trade_off_parts.sensitivity,
    "Scenarios": what_if_parts.kept_scenarios,
}
for tab, show in zip(
    st.tabs(list(parts), on_change="rerun", key="part"), parts.values(), strict=True
):
    if tab.open:  # the others cost nothing while λ moves
        with tab:
            show(asked, currency)
