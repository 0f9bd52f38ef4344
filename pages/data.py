"""Data: whose patients are these, and what do their tests cost?"""

import streamlit as st

from csmd_core.columns import class_counts, column_table, reading
from csmd_core.figures.data import column_figure, label_figure
from csmd_core.prices import price_table
from csmd_core.study import Study
from studio import data_faults, data_prices, data_source, data_study, session, shell, work
from studio.choosing import ask_about_offer
from studio.shelf import kept
from studio.text import count, percent, plain

N_SHOWN = 200
BUNDLED, OWN = "Studies that come with the app", "My own patients"


def patients(study: Study) -> None:
    """Show the first rows, and any column by class."""
    st.subheader("Patients")
    with st.container(horizontal=True):
        st.metric("Patients", f"{study.n_patients:,}", border=True)
        for words, n in class_counts(study).items():
            if n or words != "not known":
                share = percent(n / max(study.n_patients, 1))
                st.metric(words.capitalize(), f"{n:,} ({share})", border=True)
        cells = study.features(study.columns_of(study.tests))
        missing = kept(lambda: float(cells.isna().to_numpy().mean()) if cells.size else 0.0,
                       "missing", study.fingerprint)  # fmt: skip
        st.metric("Missing in the tests", percent(missing), border=True)
    left, right = st.columns(2)
    with left:
        if study.label is None:
            st.info("No column holds the diagnosis, so only test results can be compared.")
        elif study.label in study.patients:
            st.caption(f"The diagnosis, in column {plain(study.label)}:")
            st.plotly_chart(
                kept(lambda: label_figure(study), "label figure", study.fingerprint),
                key="label chart", alt="Patients by value of the label",
            )  # fmt: skip
    with right:
        columns = [column for column in study.patients.columns if column != study.label]
        shown = st.selectbox("Column to look at", columns)
        if shown is not None:
            st.plotly_chart(
                kept(lambda: column_figure(study, shown), "column", study.fingerprint, shown),
                key="column chart", alt="Spread of the column among ill and healthy patients",
            )  # fmt: skip
            said = kept(lambda: reading(study, shown), "reading", study.fingerprint, shown)
            st.caption(plain(said))
    with st.expander(f"The first {min(N_SHOWN, study.n_patients)} of {study.n_patients:,} rows"):
        st.dataframe(study.patients.head(N_SHOWN), hide_index=True)


def own_study(study: Study) -> None:
    """Everything about an uploaded study that only the user can say."""
    st.subheader("What the columns mean")
    data_study.own_choices(study)
    data_faults.show_at("label")
    data_study.columns_grid()
    data_faults.show_at("columns")
    st.subheader("Tests and prices")
    data_faults.show_at("prices")
    data_prices.own_prices(study)


def bundled_study(study: Study) -> None:
    data_study.bundled_choices()
    left, right = st.columns(2)
    with left.expander("Tests and prices"):
        st.dataframe(price_table(study), hide_index=True)
        st.page_link("pages/tests.py", label="Change them on Tests", icon=":material/science:")
    with right.expander("Columns"):
        table = kept(lambda: column_table(study), "column table", study.fingerprint)
        looks = {"missing": st.column_config.NumberColumn(format="percent")}
        st.dataframe(table, hide_index=True, column_config=looks)
    for place in ("label", "columns", "prices"):
        data_faults.show_at(place)


shell.header("Data", "Whose patients are these, and what do their tests cost?")
ask_about_offer()
uploaded = session.get("study")["source"] == "upload"
st.session_state.setdefault("patients from", OWN if uploaded else BUNDLED)
source = st.segmented_control(
    "Patients from", [BUNDLED, OWN], key="patients from", required=True,
    label_visibility="collapsed",
)  # fmt: skip
data_source.own_files() if source == OWN else data_source.cards()

found = work.study()
st.divider()
st.header(plain(found.about.title or found.name))
own_study(found) if uploaded else bundled_study(found)
patients(found)
serious = [fault for fault in work.faults() if not fault.warning]
if serious:
    st.caption(f"{count(len(serious), 'fault')} to mend before the tests can be compared.")
else:
    st.page_link("pages/tests.py", label="Next: the tests", icon=":material/arrow_forward:")
