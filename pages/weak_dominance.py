"""Weak dominance: can the best panel be learnt without knowing a single diagnosis?"""

import streamlit as st

from studio import decision, dominance_parts, shell, work
from studio.dominance_words import definition
from studio.lam_control import lam_control
from studio.mending_parts import what_to_change

shell.header(
    "Weak dominance",
    "Can a policy that never learns a true diagnosis still find the best panel of tests?",
)

asked = decision.problem()
currency = work.study().currency
lam_control(asked)
found = decision.verdict(asked)
verdict = st.container()  # filled last: its interval takes longest

if found.panel is not None and not found.vacuous:
    st.subheader("Why")
    dominance_parts.why(asked, found)

if asked.evidence.has_truth:
    st.subheader("Where it holds")
    dominance_parts.where(asked, currency)
    if found.holds is False:
        st.subheader("What would make it hold")
        what_to_change(asked, currency)

st.subheader("What can be said without labels")
dominance_parts.without_labels(asked, currency)

if asked.evidence.has_truth:
    st.subheader("Strong dominance")
    dominance_parts.strong(asked)

with st.expander("Definition, and why it works"):
    definition()

with verdict:
    dominance_parts.verdict(asked, found)
