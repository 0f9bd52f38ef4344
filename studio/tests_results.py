"""The Tests page's results: the table of panels, and the chart that the user asks for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.budget import frontier
from csmd_core.figures.panels import cost_error_figure, disagreement_figure, roc_figure
from csmd_core.panels import Panels
from csmd_core.problem import Evidence, panel_table
from csmd_core.study import Study
from studio import decision, work
from studio.downloads import downloads
from studio.text import count, money, percent, plain

_MOST_IN_MAP = 63
_MOST_CURVES = 8
_RATES = {"error_rate": "Error rate", "sensitivity": "Sensitivity",
          "specificity": "Specificity", "ppv": "PPV", "npv": "NPV"}  # fmt: skip
_HELP = {
    "cascade": "A panel of a cascade holds the tests before it too: “+ ECG” is all up to the ECG.",
    "subsets": "The tests given together.",
    "error_rate": "Of all patients, how many get a wrong diagnosis.",
    "interval": "95% interval of the error rate: how far chance alone may carry it.",
    "sensitivity": "Of the ill patients, how many are found.",
    "specificity": "Of the healthy patients, how many are called healthy.",
    "ppv": "Positive predictive value: of those called ill, how many are.",
    "npv": "Negative predictive value: of those called healthy, how many are.",
    "best_for_some": "Best for some λ: no other panel, or mixture of two, costs and errs less.",
}


def show_results(study: Study, made: Panels, known: Evidence) -> None:
    """Show key figures, one chart, the sentence that reads it, the table and its downloads."""
    table = results_table(made, known)
    _key_figures(study, table)
    charts = _charts(known)
    chart = st.segmented_control(
        "Chart", charts, default=charts[0], required=True, key="tests chart",
        label_visibility="collapsed",
    )  # fmt: skip
    if chart == "Cost and error":
        _cost_error(study, made, known, table)
    elif chart == "Agreement":
        _agreement(made, known, table)
    else:
        _roc(made, known, table)
    _show_table(study, made, table)
    named = table.rename(columns={"cost": f"cost ({study.currency})"})
    downloads(named, "panels")


def results_table(made: Panels, known: Evidence) -> pd.DataFrame:
    """One row a panel, as downloaded: with labels, also whether it is best for some λ."""
    table = panel_table(made, known)
    if known.has_truth:
        table["best_for_some"] = frontier(made, known)["best_for_some"]
    return table


def _charts(known: Evidence) -> list[str]:
    if not known.has_truth:
        return ["Agreement"]
    brought = work.brought_results()
    return ["Cost and error", "Agreement", *([] if brought else ["ROC curves"])]


def _key_figures(study: Study, table: pd.DataFrame) -> None:
    with st.container(horizontal=True):
        st.metric("Panels", f"{len(table):,}", border=True)
        low, high = table["cost"].min(), table["cost"].max()
        st.metric("Cheapest panel", money(low, study.currency), border=True)
        st.metric("Dearest panel", money(high, study.currency), border=True)
        if "error_rate" in table:
            st.metric("Lowest error rate", percent(table["error_rate"].min()), border=True)
    if "error_rate" not in table:
        st.info(
            "Without labels no error rate can be measured: what follows needs none. The Weak "
            "dominance page says what disagreement alone can tell."
        )


def _cost_error(study: Study, made: Panels, known: Evidence, table: pd.DataFrame) -> None:
    figure = cost_error_figure(made, known, decision.problem().best, study.currency)
    st.plotly_chart(
        figure, key="cost and error", alt="Panels of tests by cost per patient and error rate"
    )
    st.markdown(_read_cost_error(study, table))


def _read_cost_error(study: Study, table: pd.DataFrame) -> str:
    """Read the chart to the user in two sentences."""
    low = table["error_rate"].min()
    least = table[table["error_rate"] <= low].sort_values("cost").iloc[0]
    alike = table[table["error_rate"] <= least["error_high"]].sort_values("cost").iloc[0]
    words = (
        f"**{plain(least['panel'])}** errs least: {plain(_rate(least))} for "
        f"{plain(money(least['cost'], study.currency))} per patient."
    )
    if alike["cost"] < least["cost"]:
        words += (
            f" The cheapest panel within its interval is **{plain(alike['panel'])}**: "
            f"{plain(percent(alike['error_rate']))} for "
            f"{plain(money(alike['cost'], study.currency))}."
        )
    n_never = int((~table["best_for_some"]).sum())
    never = f" {count(n_never, 'panel')} of {len(table):,} are never best, whatever λ is."
    return words + (never if n_never else "")


def _rate(row: pd.Series) -> str:
    low, high = percent(row["error_low"]), percent(row["error_high"])
    return f"{percent(row['error_rate'])} (95% interval {low} to {high})"


def _agreement(made: Panels, known: Evidence, table: pd.DataFrame) -> None:
    shown = _shown_in_map(table)
    if len(shown) < len(made):
        st.caption(
            f"{len(shown)} of {count(len(made), 'panel')}, cheapest first: those that can be best "
            "and others spread over all costs."
        )
    figure = disagreement_figure(made, known, shown)
    st.plotly_chart(figure, key="agreement", alt="How often each two panels disagree")
    values = known.disagreement[np.ix_(shown, shown)]
    if len(shown) < 2:
        return
    a, b = np.unravel_index(int(values.argmax()), values.shape)
    st.markdown(
        f"**{plain(made.names[shown[a]])}** and **{plain(made.names[shown[b]])}** disagree most: "
        f"they call {plain(percent(values[a, b]))} of the patients differently. Panels that "
        "hardly ever disagree can replace each other."
    )


def _shown_in_map(table: pd.DataFrame) -> list[int]:
    """All panels, or of too many those that can be best and some at even distance."""
    if len(table) <= _MOST_IN_MAP:
        return list(range(len(table)))
    best = np.flatnonzero(table["best_for_some"]) if "best_for_some" in table else np.array([], int)
    best = best[:_MOST_IN_MAP]
    spread = np.linspace(0, len(table) - 1, _MOST_IN_MAP - len(best)).astype(int)
    return sorted({*best.tolist(), *spread.tolist()})


def _roc(made: Panels, known: Evidence, table: pd.DataFrame) -> None:
    scores = work.scores()
    if scores is None:
        return
    start = np.flatnonzero(table["best_for_some"])
    shown = st.multiselect(
        "Panels drawn", range(len(made)), default=start[-4:].tolist(),
        format_func=lambda i: made.names[i], max_selections=_MOST_CURVES, key="roc panels",
    )  # fmt: skip
    if not shown:
        st.info("Choose at least one panel to draw.")
        return
    threshold = work.fitting().threshold
    figure = roc_figure(made, scores, shown, threshold)
    st.plotly_chart(figure, key="roc", alt="ROC curves of the chosen panels")
    first = table.iloc[shown[-1]]
    st.markdown(
        f"The dots mark the threshold of {plain(percent(threshold, 0))}: there "
        f"**{plain(first['panel'])}** finds {plain(percent(first['sensitivity']))} of the ill and "
        f"calls {plain(percent(1 - first['specificity']))} of the healthy ill. The nearer a curve "
        "comes to the upper left corner, the better (AUC 1 is perfect, 0.5 is chance)."
    )


def _show_table(study: Study, made: Panels, table: pd.DataFrame) -> None:
    st.subheader("All panels")
    column = st.column_config
    looks = {
        "panel": column.TextColumn("Panel", width=170, pinned=True, help=_HELP[made.mode]),
        "tests": None,
        "cost": column.NumberColumn(f"Cost ({study.currency})", format="%.2f"),
        "interval": column.TextColumn("95% interval", help=_HELP["interval"]),
        "best_for_some": column.CheckboxColumn("Can be best", help=_HELP["best_for_some"]),
    }
    for name, title in _RATES.items():
        looks[name] = column.NumberColumn(title, format="%.1f%%", help=_HELP[name])
    shown = _as_shown(table)
    if max(map(len, made.names)) > 30:
        shown["panel"] = made.short_names
    st.dataframe(
        shown, column_config=looks, hide_index=True, key="panels table",
        height=min(38 + 35 * len(shown), 420), alt="Panels with cost and accuracy",
    )  # fmt: skip


def _as_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Write rates in percent, the interval as one cell, and whether a panel can be best early."""
    if "error_rate" not in table:
        return table.copy()
    ends = zip(table["error_low"], table["error_high"], strict=True)
    shown = table[["panel", "tests", "cost", "best_for_some", "error_rate"]].copy()
    shown["interval"] = [f"{percent(low)} – {percent(high)}" for low, high in ends]
    for name in _RATES:
        shown[name] = 100 * table[name]
    return shown
