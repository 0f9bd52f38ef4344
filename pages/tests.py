"""Tests: what each test shows and costs, which panels there are, how well each of them does."""

import streamlit as st

from studio import shell, work
from studio.tests_grid import about_tests, edit_tests
from studio.tests_parts import choose_classifier, choose_panels, wait_for_fit
from studio.tests_results import show_results
from studio.text import show_faults

shell.header(
    "Tests",
    "Which tests are there, what do they cost, and how well does each panel of them find the "
    "disease?",
)

study = work.study()
st.subheader("Tests and prices")
edit_tests(study)

st.subheader("Panels")
choose_panels(study)
if work.brought_results():
    st.caption("Your columns are test results already: nothing has to be fitted.")
else:
    choose_classifier()

serious = [fault for fault in work.faults() if not fault.warning]
if serious:
    elsewhere = [fault for fault in serious if not about_tests(fault)]
    show_faults(elsewhere)
    if elsewhere:
        st.page_link("pages/data.py", label="Go to Data", icon=":material/arrow_forward:")
    st.info("The panels follow once everything above is mended.")
    work.stop()

made = work.panels()
st.subheader("How well the panels do")
wait_for_fit(study, made)
show_results(study, made, work.evidence())
