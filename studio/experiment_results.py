"""The Experiments page's results: which are shown, one chart, its sentence, tables, one run."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from csmd_core.experiment import Experiment, paired_differences
from csmd_core.figures.experiments import (
    curves_figure,
    final_figure,
    growth_figure,
    margin_regret_figure,
    savings_figure,
)
from csmd_core.report import experiment_page
from studio import experiment_words as words
from studio import results, session
from studio.downloads import downloads
from studio.figure_shown import show_figure
from studio.results import Entry, Tables
from studio.text import count, plain

_ALL = "All side by side"
CHARTS = ("Regret over time", "Regret at the end", "Best choices", "Money and errors",
          "Margin", "Growth")  # fmt: skip
_UNLABELLED = ("Money over time",)


def show_results() -> None:
    """Show the kept results that are picked, as one."""
    entries = results.entries()
    if not entries:
        st.info("No results yet: choose above what to play, and start.")
        return
    picked = _pick(entries)
    if not picked:
        return
    for entry in picked:
        _about(entry)
    tables = results.load_together(picked)
    _chart(tables, picked[0]["currency"])
    _details(tables)
    _report(picked, tables)
    if len(picked) == 1:
        _one_run(picked[0], tables.result)


def _pick(entries: list[Entry]) -> list[Entry]:
    """Let the user pick results to show; several are compared."""
    by_when = {entry["when"]: entry for entry in entries}
    shown = [when for when in st.session_state.get("experiments shown", ()) if when in by_when]
    st.session_state["experiments shown"] = shown or [entries[0]["when"]]
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    picked = left.multiselect(
        "Results shown", list(by_when), key="experiments shown",
        format_func=lambda when: str(by_when[when]["name"]),
        help="Kept in this workspace. Pick several to compare them.",
    )  # fmt: skip
    with right.popover("Manage", icon=":material/edit:", width="stretch"):
        for when in picked:
            _manage(by_when[when])
    return [by_when[when] for when in picked]


def _manage(entry: Entry) -> None:
    when = entry["when"]
    st.session_state[f"name {when}"] = entry["name"]
    st.text_input(
        "Name", key=f"name {when}", max_chars=results.MAX_NAME, label_visibility="collapsed",
        on_change=lambda: results.rename(when, st.session_state[f"name {when}"]),
    )  # fmt: skip
    st.button(
        f"Delete {plain(entry['name'])}", key=f"delete {when}", icon=":material/delete:",
        on_click=results.delete, args=(when,),
    )  # fmt: skip


def _about(entry: Entry) -> None:
    """Say what a result is of, and whether it is whole."""
    n_lams = len(entry["lams"])
    at = next(iter(entry["lams"])) if n_lams == 1 else f"{n_lams} λ"
    mode = "cascade" if entry["of"]["mode"] == "cascade" else "subsets"
    st.caption(
        plain(
            f"{entry['name']}: {entry['title']}, {mode}, {at}, "
            f"{count(len(entry['policies']), 'policy', 'policies')}, {entry['n_repeats']:,} × "
            f"{count(entry['n_patients'], 'patient')}, seed {entry['seed']}; "
            f"{entry['when'][:16].replace('T', ' ')} UTC."
        )
    )
    n_done, n_total = int(entry["n_done"]), int(entry["n_total"])
    if n_done < n_total:
        st.warning(
            f"Stopped early: {n_done:,} of {count(n_total, 'run')}. The intervals are those of the "
            "runs that were played."
        )


def _chart(tables: Tables, currency: str) -> None:
    labelled = bool(tables.summary["regret"].notna().any())
    charts = CHARTS if labelled else _UNLABELLED
    if st.session_state.get("experiment chart") not in charts:
        st.session_state["experiment chart"] = charts[0]
    chart = st.segmented_control(
        "Chart", charts, key="experiment chart", required=True, label_visibility="collapsed"
    )
    if not labelled:
        st.info("Without labels neither regret nor errors can be counted; money can.")
    shown = tables if chart == "Margin" else _of_one(tables)
    _draw(str(chart), shown, currency)
    if chart == "Regret at the end":
        _differences(shown.result)


def _of_one(tables: Tables) -> Tables:
    """Let the user look at one problem alone."""
    problems = list(dict.fromkeys(tables.summary["problem"]))
    if len(problems) == 1:
        return tables
    picked = st.selectbox("Shown", [_ALL, *problems], key="experiment problem")
    if picked == _ALL:
        return tables
    result = tables.result
    one = Experiment(
        result.runs[result.runs["problem"] == picked],
        result.curves[result.curves["problem"] == picked],
        result.n_total,
    )
    return Tables(one, tables.summary[tables.summary["problem"] == picked])


def _draw(chart: str, tables: Tables, currency: str) -> None:
    curves, summary = tables.result.curves, tables.summary
    figure, sentence = {
        "Regret over time": lambda: (curves_figure(curves), words.read_regret(summary)),
        "Regret at the end": lambda: (final_figure(summary), words.read_regret(summary)),
        "Best choices": lambda: (curves_figure(curves, "best_share"), words.read_best(summary)),
        "Money and errors": lambda: (
            savings_figure(summary, currency), words.read_money(summary, currency)
        ),
        "Money over time": lambda: (
            curves_figure(curves, "money"), words.read_money(summary, currency)
        ),
        "Margin": lambda: (margin_regret_figure(summary), words.read_margin(summary)),
        "Growth": lambda: (growth_figure(curves, summary), words.read_growth(summary)),
    }[chart]()  # fmt: skip
    name = chart.lower().replace(" ", "-")
    show_figure(figure, key=f"experiment {name}", alt=f"{chart} of the policies", name=name)
    st.markdown(sentence)


def _differences(result: Experiment) -> None:
    """Set every policy against one, on the same patients."""
    policies = list(dict.fromkeys(result.runs["policy"]))
    if len(policies) < 2:
        return
    baseline = st.selectbox("Compare with", policies, key="experiment baseline")
    table = paired_differences(result, baseline)
    st.caption(
        f"How much more regret than {plain(baseline)} on the same patients, with the 95% interval "
        "of the difference: where it does not hold 0, the two really differ."
    )
    st.dataframe(
        table.assign(differs=(table["low"] > 0) | (table["high"] < 0)),
        hide_index=True, key="differences table", column_config=_DIFFERENCE,
        alt="Differences of regret",
    )  # fmt: skip
    downloads(table, "differences")


def _details(tables: Tables) -> None:
    with st.expander("Tables: in summary, run by run, over time", icon=":material/table:"):
        st.caption("In summary: means over the runs with 95% intervals.")
        st.dataframe(tables.summary, hide_index=True, key="summary table", alt="Summary")
        downloads(tables.summary, "summary")
        st.caption("Run by run: after the last patient.")
        st.dataframe(tables.result.runs, hide_index=True, key="runs table", alt="All runs")
        downloads(tables.result.runs, "runs")
        st.caption("Over time: the mean of each measure and its 95% interval.")
        downloads(tables.result.curves, "curves")


def _report(picked: list[Entry], tables: Tables) -> None:
    title = ", ".join(entry["name"] for entry in picked)
    st.download_button(
        "Everything as one page (HTML)", key="experiment report", icon=":material/download:",
        data=lambda: experiment_page(title, tables.result, tables.summary).encode(),
        file_name="experiment.html", mime="text/html", on_click="ignore",
    )  # fmt: skip


def _one_run(entry: Entry, result: Experiment) -> None:
    """Open any single run in Live."""
    runs = result.runs
    with st.expander("Watch a single run in Live", icon=":material/play_circle:"):
        one, two, three = st.columns(3)
        problem = one.selectbox("λ", list(entry["lams"]), key="run problem")
        policy = two.selectbox("Policy", list(entry["policies"]), key="run policy")
        repeats = sorted(runs.loc[runs["problem"] == problem, "repeat"].unique() + 1)
        repeat = three.selectbox("Repeat", repeats, key="run repeat")
        found = runs[
            (runs["problem"] == problem)
            & (runs["policy"] == policy)
            & (runs["repeat"] == repeat - 1)
        ]
        if found.empty:
            st.caption("This run was not played before the experiment was stopped.")
            return
        row = found.iloc[0]
        st.caption(plain(_run_words(row)))
        st.button(
            "Open in Live", icon=":material/play_circle:", key="open run", type="primary",
            on_click=_ask_live, args=(entry, problem, policy, int(row["seed"])),
        )  # fmt: skip
        if st.session_state.pop("go live", False):
            st.switch_page("pages/live.py")
        if st.session_state.pop("patients gone", False):
            st.warning("The patients of this result are no longer in the workspace.")


def _run_words(row: pd.Series) -> str:
    words = f"Seed {int(row['seed'])}."
    if pd.isna(row["regret"]):
        return words
    return f"{words} Regret {row['regret']:,.1f} after the last patient."


def _ask_live(entry: Entry, problem: str, policy: str, seed: int) -> None:
    """Set what Live plays, with the study and λ of the result."""
    if not results.reopen_study(entry):
        st.session_state["patients gone"] = True
        return
    lam, played = entry["lams"][problem], entry["policies"][policy]
    live = {
        "policies": [[played["kind"], played["parameter"]]], "watched": policy, "seed": seed,
        "order": entry["order"], "n": min(entry["n_patients"], 100_000), "cursor": 0,
        "teaching": False,
    }  # fmt: skip
    session.change(lam=lam[0] if len(set(lam)) == 1 else lam, live={**session.get("live"), **live})
    st.session_state["go live"] = True


_DIFFERENCE = {
    "problem": st.column_config.TextColumn("Problem"),
    "policy": st.column_config.TextColumn("Policy"),
    "mean": st.column_config.NumberColumn("Difference", format="%.2f"),
    "low": st.column_config.NumberColumn("from", format="%.2f"),
    "high": st.column_config.NumberColumn("to", format="%.2f"),
    "n_runs": st.column_config.NumberColumn("Pairs of runs"),
    "differs": st.column_config.CheckboxColumn("Really differs"),
}
